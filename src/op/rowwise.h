/* op/rowwise.h - products with a matrix stored by rows: CSR, or dense. Column-stored matrices are
 * their transposes, with the two products exchanged. */
#ifndef MGVI_OP_ROWWISE_H
#define MGVI_OP_ROWWISE_H

#include "op/maps.h"
#include "simd/simd.h"

/* Products with `count` consecutive rows of m from row `first` on. */
typedef struct mgvi_row_kernels {
    /* y = M x */
    void (*mul)(const mgvi_simd *simd, const mgvi_matrix *m, int64_t first, int64_t count,
                int32_t k, const double *x, double *y);
    /* g += M'u */
    void (*mul_t)(const mgvi_simd *simd, const mgvi_matrix *m, int64_t first, int64_t count,
                  int32_t k, const double *u, double *g);
} mgvi_row_kernels;
extern const mgvi_row_kernels mgvi_csr_kernels;     /* csr.c */
extern const mgvi_row_kernels mgvi_dense_kernels;   /* dense.c: col_stride 1 */
extern const mgvi_row_kernels mgvi_strided_kernels; /* dense.c: any strides */

typedef struct mgvi_rowwise {
    mgv_ctx *ctx;
    mgvi_matrix m; /* CSR or dense */
    const mgvi_row_kernels *kernels;
    int32_t lanes;
    double *partial; /* the outputs of M'u's blocks, side by side */
    double *sums;    /* the lane sums of M'u's blocks */
} mgvi_rowwise;

/* Work space from the arena, or, when it is NULL, to be freed by mgvi_rowwise_free. */
mgv_status mgvi_rowwise_init(mgv_ctx *ctx, mgvi_arena *arena, const mgvi_matrix *m, int32_t lanes,
                             mgvi_rowwise *out);
void mgvi_rowwise_free(mgvi_rowwise *rw); /* half-built is accepted */

/* y = alpha map(M[rows] x) + beta y with the view's row side and shifts; x is scaled already.
 * view->rows is set even when view->row is NULL. */
void mgvi_rowwise_mul(mgvi_rowwise *rw, const mgvi_view *view, mgvi_lane_shift shift, int32_t k,
                      double alpha, const double *x, double beta, double *y);
/* g = alpha (the view's columns of A'u) + beta g, without the intercept; the sum for that one goes
 * to `intercept` (k numbers, multiplied by alpha), which may be NULL. */
void mgvi_rowwise_mul_t(mgvi_rowwise *rw, const mgvi_view *view, int32_t k, double alpha,
                        const double *u, double beta, double *g, double *intercept);
/* How many roundings a term of a column's sum goes through in mgvi_rowwise_mul_t, at most. */
double mgvi_rowwise_terms_t(const mgvi_rowwise *rw, const mgvi_view *view, int32_t k);
#endif
