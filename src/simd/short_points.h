/* simd/short_points.h - kernel values between points of few columns, where a matrix product would
 * spend its time on packing: one point against many that lie by columns. */
#ifndef MGVI_SIMD_SHORT_POINTS_H
#define MGVI_SIMD_SHORT_POINTS_H

#include <stdint.h>

enum { MGVI_SHORT_GROUP = 32 }; /* n is a multiple of it */

/* With x_t = q[j*ld + t], j < d: where cancellation in own + b + p.x would show, the others. */
typedef enum mgvi_short_form {
    MGVI_SHORT_PRODUCT, /* exp(min(own + b_t + p.x_t, 0)) */
    MGVI_SHORT_SQUARE,  /* exp(-own |p - x_t|^2) */
    MGVI_SHORT_ROOT     /* exp(-own |p - x_t|) */
} mgvi_short_form;
typedef void mgvi_short_values_fn(const double *p, int64_t d, const double *q, int64_t ld,
                                  const double *b, double own, mgvi_short_form form, int64_t n,
                                  double *out);

mgvi_short_values_fn mgvi_short_values_scalar;
#if defined(__x86_64__)
mgvi_short_values_fn mgvi_short_values_avx2, mgvi_short_values_avx512;
#elif defined(__aarch64__)
mgvi_short_values_fn mgvi_short_values_neon;
#endif
#endif
