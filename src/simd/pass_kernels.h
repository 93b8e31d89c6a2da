/* simd/pass_kernels.h - float32 kernels of a pass over rows of data for k classes at once: scores
 * of a few rows, the loss's slope in place of them, and the gradient those rows add up to. Weights
 * and gradients are class by class: `stride` numbers each, a multiple of `lanes`, of which those
 * after the last column are 0. Scores are row by row: `width` numbers, a multiple of `lanes` too.
 * Rows are found through pointers, so they may lie anywhere. docs/algorithms/probing.md. */
#ifndef MGVI_SIMD_PASS_KERNELS_H
#define MGVI_SIMD_PASS_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

/* A step of momentum for one class: m = keep m - step_j (g - origin_j offset) - decay_j w, then
 * w += m. g is the sum of some groups of rows, added up in their order. */
typedef struct mgvi_momentum {
    float keep;
    int groups;
    const float *step, *decay, *origin; /* per column, padding 0 */
} mgvi_momentum;

typedef struct mgvi_pass_kernels {
    int lanes; /* floats of a vector */
    /* z[i*width + c] = start[c] + sum_j x[i][j] w[c*stride + j], i < rows, c < k; padding: start.
     * The even cache lines of the rows at `next`, as many, are asked for meanwhile; NULL: none. */
    void (*scores)(const float *const *x, int rows, int64_t cols, const float *w, int64_t stride,
                   int k, const float *start, int width, float *z, const float *const *next);
    /* g[c*stride + j] = sum_i x[i][j] p[i*width + c], first <= j < end, c < k, added to what is
     * there unless `fresh`. `first` is a multiple of `lanes`; 0 up to the next one after `end`. The
     * odd lines of the rows at `next` are asked for: memory is as busy here as in scores. */
    void (*gradient)(const float *const *x, int rows, int64_t first, int64_t end, const float *p,
                     int width, int k, bool fresh, float *g, int64_t stride,
                     const float *const *next);
    /* Scores turned into s_i (softmax - indicator of class c_i); padding, far below the others,
     * into 0. The sum of s_i (log sum e^z - z_c). s NULL: 1. */
    double (*softmax)(float *z, int rows, int width, const int32_t *c, const float *s);
    /* One class of cols numbers, a multiple of `lanes`: sum += w; the result is sum_j origin_j w_j.
     */
    float (*momentum)(const mgvi_momentum *rule, int64_t cols, const float *const *g, float offset,
                      float *m, float *w, float *sum);
    /* sum += g, n numbers */
    void (*widen)(const float *g, double *sum, int64_t n);
} mgvi_pass_kernels;

/* n numbers, padded to whole vectors. */
static inline int64_t mgvi_pass_padded(const mgvi_pass_kernels *kernels, int64_t n)
{
    return (n + kernels->lanes - 1) / kernels->lanes * kernels->lanes;
}
#endif
