/* theta.c - the settings theta and theta_schedule. */
#include "solver/sweep/theta.h"

#include <math.h>

bool mgvi_theta_is_free(const mgv_settings *set)
{
    return isnan(set->theta) && set->theta_schedule == MGVI_THETA_CONSTANT;
}

mgv_status mgvi_theta_read(mgvi_run *run, int64_t rows, mgvi_theta *out)
{
    const mgv_settings *set = run->settings;
    *out = (mgvi_theta){.first = isnan(set->theta) ? 1 : set->theta,
                        .falls = set->theta_schedule == MGVI_THETA_SQRT};
    if (set->theta_schedule != MGVI_THETA_HORIZON)
        return MGV_OK;
    if (!isnan(set->theta))
        return MGVI_FAIL(run->ctx, MGV_E_ARG,
                         "theta-schedule horizon computes theta itself (got --theta %g); leave "
                         "out one of them",
                         set->theta);
    if (rows < 2)
        return MGVI_FAIL(run->ctx, MGV_E_INPUT,
                         "theta-schedule horizon is sqrt(ln n/max_iter), no step at all for n = "
                         "%" PRId64 " rows; say --theta",
                         rows);
    out->first = sqrt(log((double)rows) / fmax(1, (double)set->max_iter));
    return MGV_OK;
}

double mgvi_theta_at(const mgvi_theta *theta, int64_t iteration)
{
    return theta->falls != 0 ? theta->first / sqrt((double)iteration + 1) : theta->first;
}

bool mgvi_theta_sound(const mgvi_theta *theta)
{
    return theta->first > 0 && isfinite(theta->first) && (theta->falls == 0 || theta->falls == 1);
}
