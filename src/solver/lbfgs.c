/* lbfgs.c - limited-memory BFGS for smooth losses of many classes; docs/algorithms/lbfgs.md.
 *   F(W) = lambda/2 |W|^2 + sum_i s_i G(W x_i),   g = lambda W + A'U,  U = grad of the losses (1)
 *   D = -H g by the two-loop recursion over the last pairs (S, Y)                              (2)
 *   W+ = W + t D,  t = 1 unless F(W+) > F(W) + 1e-4 t <g, D>                                   (3)
 */
#include "solver/solver_impl.h"

#include <math.h>
#include <string.h>

enum { PAIRS = 20, TRIALS = 30 };

typedef struct state {
    mgvi_vec w, g, dir, trial, next_g; /* columns */
    mgvi_vec z, u;                     /* rows */
    double *s, *y;                     /* PAIRS x (columns x lanes) */
    double *lane;
    struct memory {
        double f, grad_square; /* of the penalised columns: the gap is grad_square/(2 lambda) */
        double rho[PAIRS];     /* 1/<s, y> */
        double scale;          /* <s, y>/<y, y> of the last pair */
        int64_t pairs, oldest;
    } m;
} state;

static int64_t numbers(const state *s) { return s->w.n * s->w.k; }

/* <x, y> over all lanes. */
static double dot(mgvi_run *run, const mgvi_vec *x, const mgvi_vec *y)
{
    state *s = run->state;
    double sum = 0;
    mgvi_vec_dot(run->ctx, x, y, s->lane);
    for (int32_t c = 0; c < x->k; c++)
        sum += s->lane[c];
    return sum;
}

static mgvi_vec pair(const state *s, double *from, int64_t index)
{
    mgvi_vec v = s->w;
    v.x = from + index * numbers(s);
    return v;
}

/* F(w); z = A w stays. */
static double objective(mgvi_run *run, const mgvi_vec *w)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    const mgvi_vec part = mgvi_problem_penalised_part(p, w);
    double loss = 0;
    mgvi_op_mul(p->A, 1, w, 0, &s->z);
    mgvi_loss_value(run->ctx, p->loss, &p->row, &s->z, s->lane);
    for (int32_t c = 0; c < w->k; c++)
        loss += s->lane[c];
    return loss + 0.5 * p->lambda * dot(run, &part, &part);
}

/* The gradient at w from z = A w.                                                           (1) */
static void gradient(mgvi_run *run, const mgvi_vec *w, mgvi_vec *g)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    mgvi_vec part = mgvi_problem_penalised_part(p, g);
    const mgvi_vec w_part = mgvi_problem_penalised_part(p, w);
    mgvi_loss_grad(run->ctx, p->loss, &p->row, &s->z, &s->u);
    mgvi_op_mul_t(p->A, 1, &s->u, 0, g);
    mgvi_vec_axpby(run->ctx, p->lambda, &w_part, 1, &part);
    s->m.grad_square = dot(run, &part, &part);
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->w));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->g));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->dir));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->trial));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->next_g));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->z));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->u));
    s->s = mgvi_run_array(run, PAIRS, (size_t)numbers(s) * sizeof *s->s);
    s->y = mgvi_run_array(run, PAIRS, (size_t)numbers(s) * sizeof *s->y);
    s->lane = mgvi_run_array(run, (size_t)s->w.k, sizeof *s->lane);
    if (!s->s || !s->y || !s->lane)
        return MGV_E_MEMORY;
    s->m.f = objective(run, &s->w);
    gradient(run, &s->w, &s->g);
    MGVI_TRY(mgvi_run_keep(run, "w", MGVI_T_F64, s->w.x, numbers(s)));
    MGVI_TRY(mgvi_run_keep(run, "g", MGVI_T_F64, s->g.x, numbers(s)));
    MGVI_TRY(mgvi_run_keep(run, "u", MGVI_T_F64, s->u.x, s->u.n * s->u.k));
    MGVI_TRY(mgvi_run_keep(run, "s", MGVI_T_F64, s->s, PAIRS * numbers(s)));
    MGVI_TRY(mgvi_run_keep(run, "y", MGVI_T_F64, s->y, PAIRS * numbers(s)));
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->m, sizeof s->m);
}

/* dir = -H g.                                                                               (2) */
static void two_loops(mgvi_run *run)
{
    state *s = run->state;
    double alpha[PAIRS];
    mgvi_vec_copy(run->ctx, &s->g, &s->dir);
    mgvi_vec_scale(run->ctx, -1, &s->dir);
    for (int64_t i = s->m.pairs - 1; i >= 0; i--) {
        const int64_t at = (s->m.oldest + i) % PAIRS;
        const mgvi_vec si = pair(s, s->s, at), yi = pair(s, s->y, at);
        alpha[at] = s->m.rho[at] * dot(run, &si, &s->dir);
        mgvi_vec_axpby(run->ctx, -alpha[at], &yi, 1, &s->dir);
    }
    if (s->m.pairs > 0)
        mgvi_vec_scale(run->ctx, s->m.scale, &s->dir);
    for (int64_t i = 0; i < s->m.pairs; i++) {
        const int64_t at = (s->m.oldest + i) % PAIRS;
        const mgvi_vec si = pair(s, s->s, at), yi = pair(s, s->y, at);
        const double beta = s->m.rho[at] * dot(run, &yi, &s->dir);
        mgvi_vec_axpby(run->ctx, alpha[at] - beta, &si, 1, &s->dir);
    }
}

