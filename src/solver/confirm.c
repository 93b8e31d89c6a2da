/* confirm.c - the last word on whether there is a margin, when a run has ended without one or with
 * weights that, rounded as a model saves them, do not separate the data. */
#include "solver/driver.h"

#include "base/limit.h"
#include "solver/decide.h"

#include <math.h>

static const double MOST = 3e7; /* operations on twofold numbers: less than a second */

/* The verdict with w in the place of its own weights, whose least score is `least`. */
static mgvi_verdict verdict_with(mgv_solver *solver, const mgvi_vec *w, double least)
{
    const mgv_problem *p = solver->run.problem;
    const mgvi_verdict old = solver->answer_verdict;
    mgvi_verdict found = mgvi_judge_certify(solver->judge, w, &solver->answer.u);
    const mgvi_vec part = mgvi_problem_penalised_part(p, w);
    const double norm = mgvi_lp_norm(part.x, part.n, p->p);
    found.certificate.margin = norm > 0 ? least / norm * (1 - copysign(1e-9, least)) : 0;
    found.primal_score = -found.certificate.margin;
    return mgvi_verdict_combine(p, &found, &old);
}

/* Weights in the user's units become the answer, if they separate when they have made the journey
 * through the problem's units and back. The intercept of centred columns is found again. */
static mgv_status adopt_weights(mgv_solver *solver, const double *user, mgvi_vec *w, double *back)
{
    enum { ROUNDS = 3 };
    const mgv_problem *p = solver->run.problem;
    const int64_t d = mgvi_problem_coefs(p);
    const double wanted = p->free_cols ? user[d] : 0;
    double least, got;
    mgvi_problem_own_weights(p, user, wanted, w->x);
    for (int k = 0; k < ROUNDS && p->free_cols; k++) {
        mgvi_problem_user_weights(p, w->x, back, &got);
        w->x[d] += wanted - got;
    }
    MGVI_TRY(mgvi_judge_least_score(solver->judge, w, &least));
    if (!(least > 0))
        return MGV_OK;
    solver->answer_verdict = verdict_with(solver, w, least);
    mgvi_vec_copy(solver->run.ctx, w, &solver->answer.w);
    mgvi_log(solver->run.ctx, MGV_INFO, "weights that separate were found in scaled columns");
    return MGV_OK;
}

static mgv_status adopt_proof(mgv_solver *solver, mgvi_vec *q)
{
    mgv_ctx *ctx = solver->run.ctx;
    mgvi_vec_scale(ctx, -1, q);
    if (mgvi_driver_prove(solver, q, 0, &solver->answer))
        solver->stop = MGV_STOP_INFEASIBLE;
    return MGV_OK;
}

static mgv_status decide(mgv_solver *solver, mgvi_arena *arena)
{
    const mgv_problem *p = solver->run.problem;
    const int64_t cols = p->A->cols;
    mgvi_decision decision;
    mgvi_vec w, q;
    MGVI_TRY(mgvi_vec_new_host(arena, MGVI_COLS, cols, 1, &w));
    MGVI_TRY(mgvi_vec_new_host(arena, MGVI_ROWS, p->A->rows, 1, &q));
    double *user;
    MGVI_TRY(MGVI_ARRAY(arena, user, 2 * (size_t)cols));
    mgvi_ctx_open_last(p->ctx);
    const mgv_status st = mgvi_decide(p, MOST, user, q.x, &decision);
    if (mgvi_ctx_close(p->ctx))
        return MGV_OK; /* undecided */
    MGVI_TRY(st);
    if (decision == MGVI_DECIDED_SEPARABLE)
        return adopt_weights(solver, user, &w, user + cols);
    return decision == MGVI_DECIDED_INSEPARABLE ? adopt_proof(solver, &q) : MGV_OK;
}

static mgv_status confirm(mgv_solver *solver)
{
    const mgvi_run *run = &solver->run;
    mgv_certificate *c = &solver->answer_verdict.certificate;
    mgvi_arena arena;
    double least;
    if (!mgvi_problem_has_margin(run->problem) || run->early || !solver->judge ||
        c->separable == 0 || (run->problem->A->ops->can & MGVI_KERNEL))
        return MGV_OK;
    if (c->separable == 1 && c->margin > solver->answer_verdict.primal_rounding)
        return MGV_OK; /* far above what rounding can do */
    if (c->separable == 1) {
        MGVI_TRY(mgvi_judge_least_score(solver->judge, &solver->answer.w, &least));
        if (least > 0)
            return MGV_OK;
        solver->answer_verdict = verdict_with(solver, &solver->answer.w, least);
        if (solver->stop == MGV_STOP_CERTIFIED)
            solver->stop = MGV_STOP_STALLED;
    }
    if (solver->stop == MGV_STOP_TIME || solver->stop == MGV_STOP_USER || run->iteration == 0)
        return MGV_OK; /* a limit is a limit */
    mgvi_arena_init(&arena, run->ctx);
    const mgv_status st = decide(solver, &arena);
    mgvi_arena_free(&arena);
    if (c->separable < 0 && mgvi_judge_nearly_proven(solver->judge))
        mgvi_log(run->ctx, MGV_WARNING,
                 "a convex combination of examples is zero up to rounding, which is no proof");
    return st;
}

/* What it reads is counted, but not on the clock of the schedule: a resumed run keeps its bits. */
mgv_status mgvi_driver_confirm(mgv_solver *solver)
{
    const mgvi_op *A = solver->run.problem->A;
    const double before = A->touched;
    const mgv_status st = confirm(solver);
    solver->settled += A->touched - before;
    solver->touched_before += A->touched - before;
    return st;
}
