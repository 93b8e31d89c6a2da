/* norm_dual.c - the dual step of a norm of D w. */
#include "solver/sweep/norm_dual.h"

/* A prox that iterates costs about this many products with D: where a product with A costs more
 * entries a column, fewer iterations with the prox are the better bargain. */
static const double INNER_STEPS = 100;

static bool wanted(const mgvi_run *run)
{
    const mgv_problem *p = run->problem;
    const mgvi_wish choice = run->settings->split;
    if (!p->split.D || p->lanes != 1 || p->free_cols || choice == MGVI_WISH_NO)
        return false;
    return choice == MGVI_WISH_YES || mgvi_problem_is_bounded(p) ||
           (p->split.preferred && (double)p->A->nnz < INNER_STEPS * (double)p->A->cols);
}

mgv_status mgvi_norm_dual_new(mgvi_run *run, mgvi_norm_dual *out)
{
    const mgvi_norm_form *form = &run->problem->split;
    *out = (mgvi_norm_dual){0};
    if (!wanted(run) && form->D && mgvi_problem_is_bounded(run->problem))
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "bounds of the weights beside %s need --set split=yes and no intercept",
                         run->problem->penalty->name);
    if (!wanted(run) && form->D && run->settings->split == MGVI_WISH_YES)
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "split yes beside %s has no intercept; add --no-intercept",
                         run->problem->penalty->name);
    if (!wanted(run))
        return MGV_OK;
    out->D = form->D;
    out->group = form->group;
    out->radius = mgvi_coef_pick(&run->problem->col.scale, 0, 0);
    MGVI_TRY(mgvi_vec_new(&run->arena, MGVI_ROWS, form->D->rows, 1, &out->v));
    MGVI_TRY(mgvi_vec_new(&run->arena, MGVI_ROWS, form->D->rows, 1, &out->step));
    MGVI_TRY(mgvi_run_keep_vec(run, "split", &out->v));
    return mgvi_run_keep_vec(run, "split_step", &out->step);
}

void mgvi_norm_dual_move(mgv_ctx *ctx, mgvi_norm_dual *s, double sigma, const mgvi_vec *w)
{
    if (!(s->radius > 0)) {
        mgvi_vec_fill(ctx, &s->step, 0); /* v = 0 and stays */
        return;
    }
    mgvi_op_mul(s->D, sigma, w, 0, &s->step);
    mgvi_vec_project(ctx, s->group, s->radius, &s->v, &s->step);
}
