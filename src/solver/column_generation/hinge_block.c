/* hinge_block.c - products and values of a small hinge problem. */
#include "solver/column_generation/hinge_block.h"

#include "simd/simd.h"

#include <math.h>
#include <string.h>

void mgvi_hinge_multiply(mgv_ctx *ctx, const mgvi_hinge_block *p, bool transposed, const double *x,
                         double *out)
{
    if (p->sparse) {
        (transposed ? mgvi_hinge_sparse_mul_t : mgvi_hinge_sparse_mul)(ctx, p->sparse, x, out);
        return;
    }
    const mgvi_simd *simd = ctx->simd;
    const bool by_columns = p->row_stride == 1;
    const int64_t outer = by_columns ? p->cols : p->rows, inner = by_columns ? p->rows : p->cols;
    const int64_t stride = by_columns ? p->col_stride : p->row_stride;
    if (by_columns == transposed) {
        simd->dense_mul_f64(p->Z, stride, outer, inner, x, out);
        return;
    }
    memset(out, 0, (size_t)inner * sizeof *out);
    simd->dense_mul_t_f64(p->Z, stride, outer, inner, x, out);
}

void mgvi_hinge_scores(mgv_ctx *ctx, const mgvi_hinge_block *p, const mgvi_hinge_point *at,
                       double *z)
{
    if (p->gram) {
        ctx->simd->dense_mul_f64(p->gram, p->gram_stride, p->rows, p->rows, at->theta, z);
        for (int64_t i = 0; i < p->rows; i++)
            z[i] /= p->lambda;
    } else {
        mgvi_hinge_multiply(ctx, p, false, at->w, z);
    }
    for (int64_t i = 0; p->y && i < p->rows; i++)
        z[i] += p->y[i] * at->b;
}

void mgvi_hinge_duals(mgv_ctx *ctx, const mgvi_hinge_block *p, const double *theta, double *v)
{
    mgvi_hinge_multiply(ctx, p, true, theta, v);
    for (int64_t j = 0; p->lin && j < p->cols; j++)
        v[j] += p->lin[j];
}

double mgvi_hinge_loss(const mgvi_hinge_block *p, int64_t i, double z)
{
    if (p->kind == MGVI_ROWS_ENTROPY)
        return p->s[i] * (fmax(0, -z) + log1p(exp(-fabs(z))));
    const double slack = mgvi_hinge_target(p, i) - z, bend = mgvi_hinge_bend(p, i);
    if (p->kind == MGVI_ROWS_FREE)
        return slack * slack / (2 * bend);
    const double bound = slack > 0 ? p->s[i] : mgvi_hinge_low(p, i);
    if (fabs(slack) >= bend * fabs(bound))
        return bound * (slack - bend * bound / 2);
    return slack * slack / (2 * bend);
}

/* What row i adds to (2) at a theta within its bounds. */
static double gain(const mgvi_hinge_block *p, int64_t i, double theta)
{
    if (p->kind != MGVI_ROWS_ENTROPY)
        return theta * (mgvi_hinge_target(p, i) - mgvi_hinge_bend(p, i) * theta / 2);
    const double small = fmin(theta, p->s[i] - theta);
    if (!(small > 0))
        return 0;
    const double h = small / p->s[i];
    return -p->s[i] * (h * log(h) + (1 - h) * log1p(-h));
}

double mgvi_hinge_dual(const mgvi_hinge_block *p, int64_t cols, const double *theta,
                       const double *v)
{
    double conjugate = 0, most = 0, outside = 0, inside = 0;
    for (int64_t j = 0; j < cols; j++) {
        const double excess = fmax(fabs(v[j]) - p->mu, 0);
        if (p->lambda > 0)
            conjugate += excess * excess / (2 * p->lambda);
        most = fmax(most, fabs(v[j]));
    }
    const double scale = most > p->mu ? p->mu / most : 1;
    for (int64_t i = 0; i < p->rows; i++) {
        outside += gain(p, i, theta[i]);
        inside += scale < 1 ? gain(p, i, scale * theta[i]) : 0;
    }
    inside = scale < 1 ? inside : outside;
    outside -= conjugate;
    const bool scalable = p->mu > 0 && !p->lin && p->lin_free == 0;
    return p->lambda == 0 ? inside : scalable ? fmax(inside, outside) : outside;
}

mgvi_hinge_values mgvi_hinge_judge(const mgvi_hinge_block *p, const mgvi_hinge_point *at,
                                   const double *z, const double *v)
{
    double penalty = 0, loss = 0, missed = p->lin_free;
    for (int64_t j = 0; !p->gram && j < p->cols; j++) {
        penalty += (p->lambda / 2 * fabs(at->w[j]) + p->mu) * fabs(at->w[j]);
        if (p->lin)
            penalty -= p->lin[j] * at->w[j];
    }
    for (int64_t i = 0; i < p->rows; i++) {
        const double free = p->y ? p->y[i] * at->b : 0;
        loss += mgvi_hinge_loss(p, i, z[i]);
        missed += p->y ? p->y[i] * at->theta[i] : 0;
        if (p->gram) /* theta'G theta / (2 lambda) on both sides */
            penalty += at->theta[i] * (z[i] - free) / 2;
    }
    const double dual = p->gram ? mgvi_hinge_dual(p, 0, at->theta, NULL) - penalty
                                : mgvi_hinge_dual(p, p->cols, at->theta, v);
    return (mgvi_hinge_values){.primal = loss + penalty - p->lin_free * at->b,
                               .dual = dual - fabs(missed * at->b)};
}
