/* linalg/gemm.h - dense matrix products, A' diag(h) A and Cholesky on the context's threads.
 * Our own, because a BLAS found on the machine may not know its processor and its threads change
 * the bits. The work is cut by the shapes alone and every entry of a result is summed in one order:
 * the bits depend on the shapes and the instruction set, never on the number of threads.
 * Matrices are row-major with the distance between rows given in entries. Every function returns
 * MGV_E_MEMORY when its work space is refused; results are then untouched, but what mgvi_cholesky
 * was given is spoiled. */
#ifndef MGVI_LINALG_GEMM_H
#define MGVI_LINALG_GEMM_H

#include "base/context.h"

/* op(X) = X, or X' where the flag says so. */
typedef struct mgvi_gemm_shape {
    int64_t m, n, k; /* op(A) is m x k, op(B) is k x n, C is m x n */
    bool transpose_a, transpose_b;
    int64_t lda, ldb, ldc;
} mgvi_gemm_shape;

/* C = alpha op(A) op(B) + beta C; C is not read when beta is 0. */
mgv_status mgvi_gemm_f32(mgv_ctx *ctx, const mgvi_gemm_shape *shape, float alpha, const float *a,
                         const float *b, float beta, float *c);
mgv_status mgvi_gemm_f64(mgv_ctx *ctx, const mgvi_gemm_shape *shape, double alpha, const double *a,
                         const double *b, double beta, double *c);
/* The upper triangle of C = alpha A'A + beta C, A k x n, C n x n; entries of C below the diagonal
 * may change. */
mgv_status mgvi_syrk_f32(mgv_ctx *ctx, int64_t n, int64_t k, float alpha, const float *a,
                         int64_t lda, float beta, float *c, int64_t ldc);
mgv_status mgvi_syrk_f64(mgv_ctx *ctx, int64_t n, int64_t k, double alpha, const double *a,
                         int64_t lda, double beta, double *c, int64_t ldc);

/* G = A' diag(h) A, d x d, both triangles; A n x d, h_i >= 0 (NULL: 1). Rows with h_i = 0 are not
 * read. The rows of A are scaled by sqrt(h_i). float32 data: products and sums in float32 over at
 * most 1024 rows, then float64. */
mgv_status mgvi_gram_f32(mgv_ctx *ctx, int64_t n, int64_t d, const float *a, int64_t stride,
                         const double *h, double *g, int64_t ldg);
mgv_status mgvi_gram_f64(mgv_ctx *ctx, int64_t n, int64_t d, const double *a, int64_t stride,
                         const double *h, double *g, int64_t ldg);

/* A = U'U from the upper triangle of A (n x n), which U replaces; entries below the diagonal may
 * change. *pivot is -1, or the first row whose pivot is not positive (or not a number), where the
 * factorisation stopped: the leading block before it is not positive definite with it. */
mgv_status mgvi_cholesky(mgv_ctx *ctx, int64_t n, double *a, int64_t lda, int64_t *pivot);
/* Solves U'U X = B in place for k right-hand sides: x is n x k, B on entry, X on return. */
mgv_status mgvi_cholesky_solve(mgv_ctx *ctx, int64_t n, const double *u, int64_t ldu, int32_t k,
                               double *x);
/* The same in float32, its blocks of rows eliminated in float64; one right-hand side in float64. */
mgv_status mgvi_cholesky_f32(mgv_ctx *ctx, int64_t n, float *a, int64_t lda, int64_t *pivot);
mgv_status mgvi_cholesky_f32_solve(mgv_ctx *ctx, int64_t n, const float *u, int64_t ldu, double *x);

/* P A = L U by row pivoting, in place: L below the diagonal (its own is 1), U on and above it; step
 * k exchanged the rows k and perm[k]. *regular is false when a column had no pivot but 0; the
 * factors are then useless. */
mgv_status mgvi_lu(mgv_ctx *ctx, int64_t n, double *a, int64_t lda, int32_t *perm, bool *regular);
/* Solves A x = b, or A'x = b when `transposed`, in place. */
void mgvi_lu_solve(const mgv_ctx *ctx, int64_t n, const double *lu, int64_t lda,
                   const int32_t *perm, bool transposed, double *x);
#endif
