/* base/clock.h - a monotonic clock. It may end a run, never steer it. */
#ifndef MGVI_BASE_CLOCK_H
#define MGVI_BASE_CLOCK_H
double mgvi_clock_seconds(void);
#endif
