/* problem.c - creates a problem from data and settings. */
#include "problem/problem.h"

#include <math.h>

mgv_status mgvi_problem_new(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                            int64_t positive, mgv_problem **out)
{
    mgv_status st = MGV_OK;
    *out = NULL;
    mgv_problem *p = mgvi_new(ctx, sizeof *p);
    if (!p)
        return MGV_E_MEMORY;
    p->ctx = ctx;
    p->data = data;
    p->lanes = 1;
    p->positive = positive;
    p->settings = *settings;
    mgvi_arena_init(&p->arena, ctx);
    if (!data->labels)
        MGVI_CHECK(st, done, MGVI_FAIL(ctx, MGV_E_INPUT, "the data has no labels to fit"));
    if (data->X.rows == 0 || data->X.cols == 0)
        MGVI_CHECK(st, done,
                   MGVI_FAIL(ctx, MGV_E_INPUT,
                             "the data is empty: %" PRId64 " rows, %" PRId64 " columns",
                             data->X.rows, data->X.cols));
    MGVI_CHECK(st, done, mgvi_data_check_once(ctx, data));
    MGVI_CHECK(st, done, mgvi_bind_terms(p));
    MGVI_CHECK(st, done, mgvi_bind_rows(p));
    MGVI_CHECK(st, done, mgvi_bind_operator(p));
    MGVI_CHECK(st, done, mgvi_bind_formula(p));
    *out = p;
    p = NULL;
done:
    mgvi_problem_free(p);
    return st;
}

void mgvi_problem_free(mgv_problem *problem)
{
    if (!problem)
        return;
    mgvi_op_free(problem->A);
    mgvi_arena_free(&problem->arena);
    mgvi_release(problem->ctx, problem);
}

mgv_status mgvi_problem_penalty(const mgv_problem *p, mgvi_arena *arena, mgvi_penalty *out)
{
    return mgvi_penalty_open(arena, p->penalty, &p->col, p->penalty_data, mgvi_problem_penalised(p),
                             p->lanes, out);
}

void mgvi_problem_user_weights(const mgv_problem *p, const double *w, double *coef,
                               double *intercept)
{
    const int64_t d = p->data->X.cols;
    double shift = p->free_cols ? w[d] : 0;
    for (int64_t j = 0; j < d; j++) {
        coef[j] = p->scale ? p->scale[j] * w[j] : w[j];
        if (p->centre)
            shift -= p->centre[j] * coef[j];
    }
    *intercept = shift;
}

void mgvi_problem_own_weights(const mgv_problem *p, const double *coef, double intercept, double *w)
{
    const int64_t d = p->data->X.cols;
    double shift = intercept;
    for (int64_t j = 0; j < d; j++) {
        w[j] = p->scale ? coef[j] / p->scale[j] : coef[j];
        if (p->centre)
            shift += p->centre[j] * coef[j];
    }
    if (p->free_cols)
        w[d] = shift;
}

double mgvi_problem_least_margin(const mgv_problem *p, const double *z)
{
    double least[2] = {INFINITY, INFINITY};
    for (int64_t i = 0; i < p->A->rows; i++) {
        const int side = p->free_cols && mgvi_problem_free_entry(p, i) > 0;
        if (mgvi_coef_pick(&p->row.scale, i, 0) > 0)
            least[side] = fmin(least[side], z[i]);
    }
    return p->free_cols ? 0.5 * (least[0] + least[1]) : least[0];
}

double mgvi_problem_user_norm(const mgv_problem *p, const double *w)
{
    const double exponent = isnan(p->p) ? 2 : p->p;
    const int64_t d = mgvi_problem_penalised(p);
    if (!p->scale)
        return mgvi_lp_norm(w, d, exponent);
    double sum = 0;
    for (int64_t j = 0; j < d; j++)
        sum += pow(fabs(p->scale[j] * w[j]), exponent);
    return pow(sum, 1 / exponent);
}
