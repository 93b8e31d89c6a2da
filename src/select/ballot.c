/* ballot.c - held-out rows of many classes are scored and counted. */
#include "select/ballot.h"

#include "problem/votes.h"
#include "solver/member.h"

#include <math.h>

static mgv_status list_rows(mgvi_arena *arena, int32_t lane, mgvi_ballot *b)
{
    const mgvi_split *split = &b->s->split;
    for (int64_t i = 0; i < split->rows; i++)
        b->count += !mgvi_split_trains(split, i, lane);
    b->row = mgvi_arena_array(arena, (size_t)b->count, sizeof *b->row);
    if (!b->row)
        return MGV_E_MEMORY;
    b->count = 0;
    for (int64_t i = 0; i < split->rows; i++)
        if (!mgvi_split_trains(split, i, lane))
            b->row[b->count++] = i;
    return MGV_OK;
}

/* The rows' features, divided by their length where the fit's are. */
static mgv_status open_features(mgvi_arena *arena, mgvi_ballot *b)
{
    const mgv_selection *s = b->s;
    const int64_t own = s->data->X.rows;
    const mgvi_matrix *X = s->validation ? &s->validation->X : &s->data->X;
    int64_t *row = mgvi_arena_array(arena, (size_t)b->count, sizeof *row);
    double *scale = mgvi_arena_array(arena, (size_t)b->count, sizeof *scale);
    mgvi_op *base;
    if (!row || !scale)
        return MGV_E_MEMORY;
    for (int64_t t = 0; t < b->count; t++) {
        const double e = s->e[b->row[t]];
        row[t] = s->validation ? b->row[t] - own : b->row[t];
        scale[t] = e > 0 ? s->factor[b->row[t]] / e : 1;
    }
    const mgvi_view view = {
        .row = row, .rows = b->count, .row_scale = s->probe->row_scale ? scale : NULL};
    MGVI_TRY(mgvi_op_from_matrix(s->ctx, X, (int32_t)b->outputs, &base));
    return mgvi_op_view(s->ctx, base, &view, (int32_t)b->outputs, &b->op);
}

mgv_status mgvi_ballot_new(mgvi_arena *arena, const mgv_selection *s, const mgv_problem *problem,
                           int32_t lane, mgvi_ballot *out)
{
    *out = (mgvi_ballot){.s = s, .problem = problem, .outputs = mgvi_model_outputs(problem)};
    MGVI_TRY(list_rows(arena, lane, out));
    if (out->count == 0)
        return MGV_OK;
    if (problem->kernel.kind == MGVI_KERNEL_LINEAR)
        MGVI_TRY(open_features(arena, out));
    const mgvi_op *op = out->op ? out->op : problem->A;
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, op->cols, (int32_t)out->outputs, &out->coef));
    return mgvi_vec_new(arena, MGVI_ROWS, op->rows, (int32_t)out->outputs, &out->z);
}

void mgvi_ballot_free(mgvi_ballot *b)
{
    mgvi_op_free(b->op);
    b->op = NULL;
}

/* z: a row of scores for each of the rows, or with a kernel for every example. */
static void score(mgvi_ballot *b, const double *coef, const double *intercept)
{
    const mgv_problem *p = b->problem;
    const int64_t each = mgvi_problem_coefs(p), k = b->outputs;
    for (int64_t c = 0; c < k; c++)
        for (int64_t j = 0; j < b->coef.n; j++)
            b->coef.x[j * k + c] = j < each ? coef[c * each + j] : 0;
    mgvi_op_mul(b->op ? b->op : p->A, 1, &b->coef, 0, &b->z);
    for (int64_t i = 0; i < b->z.n; i++) {
        const double sign = !b->op && p->sign ? p->sign[i] : 1; /* of the first run */
        for (int64_t c = 0; c < k; c++)
            b->z.x[i * k + c] = sign * b->z.x[i * k + c] + intercept[c];
    }
}

double mgvi_ballot_error(mgvi_ballot *b, const double *coef, const double *intercept)
{
    const mgv_selection *s = b->s;
    double wrong = 0, total = 0;
    if (b->count == 0)
        return NAN;
    score(b, coef, intercept);
    for (int64_t t = 0; t < b->count; t++) {
        const double weight = s->e[b->row[t]] * s->e[b->row[t]];
        const double *z = b->z.x + (b->op ? t : b->row[t]) * b->outputs;
        const int64_t found = mgvi_classes_decide(z, s->data->classes, b->problem->pairwise);
        wrong += weight * (found != (int64_t)s->y[b->row[t]]);
        total += weight;
    }
    return total > 0 ? wrong / total : NAN;
}
