/* cholesky.c - A = U'U by blocks of rows:
 *   U11'U11 = A11,  U12 = U11'^-1 A12,  A22 <- A22 - U12'U12,  and so on in A22. */
#include "base/limit.h"
#include "base/memory.h"
#include "linalg/gemm.h"
#include "simd/simd.h"

#include <assert.h>
#include <math.h>

enum {
    BLOCK = 96,  /* rows eliminated before the rest is updated by a matrix product */
    STRIP = 512, /* columns of U12 solved by one task */
};

typedef struct block {
    const mgvi_simd *simd;
    double *u; /* the first row of the block */
    int64_t ldu, first, rows, n;
} block;

/* u_ij for the block's row i and columns from .. to, given the rows above:
 *   u_ij = (a_ij - sum_{l < i} u_li u_lj) / u_ii. */
static void eliminate_above(const block *b, int64_t i, int64_t from, int64_t to)
{
    double minus[BLOCK];
    for (int64_t l = 0; l < i; l++)
        minus[l] = -b->u[l * b->ldu + b->first + i];
    b->simd->dense_mul_t_f64(b->u + from, b->ldu, i, to - from, minus, b->u + i * b->ldu + from);
}

static void divide_row(const block *b, int64_t i, int64_t from, int64_t to)
{
    double *row = b->u + i * b->ldu;
    const double diagonal = row[b->first + i];
    for (int64_t j = from; j < to; j++)
        row[j] /= diagonal;
}

/* U11; the first row of the block without a positive pivot, or -1. */
static int64_t factor_diagonal(const block *b)
{
    const int64_t end = b->first + b->rows;
    for (int64_t i = 0; i < b->rows; i++) {
        double *diagonal = b->u + i * b->ldu + b->first + i;
        eliminate_above(b, i, b->first + i, end);
        if (!(*diagonal > 0 && *diagonal < INFINITY))
            return i;
        *diagonal = sqrt(*diagonal);
        divide_row(b, i, b->first + i + 1, end);
    }
    return -1;
}

static void solve_strip(void *arg, int64_t strip)
{
    const block *b = arg;
    const int64_t from = b->first + b->rows + strip * STRIP;
    const int64_t to = from + STRIP < b->n ? from + STRIP : b->n;
    for (int64_t i = 0; i < b->rows; i++) {
        eliminate_above(b, i, from, to);
        divide_row(b, i, from, to);
    }
}

mgv_status mgvi_cholesky(mgv_ctx *ctx, int64_t n, double *a, int64_t lda, int64_t *pivot)
{
    assert(n >= 0 && lda >= n);
    *pivot = -1;
    for (int64_t first = 0; first < n && !mgvi_ctx_cut(ctx); first += BLOCK) {
        block b = {.simd = ctx->simd, .u = a + first * lda, .ldu = lda, .first = first, .n = n};
        b.rows = n - first < BLOCK ? n - first : BLOCK;
        const int64_t bad = factor_diagonal(&b);
        if (bad >= 0) {
            *pivot = first + bad;
            return MGV_OK;
        }
        const int64_t next = first + b.rows, rest = n - next;
        mgvi_ctx_run(ctx, (rest + STRIP - 1) / STRIP, solve_strip, &b);
        MGVI_TRY(
            mgvi_syrk_f64(ctx, rest, b.rows, -1, b.u + next, lda, 1, a + next * lda + next, lda));
    }
    return mgvi_ctx_whole(ctx);
}

/* Rows of the block from the diagonal on, between the matrix and the float64 strip. */
static void widen(const block *b, const float *a, int64_t lda)
{
    for (int64_t i = 0; i < b->rows; i++)
        for (int64_t j = b->first + i; j < b->n; j++)
            b->u[i * b->ldu + j] = (double)a[(b->first + i) * lda + j];
}

static void narrow(const block *b, float *a, int64_t lda)
{
    for (int64_t i = 0; i < b->rows; i++)
        for (int64_t j = b->first + i; j < b->n; j++)
            a[(b->first + i) * lda + j] = (float)b->u[i * b->ldu + j];
}

