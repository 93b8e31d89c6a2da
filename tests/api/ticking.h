/* ticking.h - a clock that is a counter: every look at it takes a hundredth of a second. So the
 * number of looks after the limit says how soon a call ended, on any machine. */
#ifndef MGV_TESTS_TICKING_H
#define MGV_TESTS_TICKING_H

#include "check.h"

#include "base/context.h"

static const double TICK = 0.01;
/* Looks that may follow the limit: a step is not cut in its first 0.05 s, a certificate has 0.1 s,
 * or a twentieth of the time spent. */
enum { LOOKS_AFTER = 100 };

typedef struct ticking {
    atomic_llong looks;
    long long when; /* the look that interrupts, as a signal would; 0: none */
    mgv_ctx *ctx;
} ticking;

static inline double tick(void *user)
{
    ticking *t = user;
    const long long look = atomic_fetch_add(&t->looks, 1);
    if (t->when && look == t->when)
        mgv_ctx_interrupt(t->ctx);
    return 1000 + TICK * (double)look;
}

static inline void set_clock(mgv_ctx *ctx, ticking *t)
{
    t->ctx = ctx;
    ctx->own_limit.clock = tick;
    ctx->own_limit.clock_user = t;
}

/* How often the clock was looked at after the limit of `seconds` that began at look `first`. */
static inline void check_looks(const ticking *t, long long first, double seconds, const char *what)
{
    const double after = (double)(atomic_load(&t->looks) - first) - seconds / TICK;
    CHECK_LE(after, LOOKS_AFTER + 0.1 * seconds / TICK, "%s, %g s", what, seconds);
}
#endif
