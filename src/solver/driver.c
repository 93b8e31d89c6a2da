/* driver.c - the only loop: steps, stopping rules, events, trace, checkpoints, interrupts. What it
 * asks of the judge, and when, is in certificates.c; limits are in limits.c. */
#include "solver/driver.h"

#include "base/limit.h"
#include "base/sink.h"
#include "solver/classes/family.h"

#include <math.h>

/* ---- counters -------------------------------------------------------------------------------- */

double mgvi_driver_touched(const mgv_solver *solver)
{
    const mgvi_op *A = solver->run.problem->A;
    return solver->memory.touched + A->touched - solver->touched_before + solver->run.touched;
}

double mgvi_driver_streamed(const mgv_solver *solver)
{
    return solver->memory.streamed + solver->run.problem->A->touched - solver->touched_before;
}

static double in_passes(const mgv_solver *solver, double touched)
{
    const int64_t nnz = solver->run.problem->A->nnz;
    return nnz > 0 ? touched / (double)nnz : 0;
}

double mgvi_driver_passes(const mgv_solver *solver)
{
    return in_passes(solver, mgvi_driver_touched(solver) + solver->settled);
}

double mgvi_driver_normal_residual(const mgv_solver *solver)
{
    const mgvi_run *run = &solver->run;
    const bool certified =
        solver->stop == MGV_STOP_CERTIFIED || solver->stop == MGV_STOP_INFEASIBLE;
    return !solver->family && !certified && run->ops->normal ? run->ops->normal(run) : NAN;
}

double mgvi_driver_schedule(const mgv_solver *solver)
{
    return in_passes(solver, mgvi_driver_touched(solver));
}

static double seconds_now(const mgv_solver *solver)
{
    return solver->memory.seconds + mgvi_ctx_clock(solver->run.ctx) - solver->started;
}

/* ---- events and stopping rules --------------------------------------------------------------- */

static mgv_event event_now(mgv_solver *solver, mgv_event_kind kind)
{
    const mgv_certificate *c = &solver->best.verdict->certificate;
    mgv_event e = mgvi_event_blank(kind);
    e.iteration = solver->run.iteration;
    e.passes = mgvi_driver_passes(solver);
    e.bytes = mgvi_op_bytes(solver->run.problem->A, mgvi_driver_touched(solver) + solver->settled);
    e.seconds = seconds_now(solver);
    if (solver->run.ops->smoothing && e.iteration > 0)
        e.smoothing = solver->run.ops->smoothing(&solver->run);
    if (solver->memory.certificates > 0) {
        e.primal = c->primal;
        e.dual = c->dual;
        e.gap = c->gap;
        e.relative_gap = c->relative_gap;
        e.margin = c->margin;
        e.margin_upper = c->margin_upper;
        e.train_score = solver->best.verdict->train_score;
    }
    if (kind == MGV_EVENT_TRACE) {
        const mgvi_vec *w =
            solver->run.early ? solver->run.ops->expose(&solver->run).w : &solver->best.w;
        const mgvi_vec part = mgvi_problem_penalised_part(solver->run.problem, w);
        e.nonzeros = mgvi_vec_nonzeros(&part, NULL);
    }
    return e;
}

/* Tells the world where we are; true when it asks to stop. */
static bool report(mgv_solver *solver, bool certified)
{
    mgv_ctx *ctx = solver->run.ctx;
    bool stop = mgvi_ctx_interrupted(ctx);
    if (ctx->on_event) {
        /* every iterate may be the answer */
        const bool row = certified || (solver->run.early && !solver->cut);
        const mgv_event e = event_now(solver, row ? MGV_EVENT_TRACE : MGV_EVENT_PROGRESS);
        stop = mgvi_event_send(ctx, &e) || stop;
    }
    return stop;
}

static double residual_now(const mgv_solver *solver)
{
    const mgvi_run *run = &solver->run;
    const bool known = run->early && run->iteration > 0 && run->ops->residual && !solver->cut;
    return known ? run->ops->residual(run) : NAN;
}

