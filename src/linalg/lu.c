/* lu.c - P A = L U with row pivoting, by panels of columns:
 *   the panel is eliminated row by row, U12 = L11^-1 A12, A22 <- A22 - L21 U12, and so on in A22.
 */
#include "linalg/gemm.h"
#include "simd/simd.h"

#include <assert.h>
#include <math.h>

enum { PANEL = 48 };

static void swap_rows(double *a, double *b, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        const double t = a[j];
        a[j] = b[j];
        b[j] = t;
    }
}

/* Columns first .. end of the rows first .. n; false: a column without a pivot. */
static bool factor_panel(const mgvi_simd *simd, int64_t n, double *a, int64_t lda, int64_t first,
                         int64_t end, int32_t *perm)
{
    for (int64_t k = first; k < end; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < n; i++)
            if (fabs(a[i * lda + k]) > fabs(a[best * lda + k]))
                best = i;
        perm[k] = (int32_t)best;
        const double pivot = a[best * lda + k];
        if (!(fabs(pivot) > 0) || isinf(pivot))
            return false;
        if (best != k)
            swap_rows(a + k * lda, a + best * lda, n);
        for (int64_t i = k + 1; i < n; i++) {
            const double l = a[i * lda + k] /= pivot;
            if (l != 0)
                simd->axpy_f64(-l, a + k * lda + k + 1, a + i * lda + k + 1, end - k - 1);
        }
    }
    return true;
}

mgv_status mgvi_lu(mgv_ctx *ctx, int64_t n, double *a, int64_t lda, int32_t *perm, bool *regular)
{
    assert(n >= 0 && n <= INT32_MAX && lda >= n);
    *regular = false;
    for (int64_t first = 0; first < n; first += PANEL) {
        const int64_t end = first + PANEL < n ? first + PANEL : n, rest = n - end;
        if (!factor_panel(ctx->simd, n, a, lda, first, end, perm))
            return MGV_OK;
        for (int64_t i = first + 1; i < end; i++) /* U12 */
            for (int64_t k = first; k < i; k++)
                ctx->simd->axpy_f64(-a[i * lda + k], a + k * lda + end, a + i * lda + end, rest);
        if (rest > 0)
            MGVI_TRY(mgvi_gemm_f64(
                ctx,
                &(mgvi_gemm_shape){
                    .m = rest, .n = rest, .k = end - first, .lda = lda, .ldb = lda, .ldc = lda},
                -1, a + end * lda + first, a + first * lda + end, 1, a + end * lda + end));
    }
    *regular = true;
    return MGV_OK;
}

void mgvi_lu_solve(const mgv_ctx *ctx, int64_t n, const double *lu, int64_t lda,
                   const int32_t *perm, bool transposed, double *x)
{
    const mgvi_simd *simd = ctx->simd;
    if (!transposed) {
        for (int64_t k = 0; k < n; k++)
            swap_rows(x + k, x + perm[k], 1);
        for (int64_t i = 1; i < n; i++)
            x[i] -= simd->dot_f64(lu + i * lda, x, i);
        for (int64_t i = n - 1; i >= 0; i--)
            x[i] = (x[i] - simd->dot_f64(lu + i * lda + i + 1, x + i + 1, n - i - 1)) /
                   lu[i * lda + i];
        return;
    }
    for (int64_t i = 0; i < n; i++) { /* U'y = x */
        x[i] /= lu[i * lda + i];
        simd->axpy_f64(-x[i], lu + i * lda + i + 1, x + i + 1, n - i - 1);
    }
    for (int64_t i = n - 1; i > 0; i--) /* L'z = y */
        simd->axpy_f64(-x[i], lu + i * lda, x, i);
    for (int64_t k = n - 1; k >= 0; k--)
        swap_rows(x + k, x + perm[k], 1);
}
