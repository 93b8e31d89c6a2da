/* simd/short_points.h - kernel values between points of few columns, where a matrix product would
 * spend its time on packing: one point against many that lie by columns, or sums over values that
 * are not kept. */
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

/* Points q of a group, entry j of q_l at q[j*GROUP + l]; points p taken together, entry j of p_k of
 * the first four at p[j*FOUR + k], and so on. A value is 2^min(own_p + own_q + p.q, 0), else
 * 2^(-scale |p - q|^2) or 2^(-scale |p - q|). */
enum { MGVI_SHORT_FOUR = 4 };
typedef struct mgvi_short_points {
    const double *p, *q;
    const double *own_p, *own_q;
    double scale;
    int64_t fours, d;
    mgvi_short_form form;
} mgvi_short_points;

/* Numbers hi + lo, side by side. */
typedef struct mgvi_short_totals {
    double *hi, *lo;
} mgvi_short_totals;

/* A sum is as if at most so many terms had been added one after the other, then rounded: SHORT_RUN
 * fours or a group are, and these by twofold sums. */
enum { MGVI_SHORT_RUN = 16, MGVI_SHORT_TERMS = 24 };

/* ctx->simd->short_points */
typedef struct mgvi_short_loops {
    void (*values)(const double *p, int64_t d, const double *q, int64_t ld, const double *b,
                   double own, mgvi_short_form form, int64_t n, double *out);
    /* total_l += sum_s c_s k(p_s, q_l) and, unless total_p.hi is NULL, total_p_s += sum_l c_q[l]
     * k(p_s, q_l) from the same values */
    void (*sums)(const mgvi_short_points *points, const double *c, const double *c_q,
                 mgvi_short_totals total, mgvi_short_totals total_p);
} mgvi_short_loops;
#endif
