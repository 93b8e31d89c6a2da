/* relay.c - solver `auto`: what happens when the solver that looked cheapest does not get there. */
#include "solver/driver.h"

#include "base/limit.h"
#include "base/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The solver's init, which may have much to factor: a piece of work like a step. */
static mgv_status set_up(mgv_solver *solver)
{
    mgvi_run *run = &solver->run;
    solver->cut = mgvi_ctx_late(run->ctx) != MGV_STOP_NONE; /* the run will end as it starts */
    if (solver->cut)
        return MGV_OK;
    mgvi_ctx_open(run->ctx, MGVI_GRACE);
    const mgv_status st = run->ops->init(run);
    solver->cut = mgvi_ctx_close(run->ctx);
    return solver->cut ? MGV_OK : st;
}

mgv_status mgvi_driver_seat(mgv_solver *solver, const mgvi_solver_ops *ops)
{
    enum { OF_THE_DRIVER = 3 };
    mgvi_run *run = &solver->run;
    mgvi_run before = *run;
    mgvi_kept kept[MGVI_MOST_KEPT];
    mgv_status st = MGV_E_MEMORY;
    memcpy(kept, run->kept, sizeof kept);
    mgvi_arena_init(&run->arena, run->ctx);
    run->ops = ops;
    run->kept_count = ops->primal_only ? 1 : OF_THE_DRIVER;
    run->iteration = 0;
    run->finished = run->suspicious = false;
    run->rng = mgvi_rng_seed((uint64_t)solver->settings.seed);
    run->state = mgvi_run_array(run, 1, ops->state_size);
    if (run->state)
        st = set_up(solver);
    mgvi_arena_free(st == MGV_OK ? &before.arena : &run->arena);
    if (st != MGV_OK) {
        *run = before;
        memcpy(run->kept, kept, sizeof kept);
    }
    return st;
}

/* What a solver is expected to spend: of those that gave way once, more each time. */
static double price_of(const mgv_solver *solver, const mgvi_solver_ops *ops)
{
    const mgvi_driver_memory *m = &solver->memory;
    const double cost = ops->cost(solver->run.problem, &solver->settings);
    return m->paused & mgvi_solver_bit(ops) ? ldexp(cost, (int)m->comebacks) : cost;
}

/* Who has not had a turn yet; NULL: nobody is left. Where sweeps of the columns lag, those of
 * another solver do, too: one that does something else goes before them. */
static const mgvi_solver_ops *next_fresh(const mgv_solver *solver)
{
    const mgvi_run *run = &solver->run;
    mgvi_solver_mask passed = solver->tried;
    for (int k = 0; run->ops->sweeps && k < mgvi_solver_count(); k++)
        if (mgvi_solver_at(k)->sweeps)
            passed |= mgvi_solver_bit(mgvi_solver_at(k));
    const mgvi_solver_ops *other =
        mgvi_solver_next(run->ctx, run->problem, &solver->settings, passed);
    return other || passed == solver->tried
               ? other
               : mgvi_solver_next(run->ctx, run->problem, &solver->settings, solver->tried);
}

/* Who would take over; NULL: nobody. One that gave way, for another seemed cheaper, comes back
 * where that was wrong: taking turns of twice the length costs a few times the best at most,
 * whoever that is. */
static const mgvi_solver_ops *next_solver(const mgv_solver *solver)
{
    const mgvi_solver_ops *next = next_fresh(solver);
    double least = next ? price_of(solver, next) : INFINITY;
    for (int k = 0; k < mgvi_solver_count(); k++) {
        const mgvi_solver_ops *ops = mgvi_solver_at(k);
        const bool waits = solver->memory.paused & mgvi_solver_bit(ops);
        if (ops == solver->run.ops || !waits || !(price_of(solver, ops) < least))
            continue;
        next = ops;
        least = price_of(solver, ops);
    }
    return next;
}

double mgvi_driver_spent(const mgv_solver *solver)
{
    const mgv_problem *p = solver->run.problem;
    const double entry = mgvi_entry_cost(p), product = mgvi_product_cost(p);
    const double streamed = mgvi_driver_streamed(solver);
    return product * streamed + entry * (mgvi_driver_touched(solver) - streamed) +
           solver->memory.worked + solver->run.work;
}

double mgvi_driver_own_spent(const mgv_solver *solver)
{
    return mgvi_driver_spent(solver) - solver->memory.seated;
}

