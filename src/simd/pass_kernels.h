/* simd/pass_kernels.h - float32 kernels of a pass over rows of data for k lanes at once: scores of
 * a few rows, the loss's slope in place of them, and the gradient those rows add up to. Lanes are
 * padded to whole vectors: `width` numbers per row of scores or column of weights, a multiple of
 * `lanes`. Rows are found through pointers, so they may lie anywhere. docs/algorithms/probing.md.
 */
#ifndef MGVI_SIMD_PASS_KERNELS_H
#define MGVI_SIMD_PASS_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

/* A step of momentum: m = keep m - step_j (g - origin_j offset) - decay w, then w += m. Column j of
 * the weights has a step and an origin of its own, every lane its offset. */
typedef struct mgvi_momentum {
    float keep, decay;
    const float *step, *origin; /* per column */
    const float *offset;        /* per lane, padding too */
} mgvi_momentum;

typedef struct mgvi_pass_kernels {
    int lanes; /* floats of a vector */
    /* z[i*width + c] = start[c] + sum_j x[i][j] w[j*width + c], i < rows. The rows at `next`, as
     * many, are asked for meanwhile; NULL: none. */
    void (*scores)(const float *const *x, int rows, int64_t cols, const float *w,
                   const float *start, int width, float *z, const float *const *next);
    /* g[(j - first)*width + c] = sum_i x[i][j] p[i*width + c], first <= j < end, added to what is
     * there unless `fresh`. */
    void (*gradient)(const float *const *x, int rows, int64_t first, int64_t end, const float *p,
                     int width, bool fresh, float *g);
    /* The first k lanes of every row of z: scores turned into s_i (softmax - indicator of class
     * c_i), padding into 0. The sum of s_i (log sum e^z - z_c). s NULL: 1. */
    double (*softmax)(float *z, int rows, int k, int width, const int32_t *c, const float *s);
    /* Columns first .. end: g has theirs alone, m, w and sum all. sum += w, and shift[c] becomes
     * sum_j origin_j w_jc over these columns. */
    void (*momentum)(const mgvi_momentum *rule, int64_t first, int64_t end, int width,
                     const float *g, float *m, float *w, float *sum, float *shift);
    /* sum += g, n numbers */
    void (*widen)(const float *g, double *sum, int64_t n);
} mgvi_pass_kernels;

extern const mgvi_pass_kernels mgvi_pass_scalar;
#if defined(__x86_64__)
extern const mgvi_pass_kernels mgvi_pass_avx2, mgvi_pass_avx512;
#elif defined(__aarch64__)
extern const mgvi_pass_kernels mgvi_pass_neon;
#endif
#endif
