/* iterate.c - public functions on the iterates of a run. */
#include "api/need.h"
#include "model/model.h"

mgv_status mgv_ctx_on_iterate(mgv_ctx *ctx, int64_t every, mgv_iterate_fn fn, void *user)
{
    if (!ctx)
        return MGV_E_ARG;
    if (fn && every < 1)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "iterates are shown every %" PRId64 " iterations; give 1 or more", every);
    ctx->show.fn = fn;
    ctx->show.user = user;
    ctx->show.every = every;
    return mgvi_done(ctx, MGV_OK);
}

/* An iterate is there while its callback works. */
static mgv_status check_shown(mgv_ctx *ctx, const mgv_iterate *iterate)
{
    MGVI_NEED(ctx, iterate);
    if (!iterate->solver || !mgvi_show_weights(iterate->solver))
        return MGVI_FAIL(ctx, MGV_E_ARG, "the iterate is gone: its callback has returned");
    return MGV_OK;
}

mgv_status mgv_solver_bound(mgv_ctx *ctx, mgv_solver *solver, int64_t index, mgv_bound *out)
{
    mgv_bound all[MGVI_BOUNDS + 1];
    MGVI_NEED(ctx, solver);
    MGVI_NEED(ctx, out);
    const int count = mgvi_driver_bounds(solver, all);
    if (index < 0 || index >= count)
        return MGVI_FAIL(ctx, MGV_E_ARG, "there is no bound %" PRId64 " (the run has %d)", index,
                         count);
    mgvi_copy_out(out, &all[index], sizeof all[index]);
    return mgvi_done(ctx, MGV_OK);
}

mgv_status mgv_iterate_certify(mgv_ctx *ctx, const mgv_iterate *iterate, mgv_certificate *out,
                               double *train_score)
{
    mgvi_verdict found;
    MGVI_NEED(ctx, out);
    MGVI_TRY(check_shown(ctx, iterate));
    MGVI_TRY(mgvi_show_certify(iterate->solver, &found));
    mgvi_copy_out(out, &found.certificate, sizeof found.certificate);
    if (train_score)
        *train_score = found.train_score;
    return mgvi_done(ctx, MGV_OK);
}

mgv_status mgv_iterate_divergence(mgv_ctx *ctx, const mgv_iterate *iterate,
                                  const mgv_model *reference, double *out)
{
    MGVI_NEED(ctx, reference);
    MGVI_NEED(ctx, out);
    MGVI_TRY(check_shown(ctx, iterate));
    const mgvi_pair_part *w = &reference->pair.w, *u = &reference->pair.u;
    const mgv_problem *p = iterate->solver->run.problem;
    if (!w->x)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "the reference has no dual point; fit it with --keep-pair");
    if (w->count != iterate->weight_count || u->count != p->A->rows * p->lanes)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "the reference is of another problem: it has %" PRId64
                         " weights and %" PRId64 " rows (got %" PRId64 " and %" PRId64 ")",
                         w->count, u->count, iterate->weight_count, p->A->rows * p->lanes);
    return mgvi_done(ctx, mgvi_show_divergence(iterate->solver, w->x, u->x, out));
}

mgv_status mgv_iterate_model(mgv_ctx *ctx, const mgv_iterate *iterate, mgv_model **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_TRY(check_shown(ctx, iterate));
    const double *w = mgvi_show_weights(iterate->solver)->x;
    return mgvi_done(ctx, mgvi_model_of_iterate(ctx, iterate->solver, w, out));
}