/* What a solver on trial may spend before the next, which costs `its`, takes over; 0: it is on
 * none. */
static double trial_of(const mgv_solver *solver, double its)
{
    const mgvi_run *run = &solver->run;
    return solver->memory.comebacks == 0 && price_of(solver, run->ops) > its
               ? mgvi_solver_tries(run->ops, run->problem, &solver->settings, its)
               : 0;
}

/* What the present solver has yet to spend if the gap goes on falling as between the last two
 * certificates. */
static double left_to_spend(const mgv_solver *solver)
{
    const mgvi_driver_memory *m = &solver->memory;
    const double way = mgvi_driver_way(m->best.certificate.relative_gap);
    return m->gain < 1 ? m->since * log(solver->settings.tol / way) / log(m->gain) : INFINITY;
}

/* Whether a solver that may spend `most` will not end by then: one that converges linearly and just
 * ends has a gap of tol^share when it has spent a share; the gap of one that lags is a fraction of
 * that way. */
static bool lags_behind(const mgv_solver *solver, double most)
{
    static const double FIRST = 0.25, LAGGING = 0.25;
    const double share = mgvi_driver_own_spent(solver) / most;
    const double gap = solver->memory.best.certificate.relative_gap;
    const double lagging = LAGGING * share * log(fmin(solver->settings.tol, 0.1));
    return share > 1 || (share >= FIRST && log(gap) > lagging);
}

/* The same of a trial, which is not about to end. */
static bool trial_is_lost(const mgv_solver *solver, double most, double its)
{
    static const double SHARE = 0.5;
    return lags_behind(solver, most) && left_to_spend(solver) > SHARE * its;
}

/* What the present solver may spend before the next, which costs `its`, takes over: as much, for
 * then no more than half is lost, whoever would have been right. */
static double patience(const mgv_solver *solver, double its)
{
    static const double LITTLE = 5e7; /* a few thousandths of a second: no reason to change */
    static const double PATIENCE = 1.5;
    const double trial = trial_of(solver, its);
    const double own = PATIENCE * price_of(solver, solver->run.ops);
    return trial > 0 ? trial : fmax(fmax(own, its), LITTLE);
}

/* Whether the gap tells early on how far the present solver will get: those that may be tried have
 * such gaps, whoever was the cheapest. */
static bool shows_early(const mgv_solver *solver)
{
    const mgvi_run *run = &solver->run;
    return solver->memory.comebacks == 0 && run->ops->trial &&
           isfinite(run->ops->trial(run->problem, &solver->settings));
}

/* What the next one costs, and how many times that the present one must yet need for it: costs are
 * guesses. One that comes back has been wrong itself, and Newton's last steps are worth more than
 * those before them. */
static double next_cost(const mgv_solver *solver, double *sure)
{
    static const double FRESH = 2, AGAIN = 10;
    const mgvi_solver_ops *next = next_solver(solver);
    *sure = next && (solver->memory.paused & mgvi_solver_bit(next)) ? AGAIN : FRESH;
    return next ? price_of(solver, next) : INFINITY;
}

double mgvi_driver_allowance(mgv_solver *solver)
{
    if (!solver->tried || !solver->judge || !solver->run.ops->cost || solver->run.early)
        return INFINITY;
    double sure;
    if (solver->patience == 0)
        solver->patience = patience(solver, next_cost(solver, &sure));
    const double left = solver->patience - mgvi_driver_own_spent(solver);
    return left > 0 ? left : solver->patience; /* it was allowed to go on: as much again */
}

bool mgvi_driver_outspent(mgv_solver *solver)
{
    enum { MANY_STEPS = 2000 };
    static const double MUCH = 4e9; /* for which a run of that many is not given up */
    const mgvi_run *run = &solver->run;
    if (!solver->tried || !solver->judge || !run->ops->cost || run->early ||
        solver->memory.best.certificate.relative_gap <= solver->settings.tol)
        return false;
    const bool long_run = run->iteration >= MANY_STEPS; /* of few rows or columns each */
    double sure;
    const double its = next_cost(solver, &sure), trial = trial_of(solver, its);
    const bool enough = mgvi_driver_own_spent(solver) > patience(solver, its) ||
                        (shows_early(solver) && lags_behind(solver, price_of(solver, run->ops)));
    solver->outspent = (trial > 0 ? trial_is_lost(solver, trial, its)
                                  : enough && left_to_spend(solver) > sure * its) ||
                       (long_run && its < MUCH);
    return solver->outspent;
}

