/* base/clock.h - a monotonic clock. It may end a run, never steer it. */
#ifndef MGVI_BASE_CLOCK_H
#define MGVI_BASE_CLOCK_H

#include <time.h>

static inline double mgvi_clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
#endif
