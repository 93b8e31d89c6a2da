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

/* The penalty's side of (1) and (2): R(w) - lin.w, R*(v), and the scale that puts v into |v| <= mu.
 */
static void judge_columns(const mgvi_hinge_block *p, const double *w, const double *v,
                          double *penalty, double *conjugate, double *scale)
{
    double most = 0;
    *penalty = *conjugate = 0;
    for (int64_t j = 0; j < p->cols; j++) {
        const double excess = fmax(fabs(v[j]) - p->mu, 0);
        *penalty += (p->lambda / 2 * fabs(w[j]) + p->mu) * fabs(w[j]);
        if (p->lin)
            *penalty -= p->lin[j] * w[j];
        if (p->lambda > 0)
            *conjugate += excess * excess / (2 * p->lambda);
        most = fmax(most, fabs(v[j]));
    }
    *scale = most > p->mu ? p->mu / most : 1;
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

double mgvi_hinge_gain(const mgvi_hinge_block *p, int64_t i, double theta)
{
    if (p->kind != MGVI_ROWS_ENTROPY)
        return theta * (mgvi_hinge_target(p, i) - mgvi_hinge_bend(p, i) * theta / 2);
    const double small = fmin(theta, p->s[i] - theta);
    if (!(small > 0))
        return 0;
    const double h = small / p->s[i];
    return -p->s[i] * (h * log(h) + (1 - h) * log1p(-h));
}

mgvi_hinge_values mgvi_hinge_judge(const mgvi_hinge_block *p, const mgvi_hinge_point *at,
                                   const double *z, const double *v)
{
    double penalty = 0, conjugate = 0, scale = 1, loss = 0, sum = 0, missed = p->lin_free;
    double inside = 0;
    if (!p->gram)
        judge_columns(p, at->w, v, &penalty, &conjugate, &scale);
    for (int64_t i = 0; i < p->rows; i++) {
        const double free = p->y ? p->y[i] * at->b : 0;
        loss += mgvi_hinge_loss(p, i, z[i]);
        sum += mgvi_hinge_gain(p, i, at->theta[i]);
        inside += scale < 1 ? mgvi_hinge_gain(p, i, scale * at->theta[i]) : 0;
        missed += p->y ? p->y[i] * at->theta[i] : 0;
        if (p->gram) /* theta'G theta / (2 lambda) on both sides */
            penalty += at->theta[i] * (z[i] - free) / 2;
    }
    if (p->gram)
        conjugate = penalty;
    const double outside = sum - conjugate;
    inside = scale < 1 ? inside : sum;
    const bool scalable = p->mu > 0 && !p->lin && p->lin_free == 0;
    const double dual = p->lambda == 0 ? inside : scalable ? fmax(inside, outside) : outside;
    return (mgvi_hinge_values){.primal = loss + penalty - p->lin_free * at->b,
                               .dual = dual - fabs(missed * at->b)};
}