static mgv_stop stop_now(mgv_solver *solver, const mgvi_verdict *verdict, bool asked)
{
    const mgvi_progress progress = {.iteration = solver->run.iteration,
                                    .passes = mgvi_driver_passes(solver),
                                    .seconds = seconds_now(solver),
                                    .verdict = verdict,
                                    .asked_to_stop = asked,
                                    .residual = residual_now(solver),
                                    .residual_before = solver->memory.residual_before,
                                    .noise = solver->noise,
                                    .planned = solver->planned};
    return mgvi_stop_look(solver->run.ctx, progress, &solver->settings);
}

/* Whether to stop, and the answer if so. */
static mgv_status conclude(mgv_solver *solver, bool certified)
{
    const bool asked = report(solver, certified);
    solver->stop = stop_now(solver, certified ? solver->best.verdict : NULL, asked);
    if (solver->stop == MGV_STOP_NONE && solver->memory.looks >= MGVI_LOOKS)
        solver->stop = MGV_STOP_ROUNDING;
    if (solver->stop == MGV_STOP_NONE && solver->run.finished)
        solver->stop = solver->run.scheduled ? MGV_STOP_SCHEDULE : MGV_STOP_STALLED;
    const bool certified_now = solver->stop == MGV_STOP_CERTIFIED;
    if (certified_now && stop_now(solver, NULL, asked) == MGV_STOP_NONE &&
        mgvi_driver_sharpen(solver))
        solver->stop = MGV_STOP_NONE;
    if (solver->stop == MGV_STOP_NONE) {
        solver->memory.concluded = solver->run.iteration;
        return MGV_OK;
    }
    mgvi_driver_settle(solver, certified);
    MGVI_TRY(mgvi_driver_sparsify(solver));
    const mgv_stop better = stop_now(solver, solver->answer.verdict, asked);
    if (better == MGV_STOP_CERTIFIED || better == MGV_STOP_INFEASIBLE)
        solver->stop = better;
    else if (solver->stop == MGV_STOP_STALLED && solver->memory.looks > 0)
        solver->stop = MGV_STOP_ROUNDING;
    if (solver->stop == MGV_STOP_ROUNDING) /* the numbers are true, but not what was asked for */
        solver->answer_verdict.certificate.verified = 0;
    return MGV_OK;
}

