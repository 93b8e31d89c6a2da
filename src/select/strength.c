/* strength.c - where paths begin. With u the slopes s_i G_i' at w = 0 and the best intercept,
 *   mu_max = |A'u|_inf                                                                        (1)
 * when they are unique. The hinge with an intercept and classes of different weight has a kink
 * there: b = +-1 puts the heavier class on its margin, where any theta in [0, s] with the right sum
 * will do, and mu_max is the least |A'theta|_inf among them. The optimal value P*(mu) for
 * lambda = 0 is concave, P0 from mu_max on, and any w with L(w) < P0 gives a tangent's crossing
 *   mu_max >= (P0 - L(w)) / |w|_1;                                                            (2)
 * w = the solution at mu makes it a Newton step: monotone, and finite because P* is made of
 * finitely many lines. Of runs for many classes the largest strength counts. */
#include "select/strength.h"

#include "base/limit.h"
#include "problem/member.h"
#include "solver/driver.h"
#include "solver/null_model.h"
#include "solver/sweep/steps.h"

#include <math.h>
#include <string.h>

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
        *mu = at * (1 + CLOSE); /* never below: there w = 0 would be one solution of many */
        if (below)
            return MGV_OK;
        at *= 0.8;
    }
    return MGV_OK;
}

/* A norm of differences does not see constants: the mean of v is nothing it can hold against. */
static void take_mean_away(mgvi_vec *v)
{
    double sum = 0;
    for (int64_t j = 0; j < v->n; j++)
        sum += v->x[j];
    for (int64_t j = 0; j < v->n; j++)
        v->x[j] -= sum / (double)v->n;
}

/* The largest |y_i| of the shortest y with D'y = v, by conjugate gradients on D'D: at least the
 * dual norm, which is the least of all such y. v has no mean. */
static mgv_status flow(mgvi_op *D, mgvi_arena *arena, mgvi_vec *v, double *out)
{
    enum { MOST = 500 };
    mgvi_vec x, d, y, q;
    double rr, before, curvature, most;
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, v->n, 1, &x));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, v->n, 1, &d));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, v->n, 1, &q));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_ROWS, D->rows, 1, &y));
    mgvi_vec_copy(D->ctx, v, &d);
    mgvi_vec_dot(D->ctx, v, v, &rr);
    const double small = 1e-6 * rr;
    for (int k = 0; k < MOST && rr > small; k++) {
        mgvi_op_mul(D, 1, &d, 0, &y);
        mgvi_op_mul_t(D, 1, &y, 0, &q);
        mgvi_vec_dot(D->ctx, &d, &q, &curvature);
        if (!(curvature > 0))
            break;
        mgvi_vec_axpby(D->ctx, rr / curvature, &d, 1, &x);
        mgvi_vec_axpby(D->ctx, -rr / curvature, &q, 1, v);
        before = rr;
        mgvi_vec_dot(D->ctx, v, v, &rr);
        mgvi_vec_axpby(D->ctx, 1, v, rr / before, &d);
    }
    mgvi_op_mul(D, 1, &x, 0, &y);
    mgvi_vec_abs_max(D->ctx, &y, &most);
    *out = M_SQRT2 * most; /* two differences of a pixel are one number of the norm */
    return MGV_OK;
}

/* The same along a line, where there is one y only. */
static mgv_status running_sum(const mgvi_vec *v, double *out)
{
    double sum = 0, most = 0;
    for (int64_t j = 0; j < v->n; j++) {
        sum += v->x[j];
        most = fmax(most, fabs(sum));
    }
    *out = most;
    return MGV_OK;
}

/* The largest mu of a norm R: its dual norm of A'u. Of tv1d and tv2d, where a constant is left at
 * the end and not w = 0, it is the size of it. */
static mgv_status dual_norm(const mgv_problem *p, mgvi_arena *arena, mgvi_vec *v, double *out)
{
    mgvi_penalty penalty;
    mgvi_vec work;
    if (p->split.D) {
        take_mean_away(v);
        return p->penalty->can & MGVI_CONJ ? running_sum(v, out) : flow(p->split.D, arena, v, out);
    }
    MGVI_TRY(mgvi_problem_penalty(p, arena, &penalty));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, v->n, 1, &work));
    *out = p->mu * mgvi_penalty_gauge(&penalty, v, &work);
    return MGV_OK;
}

/* (1), or a bound of it from above. */
static mgv_status dual_norm_of(const mgv_problem *p, mgvi_arena *arena, const mgvi_vec *u,
                               mgvi_vec *v, double *mu)
{
    const bool l1 = p->penalty->can & MGVI_ABS;
    mgvi_op_mul_t(p->A, -1, u, 0, v);
    mgvi_vec part = mgvi_problem_penalised_part(p, v);
    if (!l1 || p->col.scale.values)
        return dual_norm(p, arena, &part, mu);
    mgvi_vec_abs_max(p->ctx, &part, mu);
    return MGV_OK;
}

/* `st`, or MGV_E_LIMIT where the limit has cut what was open. */
static mgv_status unless_cut(const mgv_problem *p, mgv_status st)
{
    if (!mgvi_ctx_close(p->ctx))
        return st;
    p->A->failed = MGV_OK;
    return MGVI_FAIL(p->ctx, MGV_E_LIMIT,
                     "%s before the path had its first strength: nothing was fitted",
                     mgvi_limit_words(p->ctx));
}

