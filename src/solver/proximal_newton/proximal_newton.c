/* proximal_newton.c - Newton's method for smooth losses with l2, l1 and elastic net, and for losses
 * with kinks; docs/algorithms/proximal_newton.md.
 *
 *   min over w of  P(w) = R(w) + L(A w),   L(z) = sum_i s_i G_i(z_i)                            (1)
 *   d = argmin m(d), the quadratic model at w (proximal_newton/newton_model.h),   w <- w + t d            (2)
 * with t found on stored A w and A d. u = L'(A w) is the dual point.
 *
 * The hinge has no curvature. It is met by the method of multipliers: around a dual point c its
 * Moreau envelope is the smooth hinge of width b at a shifted argument,
 *   L_c(z) = sum_i s_i G_b(z_i + b c_i/s_i),   c <- L_c'(A w) when w nearly minimises R + L_c (7)
 * which converges to the hinge's own optimum with b fixed, and faster the smaller b is. The other
 * losses with kinks have their own envelopes (proximal_newton/stand_in.h). */
#include "solver/proximal_newton/newton_costs.h"
#include "solver/proximal_newton/newton_model.h"
#include "solver/proximal_newton/newton_ray.h"
#include "solver/solver_impl.h"

#include <math.h>
#include <string.h>

enum {
    REFRESH = 10,    /* steps between two recomputations of A w */
    PATIENCE = 50,   /* steps without progress before giving up */
    MOST_RAISED = 40 /* steps at one raised strength of l2 */
};

/* Models far from the end are not worth more: the violation left over, per relative gap. But where
 * columns are nearly dependent that brings nothing, or little: seen after so many steps. */
static const double FORCING = 0.5, STRICT = 1e-3;
enum { LOOSE_STEPS = 3, SLOW_STEPS = 6 };

/* A relative gap from which steps are the last ones. */
static const double NEAR = 1e-3;

/* theta of (8) at the start. Envelopes are met exactly in a few steps, which then promise no more
 * than this part of the objective: undamped they make way for the next. Where that is not due, no row
 * had curvature. */
static const double DAMPING = 0.1, SETTLED = 1e-14;

/* The hinge is first smoothed, then met exactly. */
enum { NOT_HINGE, SMOOTHING, MULTIPLIERS };
static const double LAST_SMOOTHING = 0.02;

/* l1 strengths come down to theirs from this part of where w leaves 0, by this factor a step. */
static const double START_KINK = 0.2, KINK_FALL = 0.2;

/* Where C is large and few rows curve, Newton steps for the squared hinge are cut: then the strength
 * of l2 is raised to this part of the curvature along the gradient, and comes down by this factor
 * whenever next to nothing is left to win. Near a hard margin it is worth being exact: with a
 * hundredth, at a tenth left, 6140 x 565 at C = 2^15 took 167 steps, not 45. */
static const double SHORT_STEP = 0.1, START_RIDGE = 1e-5, RIDGE_FALL = 0.2, LITTLE = 0.003;

/* Steps shorter and longer than this; rows that a short one would meet if it were so many times as
 * long count as met. */
static const double CUT = 0.3, LONG = 0.7, AHEAD = 5;

/* Plain numbers of the state, saved as they are. */
typedef struct memory {
    int64_t phase;         /* of the hinge */
    double damping;        /* theta of (8) */
    double raise;          /* strengths are multiplied by this, on the way to 1 */
    double penalty;        /* at w, with the strengths asked for */
    double width;          /* b of (7) */
    double length;         /* t of the last step */
    double estimate;       /* relative gap */
    double best;           /* the last that was clearly below those before it */
    double primal, lowest; /* the objective, and its smallest */
    int64_t idle, slow;    /* steps since one of them fell; since it fell much */
    int64_t inner;         /* steps since c moved, or the strength of l2 */
    int64_t raised;        /* those of l2 are raised once */
    int64_t strict;        /* loose models brought nothing: columns are nearly dependent */
} memory;

