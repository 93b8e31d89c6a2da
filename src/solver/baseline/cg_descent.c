/* cg_descent.c - Hager and Zhang's CG_DESCENT on a subgradient; docs/algorithms/svm_baselines.md.
 *   d+ = -g+ + max(beta, eta_k) d,   y = g+ - g,
 *   beta = (y - 2 d |y|^2/d.y) . g+ / d.y,   eta_k = -1/(|d| min(eta, |g|))                      (6)
 * with their line search: bracketing, the double secant step, the Wolfe conditions or their
 * approximate form
 *   (2 delta - 1) f'(0) >= f'(t) >= sigma f'(0),   f(t) <= f(0) + eps |f(0)|                     (7)
 * A w and A d are kept, so that a trial reads row vectors only. At a kink the direction may fail:
 * then it starts again along -g, and when that fails too the method can do no more. */
#include "solver/shared/intercept.h"
#include "solver/solver_impl.h"

#include <math.h>

enum { MOST_TRIALS = 50 };
/* The constants of the paper. */
static const double DELTA = 0.1, SIGMA = 0.9, EPSILON = 1e-6, THETA = 0.5, GAMMA = 0.66, RHO = 5,
                    ETA = 0.01, PSI_0 = 0.01, PSI_2 = 2;

typedef struct memory {
    double value; /* f(w) */
    double first; /* first trial of the next line search */
    int64_t failed;
} memory;

typedef struct state {
    mgvi_vec w, g, d, next; /* columns; next is the new gradient */
    mgvi_vec z, zd, x, u;   /* rows; x is work space */
    mgvi_vec shown;
    memory m;
} state;

/* f and f' at w + t d. */
typedef struct trial {
    double t, value, slope;
} trial;

static double penalty_along(const mgv_problem *p, const state *s, double t, double *slope)
{
    double value = 0;
    for (int64_t j = 0; j < mgvi_problem_penalised(p); j++) {
        const mgvi_coef c = mgvi_coefs_at(&p->col, j, 0);
        const double w = s->w.x[j] + t * s->d.x[j];
        value += p->penalty->value(c, w);
        *slope += p->penalty->grad(c, w) * s->d.x[j];
    }
    return value;
}

static trial try_at(mgvi_run *run, state *s, double t)
{
    const mgv_problem *p = run->problem;
    trial at = {.t = t};
    mgvi_vec_add(run->ctx, 1, &s->z, t, &s->zd, &s->x);
    mgvi_loss_value(run->ctx, p->loss, &p->row, &s->x, &at.value);
    mgvi_loss_grad(run->ctx, p->loss, &p->row, &s->x, &s->u);
    mgvi_vec_dot(run->ctx, &s->u, &s->zd, &at.slope);
    at.value += penalty_along(p, s, t, &at.slope);
    return at;
}

/* A subgradient at w, from z = A w. */
static void gradient(mgvi_run *run, state *s, mgvi_vec *g)
{
    const mgv_problem *p = run->problem;
    mgvi_loss_grad(run->ctx, p->loss, &p->row, &s->z, &s->u);
    mgvi_op_mul_t(p->A, 1, &s->u, 0, g);
    for (int64_t j = 0; j < mgvi_problem_penalised(p); j++)
        g->x[j] += p->penalty->grad(mgvi_coefs_at(&p->col, j, 0), s->w.x[j]);
}

static void begin(mgvi_run *run, state *s)
{
    gradient(run, s, &s->g);
    mgvi_vec_copy(run->ctx, &s->g, &s->d);
    mgvi_vec_scale(run->ctx, -1, &s->d);
    mgvi_op_mul(run->problem->A, 1, &s->d, 0, &s->zd);
    s->m.value = try_at(run, s, 0).value;
    double largest;
    mgvi_vec_abs_max(run->ctx, &s->g, &largest);
    s->m.first = PSI_0 * fabs(s->m.value) / fmax(mgvi_vec_inner(run->ctx, &s->g, &s->g), 1e-300);
    if (!(largest > 0))
        s->m.failed = 2;
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->w, &s->g, &s->d, &s->next, &s->shown));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_ROWS, &s->z, &s->zd, &s->x, &s->u));
    MGVI_TRY(mgvi_run_keep(run, "w", MGVI_T_F64, s->w.x, s->w.n));
    MGVI_TRY(mgvi_run_keep(run, "g", MGVI_T_F64, s->g.x, s->g.n));
    MGVI_TRY(mgvi_run_keep(run, "d", MGVI_T_F64, s->d.x, s->d.n));
    MGVI_TRY(mgvi_run_keep(run, "z", MGVI_T_F64, s->z.x, s->z.n));
    MGVI_TRY(mgvi_run_keep(run, "zd", MGVI_T_F64, s->zd.x, s->zd.n));
    begin(run, s);
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->m, sizeof s->m);
}

/* ---- the line search ------------------------------------------------------------------------- */

static bool good(const trial *start, const trial *at)
{
    const bool wolfe = at->value - start->value <= DELTA * at->t * start->slope &&
                       at->slope >= SIGMA * start->slope;
    const bool approximate = (2 * DELTA - 1) * start->slope >= at->slope &&
                             at->slope >= SIGMA * start->slope &&
                             at->value <= start->value + EPSILON * fabs(start->value);
    return at->t > 0 && (wolfe || approximate);
}

/* A bracket: slope(low) < 0 and f(low) low enough, slope(high) >= 0. */
typedef struct bracket {
    trial low, high;
} bracket;

static bool too_high(const trial *start, const trial *at)
{
    return at->slope < 0 && at->value > start->value + EPSILON * fabs(start->value);
}