/* Raises *most to the problem's own largest mu. */
static mgv_status raise_mu(mgv_problem *p, const mgv_settings *settings, mgvi_arena *arena,
                           double *most)
{
    mgvi_vec w, u, v;
    static const double ROUNDING = 1e-12;
    double P0, mu;
    bool unique;
    const bool l1 = p->penalty->can & MGVI_ABS;
    mgvi_ctx_open(p->ctx, MGVI_GRACE);
    mgv_status st = mgvi_null_model(p, arena, &w, &u, &P0, &unique);
    if (st == MGV_OK)
        st = mgvi_vec_new(arena, MGVI_COLS, p->A->cols, 1, &v);
    if (st == MGV_OK)
        st = dual_norm_of(p, arena, &u, &v, &mu);
    MGVI_TRY(unless_cut(p, st));
    if (!unique && l1 && mu > *most)
        MGVI_TRY(climb(p, settings, arena, P0, &u, &mu));
    *most = fmax(*most, mu * (1 + ROUNDING)); /* just below it a weight of rounding's size is due */
    return MGV_OK;
}

/* ---- lambda ---------------------------------------------------------------------------------- */

/* Raises *most to the problem's own. */
static mgv_status raise_lambda(const mgv_problem *p, mgvi_arena *arena, double *most)
{
    mgvi_vec w, u, v;
    double P0;
    bool unique;
    MGVI_TRY(mgvi_null_model(p, arena, &w, &u, &P0, &unique));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, p->A->cols, p->lanes, &v));
    double *largest = mgvi_arena_array(arena, (size_t)p->lanes, sizeof *largest);
    if (!largest)
        return MGV_E_MEMORY;
    mgvi_op_mul_t(p->A, -1, &u, 0, &v);
    if (isnan(p->p) && p->mu == 0) { /* entropy: the logarithms of the weights move by 1 */
        const mgvi_vec part = mgvi_problem_penalised_part(p, &v);
        mgvi_vec_abs_max(p->ctx, &part, largest);
        *most = fmax(*most, largest[0]);
        return MGV_OK;
    }
    const int64_t penalised = mgvi_problem_penalised(p) * p->lanes;
    const double power = p->p > 1 ? p->p - 1 : 1; /* lambda |w_j|^power = |v_j| */
    for (int64_t j = 0; j < v.n * v.k; j++) {
        const double x = fmax(fabs(v.x[j]) - p->mu, 0);
        v.x[j] = j < penalised ? copysign(power == 1 ? x : pow(x, 1 / power), v.x[j]) : 0;
    }
    mgvi_op_mul(p->A, 1, &v, 0, &u);
    mgvi_vec_abs_max(p->ctx, &u, largest);
    for (int32_t c = 0; c < p->lanes; c++)
        *most = fmax(*most, power == 1 ? largest[c] : pow(largest[c], power));
    return MGV_OK;
}

/* ---- of one problem, or of all that it stands for ----------------------------------------------
 */

static mgv_status raise_one(mgv_problem *p, const mgv_settings *settings, bool along_mu,
                            double *most)
{
    mgvi_arena arena;
    mgvi_arena_init(&arena, p->ctx);
    mgv_status st;
    if (along_mu) {
        st = raise_mu(p, settings, &arena, most);
    } else {
        mgvi_ctx_open(p->ctx, MGVI_GRACE);
        st = unless_cut(p, raise_lambda(p, &arena, most));
    }
    mgvi_arena_free(&arena);
    return st;
}

/* What is found then begins a path that ends at once. */
static bool late(const mgv_problem *p) { return mgvi_ctx_late(p->ctx) != MGV_STOP_NONE; }

static mgv_status raise_all(mgv_problem *p, const mgv_settings *settings, bool along_mu,
                            double *most)
{
    if (!p->many)
        return raise_one(p, settings, along_mu, most);
    for (int64_t c = 0; c < mgvi_model_outputs(p) && !(*most > 0 && late(p)); c++) {
        mgvi_member member;
        mgvi_ctx_open(p->ctx, MGVI_GRACE);
        const mgv_status made = mgvi_member_new(p->ctx, p, settings, c, &member);
        mgv_status st = unless_cut(p, made);
        if (st == MGV_OK)
            st = raise_one(member.problem, settings, along_mu, most);
        if (made == MGV_OK)
            mgvi_member_free(p->ctx, &member);
        if (st == MGV_E_LIMIT && *most > 0)
            return MGV_OK; /* the path ends as it begins */
        MGVI_TRY(st);
    }
    return MGV_OK;
}

mgv_status mgvi_largest_mu(mgv_problem *p, const mgv_settings *settings, double *out)
{
    *out = 0;
    return raise_all(p, settings, true, out);
}

mgv_status mgvi_largest_lambda(mgv_problem *p, const mgv_settings *settings, double *out)
{
    *out = 0;
    MGVI_TRY(raise_all(p, settings, false, out));
    if (*out > 0)
        return MGV_OK;
    return MGVI_FAIL(p->ctx, MGV_E_ARG,
                     "with mu = %g every weight is 0 for every lambda: there is no path", p->mu);
}