typedef struct state {
    mgvi_newton_ridge *ridge; /* one of the two */
    mgvi_newton_sparse *sparse;
    mgvi_stand_in loss; /* what is smooth */
    mgvi_penalty penalty;
    bool hinge;       /* or another loss with kinks */
    double unit;      /* of its scores: 1 of margins */
    bool steep;       /* l2 and a loss that always curves: its rows are met one after the other */
    mgvi_vec w, g, d; /* columns; g = A'u of u = L'(A w) */
    mgvi_vec met;     /* rows, for losses that always curve: 1 where the model is to think so */
    mgvi_vec z, h, c; /* rows; c: multipliers. A d takes the place of h in a step */
    bool arrived;     /* slopes(run) is L' at w already, from the line search */
    memory m;
} state;

/* ---- making it ------------------------------------------------------------------------------- */

/* The stand-in of a loss with kinks, whose own coefficients are the problem's. */
static void set_stand_in(state *s, int64_t phase, double width)
{
    s->m.phase = phase;
    s->m.width = width;
    if (!(s->loss.loss->can & MGVI_MARGIN)) {
        s->loss.envelope = width;
        return;
    }
    s->loss.loss = mgvi_loss_find(phase == SMOOTHING ? "sqrt_hinge" : "smooth_hinge");
    s->loss.row.b = (mgvi_coef_array){.constant = width};
}

static mgv_status keep_state(mgvi_run *run, state *s)
{
    MGVI_TRY(mgvi_run_keep(run, "w", MGVI_T_F64, s->w.x, s->w.n));
    MGVI_TRY(mgvi_run_keep(run, "z", MGVI_T_F64, s->z.x, s->z.n));
    if (s->hinge)
        MGVI_TRY(mgvi_run_keep(run, "c", MGVI_T_F64, s->c.x, s->c.n));
    if (s->steep)
        MGVI_TRY(mgvi_run_keep(run, "met", MGVI_T_F64, s->met.x, s->met.n));
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->m, sizeof s->m);
}

static void look(mgvi_run *run, state *s);

/* Work space of the rows: arguments of the loss, and its slopes there. */
static mgvi_vec *arguments(mgvi_run *run) { return &run->lent[0]; }
static mgvi_vec *slopes(mgvi_run *run) { return &run->lent[1]; }

/* The smallest factor of the l1 strengths that would keep w at 0. */
static double largest_strength(const mgv_problem *p, const state *s)
{
    double most = 1;
    for (int64_t j = 0; j < mgvi_problem_penalised(p); j++) {
        const double scale = mgvi_coef_pick(&p->col.scale, j, 0);
        most = scale > 0 ? fmax(most, fabs(s->g.x[j]) / scale) : most;
    }
    return most;
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->w, &s->g, &s->d));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_ROWS, &s->z, &s->h));
    MGVI_TRY(mgvi_problem_penalty(p, &run->arena, &s->penalty));
    if (mgvi_newton_kinks(p))
        MGVI_TRY(mgvi_newton_sparse_new(p, &run->arena, &s->sparse));
    else
        MGVI_TRY(mgvi_newton_ridge_new(p, &run->arena, &s->ridge));
    s->hinge = mgvi_newton_kinked(p->loss);
    s->loss = (mgvi_stand_in){.loss = p->loss, .row = p->row};
    s->unit = mgvi_stand_in_unit(p);
    s->steep = s->ridge && mgvi_newton_curves(p->loss);
    s->m = (memory){.damping = s->steep ? 0 : DAMPING,
                    .raise = 1,
                    .estimate = NAN,
                    .best = INFINITY,
                    .lowest = INFINITY};
    if (s->steep)
        MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->met));
    if (s->hinge) {
        MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->c));
        set_stand_in(s, SMOOTHING, s->unit);
    }
    MGVI_TRY(keep_state(run, s));
    look(run, s);
    s->m.raise = s->sparse ? fmax(1, START_KINK * largest_strength(p, s)) : 1;
    return MGV_OK;
}

/* ---- where we are ---------------------------------------------------------------------------- */

