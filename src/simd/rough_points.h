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

/* Of `width` vectors at once, from values that are there: v[s*GROUP + l] of `count` points p, a
 * multiple of FOUR. */
enum { MGVI_ROUGH_WIDTH = 16 }; /* width is a multiple of it */
typedef struct mgvi_rough_lanes {
    const float *v, *c_p, *c_q;
    int64_t count, width;
} mgvi_rough_lanes;

/* ctx->simd->rough_points */
typedef struct mgvi_rough_loops {
    /* sums[l] += sum_s c_s k(p_s, q_l): four at a time in float32, the rest in float64 */
    void (*sums)(const mgvi_rough_points *points, const float *c, double *sums);
    /* the same, and sums_p[s] += sum_l c_q[l] k(p_s, q_l) from the same values: K is symmetric */
    void (*both)(const mgvi_rough_points *points, const float *c, const float *c_q, double *sums,
                 double *sums_p);
    /* out[s*ld + l] = k(p_s, q_l) */
    void (*values)(const mgvi_rough_points *points, float *out, int64_t ld);
    /* sums[l*width + c] += sum_s v_sl c_p[s*width + c], and unless sums_p is NULL
     * sums_p[s*width + c] += sum_l v_sl c_q[l*width + c]. Both are zeroed by whoever has added them
     * up: they are float32. */
    void (*lanes)(const mgvi_rough_lanes *lanes, float *sums, float *sums_p);
} mgvi_rough_loops;
#endif
