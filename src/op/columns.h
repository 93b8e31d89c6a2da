/* op/columns.h - products with chosen columns of a stored matrix, or of a view over one, for
 * methods whose weights are mostly 0: they read the chosen columns and nothing else. */
#ifndef MGVI_OP_COLUMNS_H
#define MGVI_OP_COLUMNS_H

#include "op/op.h"

typedef struct mgvi_columns mgvi_columns;

/* *out is NULL where `op` has no columns to choose from (no stored matrix, a view of chosen rows or
 * with a sign for every lane): the caller then makes full products. A matrix stored by rows is
 * copied into the arena by columns. `op` must outlive the result, which counts in op->touched. */
mgv_status mgvi_columns_new(mgvi_op *op, mgvi_arena *arena, mgvi_columns **out);
/* Columns that can be chosen: all but the intercept, which is always in. */
int64_t mgvi_columns_count(const mgvi_columns *columns);

/* out[j] = |A_j|^2 for those columns. */
void mgvi_columns_square_norms(const mgvi_columns *columns, double *out);

/* y = A[:, list] w[list]; `list` increases. */
void mgvi_columns_mul(mgvi_columns *columns, const int64_t *list, int64_t count, const mgvi_vec *w,
                      mgvi_vec *y);
/* g_j = (A'u)_j for j in the list; the others stay. */
void mgvi_columns_mul_t(mgvi_columns *columns, const int64_t *list, int64_t count,
                        const mgvi_vec *u, mgvi_vec *g);
#endif