/* The objective along d. Its arguments and slopes lie in the room that the judge lends. */
static mgvi_newton_ray ray_of(mgvi_run *run, state *s)
{
    return (mgvi_newton_ray){.problem = run->problem,
                             .loss = &s->loss,
                             .w = &s->w,
                             .d = &s->d,
                             .g = &s->g,
                             .z = &s->z,
                             .zd = &s->h,
                             .c = s->m.phase == MULTIPLIERS ? s->c.x : NULL,
                             .width = s->m.width,
                             .raise = s->m.raise,
                             .x = arguments(run),
                             .slopes = slopes(run)};
}

/* The arguments of L at w. */
static void arrive(mgvi_run *run, state *s)
{
    const mgvi_newton_ray ray = ray_of(run, s);
    mgvi_newton_ray_move(run->ctx, &ray, 0);
}

/* The relative gap of (w, t u), with the t that the judge will find and u the slopes; d and the
 * arguments are work space. */
static double relative_gap(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const mgvi_vec w = mgvi_problem_penalised_part(p, &s->w);
    mgvi_vec minus = mgvi_problem_penalised_part(p, &s->d);
    double loss, penalty, dual_loss, dual_penalty, t;
    mgvi_loss_value(run->ctx, p->loss, &p->row, &s->z, &loss);
    mgvi_penalty_value(&s->penalty, &w, &penalty);
    mgvi_vec_copy(run->ctx, &s->g, &s->d);
    mgvi_vec_scale(run->ctx, -1, &minus);
    mgvi_penalty_dual_scale(&s->penalty, &minus, &t);
    mgvi_vec_scale(run->ctx, t, &minus);
    mgvi_vec_add(run->ctx, t, slopes(run), 0, slopes(run), arguments(run));
    mgvi_penalty_conj(&s->penalty, &minus, &dual_penalty);
    mgvi_loss_conj(run->ctx, p->loss, &p->row, arguments(run), &dual_loss);
    const double primal = s->m.primal = loss + penalty;
    s->m.penalty = penalty;
    return (primal + dual_penalty + dual_loss) / fmax(fabs(primal), 1e-300);
}

/* Rows beyond their bend have no curvature, and a step that takes them there is cut short. They are
 * then given a part of the curvature that would keep the model above the loss:
 *   h_i >= theta (s_i/2) / max(|x_i - 1 + b/2|, b/2)   for the smooth hinges,  theta s_i G''(0)
 * else (8)
 */
static void dampen(mgvi_run *run, state *s)
{
    const double *x = arguments(run)->x;
    const mgvi_loss_ops *loss = s->loss.loss;
    const bool bent = (loss->can & MGVI_WIDTH) && (loss->can & MGVI_QUADRATIC_DUAL);
    const mgvi_coef unit = {.scale = 1, .b = mgvi_coef_pick(&s->loss.row.b, 0, 0)};
    if (s->m.damping == 0)
        return;
    if (s->loss.envelope > 0) {
        mgvi_stand_in_dampen(&s->loss, s->m.damping, arguments(run), &s->h);
        return;
    }
    const double flat = s->m.damping * loss->curv(unit, loss->can & MGVI_MARGIN ? 0.5 : 0);
    for (int64_t i = 0; i < s->h.n; i++) {
        const double scale = mgvi_coef_pick(&s->loss.row.scale, i, 0), b = unit.b / 2;
        const double least = bent ? s->m.damping * 0.5 / fmax(fabs(x[i] - 1 + b), b) : flat;
        s->h.x[i] = fmax(s->h.x[i], scale * least);
    }
}

/* The slopes, h, A'u and the gap at the present w. */
static void look(mgvi_run *run, state *s)
{
    arrive(run, s);
    if (!s->arrived)
        mgvi_stand_in_grad(run->ctx, &s->loss, arguments(run), slopes(run));
    s->arrived = false;
    mgvi_stand_in_curv(run->ctx, &s->loss, arguments(run), &s->h);
    dampen(run, s);
    for (int64_t i = 0; s->steep && i < s->h.n; i++)
        if (s->met.x[i] > 0)
            s->h.x[i] = mgvi_coef_pick(&s->loss.row.scale, i, 0);
    mgvi_op_mul_t(run->problem->A, 1, slopes(run), 0, &s->g);
    s->m.estimate = relative_gap(run, s);
}

