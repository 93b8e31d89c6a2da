/* op/columns.h - the way to columns of a stored matrix, or of a view over one: products with chosen
 * ones, chosen ones as numbers, and a copy of all of them. */
#ifndef MGVI_OP_COLUMNS_H
#define MGVI_OP_COLUMNS_H

#include "base/memory.h"
#include "op/op.h"

/* ---- products with chosen columns, for methods whose weights are mostly 0 ---------------------- */
typedef struct mgvi_columns mgvi_columns;

/* *out is NULL where `op` has no columns to choose from (no stored matrix, a view of chosen rows or
 * with a sign for every lane): the caller then makes full products. A matrix stored by rows is
 * copied into the arena by columns. `op` must outlive the result, which counts in op->touched. */
mgv_status mgvi_columns_new(mgvi_op *op, mgvi_arena *arena, mgvi_columns **out);
/* Columns that can be chosen: all but the intercept, which is always in. */
int64_t mgvi_columns_count(const mgvi_columns *columns);

/* out[j] = |A_j|^2 for those columns. */
void mgvi_columns_square_norms(const mgvi_columns *columns, double *out);

/* out[i]: entries of row i in those columns that are not 0; a centred column has one in every row. */
void mgvi_columns_row_counts(const mgvi_columns *columns, double *out);

/* y = A[:, list] w[list]; `list` increases. */
void mgvi_columns_mul(mgvi_columns *columns, const int64_t *list, int64_t count, const mgvi_vec *w,
                      mgvi_vec *y);
/* g_j = (A'u)_j for j in the list; the others stay. */
void mgvi_columns_mul_t(mgvi_columns *columns, const int64_t *list, int64_t count,
                        const mgvi_vec *u, mgvi_vec *g);

/* ---- chosen columns made dense in float64, for methods that work on a few at a time ------------- */
typedef struct mgvi_gather mgvi_gather;

/* For a stored matrix or a view over one with one sign per row, else MGV_E_UNSUPPORTED. CSR is
 * copied into the arena by columns. `op` must outlive the result. */
mgv_status mgvi_gather_new(mgvi_op *op, mgvi_arena *arena, mgvi_gather **out);
/* Bytes that it takes, copy included. */
double mgvi_gather_bytes(const mgvi_matrix *m);
/* out[t*ld + i] = A_ij for j = cols[t], t < count: a column lies in one piece. ld >= rows. The
 * entries are counted in the operator's `touched`. */
void mgvi_gather_columns(mgvi_gather *gather, const int32_t *cols, int64_t count, double *out,
                         int64_t ld);

/* ---- a copy by columns, rows and columns multiplied by factors, rows renumbered ---------------- */
/* What coordinate methods over columns read. Matrices may be stacked: the rows of the second follow
 * those of the first. */
typedef struct mgvi_packed {
    int64_t rows, cols;
    bool dense;   /* every column has `rows` entries, entry t belongs to row t */
    int64_t *ptr; /* cols + 1: where columns begin */
    int32_t *idx; /* the number given to the row of each entry; NULL when dense */
    float *f32;   /* the values: one of them is NULL */
    double *f64;
} mgvi_packed;

/* Sparse: idx = number[i] for row i of the stack. Dense (when the first matrix is): row i becomes
 * entry number[i], a permutation of 0..rows-1. `number` NULL: i. `factor` of the rows, `scale` of
 * the columns, NULL: 1. Everything lives in the arena. MGV_E_UNSUPPORTED beyond 2^31 rows. */
mgv_status mgvi_packed_new(mgvi_arena *arena, const mgvi_matrix *const *stack, int count,
                           const double *factor, const double *scale, const int32_t *number,
                           mgv_dtype dtype, mgvi_packed *out);
/* Bytes of such a copy. */
double mgvi_packed_bytes(const mgvi_matrix *m, mgv_dtype dtype);
static inline int64_t mgvi_packed_nnz(const mgvi_packed *p, int64_t j)
{
    return p->ptr[j + 1] - p->ptr[j];
}
#endif
