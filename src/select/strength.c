/* strength.c - where paths begin. With u the slopes s_i G_i' at w = 0 and the best intercept,
 *   mu_max = |A'u|_inf                                                                        (1)
 * when they are unique. The hinge with an intercept and classes of different weight has a kink
 * there: b = +-1 puts the heavier class on its margin, where any theta in [0, s] with the right sum
 * will do, and mu_max is the least |A'theta|_inf among them. The optimal value P*(mu) for
 * lambda = 0 is concave, P0 from mu_max on, and any w with L(w) < P0 gives a tangent's crossing
 *   mu_max >= (P0 - L(w)) / |w|_1;                                                            (2)
 * w = the solution at mu makes it a Newton step: monotone, and finite because P* is made of
 * finitely many lines. */
#include "select/strength.h"

#include "solver/driver.h"
#include "solver/parts/intercept.h"

#include <math.h>
#include <string.h>

/* Slopes at w = 0 in u. *value is the loss there; *unique: no other slopes are possible. */
static mgv_status slopes_at_zero(const mgv_problem *p, mgvi_arena *arena, mgvi_vec *u,
                                 double *value, bool *unique)
{
    mgvi_vec w, z;
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, p->A->cols, 1, &w));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_ROWS, p->A->rows, 1, &z));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_ROWS, p->A->rows, 1, u));
    const bool smooth = p->loss->can & MGVI_SMOOTH;
    *unique = true;
    if (smooth)
        mgvi_intercept_improve(p, 1e-14, &w, &z);
    mgvi_op_mul(p->A, 1, &w, 0, &z);
    mgvi_loss_value(p->ctx, p->loss, &p->row, &z, value);
    mgvi_loss_grad(p->ctx, p->loss, &p->row, &z, u);
    if (smooth || !p->free_cols)
        return MGV_OK;
    double side[2] = {0, 0}; /* the heavier class gives way, each row in proportion */
    for (int64_t i = 0; i < u->n; i++)
        side[mgvi_problem_free_entry(p, i) > 0] += fabs(u->x[i]);
    const int heavy = side[1] > side[0];
    for (int64_t i = 0; i < u->n; i++)
        if ((mgvi_problem_free_entry(p, i) > 0) == heavy && side[heavy] > 0)
            u->x[i] *= side[!heavy] / side[heavy];
    *value = 2 * side[!heavy];
    *unique = fabs(side[0] - side[1]) <= 1e-14 * side[heavy];
    return MGV_OK;
}

/* ---- mu -------------------------------------------------------------------------------------- */

/* The solution for penalty mu |w|_1 alone: |w|_1 and the loss L(w). Starts from `w` and `u`, and
 * leaves its own there. */
static mgv_status solve_l1(mgv_problem *p, const mgv_settings *settings, double mu, mgvi_vec *w,
                           mgvi_vec *u, double *l1, double *loss)
{
    mgv_solver *solver;
    MGVI_TRY(mgvi_problem_set_strengths(p, 0, mu));
    MGVI_TRY(mgvi_driver_new(p->ctx, p, settings, &solver));
    mgv_status st = mgvi_driver_start(solver, w->x, u->x);
    if (st == MGV_OK)
        st = mgvi_driver_run(solver);
    *l1 = 0;
    if (st == MGV_OK) {
        mgvi_vec_copy(p->ctx, &solver->answer.w, w);
        mgvi_vec_copy(p->ctx, &solver->answer.u, u);
        for (int64_t j = 0; j < mgvi_problem_penalised(p); j++)
            *l1 += fabs(w->x[j]);
        *loss = solver->answer_verdict.certificate.primal - mu * *l1;
    }
    mgvi_driver_free(solver);
    return st;
}

/* (2) from below, first looking for a mu that is below. */
static mgv_status climb(mgv_problem *p, const mgv_settings *settings, mgvi_arena *arena, double P0,
                        mgvi_vec *u, double *mu)
{
    enum { MOST = 60 };
    static const double CLOSE = 1e-10;
    mgvi_vec w;
    mgv_settings inner = *settings;
    bool below = false;
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, p->A->cols, 1, &w));
    inner.tol = 1e-11;
    double at = 0.9 * *mu;
    for (int k = 0; k < MOST; k++) {
        double l1, loss = P0;
        MGVI_TRY(solve_l1(p, &inner, at, &w, u, &l1, &loss));
        const double crossing = l1 > 0 ? (P0 - loss) / l1 : 0;
        if (crossing > at * (1 + CLOSE)) { /* w beats 0 here: the largest mu lies above */
            below = true;
            at = crossing;
            continue;
        }
        *mu = at;
        if (below)
            return MGV_OK;
        at *= 0.8;
    }
    return MGV_OK;
}

mgv_status mgvi_largest_mu(mgv_problem *p, const mgv_settings *settings, double *out)
{
    mgvi_arena arena;
    mgvi_vec u, v;
    double P0;
    bool unique;
    mgvi_arena_init(&arena, p->ctx);
    mgv_status st = slopes_at_zero(p, &arena, &u, &P0, &unique);
    if (st == MGV_OK)
        st = mgvi_vec_new(&arena, MGVI_COLS, p->A->cols, 1, &v);
    if (st == MGV_OK) { /* (1) */
        mgvi_op_mul_t(p->A, 1, &u, 0, &v);
        const mgvi_vec part = mgvi_problem_penalised_part(p, &v);
        mgvi_vec_abs_max(p->ctx, &part, out);
    }
    if (st == MGV_OK && !unique && *out > 0)
        st = climb(p, settings, &arena, P0, &u, out);
    mgvi_arena_free(&arena);
    return st;
}

/* ---- lambda ---------------------------------------------------------------------------------- */

mgv_status mgvi_largest_lambda(const mgv_problem *p, double *out)
{
    mgvi_arena arena;
    mgvi_vec u, v;
    double P0;
    bool unique;
    mgvi_arena_init(&arena, p->ctx);
    mgv_status st = slopes_at_zero(p, &arena, &u, &P0, &unique);
    if (st == MGV_OK)
        st = mgvi_vec_new(&arena, MGVI_COLS, p->A->cols, 1, &v);
    if (st == MGV_OK) {
        mgvi_op_mul_t(p->A, -1, &u, 0, &v);
        const int64_t d = mgvi_problem_penalised(p);
        for (int64_t j = 0; j < v.n; j++)
            v.x[j] = j < d ? copysign(fmax(fabs(v.x[j]) - p->mu, 0), v.x[j]) : 0;
        mgvi_op_mul(p->A, 1, &v, 0, &u);
        mgvi_vec_abs_max(p->ctx, &u, out);
        if (!(*out > 0))
            st = MGVI_FAIL(p->ctx, MGV_E_ARG,
                           "with mu = %g every weight is 0 for every lambda: there is no path",
                           p->mu);
    }
    mgvi_arena_free(&arena);
    return st;
}
