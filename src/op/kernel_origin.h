/* op/kernel_origin.h - poly seen from a point o of its feature space, beside an intercept, which
 * takes up what is constant. With x = o + x', z = o + z', all divided by sigma2,
 *
 *   f = o.o + offset,  p = o.x',  q = o.z',  s = x'.z'
 *   k~(x, z) = k(x, z) - k(x, o) - k(o, z) + k(o, o)
 *            = (f + p + q + s)^m - (f + p)^m - (f + q)^m + f^m                               (23)
 *
 * and for m = 1, 2, ... with a_m = (f + p)^m - f^m, b_m = (f + q)^m - f^m, T = f + p + q + s
 *
 *   k~_m = T k~_(m-1) + (q + s) a_(m-1) + (p + s) b_(m-1) + s f^(m-1)
 *   a_m = (f + p) a_(m-1) + p f^(m-1)                                                        (24)
 *
 * where nothing large is subtracted: as polynomials in f, p, q, s all of them have no coefficient
 * below 0. docs/algorithms/kernel.md. */
#ifndef MGVI_OP_KERNEL_ORIGIN_H
#define MGVI_OP_KERNEL_ORIGIN_H

#include "op/points.h"

/* (24); the same bits for p and q exchanged. */
#define MGVI_DEFINE_FROM_ORIGIN(T, NAME)                                                           \
    static inline T NAME(int degree, T f, T p, T q, T s)                                           \
    {                                                                                              \
        const T total = (f + s) + (p + q), with_p = f + p, with_q = f + q;                         \
        T power = 1, a = 0, b = 0, k = 0;                                                          \
        for (int m = 0; m < degree; m++) {                                                         \
            k = total * k + (((q + s) * a + (p + s) * b) + s * power);                             \
            a = with_p * a + p * power;                                                            \
            b = with_q * b + q * power;                                                            \
            power *= f;                                                                            \
        }                                                                                          \
        return k;                                                                                  \
    }
MGVI_DEFINE_FROM_ORIGIN(double, mgvi_poly_from_origin)
MGVI_DEFINE_FROM_ORIGIN(long double, mgvi_poly_from_origin_wide)

/* f of the points' own origin, and p of point i. */
static inline double mgvi_points_origin(const mgvi_kernel *k, const mgvi_points *points)
{
    return points->origin_square / k->sigma2 + k->offset;
}
static inline double mgvi_point_along(const mgvi_kernel *k, const mgvi_points *points, int64_t i)
{
    return points->along ? points->along[i] * (1 / k->sigma2) : 0;
}

/* What (24) is off is relative to (23) in sizes, sqrt(f a) >= |p| and sqrt(a_x a_z) >= |s| with
 * a = |x'|^2 / sigma2, and that is a product,
 *   h_x h_z,   h = (sqrt(f) + sqrt(a))^m - sqrt(f)^m >= sqrt(k~(x, x)).                        (25)
 * Here h of point i, for poly without an origin sqrt(k(x, x)), which is `self`. */
double mgvi_kernel_size(const mgvi_kernel *k, const mgvi_points *points, int64_t i, double self);
#endif
