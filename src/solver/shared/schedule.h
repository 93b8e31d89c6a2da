/* solver/shared/schedule.h - how lambda_t falls (setting `schedule`): dual_diagonal.md (2). */
#ifndef MGVI_SOLVER_SCHEDULE_H
#define MGVI_SOLVER_SCHEDULE_H

#include "base/settings.h"

#include <math.h>

/* lambda_0/lambda_t, t = 0, 1, ...; infinite when 2^t overflows. */
static inline double mgvi_schedule_growth(mgvi_schedule schedule, int64_t iteration)
{
    enum { BEYOND_DOUBLE = 2000 };
    const double t = (double)iteration;
    switch (schedule) {
    case MGVI_SCHEDULE_LOG:
        return log(t + 2);
    case MGVI_SCHEDULE_SQRT:
        return sqrt(t + 1);
    case MGVI_SCHEDULE_LINEAR:
        return t + 1;
    case MGVI_SCHEDULE_SQUARE:
        return (t + 1) * (t + 1);
    case MGVI_SCHEDULE_GEOMETRIC:
        return ldexp(1, iteration < BEYOND_DOUBLE ? (int)iteration : BEYOND_DOUBLE);
    case MGVI_SCHEDULE_CONSTANT:
        break;
    }
    return 1;
}
#endif
