/* kernel_dual.c - the conjugates at -lambda c. */
#include "solver/kernel/kernel_dual.h"

#include <math.h>

static double dot(mgv_ctx *ctx, const mgvi_vec *x, const mgvi_vec *y)
{
    const mgvi_vec a = mgvi_vec_wrap(x->x, x->n * x->k, MGVI_ROWS);
    const mgvi_vec b = mgvi_vec_wrap(y->x, y->n * y->k, MGVI_ROWS);
    double sum;
    mgvi_vec_dot(ctx, &a, &b, &sum);
    return sum;
}

/* v = u' + lambda c, what the domain of the conjugates takes away, costs <v, A A'v>/(2 lambda), of
 * which a bound is known. Slopes of the intercepts that are not 0 are worth what the others are. */
double mgvi_kernel_dual_price(const mgvi_kernel_dual *d, double value)
{
    const mgv_problem *p = d->problem;
    const double *diagonal = mgvi_kernel_diagonal(mgvi_kernel_of(p->A));
    const int32_t k = d->c->k;
    double bound = 0, square = 0, trace = 0, sum = 0, size = 0;
    mgvi_vec_add(p->ctx, -p->lambda, d->c, 0, d->c, d->u);
    mgvi_loss_dual_clip(p->ctx, p->loss, &p->row, d->u);
    mgvi_vec_add(p->ctx, p->lambda, d->c, 1, d->u, d->rows);
    for (int64_t i = 0; i < d->c->n; i++) {
        trace += fmax(diagonal[i], 0);
        for (int32_t c = 0; c < k; c++) {
            const double v = d->rows->x[i * k + c];
            bound += fabs(v) * sqrt(fmax(diagonal[i], 0));
            square += v * v;
            size += fabs(d->u->x[i * k + c]);
        }
    }
    mgvi_loss_conj(p->ctx, p->loss, &p->row, d->u, d->lanes);
    for (int32_t c = 0; c < k; c++)
        sum += d->lanes[c];
    mgvi_op_mul_t(p->A, 1, d->u, 0, d->cols);
    for (int32_t c = 0; p->free_cols && c < k; c++) {
        const double slope = d->cols->x[(d->cols->n - 1) * k + c];
        sum -= slope * d->b[c];
        sum += size > 0 ? fabs(slope) * fabs(value) / size : 0;
    }
    return sum - dot(p->ctx, d->rows, d->image) +
           fmin(bound * bound, trace * square) / (2 * p->lambda);
}

/* Every entry moves by a part of what it can move both ways within the domain, and no further than
 * to 0. */
void mgvi_kernel_dual_level(const mgv_problem *p, mgvi_vec *vec, double *room)
{
    enum { ROUNDS = 3 };
    for (int round = 0; p->free_cols && vec->k == 1 && round < ROUNDS; round++) {
        double sum = 0, total = 0;
        for (int64_t i = 0; i < vec->n; i++) {
            const double u = vec->x[i];
            room[i] = p->loss->dual_clip
                          ? fabs(p->loss->dual_clip(mgvi_coefs_at(&p->row, i, 0), 2 * u) - u)
                          : fabs(u);
            room[i] = fmin(room[i], fabs(u));
            sum += mgvi_problem_free_entry(p, i) * u;
            total += room[i];
        }
        const double part = total > 0 ? fmax(-1, fmin(sum / total, 1)) : 0;
        for (int64_t i = 0; i < vec->n; i++)
            vec->x[i] -= mgvi_problem_free_entry(p, i) * part * room[i];
    }
}
