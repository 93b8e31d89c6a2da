/* kernel_point.c - products of coefficients with K, and the conjugates at -lambda c. */
#include "solver/kernel/kernel_point.h"

#include <math.h>

void mgvi_kernel_place(const mgv_problem *p, const double *w, mgvi_vec *c, double *b)
{
    const int32_t k = c->k;
    for (int64_t i = 0; i < c->n; i++)
        for (int32_t j = 0; j < k; j++)
            c->x[i * k + j] = mgvi_problem_free_entry(p, i) * w[i * k + j];
    for (int32_t j = 0; p->free_cols && j < k; j++)
        b[j] = w[c->n * k + j];
}

void mgvi_kernel_to_columns(const mgv_problem *p, const mgvi_vec *x, const double *b, mgvi_vec *out)
{
    mgvi_op_mul_t(p->A, 1, x, 0, out);
    for (int32_t c = 0; p->free_cols && c < out->k; c++)
        out->x[(out->n - 1) * out->k + c] = b ? b[c] : 0;
}

void mgvi_kernel_image(const mgv_problem *p, const mgvi_vec *x, mgvi_vec *cols, mgvi_vec *image)
{
    mgvi_kernel_to_columns(p, x, NULL, cols);
    mgvi_op_mul(p->A, 1, cols, 0, image);
}

void mgvi_kernel_turn(const mgvi_kernel_op *kernel, int64_t count, const double *from,
                      int64_t from_step, double *to, int64_t to_step)
{
    const int8_t *sign = mgvi_kernel_sign(kernel);
    for (int64_t i = 0; i < count; i++)
        to[i * to_step] = sign ? sign[i] * from[i * from_step] : from[i * from_step];
}

mgv_status mgvi_kernel_rough_image(const mgv_problem *p, const mgvi_vec *x, mgvi_vec *cols,
                                   mgvi_vec *image)
{
    mgvi_kernel_op *kernel = mgvi_kernel_of(p->A);
    const int64_t count = x->n * x->k;
    MGVI_TRY(mgvi_kernel_open_rough(kernel));
    mgvi_kernel_turn(kernel, count, x->x, 1, cols->x, 1);
    MGVI_TRY(mgvi_kernel_rough_times(kernel, cols->x, image->x));
    mgvi_kernel_turn(kernel, count, image->x, 1, image->x, 1);
    return MGV_OK;
}

void mgvi_kernel_scores(const mgv_problem *p, const mgvi_vec *image, const double *b, mgvi_vec *z)
{
    const int32_t k = z->k;
    for (int64_t i = 0; i < z->n; i++)
        for (int32_t c = 0; c < k; c++)
            z->x[i * k + c] =
                image->x[i * k + c] + (p->free_cols ? mgvi_problem_free_entry(p, i) * b[c] : 0);
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
    return sum - mgvi_vec_inner(p->ctx, d->rows, d->image) +
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

/* Scores that are off by e cost P sum_i |u_i| e, and lengths enter P and D by half. */
double mgvi_kernel_dual_rounding(const mgvi_kernel_dual *d, const mgvi_vec *slopes, mgvi_vec *w)
{
    const mgv_problem *p = d->problem;
    const int32_t k = d->c->k;
    double sum = 0;
    if (!p->A->ops->mul_rounding || !p->A->ops->square_rounding)
        return 0;
    mgvi_kernel_to_columns(p, d->c, d->b, w);
    const mgvi_vec part = mgvi_problem_penalised_part(p, w);
    for (int32_t c = 0; c < k; c++) {
        double size = 0;
        for (int64_t i = 0; i < slopes->n; i++)
            size += fabs(slopes->x[i * k + c]);
        sum += size * p->A->ops->mul_rounding(p->A, w, c) +
               p->lambda * p->A->ops->square_rounding(p->A, &part, c);
    }
    return sum;
}