/* Without pairs the direction has no length: the change of the gradient over a tenth of the unit
 * step of a normalised direction gives the curvature along it. */
static double first_step(mgvi_run *run, double slope)
{
    state *s = run->state;
    const double length = sqrt(-slope), small = 0.1 / fmax(length, 1e-300);
    mgvi_vec_copy(run->ctx, &s->w, &s->trial);
    mgvi_vec_axpby(run->ctx, small, &s->dir, 1, &s->trial);
    objective(run, &s->trial);
    gradient(run, &s->trial, &s->next_g);
    const double change = dot(run, &s->next_g, &s->dir) - slope;
    return change > 0 ? -slope * small / change : small;
}

/* Moves to the first t that descends enough; false: none does, rounding has the upper hand. (3) */
static bool descend(mgvi_run *run, double slope, double t)
{
    state *s = run->state;
    for (int trial = 0; trial < TRIALS; trial++) {
        mgvi_vec_copy(run->ctx, &s->w, &s->trial);
        mgvi_vec_axpby(run->ctx, t, &s->dir, 1, &s->trial);
        const double f = objective(run, &s->trial);
        if (f <= s->m.f + 1e-4 * t * slope) {
            s->m.f = f;
            return true;
        }
        const double least = -0.5 * slope * t * t / (f - s->m.f - slope * t); /* of the parabola */
        t = isfinite(least) ? fmin(fmax(least, 0.1 * t), 0.5 * t) : 0.1 * t;
    }
    return false;
}

static void remember(mgvi_run *run)
{
    state *s = run->state;
    const int64_t at = (s->m.oldest + s->m.pairs) % PAIRS;
    mgvi_vec si = pair(s, s->s, at), yi = pair(s, s->y, at);
    mgvi_vec_add(run->ctx, 1, &s->trial, -1, &s->w, &si);
    mgvi_vec_add(run->ctx, 1, &s->next_g, -1, &s->g, &yi);
    const double sy = dot(run, &si, &yi), yy = dot(run, &yi, &yi);
    if (!(sy > 1e-16 * yy)) /* no curvature that arithmetic can see */
        return;
    s->m.rho[at] = 1 / sy;
    s->m.scale = sy / yy;
    if (s->m.pairs < PAIRS)
        s->m.pairs++;
    else
        s->m.oldest = (s->m.oldest + 1) % PAIRS;
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    two_loops(run);
    double slope = dot(run, &s->g, &s->dir);
    if (!(slope < 0)) { /* the pairs have lost their meaning */
        s->m.pairs = 0;
        two_loops(run);
        slope = dot(run, &s->g, &s->dir);
    }
    const double t = s->m.pairs > 0 ? 1 : first_step(run, slope);
    if (slope == 0 || !descend(run, slope, t)) {
        run->finished = s->m.pairs == 0 || slope == 0;
        s->m.pairs = 0; /* once more along the gradient, then it is over */
        objective(run, &s->w);
        gradient(run, &s->w, &s->g);
        return MGV_OK;
    }
    gradient(run, &s->trial, &s->next_g);
    remember(run);
    mgvi_vec_copy(run->ctx, &s->trial, &s->w);
    mgvi_vec_copy(run->ctx, &s->next_g, &s->g);
    return MGV_OK;
}

static mgvi_iterate expose(mgvi_run *run)
{
    const state *s = run->state;
    return (mgvi_iterate){.w = &s->w, .u = &s->u};
}

/* P - D = |grad|^2/(2 lambda) for the dual point U, but for the intercepts' part.            (4) */
static double estimate(const mgvi_run *run)
{
    const state *s = run->state;
    return s->m.grad_square / (2 * run->problem->lambda * fmax(fabs(s->m.f), 1e-300));
}

const mgvi_solver_ops mgvi_solver_lbfgs = {
    .name = "lbfgs",
    .summary = "limited-memory BFGS for smooth losses of many classes",
    .needs = {.penalty = MGVI_VALUE,
              .loss = MGVI_JOINT | MGVI_SMOOTH | MGVI_GRAD,
              .op = MGVI_MUL | MGVI_MUL_T},
    .penalties = "l2",
    .uniform = true,
    .state_size = sizeof(state),
    .init = init,
    .step = step,
    .expose = expose,
    .estimate = estimate,
};
