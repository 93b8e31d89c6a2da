/* ballot.c - scores rows by many runs in one product and counts the votes. */
#include "select/ballot.h"

#include "op/contrast.h"
#include "problem/member.h"
#include "problem/votes.h"

mgv_status mgvi_ballot_new(mgvi_arena *arena, const mgv_problem *problem,
                           const mgvi_electorate *rows, mgvi_ballot *out)
{
    *out = (mgvi_ballot){.problem = problem, .rows = *rows, .outputs = mgvi_model_outputs(problem)};
    const int32_t lanes = (int32_t)out->outputs;
    if (rows->count == 0)
        return MGV_OK;
    if (problem->kernel.kind == MGVI_KERNEL_LINEAR) {
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

void mgvi_ballot_hold(mgvi_ballot *b, const double *coef, const double *intercept)
{
    const mgv_problem *p = b->problem;
    const int64_t each = mgvi_problem_coefs(p), k = b->outputs;
    if (b->rows.count == 0)
        return;
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
}

int64_t mgvi_ballot_class(const mgvi_ballot *b, int64_t t)
{
    const double *z = b->z.x + (b->op ? t : b->rows.row[t]) * b->outputs;
    return mgvi_classes_decide(z, b->problem->data->classes, b->problem->pairwise);
}
