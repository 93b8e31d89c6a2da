/* hinge_normal.c - the linear systems of the interior point. With K and Th the weights of columns
 * and rows, in the smaller of the two sizes, on the rows that are live:
 *   (Z K Z' + Th) da + y db = r - Z k0,   y.da = rb,   dw = K Z'da + k0                        (9)
 *   (1/K + Z'Th^-1 Z) dw + Z'Th^-1 y db = k0/K + Z'Th^-1 r,
 *    y'Th^-1 Z dw + y.Th^-1 y db = y.Th^-1 r - rb,   da = (r - Z dw - y db)/Th                 (10)
 * With a gram matrix (mu = 0): K = 1/lambda, k0 = 0, Z K Z' = G/lambda in (9). */
#include "linalg/gemm.h"
#include "simd/simd.h"
#include "solver/column_generation/hinge_interior_impl.h"

#include <string.h>

/* Keeps the factor regular to the end; refinement makes up for it. */
static const double RIDGE = 1e-13;
static const double REFINED = 1e-2; /* relative gap from which directions are refined */

/* The upper triangle of Z K Z' or Z'Th^-1 Z. */
static mgv_status make_matrix(mgv_ctx *ctx, mgvi_hinge_interior *k)
{
    const mgvi_hinge_block *p = k->p;
    const int64_t n = p->rows, m = p->cols;
    if (p->gram) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i; j < n; j++)
                k->H[i * n + j] = p->gram[i * p->gram_stride + j] / p->lambda;
        return MGV_OK;
    }
    if (!mgvi_hinge_by_columns(k)) {
        if (!p->sparse)
            return mgvi_gram_f64(ctx, m, n, p->Z, p->col_stride, k->K, k->H, n);
        mgvi_hinge_sparse_rows(ctx, p->sparse, k->K, k->row, k->live, k->H);
        return MGV_OK;
    }
    double *inverse = k->t_slack; /* free until the targets are made */
    memset(inverse, 0, (size_t)n * sizeof *inverse);
    for (int64_t t = 0; t < k->live; t++)
        inverse[k->row[t]] = 1 / k->Th[k->row[t]];
    if (!p->sparse)
        return mgvi_gram_f64(ctx, n, m, k->by_rows, m, inverse, k->H, m);
    mgvi_hinge_sparse_cols(ctx, p->sparse, inverse, k->H);
    return MGV_OK;
}

/* Multiplications of make_matrix(). */
static double matrix_work(const mgvi_hinge_interior *k, bool columns)
{
    const mgvi_hinge_block *p = k->p;
    const double n = (double)k->live, m = (double)p->cols;
    if (p->gram)
        return 0;
    if (p->sparse)
        return columns ? mgvi_hinge_sparse_cols_work(p->sparse)
                       : mgvi_hinge_sparse_rows_work(p->sparse);
    return n * m / 2 * (columns ? m : n);
}

static mgv_status factor(mgv_ctx *ctx, mgvi_hinge_interior *k, bool *positive)
{
    const bool columns = mgvi_hinge_by_columns(k);
    const int64_t size = columns ? k->p->cols : k->live;
    int64_t pivot;
    MGVI_TRY(make_matrix(ctx, k));
    for (int64_t t = 0; t < size; t++) {
        k->H[t * size + t] += columns ? 1 / k->K[t] : k->Th[k->row[t]];
        k->H[t * size + t] *= 1 + RIDGE;
    }
    MGVI_TRY(mgvi_cholesky(ctx, size, k->H, size, &pivot));
    *positive = pivot < 0;
    k->work += matrix_work(k, columns) + (double)size * (double)size * (double)size / 6;
    return MGV_OK;
}

mgv_status mgvi_hinge_factor(mgv_ctx *ctx, mgvi_hinge_interior *k, bool *positive)
{
    *positive = true;
    k->has_along = k->spoiled = false;
    k->way = MGVI_HINGE_SHARP;
    if (k->best_gap > REFINED && mgvi_hinge_may_be_rough(k))
        MGVI_TRY(mgvi_hinge_rough_open(ctx, k));
    return k->way == MGVI_HINGE_SHARP ? factor(ctx, k, positive) : MGV_OK;
}

/* x becomes the solution. Where conjugate gradients fail a float64 factor takes their place. */
static mgv_status solve_one(mgv_ctx *ctx, mgvi_hinge_interior *k, double *x)
{
    const int64_t size = mgvi_hinge_by_columns(k) ? k->p->cols : k->live;
    bool solved = false, positive;
    if (k->way != MGVI_HINGE_SHARP) {
        MGVI_TRY(mgvi_hinge_rough_solve(ctx, k, x, &solved));
        if (solved)
            return MGV_OK;
        MGVI_TRY(factor(ctx, k, &positive));
        k->way = MGVI_HINGE_SHARP;
        k->spoiled = !positive;
    }
    if (k->spoiled)
        return MGV_OK;
    return mgvi_cholesky_solve(ctx, size, k->H, size, 1, x);
}

