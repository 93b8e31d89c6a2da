/* ballot.c - scores rows by many runs in one product and counts the votes. */
#include "select/ballot.h"

#include "op/contrast.h"
#include "op/kernel.h"
#include "problem/member.h"
#include "problem/votes.h"

static const mgvi_points *examples_of(const mgv_problem *p)
{
    const mgvi_contrast *pairs = mgvi_contrast_of(p->A);
    return mgvi_kernel_points(mgvi_kernel_of(pairs ? pairs->base : p->A));
}

static mgv_status open_points(mgvi_arena *arena, mgvi_ballot *b)
{
    const int64_t n = mgvi_problem_coefs(b->problem);
    MGVI_TRY(MGVI_ARRAY(arena, b->example, n));
    MGVI_TRY(MGVI_ARRAY(arena, b->weight, n * b->outputs));
    MGVI_TRY(MGVI_ARRAY(arena, b->sum, b->rows.count * b->outputs));
    return mgvi_vec_new(arena, MGVI_ROWS, b->rows.count, (int32_t)b->outputs, &b->z);
}

mgv_status mgvi_ballot_new(mgvi_arena *arena, const mgv_problem *problem,
                           const mgvi_electorate *rows, mgvi_ballot *out)
{
    *out = (mgvi_ballot){.problem = problem, .rows = *rows, .outputs = mgvi_model_outputs(problem)};
    const int32_t lanes = (int32_t)out->outputs;
    if (rows->count == 0)
        return MGV_OK;
    if (rows->points)
        return open_points(arena, out);
    if (problem->kernel.kind == MGVI_KERNEL_LINEAR || rows->others) {
        const mgvi_view view = {
            .row = rows->row, .rows = rows->count, .row_scale = rows->row_scale};
        mgvi_op *base;
        MGVI_TRY(mgvi_op_from_matrix(problem->ctx, rows->X, lanes, &base));
        MGVI_TRY(mgvi_op_view(problem->ctx, base, &view, lanes, &out->op));
    }
    const mgvi_contrast *pairs = mgvi_contrast_of(problem->A);
    const mgvi_op *op = out->op ? out->op : pairs ? pairs->base : problem->A;
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, op->cols, lanes, &out->coef));
    return mgvi_vec_new(arena, MGVI_ROWS, op->rows, lanes, &out->z);
}

void mgvi_ballot_free(mgvi_ballot *b)
{
    mgvi_op_free(b->op);
    b->op = NULL;
}

/* z of points, by the examples with a weight in any output. */
static mgv_status hold_points(mgvi_ballot *b, const double *coef, const double *intercept)
{
    const mgv_problem *p = b->problem;
    const int64_t n = mgvi_problem_coefs(p), k = b->outputs, rows = b->rows.count;
    int64_t count = 0;
    for (int64_t j = 0; j < n; j++) {
        bool any = false;
        for (int64_t c = 0; c < k; c++)
            any = any || coef[c * n + j] != 0;
        if (any)
            b->example[count++] = j;
    }
    for (int64_t c = 0; c < k; c++) {
        for (int64_t t = 0; t < count; t++)
            b->weight[c * count + t] = coef[c * n + b->example[t]];
        for (int64_t i = 0; i < rows; i++)
            b->sum[c * rows + i] = intercept[c];
    }
    const mgvi_point_list from = {.points = examples_of(p), .index = b->example, .count = count};
    const mgvi_point_list to = {.points = b->rows.points, .count = rows};
    MGVI_TRY(mgvi_kernel_sums(p->ctx, &p->kernel, &from, b->weight, (int32_t)k, &to, b->sum, rows));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < k; c++)
            b->z.x[i * k + c] = b->sum[c * rows + i];
    return MGV_OK;
}

mgv_status mgvi_ballot_hold(mgvi_ballot *b, const double *coef, const double *intercept)
{
    const mgv_problem *p = b->problem;
    const int64_t each = mgvi_problem_coefs(p), k = b->outputs;
    if (b->rows.count == 0)
        return MGV_OK;
    if (b->rows.points)
        return hold_points(b, coef, intercept);
    for (int64_t c = 0; c < k; c++)
        for (int64_t j = 0; j < b->coef.n; j++)
            b->coef.x[j * k + c] = j < each ? coef[c * each + j] : 0;
    mgvi_contrast *pairs = b->op ? NULL : mgvi_contrast_of(p->A);
    if (pairs)
        mgvi_contrast_scores(pairs, &b->coef, &b->z);
    else
        mgvi_op_mul(b->op ? b->op : p->A, 1, &b->coef, 0, &b->z);
    for (int64_t i = 0; i < b->z.n; i++) {
        const double sign = b->op || pairs ? 1 : mgvi_view_sign(&p->view, i); /* of the first run */
        for (int64_t c = 0; c < k; c++)
            b->z.x[i * k + c] = sign * b->z.x[i * k + c] + intercept[c];
    }
    return MGV_OK;
}

int64_t mgvi_ballot_class(const mgvi_ballot *b, int64_t t)
{
    const double *z = b->z.x + (b->op || b->rows.points ? t : b->rows.row[t]) * b->outputs;
    return mgvi_classes_decide(z, b->problem->data->classes, b->problem->pairwise);
}