bool mgvi_driver_done(const mgv_solver *solver)
{
    const mgvi_run *run = &solver->run;
    const bool guess = run->ops->estimate && run->iteration > 0;
    /* a gap far below 0 is no gap: w has moved while it was guessed, on rows that it cannot meet */
    return run->finished || (guess && fabs(run->ops->estimate(run)) <= solver->settings.tol);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Whether the best pair has what was asked for, but for rounding. */
static bool only_rounding_left(const mgv_solver *solver)
{
    return solver->memory.certificates > 0 &&
           mgvi_verdict_sharp_gap(solver->run.problem, solver->best.verdict) <=
               solver->settings.tol;
}

/* Of what it may spend: a step after which a solver is asked whether another should take over. */
static const double LONG_STEP = 0.2;

/* One step and what follows from it. */
static mgv_status advance(mgv_solver *solver)
{
    mgvi_run *run = &solver->run;
    mgv_status st = MGV_OK;
    if (run->iteration > 0)
        solver->memory.residual_before = residual_now(solver);
    run->allowance = mgvi_driver_allowance(solver);
    const double before = mgvi_driver_own_spent(solver);
    if (!solver->cut) /* else a solver that took over was cut while it set itself up */
        st = mgvi_driver_step(solver);
    if (st == MGV_E_NUMERIC && only_rounding_left(solver))
        run->finished = true; /* no digits are left to make a step of */
    else
        MGVI_TRY(st);
    if (solver->cut)
        return conclude(solver, false);
    MGVI_TRY(mgvi_driver_show(solver));
    const double after = mgvi_driver_own_spent(solver); /* long ones may read next to nothing */
    const bool all_spent = solver->patience > 0 && after > solver->patience &&
                           after - before > LONG_STEP * solver->patience;
    bool certified = run->finished || all_spent || mgvi_driver_certificate_due(solver);
    if (certified) {
        MGVI_TRY(mgvi_driver_certify(solver, &certified));
        run->finished = run->finished || mgvi_driver_outspent(solver);
    }
    MGVI_TRY(run->problem->A->failed);
    MGVI_TRY(conclude(solver, certified));
    return mgvi_keeper_after(&solver->keeper);
}

/* A run that ended with its certificate has it still when it is resumed; one that was due and cut
 * short by the limit is taken now. One that was to go on from here is not asked again: the answer
 * depends on what was seen on the way. */
static mgv_status begin(mgv_solver *solver)
{
    const mgvi_driver_memory *m = &solver->memory;
    const bool goes_on = solver->run.iteration > 0 && m->concluded == solver->run.iteration;
    bool certified = !goes_on && m->certificates > 0 && m->certified == solver->run.iteration;
    if (!goes_on && !certified && !solver->cut && solver->run.iteration > 0 && solver->judge &&
        mgvi_driver_certificate_due(solver))
        MGVI_TRY(mgvi_driver_certify(solver, &certified));
    return conclude(solver, certified);
}

/* The counters of this sitting join those of earlier ones. */
static void book_counters(mgv_solver *solver)
{
    solver->memory.touched = mgvi_driver_touched(solver);
    solver->memory.streamed = mgvi_driver_streamed(solver);
    solver->memory.seconds = seconds_now(solver);
    solver->touched_before = solver->run.problem->A->touched;
    solver->memory.worked += solver->run.work;
    solver->run.touched = solver->run.work = 0;
    solver->started = mgvi_ctx_clock(solver->run.ctx);
}

mgv_status mgvi_driver_run(mgv_solver *solver)
{
    mgv_status st = MGV_OK;
    MGVI_TRY(mgvi_keeper_begin(&solver->keeper, solver->run.ctx, &solver->settings, solver,
                               mgvi_checkpoint_put_run));
    if (solver->family && solver->shown && solver->run.ctx->show.fn)
        return MGVI_FAIL(solver->run.ctx, MGV_E_UNSUPPORTED,
                         "iterates can be shown of one run (got %d of two classes each); take two "
                         "classes, or multiclass joint",
                         (int)solver->family->members);
    if (solver->family)
        return mgvi_family_run(solver);
    MGVI_TRY(mgvi_driver_open_judge(solver));
    if (mgvi_ctx_late(solver->run.ctx) == MGV_STOP_NONE)
        MGVI_TRY(mgvi_driver_mend(solver));
    mgvi_driver_begin_limits(solver);
    mgvi_ctx_reserve(solver->run.ctx, mgvi_driver_aftermath(solver));
    solver->started = mgvi_ctx_clock(solver->run.ctx);
    solver->touched_before = solver->run.problem->A->touched;
    solver->run.goal = mgvi_driver_goal(solver);
    MGVI_TRY(mgvi_driver_try_constant(solver));
    st = begin(solver);
    do
        while (st == MGV_OK && solver->stop == MGV_STOP_NONE)
            st = advance(solver);
    while (mgvi_driver_relay(solver, &st));
    const bool fell_back = mgvi_driver_fall_back(solver, &st);
    if (st == MGV_OK)
        st = mgvi_driver_confirm(solver);
    book_counters(solver);
    const bool certified =
        solver->stop == MGV_STOP_CERTIFIED || solver->stop == MGV_STOP_INFEASIBLE;
    if (st == MGV_OK && !certified && !solver->cut && !fell_back && solver->run.ops->ended)
        solver->run.ops->ended(&solver->run);
    if (st == MGV_OK && !fell_back)
        st = mgvi_keeper_end(&solver->keeper, solver->cut);
    return st;
}

mgvi_summary mgvi_driver_summary(const mgv_solver *solver)
{
    if (solver->family)
        return mgvi_family_summary(solver);
    return (mgvi_summary){.solver = solver->run.ops->name,
                          .stop = solver->stop,
                          .iterations = solver->run.iteration,
                          .passes = mgvi_driver_passes(solver),
                          .seconds = solver->memory.seconds,
                          .certificate = solver->answer_verdict.certificate};
}
