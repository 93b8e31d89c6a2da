/* support.c - lists of columns for op/columns.h. */
#include "solver/sweep/support.h"

mgv_status mgvi_support_new(mgvi_run *run, mgvi_support *out)
{
    *out = (mgvi_support){.A = run->problem->A, .penalised = mgvi_problem_penalised(run->problem)};
    MGVI_TRY(MGVI_RUN_ARRAY(run, out->list, out->A->cols));
    return mgvi_ctx_in_host(run->ctx) ? mgvi_columns_new(out->A, &run->arena, &out->columns)
                                      : MGV_OK;
}

void mgvi_support_mul(mgvi_support *s, const mgvi_vec *w, mgvi_vec *y)
{
    const mgvi_vec part = mgvi_vec_part(w, 0, s->penalised);
    if (!s->columns) {
        mgvi_op_mul(s->A, 1, w, 0, y);
        return;
    }
    const int64_t count = mgvi_vec_nonzeros(&part, s->list);
    mgvi_columns_mul(s->columns, s->list, count, w, y);
}

void mgvi_support_mul_t(mgvi_support *s, const mgvi_vec *u, mgvi_vec *g)
{
    if (!s->columns) {
        mgvi_op_mul_t(s->A, 1, u, 0, g);
        return;
    }
    for (int64_t j = 0; j < s->penalised; j++)
        s->list[j] = j;
    mgvi_columns_mul_t(s->columns, s->list, s->penalised, u, g);
}