/* ---- the step -------------------------------------------------------------------------------- */

/* How well the model is to be minimised: so that the gap, which falls with the square of the
 * violation for strongly convex penalties and like it for others, can reach the tolerance. */
static double wanted_accuracy(const mgvi_run *run, const state *s)
{
    if (s->hinge)
        return 0.03;
    const double fall = run->goal / fmax(s->m.estimate, 1e-300);
    const double needed = fmin(0.1, fmax(1e-4, 0.3 * (s->ridge ? sqrt(fall) : fall)));
    if (s->sparse && s->m.strict)
        return STRICT;
    return s->sparse ? fmax(needed, FORCING * fmin(1, s->m.estimate)) : needed;
}

/* sum_i b/(2 s_i) (v_i - c_i)^2: how far the multipliers would move to v, as (7) measures it. */
static double multiplier_distance(const state *s, const double *v)
{
    double distance = 0;
    for (int64_t i = 0; i < s->c.n; i++) {
        const double scale = mgvi_coef_pick(&s->loss.row.scale, i, 0), move = v[i] - s->c.x[i];
        distance += scale > 0 ? s->m.width / (2 * scale) * move * move : 0;
    }
    return distance;
}

/* The next stand-in, when what an undamped model promised is small beside what a new one brings. */
static void advance_hinge(mgvi_run *run, state *s, double promised)
{
    s->m.inner++;
    if (s->m.damping > 0)
        return;
    arrive(run, s);
    mgvi_stand_in_grad(run->ctx, &s->loss, arguments(run), slopes(run));
    if (s->m.phase == SMOOTHING) {
        if (promised > 0.2 * s->m.width)
            return;
        mgvi_vec_copy(run->ctx, slopes(run), &s->c);
        if (s->m.width > LAST_SMOOTHING * s->unit)
            set_stand_in(s, SMOOTHING, 0.25 * s->m.width);
        else
            set_stand_in(s, MULTIPLIERS, s->m.width);
    } else {
        const double distance = multiplier_distance(s, slopes(run)->x);
        if (promised > 0.3 * distance || (s->loss.envelope > 0 && distance == 0))
            return;
        mgvi_vec_copy(run->ctx, slopes(run), &s->c);
        if (s->m.inner <= 3)
            set_stand_in(s, MULTIPLIERS, fmax(1e-9 * s->unit, 0.3 * s->m.width));
        else if (s->m.inner > 8)
            set_stand_in(s, MULTIPLIERS, 2 * s->m.width);
    }
    s->m.inner = 0;
}

/* theta of (8) from the length of the step just taken. Rows beyond their bend may be nearly all of
 * them: a fiftieth of their curvature can be as much as there is (covtype, class 6, squared hinge:
 * 62 steps, 22 with less). Sets of columns that change want it nevertheless. */
static void adapt_damping(state *s)
{
    const double least = s->ridge && !s->hinge ? 1e-3 : 0.02;
    if (s->steep)
        return; /* the others are no part of the answer, and would drown those that curve */
    if (s->m.length < CUT)
        s->m.damping = fmin(1, fmax(least, 4 * s->m.damping));
    else if (s->m.length >= LONG)
        s->m.damping = s->m.damping > least / 2 ? 0.25 * s->m.damping : 0;
}

/* Near a hard margin fewer rows curve than there are columns, a full step would go far, and is cut
 * where the next rows are met: one by one they would join. Those that a cut step was about to meet
 * curve in the next models, too, which then lie above the objective, until a step is long. */
static void remember_met(state *s, const mgvi_vec *zd)
{
    const double t = s->m.length, far = fmin(1, AHEAD * t);
    if (t >= LONG)
        memset(s->met.x, 0, (size_t)s->met.n * sizeof *s->met.x);
    for (int64_t i = 0; t < CUT && i < s->met.n; i++)
        if (s->z.x[i] + t * zd->x[i] >= 1 && s->z.x[i] + far * zd->x[i] < 1)
            s->met.x[i] = 1;
}

