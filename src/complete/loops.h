/* complete/loops.h - the inner loops of completion, ctx->simd->complete.
 * Factors have rows of `width` numbers, a multiple of MGVI_FACTOR_LANES; numbers beyond the rank
 * are 0. */
#ifndef MGVI_COMPLETE_LOOPS_H
#define MGVI_COMPLETE_LOOPS_H

#include <stdint.h>

enum { MGVI_FACTOR_LANES = 8 };

typedef struct mgvi_complete_loops {
    /* out[t] = left . right[col[t]], t < count */
    void (*entry_values)(const double *left, const double *right, int64_t width, const int32_t *col,
                         int64_t count, double *out);
    /* G += sum_t x_t x_t' (width x width, blocks on and above the diagonal) and g += sum_t b_t x_t
     * over the rows x_t = right[idx[t]] */
    void (*normal_equations)(const double *right, int64_t width, const int32_t *idx,
                             const double *b, int64_t count, double *G, double *g);
} mgvi_complete_loops;
#endif
