/* base/twofold.h - twofold numbers: the unevaluated sum hi + lo of two doubles, about 106 bits, for
 * sums that cancel. Round to nearest and no fused contraction are assumed (cmake/flags.cmake).
 * With u = 2^-53, and while nothing overflows or a product falls below 2^-968 (where its error may
 * be lost; MGVI_TWO_TINY bounds what is),
 *     mgvi_two_sum, mgvi_two_prod            exact
 *     mgvi_two_add_real, mgvi_two_mul_real   relative error at most 2 u^2
 *     mgvi_two_add                           3 u^2 (1 + 5 u)
 *     mgvi_two_mul                           5 u^2
 * (Joldes, Muller, Popescu: Tight and rigorous error bounds for basic building blocks of
 * double-word arithmetic, 2017). MGVI_TWO_UNIT is above all of them. */
#ifndef MGVI_BASE_TWOFOLD_H
#define MGVI_BASE_TWOFOLD_H

#include <math.h>

typedef struct mgvi_two {
    double hi, lo; /* |lo| is at most half a unit in the last place of hi */
} mgvi_two;

#define MGVI_TWO_UNIT 0x1p-103  /* of the result: what one operation may err */
#define MGVI_TWO_TINY 0x1p-1020 /* what a product may lose besides, below the normal numbers */

/* a + b. */
static inline mgvi_two mgvi_two_sum(double a, double b)
{
    const double s = a + b, t = s - a;
    return (mgvi_two){s, (a - (s - t)) + (b - t)};
}

/* a + b where |a| >= |b| or a is 0. */
static inline mgvi_two mgvi_two_quick_sum(double a, double b)
{
    const double s = a + b;
    return (mgvi_two){s, b - (s - a)};
}

/* a b. */
static inline mgvi_two mgvi_two_prod(double a, double b)
{
    const double p = a * b;
    return (mgvi_two){p, fma(a, b, -p)};
}

/* hi + lo += x y, of sums so long that only hi is kept exact: what lo loses is bounded by (2 m u)^2
 * of the m terms' sizes (Ogita, Rump, Oishi 2005). Plain numbers, which loops make vectors of. */
static inline __attribute__((always_inline)) void mgvi_two_feed(double *hi, double *lo, double x,
                                                                double y)
{
    const double p = x * y, s = *hi + p, t = s - *hi;
    *lo += (*hi - (s - t)) + (p - t) + fma(x, y, -p);
    *hi = s;
}

static inline mgvi_two mgvi_two_negate(mgvi_two a) { return (mgvi_two){-a.hi, -a.lo}; }
/* The nearest double, but for a hair. */
static inline double mgvi_two_real(mgvi_two a) { return a.hi + a.lo; }

static inline mgvi_two mgvi_two_add_real(mgvi_two a, double b)
{
    const mgvi_two s = mgvi_two_sum(a.hi, b);
    return mgvi_two_quick_sum(s.hi, s.lo + a.lo);
}

static inline mgvi_two mgvi_two_add(mgvi_two a, mgvi_two b)
{
    mgvi_two s = mgvi_two_sum(a.hi, b.hi);
    const mgvi_two t = mgvi_two_sum(a.lo, b.lo);
    s = mgvi_two_quick_sum(s.hi, s.lo + t.hi);
    return mgvi_two_quick_sum(s.hi, s.lo + t.lo);
}

static inline mgvi_two mgvi_two_sub(mgvi_two a, mgvi_two b)
{
    return mgvi_two_add(a, mgvi_two_negate(b));
}

static inline mgvi_two mgvi_two_mul_real(mgvi_two a, double b)
{
    const mgvi_two p = mgvi_two_prod(a.hi, b);
    return mgvi_two_quick_sum(p.hi, fma(a.lo, b, p.lo));
}

static inline mgvi_two mgvi_two_mul(mgvi_two a, mgvi_two b)
{
    const mgvi_two p = mgvi_two_prod(a.hi, b.hi);
    const double cross = fma(a.hi, b.lo, a.lo * b.lo);
    return mgvi_two_quick_sum(p.hi, fma(a.lo, b.hi, cross) + p.lo);
}

/* s + a b, the step of an inner product. It errs by at most MGVI_TWO_UNIT (|s| + |a b|). */
static inline mgvi_two mgvi_two_fma(mgvi_two s, double a, double b)
{
    return mgvi_two_add(s, mgvi_two_prod(a, b));
}

/* A double that is not above a, if a is exact. */
static inline double mgvi_two_down(mgvi_two a) { return nextafter(a.hi + a.lo, -INFINITY); }
#endif