static mgv_status minimise_model(mgvi_run *run, state *s)
{
    const mgvi_newton_point at = {.w = &s->w,
                                  .g = &s->g,
                                  .h = &s->h,
                                  .work = arguments(run),
                                  .accuracy = wanted_accuracy(run, s),
                                  .raise = s->m.raise,
                                  .allowance = run->allowance,
                                  .last = s->m.estimate < NEAR,
                                  .exact = s->m.estimate < NEAR || s->m.idle >= LOOSE_STEPS};
    return s->ridge ? mgvi_newton_ridge_solve(s->ridge, &at, &s->d)
                    : mgvi_newton_sparse_solve(s->sparse, &at, &s->d);
}

/* Nothing better for a long time: neither the gap nor the objective, at the penalty's own strength.
 * The hinge creeps: where another solver would go on, it has to be much better. */
static void give_up_in_time(mgvi_run *run, state *s)
{
    const bool closer = s->m.estimate < 0.7 * s->m.best, own = s->m.raise == 1;
    const bool better = closer || s->m.primal < s->m.lowest * (1 - 1e-3);
    const bool fast = closer || s->m.primal < s->m.lowest * (1 - 3e-2);
    if (closer || !own)
        s->m.best = s->m.estimate;
    s->m.lowest = fmin(s->m.lowest, s->m.primal);
    s->m.idle = better || !own ? 0 : s->m.idle + 1;
    s->m.slow = fast || !own ? 0 : s->m.slow + 1;
    s->m.strict |= s->m.idle >= LOOSE_STEPS || s->m.slow >= SLOW_STEPS;
    run->finished =
        s->m.idle >= PATIENCE || (s->hinge && isfinite(run->allowance) && s->m.slow >= PATIENCE);
}

static double raised_objective(const state *s)
{
    return s->m.primal + (s->m.raise - 1) * s->m.penalty;
}

static void lower_ridge(state *s, double promised)
{
    const bool won = s->m.length == 0 || promised <= LITTLE * raised_objective(s);
    if (!won && ++s->m.inner < MOST_RAISED)
        return;
    s->m.raise = fmax(1, RIDGE_FALL * s->m.raise);
    s->m.inner = 0;
}

/* To a part of g'A'HA g/g'g, g = A'u: from there to the strength asked for steps are long. */
static void raise_ridge(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    mgvi_vec *Ag = arguments(run);
    const double strength = p->penalty->curv(mgvi_coefs_at(&p->col, 0, 0), 0);
    const double square = mgvi_vec_inner(run->ctx, &s->g, &s->g);
    double bend = 0;
    mgvi_op_mul(p->A, 1, &s->g, 0, Ag);
    for (int64_t i = 0; i < Ag->n; i++)
        bend += s->h.x[i] * Ag->x[i] * Ag->x[i];
    s->m.raised = 1;
    if (strength > 0 && bend < INFINITY && bend > 0)
        s->m.raise = fmax(1, START_RIDGE * bend / (square * strength));
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    MGVI_TRY(minimise_model(run, s));
    run->work += s->sparse ? mgvi_newton_sparse_work(s->sparse, &run->touched)
                           : mgvi_newton_ridge_work(run->problem);
    mgvi_vec *zd = &s->h; /* the model is done with */
    if (!s->sparse || !mgvi_newton_sparse_image(s->sparse, &s->d, zd))
        mgvi_op_mul(run->problem->A, 1, &s->d, 0, zd);
    mgvi_newton_ray ray = ray_of(run, s);
    const double slope = mgvi_newton_ray_slope(run->ctx, &ray, 0);
    if (!isfinite(slope))
        return MGVI_FAIL(run->ctx, MGV_E_NUMERIC,
                         "a Newton step left the finite numbers: scale the data (--scale std)");
    s->m.length = slope < 0 ? mgvi_newton_ray_search(run->ctx, &ray, slope) : 0;
    mgvi_vec_axpby(run->ctx, s->m.length, &s->d, 1, &s->w);
    if (s->steep)
        remember_met(s, zd);
    mgvi_vec_axpby(run->ctx, s->m.length, zd, 1, &s->z);
    const bool refreshed = run->iteration % REFRESH == REFRESH - 1;
    if (refreshed)
        mgvi_op_mul(run->problem->A, 1, &s->w, 0, &s->z);
    s->arrived = s->m.length > 0 && ray.seen == s->m.length && !s->hinge && !refreshed;
    if (s->hinge)
        advance_hinge(run, s, -slope);
    if (s->loss.envelope > 0 && fabs(slope) <= SETTLED * fabs(s->m.primal))
        s->m.damping = s->m.damping > 0 || s->m.inner == 0 ? 0 : DAMPING;
    else
        adapt_damping(s);
    if (s->sparse && s->m.length >= 0.3)
        s->m.raise = fmax(1, KINK_FALL * s->m.raise);
    const bool short_step = s->m.length < SHORT_STEP && -slope > LITTLE * raised_objective(s);
    if (s->ridge && s->m.raise > 1)
        lower_ridge(s, -slope);
    look(run, s);
    if (s->steep && !s->m.raised && short_step)
        raise_ridge(run, s);
    give_up_in_time(run, s);
    return MGV_OK;
}

