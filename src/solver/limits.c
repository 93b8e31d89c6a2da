/* limits.c - a step that the limit cuts, and what is left of the run then.
 *
 * A cut step leaves a state that is worth nothing. So while steps are long the driver keeps, every
 * now and then, what the last whole iteration had come to: its iterate, in `answer`, which nobody
 * needs before the end, and its state where checkpoints are asked for. The clock decides when,
 * which changes no number of the run. A step shorter than MGVI_GRACE is never cut. */
#include "solver/driver.h"

#include "base/limit.h"

#include <math.h>

static const double EVERY = 0.2; /* s between two copies, */
static const double SHARE = 40;  /* and at least so many times what one costs */

/* ---- what is kept ---------------------------------------------------------------------------- */

/* The present iterate; products made to show it are no part of the schedule. */
static void keep_iterate(mgv_solver *solver)
{
    mgvi_run *run = &solver->run;
    const mgvi_aside aside = mgvi_driver_step_aside(solver);
    const mgvi_iterate it = run->ops->expose(run);
    mgvi_vec_copy(run->ctx, it.w, &solver->answer.w);
    if (it.u)
        mgvi_vec_copy(run->ctx, it.u, &solver->answer.u);
    mgvi_driver_step_back(solver, aside);
}

void mgvi_driver_begin_limits(mgv_solver *solver)
{
    const bool fresh = solver->run.iteration == 0; /* the start is in `answer` already */
    solver->whole.next_iterate = fresh ? mgvi_ctx_clock(solver->run.ctx) + EVERY : -INFINITY;
}

static void keep_whole(mgv_solver *solver)
{
    mgv_ctx *ctx = solver->run.ctx;
    const double now = mgvi_ctx_clock(ctx);
    if (solver->run.ops->primal_only) /* `answer` is what held-out rows have chosen */
        return;
    if (now >= solver->whole.next_iterate) {
        keep_iterate(solver);
        const double done = mgvi_ctx_clock(ctx);
        solver->whole.next_iterate = done + fmax(EVERY, SHARE * (done - now));
    }
    mgvi_keeper_before(&solver->keeper);
}

/* max_passes: before a step that may exceed it what there is by then is kept, which depends on
 * numbers of the run alone. False: it is far away, for steps of the size that there were. */
static bool keep_for_passes(mgv_solver *solver)
{
    static const double FAR = 4; /* times the longest step */
    const double left = solver->settings.max_passes - mgvi_driver_passes(solver);
    if (!isfinite(left) || solver->run.ops->primal_only ||
        (solver->run.iteration > 0 && left > FAR * fmax(1, solver->whole.longest)))
        return false;
    if (solver->run.iteration > 0)
        keep_iterate(solver);
    if (solver->run.iteration > 0)
        mgvi_keeper_keep(&solver->keeper);
    return true;
}

/* A step may exceed max_passes by one pass, or a tenth. */
static void meter_passes(mgv_solver *solver)
{
    mgvi_run *run = &solver->run;
    const double most = solver->settings.max_passes;
    const double left = most + fmax(1, 0.1 * most) - mgvi_driver_passes(solver);
    const mgvi_op *A = run->problem->A;
    mgvi_ctx_meter(run->ctx, &A->touched, &run->touched,
                   A->touched + run->touched + left * (double)A->nnz);
}

/* What is counted beyond the cut was left out. */
static void count_passes(mgv_solver *solver, double before)
{
    mgvi_run *run = &solver->run;
    const double at = mgvi_ctx_metered(run->ctx);
    if (solver->cut && isfinite(at))
        run->touched -= fmax(run->problem->A->touched + run->touched - at, 0);
    mgvi_ctx_meter(run->ctx, NULL, NULL, INFINITY);
    solver->whole.longest = fmax(solver->whole.longest, mgvi_driver_passes(solver) - before);
}

/* ---- steps ----------------------------------------------------------------------------------- */

mgv_status mgvi_driver_step(mgv_solver *solver)
{
    mgvi_run *run = &solver->run;
    const mgv_status failed = run->problem->A->failed;
    if (solver->cut) /* while it set itself up */
        return MGV_OK;
    MGVI_TRY(mgvi_driver_open_judge(solver));
    keep_whole(solver);
    const double before = mgvi_driver_passes(solver);
    if (keep_for_passes(solver))
        meter_passes(solver);
    mgvi_ctx_open(run->ctx, MGVI_GRACE);
    const mgv_status st = run->ops->step(run);
    solver->cut = mgvi_ctx_close(run->ctx);
    count_passes(solver, before);
    if (solver->cut) { /* nothing of it counts, failures included */
        run->problem->A->failed = failed;
        return MGV_OK;
    }
    MGVI_TRY(st);
    run->iteration++;
    return MGV_OK;
}

mgv_status mgvi_driver_mend(mgv_solver *solver)
{
    if (!solver->cut)
        return MGV_OK;
    solver->cut = false;
    if (solver->keeper.whole.bytes)
        return mgvi_checkpoint_parse(solver, "the last whole iteration", solver->keeper.whole.bytes,
                                     solver->keeper.whole.size);
    MGVI_TRY(mgvi_driver_seat(solver, solver->run.ops));
    return mgvi_driver_start(solver, solver->answer.w.x, solver->answer.u.x);
}