/* (9) */
static mgv_status rows_direction(mgv_ctx *ctx, mgvi_hinge_interior *k, double rb,
                                 mgvi_hinge_move *d)
{
    const mgvi_hinge_block *p = k->p;
    const int64_t n = k->live;
    if (p->gram)
        memset(d->a, 0, (size_t)p->rows * sizeof *d->a);
    else
        mgvi_hinge_multiply(ctx, p, false, k->k0, d->a);
    for (int64_t t = 0; t < n; t++) {
        const int64_t i = k->row[t];
        k->side[t] = k->r[i] - d->a[i];
        if (p->y && !k->has_along)
            k->along[t] = p->y[i];
    }
    MGVI_TRY(p->y && !k->has_along ? solve_one(ctx, k, k->along) : MGV_OK);
    k->has_along = true;
    MGVI_TRY(solve_one(ctx, k, k->side));
    double top = -rb, bottom = 0;
    for (int64_t t = 0; p->y && t < n; t++) {
        top += p->y[k->row[t]] * k->side[t];
        bottom += p->y[k->row[t]] * k->along[t];
    }
    d->db = bottom > 0 ? top / bottom : 0;
    memset(d->a, 0, (size_t)p->rows * sizeof *d->a);
    for (int64_t t = 0; t < n; t++)
        d->a[k->row[t]] = k->side[t] - (p->y ? d->db * k->along[t] : 0);
    if (p->gram)
        return MGV_OK;
    mgvi_hinge_multiply(ctx, p, true, d->a, d->g);
    for (int64_t j = 0; j < p->cols; j++)
        d->w[j] = k->K[j] * d->g[j] + k->k0[j];
    return MGV_OK;
}

/* The right-hand side of (10) in k->side, what the intercept's line begins with; and once a step
 * the intercept's own side and its solution. */
static mgv_status cols_sides(mgv_ctx *ctx, mgvi_hinge_interior *k, mgvi_hinge_move *d, double *top)
{
    const mgvi_hinge_block *p = k->p;
    memset(d->a, 0, (size_t)p->rows * sizeof *d->a);
    if (p->y && !k->has_along) {
        for (int64_t t = 0; t < k->live; t++)
            d->a[k->row[t]] = p->y[k->row[t]] / k->Th[k->row[t]];
        mgvi_hinge_multiply(ctx, p, true, d->a, k->along_g);
        memcpy(k->along, k->along_g, (size_t)p->cols * sizeof *k->along);
        MGVI_TRY(solve_one(ctx, k, k->along));
        k->has_along = true;
    }
    for (int64_t t = 0; t < k->live; t++)
        d->a[k->row[t]] = k->r[k->row[t]] / k->Th[k->row[t]];
    mgvi_hinge_multiply(ctx, p, true, d->a, d->g);
    for (int64_t j = 0; j < p->cols; j++)
        k->side[j] = k->k0[j] / k->K[j] + d->g[j];
    if (p->y)
        *top += ctx->simd->dot_f64(p->y, d->a, p->rows);
    return MGV_OK;
}

/* (10) */
static mgv_status cols_direction(mgv_ctx *ctx, mgvi_hinge_interior *k, double rb,
                                 mgvi_hinge_move *d)
{
    const mgvi_hinge_block *p = k->p;
    const int64_t m = p->cols;
    double top = -rb, bottom = 0;
    MGVI_TRY(cols_sides(ctx, k, d, &top));
    MGVI_TRY(solve_one(ctx, k, k->side));
    for (int64_t t = 0; p->y && t < k->live; t++)
        bottom += p->y[k->row[t]] * p->y[k->row[t]] / k->Th[k->row[t]];
    for (int64_t j = 0; p->y && j < m; j++) {
        top -= k->along_g[j] * k->side[j];
        bottom -= k->along_g[j] * k->along[j];
    }
    d->db = bottom > 0 ? top / bottom : 0;
    for (int64_t j = 0; j < m; j++)
        d->w[j] = k->side[j] - (p->y ? d->db * k->along[j] : 0);
    mgvi_hinge_multiply(ctx, p, false, d->w, k->t_row);
    memset(d->a, 0, (size_t)p->rows * sizeof *d->a);
    for (int64_t t = 0; t < k->live; t++) {
        const int64_t i = k->row[t];
        d->a[i] = (k->r[i] - k->t_row[i] - (p->y ? p->y[i] * d->db : 0)) / k->Th[i];
    }
    mgvi_hinge_multiply(ctx, p, true, d->a, d->g);
    return MGV_OK;
}

static mgv_status solve(mgv_ctx *ctx, mgvi_hinge_interior *k, double rb, mgvi_hinge_move *d)
{
    return mgvi_hinge_by_columns(k) ? cols_direction(ctx, k, rb, d) : rows_direction(ctx, k, rb, d);
}

/* What the direction leaves of the equations
 *   Z dw + y db + Th da = r,   dw = K Z'da + k0,   y.da = rb
 * takes the place of r, k0 and rb. */
static double leave_residuals(mgv_ctx *ctx, mgvi_hinge_interior *k, double rb,
                              const mgvi_hinge_move *d)
{
    const mgvi_hinge_block *p = k->p;
    mgvi_hinge_multiply(ctx, p, false, d->w, k->t_row);
    for (int64_t t = 0; t < k->live; t++) {
        const int64_t i = k->row[t];
        k->r[i] -= k->t_row[i] + k->Th[i] * d->a[i] + (p->y ? p->y[i] * d->db : 0);
        rb -= p->y ? p->y[i] * d->a[i] : 0;
    }
    for (int64_t j = 0; j < p->cols; j++)
        k->k0[j] -= d->w[j] - k->K[j] * d->g[j];
    return rb;
}

mgv_status mgvi_hinge_direction(mgv_ctx *ctx, mgvi_hinge_interior *k, double rb)
{
    mgvi_hinge_move *d = &k->at, *more = &k->rest;
    MGVI_TRY(solve(ctx, k, rb, d));
    if (k->p->gram || k->best_gap > REFINED)
        return MGV_OK;
    MGVI_TRY(solve(ctx, k, leave_residuals(ctx, k, rb, d), more));
    d->db += more->db;
    for (int64_t t = 0; t < k->live; t++)
        d->a[k->row[t]] += more->a[k->row[t]];
    for (int64_t j = 0; j < k->p->cols; j++) {
        d->w[j] += more->w[j];
        d->g[j] += more->g[j];
    }
    return MGV_OK;
}