static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    arrive(run, s);
    mgvi_stand_in_grad(run->ctx, &s->loss, arguments(run), slopes(run));
    return (mgvi_iterate){.w = &s->w, .u = slopes(run)};
}

static double estimate(const mgvi_run *run)
{
    const state *s = run->state;
    return s->m.estimate;
}

static mgv_status restored(mgvi_run *run)
{
    state *s = run->state;
    MGVI_TRY(mgvi_run_check_kept(run, &s->w));
    const memory kept = s->m;
    if (s->hinge && !(kept.width > 0 && isfinite(kept.width) &&
                      (kept.phase == SMOOTHING || kept.phase == MULTIPLIERS)))
        return MGVI_FAIL(run->ctx, MGV_E_INPUT, "the checkpoint's width is %g", kept.width);
    if (s->hinge)
        set_stand_in(s, kept.phase, kept.width);
    look(run, s);
    s->m = kept;
    return MGV_OK;
}

static mgv_status start(mgvi_run *run, const double *w, const double *u)
{
    state *s = run->state;
    memcpy(s->w.x, w, (size_t)s->w.n * sizeof *w);
    mgvi_op_mul(run->problem->A, 1, &s->w, 0, &s->z);
    if (s->hinge && u) {
        memcpy(s->c.x, u, (size_t)s->c.n * sizeof *u);
        mgvi_loss_dual_clip(run->ctx, run->problem->loss, &run->problem->row, &s->c);
        set_stand_in(s, MULTIPLIERS, LAST_SMOOTHING * s->unit);
    }
    look(run, s);
    return MGV_OK;
}

const mgvi_solver_ops mgvi_solver_proximal_newton = {
    .name = "proximal_newton",
    .summary = "Newton's method: smooth losses and the hinge, penalties l2, l1 and elastic net",
    .needs = {.penalty = MGVI_VALUE | MGVI_GRAD | MGVI_CURV | MGVI_KKT | MGVI_CONJ,
              .loss = MGVI_VALUE | MGVI_GRAD | MGVI_CURV | MGVI_CONJ,
              .op = MGVI_MUL | MGVI_MUL_T | MGVI_ROW},
    .any = {.penalty = MGVI_SQUARE | MGVI_ABS},
    .cost = mgvi_newton_cost,
    .trial = mgvi_newton_trial,
    .trial_pays = 0.08,
    .finish = mgvi_newton_finish,
    .sweeps = true,
    .state_size = sizeof(state),
    .init = init,
    .start = start,
    .step = step,
    .expose = expose,
    .estimate = estimate,
    .restored = restored,
};