/* low: falling and low enough. `high` falls too, but lies above the start: bisect (their U3). */
static void repair(mgvi_run *run, state *s, const trial *start, bracket *b)
{
    for (int k = 0; k < MOST_TRIALS && b->high.slope < 0; k++) {
        const trial mid = try_at(run, s, (1 - THETA) * b->low.t + THETA * b->high.t);
        if (mid.slope >= 0 || too_high(start, &mid))
            b->high = mid;
        else
            b->low = mid;
    }
}

static void include(mgvi_run *run, state *s, const trial *start, bracket *b, double t)
{
    if (!(t > b->low.t && t < b->high.t))
        return;
    const trial at = try_at(run, s, t);
    if (at.slope >= 0) {
        b->high = at;
    } else if (!too_high(start, &at)) {
        b->low = at;
    } else {
        b->high = at;
        repair(run, s, start, b);
    }
}

static double secant(const trial *a, const trial *b)
{
    return (a->t * b->slope - b->t * a->slope) / (b->slope - a->slope);
}

static void double_secant(mgvi_run *run, state *s, const trial *start, bracket *b)
{
    const bracket old = *b;
    const double c = secant(&b->low, &b->high);
    include(run, s, start, b, c);
    if (c == b->high.t)
        include(run, s, start, b, secant(&old.high, &b->high));
    else if (c == b->low.t)
        include(run, s, start, b, secant(&old.low, &b->low));
}

/* Grows until the slope is not negative or f is too high. */
static bracket grow(mgvi_run *run, state *s, const trial *start)
{
    bracket b = {.low = *start, .high = try_at(run, s, s->m.first)};
    for (int k = 0; k < MOST_TRIALS && b.high.slope < 0 && !too_high(start, &b.high); k++) {
        if (good(start, &b.high))
            break;
        b.low = b.high;
        b.high = try_at(run, s, RHO * b.high.t);
    }
    if (too_high(start, &b.high) || isnan(b.high.slope))
        repair(run, s, start, &b);
    return b;
}

/* t = 0: no point was good. */
static trial line_search(mgvi_run *run, state *s, const trial *start)
{
    bracket b = grow(run, s, start);
    for (int k = 0; k < MOST_TRIALS; k++) {
        if (good(start, &b.high))
            return b.high;
        if (good(start, &b.low))
            return b.low;
        const double width = b.high.t - b.low.t;
        if (!(width > 1e-16 * b.high.t))
            break;
        double_secant(run, s, start, &b);
        if (b.high.t - b.low.t > GAMMA * width)
            include(run, s, start, &b, 0.5 * (b.low.t + b.high.t));
    }
    return b.low.value < start->value ? b.low : *start;
}

/* ---- the step -------------------------------------------------------------------------------- */

/* (6) */
static void turn(mgvi_run *run, state *s)
{
    double size_d, size_g;
    mgvi_vec_norm2(run->ctx, &s->d, &size_d);
    mgvi_vec_norm2(run->ctx, &s->g, &size_g);
    mgvi_vec_axpby(run->ctx, 1, &s->next, -1, &s->g); /* y, in place of the old gradient */
    const double dy = mgvi_vec_inner(run->ctx, &s->d, &s->g),
                 yy = mgvi_vec_inner(run->ctx, &s->g, &s->g);
    const double beta = (mgvi_vec_inner(run->ctx, &s->g, &s->next) -
                         2 * yy / dy * mgvi_vec_inner(run->ctx, &s->d, &s->next)) /
                        dy;
    const double least = -1 / (size_d * fmin(ETA, size_g));
    const double bent = isfinite(beta) ? fmax(beta, least) : 0;
    mgvi_vec_axpby(run->ctx, -1, &s->next, bent, &s->d);
    mgvi_vec_copy(run->ctx, &s->next, &s->g);
    mgvi_op_mul(run->problem->A, 1, &s->d, 0, &s->zd);
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    const trial start = try_at(run, s, 0);
    const trial end = start.slope < 0 ? line_search(run, s, &start) : start;
    if (!isfinite(end.value))
        return MGVI_FAIL(run->ctx, MGV_E_NUMERIC,
                         "cg_descent left the finite numbers: scale the data (--scale std)");
    if (end.t == 0) {
        s->m.failed++;
        begin(run, s);
        run->finished = s->m.failed > 1;
        return MGV_OK;
    }
    s->m.failed = 0;
    mgvi_vec_axpby(run->ctx, end.t, &s->d, 1, &s->w);
    mgvi_op_mul(run->problem->A, 1, &s->w, 0, &s->z);
    s->m.value = end.value;
    s->m.first = PSI_2 * end.t;
    gradient(run, s, &s->next);
    turn(run, s);
    return MGV_OK;
}

/* u is the subgradient that the next direction came from. */
static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    mgvi_loss_grad(run->ctx, run->problem->loss, &run->problem->row, &s->z, &s->u);
    mgvi_vec_copy(run->ctx, &s->w, &s->shown);
    mgvi_intercept_improve(run->problem, 0.01 * run->settings->tol, &s->shown, &s->x);
    return (mgvi_iterate){.w = &s->shown, .u = &s->u};
}

const mgvi_solver_ops mgvi_solver_cg_descent = {
    .name = "cg_descent",
    .summary = "a baseline: Hager and Zhang's conjugate gradients on a subgradient",
    .needs = {.penalty = MGVI_VALUE | MGVI_GRAD | MGVI_CONJ,
              .loss = MGVI_VALUE | MGVI_GRAD | MGVI_CONJ | MGVI_DUAL_CLIP,
              .op = MGVI_MUL | MGVI_MUL_T},
    .any = {.penalty = MGVI_SQUARE | MGVI_ABS},
    .state_size = sizeof(state),
    .init = init,
    .step = step,
    .expose = expose,
};
