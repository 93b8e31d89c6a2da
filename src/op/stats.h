/* op/stats.h - statistics of the columns and rows of a stored matrix; the zeros that a sparse one
 * leaves out count. Same bits for any number of threads. */
#ifndef MGVI_OP_STATS_H
#define MGVI_OP_STATS_H

#include "op/matrix.h"

/* One number per column; any output may be NULL. With weights v_i >= 0 per row (NULL: all 1),
 *     mean_j = sum_i v_i x_ij / sum_i v_i,   std_j^2 = sum_i v_i (x_ij - mean_j)^2 / sum_i v_i,
 * in two passes from a shifted origin: nothing cancels, and the std of a constant column is 0.
 * Both are 0 when the weights sum to 0. Rows of weight 0 are nowhere looked at.
 * MGV_E_MEMORY with a sentence, outputs then undefined. */
mgv_status mgvi_matrix_column_stats(mgv_ctx *ctx, const mgvi_matrix *m, const double *weights,
                                    double *mean, double *std, double *max_abs, int64_t *nonzeros);
/* norm2[i] = |x_i|, the Euclidean norm of row i; squares must not overflow. */
mgv_status mgvi_matrix_row_norms(mgv_ctx *ctx, const mgvi_matrix *m, double *norm2);
#endif
