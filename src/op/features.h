/* op/features.h - phi(x) itself, where a kernel has few features: what |w|^2 = c'K c cannot tell
 * from 0 can be told from w's own entries. docs/algorithms/kernel.md, "No margin". */
#ifndef MGVI_OP_FEATURES_H
#define MGVI_OP_FEATURES_H

#include "op/kernel.h"

enum { MGVI_FEATURES_MOST = 8192 };

/* How many numbers phi(x) has; 0: infinitely many, more than MGVI_FEATURES_MOST, or not known
 * before the matrix is factored (precomputed). */
int64_t mgvi_kernel_width(const mgvi_kernel_op *op);

/* phi(x_i) by rows, *width float64 numbers each: the monomials of poly, of a precomputed matrix a
 * factor K = F F'. MGV_E_UNSUPPORTED where there are none, or too many; MGV_E_MEMORY. */
mgv_status mgvi_kernel_features(mgvi_kernel_op *op, mgvi_arena *arena, double **out,
                                int64_t *width);

/* The first row with the same point as row i, for every i. The operator's own; NULL: no memory. */
const int64_t *mgvi_kernel_twins(mgvi_kernel_op *op);

/* Examples as rows of a table in which the kernel's problem is a linear one: the monomials of poly,
 * each a product, so that its relative error is known, or the rows of a given matrix, whose
 * products with the weights are the scores. */
typedef struct mgvi_feature_table {
    bool known;    /* false: infinitely many columns, or too many numbers */
    bool whole;    /* has all rows, not only those asked for */
    bool constant; /* one of its columns is: as good as an intercept */
    double error;  /* relative, of its entries */
    mgvi_matrix m;
} mgvi_feature_table;
mgv_status mgvi_kernel_table(mgvi_kernel_op *op, mgvi_arena *arena, const int64_t *row,
                             int64_t count, mgvi_feature_table *out);
#endif
