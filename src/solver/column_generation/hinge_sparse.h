/* column_generation/hinge_sparse.h - chosen columns of a sparse table over the rows of a hinge problem, as a
 * block of column_generation/hinge_block.h needs them: by columns and by rows, float64, the shift of centred
 * columns kept apart,
 *   Z = X + left right',   X_ij = y_i p_i s_j x_ij,  left_i = y_i p_i,  right_j = -s_j c_j.
 * A column with entries in most rows has its shift within X and right_j = 0: there the two parts of
 * Z K Z' would cancel (elsewhere the shift takes at most half of a column's square). */
#ifndef MGVI_SOLVER_HINGE_SPARSE_H
#define MGVI_SOLVER_HINGE_SPARSE_H

#include "op/rows.h"

typedef struct mgvi_hinge_sparse {
    int64_t rows, cols;
    int64_t *ptr, *row_ptr; /* cols + 1, rows + 1 */
    int32_t *row, *col;     /* entries by columns, rows increasing; by rows, columns increasing */
    double *val, *row_val;  /* their values */
    int32_t *below,
        *behind;          /* of an entry by rows its place by columns; of one by columns by rows */
    double *left, *right; /* NULL: nothing is shifted */
    double *room;         /* sums of every block of work */
} mgvi_hinge_sparse;

/* The `cols` columns col[t] over the `n` rows row[i] of `from`, whose matrix is sparse. */
mgv_status mgvi_hinge_sparse_new(mgvi_arena *arena, const mgvi_rows *from, const int32_t *row,
                                 int64_t n, const int32_t *col, int64_t cols,
                                 mgvi_hinge_sparse **out);
/* out = Z x and out = Z'x */
void mgvi_hinge_sparse_mul(mgv_ctx *ctx, const mgvi_hinge_sparse *z, const double *x, double *out);
void mgvi_hinge_sparse_mul_t(mgv_ctx *ctx, const mgvi_hinge_sparse *z, const double *x,
                             double *out);
/* The upper triangle of H = Z_L diag(h) Z_L' on the rows L, live[0..count) increasing, ld = count;
 * h has `cols` entries. Multiplications are sum_j nnz_j^2 / 2 and some per entry of H. */
void mgvi_hinge_sparse_rows(mgv_ctx *ctx, const mgvi_hinge_sparse *z, const double *h,
                            const int32_t *live, int64_t count, double *H);
/* The same in float32, and the diagonal alone. */
void mgvi_hinge_sparse_rows_rough(mgv_ctx *ctx, const mgvi_hinge_sparse *z, const double *h,
                                  const int32_t *live, int64_t count, float *H);
void mgvi_hinge_sparse_rows_diagonal(const mgvi_hinge_sparse *z, const double *h,
                                     const int32_t *live, int64_t count, double *diagonal);
/* The upper triangle of H = Z' diag(h) Z, ld = cols; rows with h_i = 0 are left out. */
void mgvi_hinge_sparse_cols(mgv_ctx *ctx, const mgvi_hinge_sparse *z, const double *h, double *H);
/* Column j written over `n` rows, out[i * stride], those of row[]. */
void mgvi_hinge_sparse_column(const mgvi_hinge_sparse *z, int64_t j, const int32_t *place,
                              const int32_t *row, int64_t n, double *out, int64_t stride);
/* Multiplications of the two. */
double mgvi_hinge_sparse_rows_work(const mgvi_hinge_sparse *z);
double mgvi_hinge_sparse_cols_work(const mgvi_hinge_sparse *z);
#endif
