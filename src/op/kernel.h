/* op/kernel.h - the kernel operator: A w for w in the feature space of a kernel, w = sum_j c_j
 * phi(x_j) given by its coefficients c. docs/algorithms/kernel.md. With K_ij = k(x_i, x_j), signs y
 * and an intercept b,
 *   A (c, b) = y (K c + b),   A'u = (y u, sum y u),   |w|^2 = c'K c                              (1)
 * so that A' costs nothing, and lengths of columns are the operator's to know (mgvi_op_length).
 * Rows of K are computed when first needed and kept while they fit. One thread at a time. */
#ifndef MGVI_OP_KERNEL_H
#define MGVI_OP_KERNEL_H

#include "op/op.h"
#include "op/points.h"

typedef struct mgvi_kernel_op mgvi_kernel_op;

typedef struct mgvi_kernel_plan {
    mgvi_kernel kernel;
    const mgvi_matrix *X;       /* the examples, or their Gram matrix when precomputed */
    mgvi_point_scaling scaling; /* the view's sign and intercept are the operator's */
    int32_t lanes;              /* vectors a product may have at once; 0: one */
    mgv_dtype fast;             /* type of the rows kept; products are float64 all the same */
    double cache_bytes;         /* for rows of K */
    mgvi_kernel_op *lender;     /* over the same examples, which it shares, and its rows where
                             * mgvi_kernel_lend() was called; it outlives this; NULL: none */
} mgvi_kernel_plan;

/* Borrows the arrays. MGV_E_INPUT for a Gram matrix that is not square or not symmetric. */
mgv_status mgvi_op_kernel(mgv_ctx *ctx, const mgvi_kernel_plan *plan, mgvi_op **out);
/* NULL when `op` is not a kernel operator. */
mgvi_kernel_op *mgvi_kernel_of(mgvi_op *op);
/* While it is frozen the operator keeps nothing of what it computes: what is asked meanwhile changes
 * neither the numbers that come after nor what they cost. NULL is accepted. */
void mgvi_kernel_freeze(mgvi_kernel_op *op, bool frozen);

/* Operators bound with this one as their lender keep rows of K here and share them, from several
 * threads; it must outlive them, and is not used by itself meanwhile. Only where all rows fit the
 * cache, in float64, between dense points; else nothing is lent. MGV_E_MEMORY. */
mgv_status mgvi_kernel_lend(mgvi_kernel_op *op);
/* The rows kept are given back. */
void mgvi_kernel_drop_rows(mgvi_kernel_op *op);

mgv_dtype mgvi_kernel_fast(const mgvi_kernel_op *op);
/* From here on rows are kept in float64. MGV_E_MEMORY. */
mgv_status mgvi_kernel_make_exact(mgvi_kernel_op *op);
const int8_t *mgvi_kernel_sign(const mgvi_kernel_op *op); /* NULL: 1 */
const double *mgvi_kernel_diagonal(const mgvi_kernel_op *op);
const mgvi_kernel *mgvi_kernel_spec(const mgvi_kernel_op *op);
const mgvi_points *mgvi_kernel_points(const mgvi_kernel_op *op); /* the examples */
/* f = K c in the precision of the rows kept; sums in float64. */
void mgvi_kernel_combine(mgvi_kernel_op *op, const double *c, double *f);
/* f = K from becomes K to. True: where no rows are kept, and it was less work, by adding what has
 * changed; false: from `to` alone. */
bool mgvi_kernel_update(mgvi_kernel_op *op, const double *from, const double *to, double *f);
/* out[s*ld + t] = K between the listed rows, in the type. MGV_E_MEMORY. */
mgv_status mgvi_kernel_among(mgvi_kernel_op *op, const int64_t *p, int64_t np, const int64_t *q,
                             int64_t nq, mgv_dtype dtype, void *out, int64_t ld);
/* All products from here on are with most rows: K is kept as its half while it fits. True: better
 * not, where float32 values are good enough (`roughly`, mgvi_kernel_rough_times): between points of
 * few columns they cost no more than to be read, and what does not fit is made anew in every
 * product. */
bool mgvi_kernel_expect_all(mgvi_kernel_op *op, bool roughly);
/* Products to come want many rows over and over: where not all of them fit, but the half of K does,
 * that is kept, in place of rows that would push each other out. */
void mgvi_kernel_expect_many(mgvi_kernel_op *op);
/* out[i*count + t] = K of every row i and row col[t], in float64. MGV_E_MEMORY. */
mgv_status mgvi_kernel_columns(mgvi_kernel_op *op, const int64_t *col, int64_t count, double *out);
/* float32 values made where they are used (kernel_rough.c): kernels of differences between points
 * of at most 256 columns, and what their copy takes. The copy is made once; others follow it.
 * MGV_E_MEMORY, MGV_E_LIMIT. */
bool mgvi_kernel_has_rough(const mgvi_kernel_op *op);
double mgvi_kernel_rough_bytes(const mgvi_kernel_op *op);
mgv_status mgvi_kernel_open_rough(mgvi_kernel_op *op);
/* f_i += sum_s c_s K(i, rows_s) for every row i; and in float64, whatever is open or kept. */
mgv_status mgvi_kernel_rough_add(mgvi_kernel_op *op, const int64_t *rows, int64_t count,
                                 const double *c, double *f);
mgv_status mgvi_kernel_exact_add(mgvi_kernel_op *op, const int64_t *rows, int64_t count,
                                 const double *c, double *f);
/* f = K c for all rows, a value for two of them. */
mgv_status mgvi_kernel_rough_times(mgvi_kernel_op *op, const double *c, double *f);
/* The same for several vectors, c and f rows x lanes: a value serves all. */
mgv_status mgvi_kernel_rough_lanes(mgvi_kernel_op *op, const double *c, int32_t lanes, double *f);
/* Whether f += K dc is made of float64 rows that are kept: sparse points of many columns. */
bool mgvi_kernel_keeps_rows(const mgvi_kernel_op *op);
/* out[s*ld + t] = K between the listed rows and themselves. */
mgv_status mgvi_kernel_rough_among(mgvi_kernel_op *op, const int64_t *rows, int64_t count,
                                   float *out, int64_t ld);
/* f = K c, of one vector, made by another operator over the same points, with the error of a
 * product of our own. */
void mgvi_kernel_tell(mgvi_kernel_op *op, const double *c, const double *f);
/* Row i of K in float64, valid until the next call. */
const double *mgvi_kernel_row(mgvi_kernel_op *op, int64_t i);
#endif