/* `next` in the place of the present solver; one that comes back goes on from the best pair, and so
 * does one to which that is worth something. */
static mgv_status hand_over(mgv_solver *solver, const mgvi_solver_ops *next)
{
    mgvi_driver_memory *m = &solver->memory;
    const bool back = m->paused & mgvi_solver_bit(next);
    solver->tried |= mgvi_solver_bit(next);
    MGVI_TRY(mgvi_driver_seat(solver, next));
    m->comebacks += back;
    solver->stop = MGV_STOP_NONE;
    solver->outspent = false;
    solver->patience = 0;
    m->certified = -1;
    m->ratio = 1;
    m->seated = m->spent = mgvi_driver_spent(solver);
    m->began = mgvi_driver_schedule(solver);
    m->next_certificate = m->began + MGVI_FIRST_PASSES;
    const bool inherits = next->inherits && next->inherits(solver->run.problem);
    return (back || inherits) && m->certificates > 0
               ? mgvi_driver_start(solver, solver->best.w.x, solver->best.u.x)
               : MGV_OK;
}

bool mgvi_driver_relay(mgv_solver *solver, mgv_status *st)
{
    mgvi_run *run = &solver->run;
    const bool stalled = *st == MGV_OK && solver->stop == MGV_STOP_STALLED;
    const mgvi_solver_ops *next;
    char reason[MGVI_ERROR_MAX];
    if (!solver->tried || run->ops->primal_only || !(stalled || *st == MGV_E_NUMERIC))
        return false;
    snprintf(reason, sizeof reason, "%s", run->ctx->error);
    if (stalled)
        mgvi_print(reason, sizeof reason, "solver %s ended at a relative gap of %.1e",
                   run->ops->name, solver->answer_verdict.certificate.relative_gap);
    const mgvi_solver_mask own = mgvi_solver_bit(run->ops);
    if (solver->outspent)
        solver->memory.paused |= own;
    else
        solver->memory.paused &= ~own;
    while ((next = next_solver(solver))) {
        const mgv_status seated = hand_over(solver, next);
        if (seated != MGV_OK)
            solver->memory.paused &= ~mgvi_solver_bit(next);
        if (seated == MGV_E_UNSUPPORTED)
            continue;
        mgvi_log(run->ctx, MGV_INFO, "%s; %s takes over", reason, next->name);
        *st = seated;
        return true;
    }
    if (!stalled)
        *st = MGVI_FAIL(run->ctx, MGV_E_NUMERIC, "%s", reason);
    if (!solver->outspent)
        return false;
    solver->outspent = run->finished = false; /* it goes on by itself */
    solver->stop = MGV_STOP_NONE;
    return true;
}

bool mgvi_driver_fall_back(mgv_solver *solver, mgv_status *st)
{
    mgvi_run *run = &solver->run;
    const mgv_certificate *best = &solver->best.verdict->certificate;
    if (*st != MGV_E_NUMERIC || run->early || !solver->judge || solver->memory.certificates == 0 ||
        !best->verified || !(best->relative_gap < 1))
        return false;
    mgvi_log(run->ctx, MGV_WARNING, "%s; what was best before stays, at a relative gap of %.1e",
             run->ctx->error, best->relative_gap);
    mgvi_vec_copy(run->ctx, &solver->best.w, &solver->answer.w);
    mgvi_vec_copy(run->ctx, &solver->best.u, &solver->answer.u);
    solver->answer_verdict = *solver->best.verdict;
    solver->stop = solver->memory.looks > 0 ? MGV_STOP_ROUNDING : MGV_STOP_DIVERGED;
    if (solver->stop == MGV_STOP_ROUNDING)
        solver->answer_verdict.certificate.verified = 0;
    *st = MGV_OK;
    return true;
}

mgv_status mgvi_driver_take_over(mgv_solver *solver, const char *name)
{
    const mgvi_run *run = &solver->run;
    const mgvi_solver_ops *ops = name ? mgvi_solver_find(name) : NULL;
    if (!solver->tried || solver->family || !ops || ops == run->ops ||
        !mgvi_solver_suits(run->ctx, ops, run->problem))
        return MGV_OK;
    solver->tried |= mgvi_solver_bit(ops);
    return mgvi_driver_seat(solver, ops);
}
