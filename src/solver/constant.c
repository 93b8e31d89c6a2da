/* constant.c - is a constant alone the optimum? Then there is nothing to step along. */
#include "solver/driver.h"

#include "base/limit.h"
#include "solver/null_model.h"

#include <float.h>
#include <math.h>

/* Equalities and intervals that a constant meets beside the weights where the penalty is least, no
 * weights at all for most: these are the optimum. One row beside an intercept is such a case. */
static mgv_status meet_constraints(mgv_solver *solver)
{
    const mgv_problem *p = solver->run.problem;
    mgvi_pair *answer = &solver->answer;
    double low = -INFINITY, high = INFINITY;
    mgvi_vec lent[2];
    mgvi_judge_lend(solver->judge, lent);
    mgvi_judge_least_weights(solver->judge, &answer->w, &lent[0]);
    const double *z = mgvi_vec_host(&lent[0]);
    for (int64_t i = 0; i < p->A->rows; i++) {
        const mgvi_coef c = mgvi_coefs_at(&p->row, i, 0);
        if (!(c.scale > 0))
            continue;
        low = fmax(low, p->loss->prox(c, -DBL_MAX, 1) - z[i]);
        high = fmin(high, p->loss->prox(c, DBL_MAX, 1) - z[i]);
    }
    if (!(low <= high))
        return MGV_OK;
    mgvi_vec_fill(p->ctx, &answer->u, 0);
    answer->w.x[answer->w.n - 1] = low > 0 ? low : high < 0 ? high : 0;
    return mgvi_driver_offer(solver);
}

/* Whether -A'u = -v lies in the subdifferential of the penalty at 0, but for what the tolerance
 * allows: slopes shrunk by that part of them do, and cost as much of the bound. */
static bool stays_at_zero(const mgv_solver *solver, const mgvi_vec *v)
{
    const mgv_problem *p = solver->run.problem;
    double most = 0, beyond = 0;
    for (int64_t j = 0; j < mgvi_problem_penalised(p); j++) {
        most = fmax(most, fabs(v->x[j]));
        beyond = fmax(beyond, p->penalty->kkt(mgvi_coefs_at(&p->col, j, 0), 0, v->x[j]));
    }
    return beyond <= solver->settings.tol * most;
}

/* The null model and its slopes, where a penalty with a kink is strong enough to hold it: solvers
 * come near it step by step, which took up to 70 times as long. One product where it is not. */
static mgv_status hold_at_zero(mgv_solver *solver, mgvi_arena *arena, bool *held)
{
    const mgv_problem *p = solver->run.problem;
    mgvi_vec w, u, v;
    double value;
    bool unique;
    MGVI_TRY(mgvi_null_model(p, arena, &w, &u, &value, &unique));
    MGVI_TRY(mgvi_vec_new_host(arena, MGVI_COLS, p->A->cols, 1, &v));
    mgvi_op_mul_t(p->A, 1, &u, 0, &v);
    *held = stays_at_zero(solver, &v);
    if (!*held)
        return MGV_OK;
    mgvi_vec_copy(p->ctx, &w, &solver->answer.w);
    mgvi_vec_copy(p->ctx, &u, &solver->answer.u);
    return MGV_OK;
}

/* Margins beside a penalty with a kink; not where a run goes on from elsewhere. Quantities take many
 * passes over their rows for an intercept, and their solvers begin at 0. */
static bool may_hold(const mgv_solver *solver)
{
    const mgv_problem *p = solver->run.problem;
    return !(p->loss->can & (MGVI_HARD | MGVI_JOINT)) && (p->loss->can & MGVI_MARGIN) &&
           (p->loss->can & MGVI_GRAD) && (p->penalty->can & MGVI_KINK) &&
           (p->penalty->can & MGVI_KKT) && p->lanes == 1 && !mgvi_problem_has_smooth(p) &&
           solver->run.iteration == 0 && mgvi_problem_nonzeros(p, solver->answer.w.x) == 0;
}

mgv_status mgvi_driver_try_constant(mgv_solver *solver)
{
    const mgv_problem *p = solver->run.problem;
    if (solver->memory.certificates > 0 || solver->run.early || !solver->judge)
        return MGV_OK;
    if ((p->loss->can & MGVI_HARD) && !(p->loss->can & MGVI_MARGIN) && p->free_cols == 1)
        return meet_constraints(solver);
    if (!may_hold(solver) || solver->cut)
        return MGV_OK;
    mgvi_arena arena;
    bool held = false;
    const mgv_status failed = p->A->failed;
    mgvi_arena_init(&arena, p->ctx);
    mgvi_ctx_open(p->ctx, MGVI_GRACE);
    mgv_status st = hold_at_zero(solver, &arena, &held);
    mgvi_arena_free(&arena);
    if (mgvi_ctx_close(p->ctx)) {
        p->A->failed = failed;
        return MGV_OK;
    }
    return st == MGV_OK && held ? mgvi_driver_offer(solver) : st;
}
