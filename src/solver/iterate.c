/* iterate.c - shows a run's iterates as they are, best so far or not, to a callback.
 *
 * Whether anybody looks changes no number of the run: what showing reads is not counted, the time
 * it takes is not the run's, and the judge that may be asked is one of its own. */
#include "base/limit.h"
#include "op/kernel.h"
#include "solver/driver.h"

#include <math.h>

/* In the solver's arena, from the first iterate shown. */
typedef struct mgvi_show {
    mgvi_arena judging;
    mgvi_judge *judge; /* NULL: not asked for yet */
    mgvi_vec w, u;     /* host copies; u is 0 where the solver has none */
    bool now;          /* the callback is at work */
} mgvi_show;

static mgv_status open_show(mgv_solver *solver)
{
    const mgv_problem *p = solver->run.problem;
    mgvi_show *show;
    MGVI_TRY(MGVI_ARRAY(&solver->arena, show, 1));
    MGVI_TRY(mgvi_vec_new_host(&solver->arena, MGVI_COLS, p->A->cols, p->lanes, &show->w));
    MGVI_TRY(mgvi_vec_new_host(&solver->arena, MGVI_ROWS, p->A->rows, p->lanes, &show->u));
    mgvi_arena_init(&show->judging, solver->run.ctx);
    solver->show = show;
    return MGV_OK;
}

static void call(mgv_solver *solver, double passes, bool dual)
{
    const mgvi_run *run = &solver->run;
    const mgvi_show *show = solver->show;
    const mgv_iterate shown = {.size = sizeof shown,
                               .solver = solver,
                               .iteration = run->iteration,
                               .passes = passes,
                               .seconds = solver->memory.seconds + mgvi_ctx_clock(run->ctx) -
                                          solver->started,
                               .weights = show->w.x,
                               .weight_count = show->w.n * show->w.k,
                               .dual = dual ? show->u.x : NULL,
                               .dual_count = dual ? show->u.n * show->u.k : 0,
                               .residual = run->ops->residual ? run->ops->residual(run) : NAN};
    if (run->ctx->show.fn(run->ctx->show.user, &shown) != 0)
        atomic_store(&run->ctx->interrupted, 1);
}

mgvi_aside mgvi_driver_step_aside(mgv_solver *solver)
{
    const mgvi_run *run = &solver->run;
    mgvi_kernel_freeze(mgvi_problem_kernel(run->problem), true);
    return (mgvi_aside){run->problem->A->touched, run->touched, run->work};
}

void mgvi_driver_step_back(mgv_solver *solver, mgvi_aside aside)
{
    mgvi_run *run = &solver->run;
    solver->touched_before += run->problem->A->touched - aside.read;
    run->touched = aside.touched;
    run->work = aside.work;
    mgvi_kernel_freeze(mgvi_problem_kernel(run->problem), false);
}

mgv_status mgvi_driver_show(mgv_solver *solver)
{
    mgvi_run *run = &solver->run;
    mgv_ctx *ctx = run->ctx;
    if (!solver->shown || !ctx->show.fn || run->iteration % ctx->show.every != 0)
        return MGV_OK;
    if (!solver->show)
        MGVI_TRY(open_show(solver));
    const double began = mgvi_ctx_clock(ctx), passes = mgvi_driver_passes(solver);
    const mgvi_aside aside = mgvi_driver_step_aside(solver);
    const mgvi_iterate it = run->ops->expose(run);
    mgvi_vec_copy(ctx, it.w, &solver->show->w);
    if (it.u)
        mgvi_vec_copy(ctx, it.u, &solver->show->u);
    solver->show->now = true;
    call(solver, passes, it.u != NULL);
    solver->show->now = false;
    mgvi_driver_step_back(solver, aside);
    solver->started += mgvi_ctx_clock(ctx) - began;
    return run->problem->A->failed;
}

const mgvi_vec *mgvi_show_weights(const mgv_solver *solver)
{
    return solver->show && solver->show->now ? &solver->show->w : NULL;
}

static mgv_status open_judge(mgv_solver *solver)
{
    mgvi_show *show = solver->show;
    return show->judge ? MGV_OK : mgvi_judge_new(&show->judging, solver->run.problem, &show->judge);
}

mgv_status mgvi_show_certify(mgv_solver *solver, mgvi_verdict *out)
{
    const mgvi_show *show = solver->show;
    MGVI_TRY(open_judge(solver));
    *out = mgvi_judge_certify(show->judge, &show->w, &show->u);
    return MGV_OK;
}

mgv_status mgvi_show_divergence(mgv_solver *solver, const double *w, const double *u, double *out)
{
    const mgv_problem *p = solver->run.problem;
    if ((p->A->ops->can & MGVI_KERNEL) || mgvi_problem_has_smooth(p))
        return MGVI_FAIL(solver->run.ctx, MGV_E_UNSUPPORTED,
                         "a Bregman divergence is measured between weights, of the penalty alone: "
                         "not with a kernel or a smooth term");
    MGVI_TRY(open_judge(solver));
    mgvi_vec from = mgvi_vec_wrap((double *)(uintptr_t)w, p->A->cols, MGVI_COLS); /* only read */
    mgvi_vec dual = mgvi_vec_wrap((double *)(uintptr_t)u, p->A->rows, MGVI_ROWS);
    from.k = dual.k = p->lanes;
    *out = mgvi_judge_divergence(solver->show->judge, &from, &dual, &solver->show->w);
    return MGV_OK;
}

void mgvi_show_close(mgv_solver *solver)
{
    if (solver->show)
        mgvi_arena_free(&solver->show->judging);
    solver->show = NULL;
}