static mgv_status factor_f32(mgv_ctx *ctx, int64_t n, float *a, int64_t lda, double *strip,
                             int64_t *pivot)
{
    for (int64_t first = 0; first < n && !mgvi_ctx_cut(ctx); first += BLOCK) {
        block b = {.simd = ctx->simd, .u = strip, .ldu = n, .first = first, .n = n};
        b.rows = n - first < BLOCK ? n - first : BLOCK;
        widen(&b, a, lda);
        const int64_t bad = factor_diagonal(&b);
        if (bad >= 0) {
            *pivot = first + bad;
            return MGV_OK;
        }
        const int64_t next = first + b.rows, rest = n - next;
        mgvi_ctx_run(ctx, (rest + STRIP - 1) / STRIP, solve_strip, &b);
        narrow(&b, a, lda);
        MGVI_TRY(mgvi_syrk_f32(ctx, rest, b.rows, -1, a + first * lda + next, lda, 1,
                               a + next * lda + next, lda));
    }
    return mgvi_ctx_whole(ctx);
}

mgv_status mgvi_cholesky_f32(mgv_ctx *ctx, int64_t n, float *a, int64_t lda, int64_t *pivot)
{
    assert(n >= 0 && lda >= n);
    *pivot = -1;
    double *strip = mgvi_alloc(ctx, BLOCK * (size_t)n + 1, sizeof *strip);
    if (!strip)
        return MGV_E_MEMORY;
    const mgv_status st = factor_f32(ctx, n, a, lda, strip, pivot);
    mgvi_release(ctx, strip);
    return st;
}

mgv_status mgvi_cholesky_f32_solve(mgv_ctx *ctx, int64_t n, const float *u, int64_t ldu, double *x)
{
    const mgvi_simd *simd = ctx->simd;
    for (int64_t i = 0; i < n && !mgvi_ctx_cut_row(ctx, i); i++) {
        const float *ui = u + i * ldu;
        x[i] /= (double)ui[i];
        simd->axpy_f32(-x[i], ui + i + 1, x + i + 1, n - i - 1);
    }
    for (int64_t i = n - 1; i >= 0 && !mgvi_ctx_cut_row(ctx, i); i--) {
        const float *ui = u + i * ldu;
        x[i] = (x[i] - simd->dot_f32(ui + i + 1, x + i + 1, n - i - 1)) / (double)ui[i];
    }
    return mgvi_ctx_whole(ctx);
}

/* One right-hand side: the same with plain rows. */
static mgv_status solve_one(mgv_ctx *ctx, int64_t n, const double *u, int64_t ldu, double *x)
{
    const mgvi_simd *simd = ctx->simd;
    for (int64_t i = 0; i < n && !mgvi_ctx_cut_row(ctx, i); i++) {
        const double *ui = u + i * ldu;
        x[i] /= ui[i];
        simd->axpy_f64(-x[i], ui + i + 1, x + i + 1, n - i - 1);
    }
    for (int64_t i = n - 1; i >= 0 && !mgvi_ctx_cut_row(ctx, i); i--) {
        const double *ui = u + i * ldu;
        x[i] = (x[i] - simd->dot_f64(ui + i + 1, x + i + 1, n - i - 1)) / ui[i];
    }
    return mgvi_ctx_whole(ctx);
}

mgv_status mgvi_cholesky_solve(mgv_ctx *ctx, int64_t n, const double *u, int64_t ldu, int32_t k,
                               double *x)
{
    const mgvi_simd *simd = ctx->simd;
    if (k == 1)
        return solve_one(ctx, n, u, ldu, x);
    double *row = mgvi_alloc(ctx, (size_t)k, sizeof *row); /* one row of the unknowns, or its sum */
    if (!row)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < n && !mgvi_ctx_cut_row(ctx, i);
         i++) { /* U'Y = B: row i of Y is known, and leaves the rows below */
        const double *ui = u + i * ldu;
        double *xi = x + i * k;
        for (int32_t c = 0; c < k; c++) {
            xi[c] /= ui[i];
            row[c] = -xi[c];
        }
        simd->dense_mul_t_k_f64(ui + i + 1, ldu, 1, n - i - 1, k, row, xi + k);
    }
    for (int64_t i = n - 1; i >= 0 && !mgvi_ctx_cut_row(ctx, i); i--) { /* U X = Y */
        const double *ui = u + i * ldu;
        double *xi = x + i * k;
        simd->dense_mul_k_f64(ui + i + 1, ldu, 1, n - i - 1, k, xi + k, row);
        for (int32_t c = 0; c < k; c++)
            xi[c] = (xi[c] - row[c]) / ui[i];
    }
    mgvi_release(ctx, row);
    return mgvi_ctx_whole(ctx);
}
