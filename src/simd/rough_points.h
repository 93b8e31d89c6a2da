/* simd/rough_points.h - kernel values in float32 between points of a moderate number of columns,
 * made where they are used: some points against a group of others that lie by columns. The points
 * are scaled so that a value is 2^-|p - q|^2 (root: 2^-|p - q|); differences are squared, so that
 * nothing cancels where points lie far from 0. */
#ifndef MGVI_SIMD_ROUGH_POINTS_H
#define MGVI_SIMD_ROUGH_POINTS_H

#include <stdbool.h>
#include <stdint.h>

/* Points q of a group, entry j of q_l at q[j*GROUP + l]; points p taken together, entry j of p_k of
 * the first four at p[j*FOUR + k], and so on. */
enum { MGVI_ROUGH_GROUP = 32, MGVI_ROUGH_FOUR = 4 };

typedef struct mgvi_rough_points {
    const float *p, *q;
    int64_t fours, d; /* p in fours; columns */
    bool root;
} mgvi_rough_points;

/* sums[l] += sum_s c_s k(p_s, q_l): four at a time in float32, the rest in float64. */
typedef void mgvi_rough_sums_fn(const mgvi_rough_points *points, const float *c, double *sums);
/* out[s*ld + l] = k(p_s, q_l) */
typedef void mgvi_rough_values_fn(const mgvi_rough_points *points, float *out, int64_t ld);

/* The first, and sums_p[s] += sum_l c_q[l] k(p_s, q_l) from the same values: K is symmetric. */
typedef void mgvi_rough_both_fn(const mgvi_rough_points *points, const float *c, const float *c_q,
                                double *sums, double *sums_p);

/* The same for `width` vectors at once, from values that are there: v[s*GROUP + l] of `count`
 * points p, a multiple of FOUR. sums[l*width + c] += sum_s v_sl c_p[s*width + c], and unless sums_p
 * is NULL sums_p[s*width + c] += sum_l v_sl c_q[l*width + c]. Both are zeroed by whoever has added
 * them up: they are float32. */
enum { MGVI_ROUGH_WIDTH = 16 }; /* width is a multiple of it */
typedef struct mgvi_rough_lanes {
    const float *v, *c_p, *c_q;
    int64_t count, width;
} mgvi_rough_lanes;
typedef void mgvi_rough_lanes_fn(const mgvi_rough_lanes *lanes, float *sums, float *sums_p);

mgvi_rough_sums_fn mgvi_rough_sums_scalar;
mgvi_rough_both_fn mgvi_rough_both_scalar;
mgvi_rough_values_fn mgvi_rough_values_scalar;
mgvi_rough_lanes_fn mgvi_rough_lanes_scalar;
#if defined(__x86_64__)
mgvi_rough_sums_fn mgvi_rough_sums_avx2, mgvi_rough_sums_avx512;
mgvi_rough_both_fn mgvi_rough_both_avx2, mgvi_rough_both_avx512;
mgvi_rough_values_fn mgvi_rough_values_avx2, mgvi_rough_values_avx512;
mgvi_rough_lanes_fn mgvi_rough_lanes_avx2, mgvi_rough_lanes_avx512;
#elif defined(__aarch64__)
mgvi_rough_sums_fn mgvi_rough_sums_neon;
mgvi_rough_both_fn mgvi_rough_both_neon;
mgvi_rough_values_fn mgvi_rough_values_neon;
mgvi_rough_lanes_fn mgvi_rough_lanes_neon;
#endif
#endif
