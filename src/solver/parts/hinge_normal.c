/* hinge_normal.c - the linear systems of the interior point. With K and Th the weights of columns
 * and rows, in the smaller of the two sizes:
 *   (Z K Z' + Th) da + y db = r - Z k0,   y.da = rb,   dw = K Z'da + k0                        (9)
 *   (1/K + Z'Th^-1 Z) dw + Z'Th^-1 y db = k0/K + Z'Th^-1 r,
 *    y'Th^-1 Z dw + y.Th^-1 y db = y.Th^-1 r - rb,   da = (r - Z dw - y db)/Th                 (10)
 * With a gram matrix (mu = 0): K = 1/lambda, k0 = 0, Z K Z' = G/lambda in (9). */
#include "backend/cpu/gemm.h"
#include "simd/simd.h"
#include "solver/parts/hinge_interior_impl.h"

#include <string.h>

static double dot(const mgv_ctx *ctx, const double *x, const double *y, int64_t n)
{
    return ctx->simd->dot_f64(x, y, n);
}

/* out = Z x */
static void product(const mgv_ctx *ctx, const mgvi_hinge_block *p, const double *x, double *out)
{
    memset(out, 0, (size_t)p->rows * sizeof *out);
    ctx->simd->dense_mul_t_f64(p->Z, p->col_stride, p->cols, p->rows, x, out);
}

/* out = Z'x */
static void product_t(const mgv_ctx *ctx, const mgvi_hinge_block *p, const double *x, double *out)
{
    ctx->simd->dense_mul_f64(p->Z, p->col_stride, p->cols, p->rows, x, out);
}

mgv_status mgvi_hinge_factor(mgv_ctx *ctx, mgvi_hinge_interior *k, bool *positive)
{
    const mgvi_hinge_block *p = k->p;
    const int64_t n = p->rows, m = p->cols;
    int64_t pivot, size = n;
    if (p->gram) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i; j < n; j++)
                k->H[i * n + j] = p->gram[i * p->gram_stride + j] / p->lambda;
    } else if (mgvi_hinge_by_columns(p)) {
        size = m;
        for (int64_t i = 0; i < n; i++)
            k->t_slack[i] = 1 / k->Th[i]; /* free until the targets are made */
        MGVI_TRY(mgvi_gram_f64(ctx, n, m, k->by_rows, m, k->t_slack, k->H, m));
    } else {
        MGVI_TRY(mgvi_gram_f64(ctx, m, n, p->Z, p->col_stride, k->K, k->H, n));
    }
    for (int64_t i = 0; i < size; i++)
        k->H[i * size + i] += size == n && !mgvi_hinge_by_columns(p) ? k->Th[i] : 1 / k->K[i];
    MGVI_TRY(mgvi_cholesky(ctx, size, k->H, size, &pivot));
    *positive = pivot < 0;
    return MGV_OK;
}

/* (9) */
static mgv_status rows_direction(mgv_ctx *ctx, mgvi_hinge_interior *k, double rb)
{
    const mgvi_hinge_block *p = k->p;
    const int64_t n = p->rows;
    const int32_t sides = p->y ? 2 : 1;
    if (p->gram)
        memset(k->da, 0, (size_t)n * sizeof *k->da);
    else
        product(ctx, p, k->k0, k->da);
    for (int64_t i = 0; i < n; i++) {
        k->pair[i * sides] = k->r[i] - k->da[i];
        if (p->y)
            k->pair[i * sides + 1] = p->y[i];
    }
    MGVI_TRY(mgvi_cholesky_solve(ctx, n, k->H, n, sides, k->pair));
    double top = -rb, bottom = 0;
    for (int64_t i = 0; p->y && i < n; i++) {
        top += p->y[i] * k->pair[2 * i];
        bottom += p->y[i] * k->pair[2 * i + 1];
    }
    k->db = bottom > 0 ? top / bottom : 0;
    for (int64_t i = 0; i < n; i++)
        k->da[i] = k->pair[i * sides] - (p->y ? k->db * k->pair[2 * i + 1] : 0);
    if (p->gram)
        return MGV_OK;
    product_t(ctx, p, k->da, k->g);
    for (int64_t j = 0; j < p->cols; j++)
        k->dw[j] = k->K[j] * k->g[j] + k->k0[j];
    return MGV_OK;
}

/* (10) */
static mgv_status cols_direction(mgv_ctx *ctx, mgvi_hinge_interior *k, double rb)
{
    const mgvi_hinge_block *p = k->p;
    const int64_t n = p->rows, m = p->cols;
    const int32_t sides = p->y ? 2 : 1;
    double top = -rb, bottom = 0;
    for (int64_t i = 0; i < n; i++)
        k->da[i] = k->r[i] / k->Th[i];
    product_t(ctx, p, k->da, k->g);
    for (int64_t j = 0; j < m; j++)
        k->pair[j * sides] = k->k0[j] / k->K[j] + k->g[j];
    if (p->y) {
        top += dot(ctx, p->y, k->da, n);
        for (int64_t i = 0; i < n; i++) {
            k->da[i] = p->y[i] / k->Th[i];
            bottom += p->y[i] * k->da[i];
        }
        product_t(ctx, p, k->da, k->g); /* Z'Th^-1 y */
        for (int64_t j = 0; j < m; j++)
            k->pair[j * sides + 1] = k->g[j];
    }
    MGVI_TRY(mgvi_cholesky_solve(ctx, m, k->H, m, sides, k->pair));
    for (int64_t j = 0; p->y && j < m; j++) {
        top -= k->g[j] * k->pair[2 * j];
        bottom -= k->g[j] * k->pair[2 * j + 1];
    }
    k->db = bottom > 0 ? top / bottom : 0;
    for (int64_t j = 0; j < m; j++)
        k->dw[j] = k->pair[j * sides] - (p->y ? k->db * k->pair[2 * j + 1] : 0);
    product(ctx, p, k->dw, k->da);
    for (int64_t i = 0; i < n; i++)
        k->da[i] = (k->r[i] - k->da[i] - (p->y ? p->y[i] * k->db : 0)) / k->Th[i];
    product_t(ctx, p, k->da, k->g);
    return MGV_OK;
}

mgv_status mgvi_hinge_direction(mgv_ctx *ctx, mgvi_hinge_interior *k, double rb)
{
    return mgvi_hinge_by_columns(k->p) ? cols_direction(ctx, k, rb) : rows_direction(ctx, k, rb);
}
