/* scaled_cholesky.c - unit diagonal, ridge, factor. */
#include "solver/shared/scaled_cholesky.h"

#include "linalg/gemm.h"

#include <math.h>
#include <string.h>

mgv_status mgvi_scaled_cholesky_init(mgvi_scaled_cholesky *c, mgvi_arena *arena, int64_t n)
{
    *c = (mgvi_scaled_cholesky){.ctx = arena->ctx, .n = n};
    MGVI_TRY(MGVI_VECTORS(arena, (size_t)n * (size_t)n, &c->H, &c->factor));
    MGVI_TRY(MGVI_ARRAY(arena, c->scale, n));
    MGVI_TRY(MGVI_VECTORS(arena, (size_t)n * 2, &c->x, &c->rest));
    return MGV_OK;
}

mgv_status mgvi_scaled_cholesky_factor(mgvi_scaled_cholesky *c, double ridge)
{
    const int64_t n = c->n;
    static const double MOST = 1e-2;
    for (int64_t i = 0; i < n; i++) {
        const double h = c->H[i * n + i];
        if (!isfinite(h))
            return MGVI_FAIL(c->ctx, MGV_E_NUMERIC, "the curvature of column %" PRId64 " is %g", i,
                             h);
        c->scale[i] = h > 0 ? 1 / sqrt(h) : 0;
    }
    for (c->ridge = ridge; c->ridge <= MOST; c->ridge = c->ridge < 1e-14 ? 1e-14 : 30 * c->ridge) {
        int64_t pivot;
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = i + 1; j < n; j++)
                c->factor[i * n + j] = c->H[i * n + j] * c->scale[i] * c->scale[j];
            c->factor[i * n + i] = 1 + c->ridge;
        }
        MGVI_TRY(mgvi_cholesky(c->ctx, n, c->factor, n, &pivot));
        if (pivot < 0)
            return MGV_OK;
    }
    return MGVI_FAIL(c->ctx, MGV_E_NUMERIC, "the curvature is not positive definite");
}

mgv_status mgvi_scaled_cholesky_solve(mgvi_scaled_cholesky *c, double *r1, double *r2)
{
    const int64_t n = c->n;
    const int32_t k = r2 ? 2 : 1;
    for (int64_t i = 0; i < n; i++) {
        c->x[i * k] = c->scale[i] * r1[i];
        if (r2)
            c->x[i * k + 1] = c->scale[i] * r2[i];
    }
    MGVI_TRY(mgvi_cholesky_solve(c->ctx, n, c->factor, n, k, c->x));
    for (int64_t i = 0; i < n; i++) {
        r1[i] = c->scale[i] * c->x[i * k];
        if (r2)
            r2[i] = c->scale[i] * c->x[i * k + 1];
    }
    return MGV_OK;
}

/* out = r - H x from the upper triangle of H */
static void residual(const mgvi_scaled_cholesky *c, const double *r, const double *x, double *out)
{
    const int64_t n = c->n;
    memcpy(out, r, (size_t)n * sizeof *out);
    for (int64_t i = 0; i < n; i++) {
        const double *row = c->H + i * n;
        double sum = row[i] * x[i];
        for (int64_t j = i + 1; j < n; j++) {
            sum += row[j] * x[j];
            out[j] -= row[j] * x[i];
        }
        out[i] -= sum;
    }
}

mgv_status mgvi_scaled_cholesky_refine(mgvi_scaled_cholesky *c, double *r, int times)
{
    const int64_t n = c->n;
    double *right = c->rest, *more = c->rest + n;
    memcpy(right, r, (size_t)n * sizeof *right);
    MGVI_TRY(mgvi_scaled_cholesky_solve(c, r, NULL));
    for (int k = 0; k < times; k++) {
        residual(c, right, r, more);
        MGVI_TRY(mgvi_scaled_cholesky_solve(c, more, NULL));
        for (int64_t i = 0; i < n; i++)
            r[i] += more[i];
    }
    return MGV_OK;
}
