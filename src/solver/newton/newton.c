/* newton.c - hinge SVMs with l2, l1 or both penalties, tall data: smoothing on growing samples,
 * Newton's method, rows far from the hinge fixed, exact finish; docs/algorithms/newton.md.
 *
 *   samples of 4096, 16384, (65536) rows weighted by leverage, then all rows:
 *       follow the minimiser w(alpha) of the smoothed problem as alpha falls to 0.01      (4)-(8)
 *   fix the rows far from the hinge (9), finish on the others, rows fixed wrongly join (10), repeat
 *
 * A step is one Newton step of the smoothing, or one round of the finish. */
#include "solver/newton/tall_finish.h"
#include "solver/newton/tall_place.h"
#include "solver/newton/tall_state.h"

#include "op/rows.h"

#include <math.h>
#include <string.h>

/* Numbers of 8 bytes a row that the driver and the state hold, less than one for flags included. */
static const double HELD = 6.5;

enum {
    MOST_STEPS = 60,       /* Newton steps in a stage */
    NEAR_STEPS = 20,       /* after which the fixed rows are blamed */
    WARM_STEPS = 15,       /* the same from a neighbour's solution, before a cold start */
    ROUNDS_ALONE = 6,      /* rounds of the finish before all rows are kept */
    MOST_COPIED = 64 << 20 /* bytes of a copy of all rows */
};

/* Reach of the rule (9) in alpha: for the finish, and for the rows that the path goes on with; the
 * latter are worth copying when at most WORTHWHILE of all; fixed rows that cross the hinge on the
 * way, beyond this part of all, show that too many were fixed. */
static const double FAR = 4, FAR_ON_THE_PATH = 8, WORTHWHILE = 0.6, CROSSED = 0.002;
/* The path goes on below ALPHA_LAST while more than TOO_MANY of the rows would be kept. */
static const double TOO_MANY = 0.25, ALPHA_LEAST = 1e-4;
static const double PROMISING = 0.7; /* part of the tolerance: clipping costs something */
static const double ASTRAY = 1;      /* decrement / alpha there: the path cannot be followed */
/* A pair is near the solution if its products are NEARBY of its value; rows are open within OPEN
 * alphas of the hinge, and OPEN_ROWS a column at least; a start has LEAST_TAU of the target's
 * products. */
static const double NEARBY = 0.05, OPEN = 16, LEAST_TAU = 0.1;
enum { OPEN_ROWS = 6, THIN_ROWS = 2, THIN_COLUMNS = 100 }; /* of fewer, steps cost little */
static const double ALPHA_LAST = 0.01, ALPHA_FACTOR = 0.25;
/* Where fewer rows than columns are that near to the hinge, the path may end there. */
static const double ALPHA_THIN = 0.05;
static const double WARM_ALPHA = 0.02;  /* where the path begins at a neighbour's solution */
static const double ON_THE_PATH = 0.02; /* decrement / alpha at which alpha may fall */
static const double TARGET = 0.3;       /* part of the tolerance asked of the reduced problem */
static const double ZEROS = 1e-12;      /* asked of it where weights are to be 0: it is near */
static const double EXACT = 1e-10;      /* a reduced problem as good as solved */

typedef enum phase { BEGIN, SMOOTHING, FINISH } phase;
typedef mgvi_tall_state state;

/* ---- making it ------------------------------------------------------------------------------- */

/* The Hessian, its factor, and what sweeps add up (op/row_set.c). */
static double squares_bytes(int64_t cols)
{
    static const double MOST_SUMS = 32 << 20;
    const double square = 8 * (double)cols * (double)cols;
    return 3 * square + fmin(32 * square, MOST_SUMS);
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    MGVI_TRY(mgvi_run_check_rows(run));
    MGVI_TRY(mgvi_rows_bare(p->A, &run->arena, &s->rows));
    MGVI_TRY(mgvi_tall_state_allocate(run, s));
    s->spare = fmax(mgvi_problem_spare(p, HELD) - squares_bytes(p->A->cols), 0);
    MGVI_TRY(mgvi_row_set_all(s->rows, fmin(s->spare, MOST_COPIED), &run->arena, &run->touched,
                              &s->all));
    if (s->all.own_val)
        s->spare -= mgvi_row_set_bytes(s->rows, s->rows->count, false);
    MGVI_TRY(mgvi_tall_state_measure(run, s));
    s->finish = (mgvi_tall_finish){.run = run,
                                   .rows = s->rows,
                                   .s = s->s,
                                   .lambda = s->lambda,
                                   .mu = s->mu,
                                   .width = s->width,
                                   .unit = s->unit,
                                   .spare = s->spare,
                                   .all = &s->all};
    MGVI_TRY(mgvi_tall_finish_init(&s->finish));
    s->smooth = s->finish.smooth; /* they take turns with the work space */
    for (int k = 0; k < 3; k++)
        s->offset[k] = mgvi_rng_uniform(&run->rng);
    s->m.phase = BEGIN;
    s->m.gap = INFINITY;
    s->m.target = TARGET * run->settings->tol;
    return mgvi_tall_state_keep(run, s);
}

static mgv_status start(mgvi_run *run, const double *w, const double *u)
{
    state *s = run->state;
    memcpy(s->w, w, (size_t)run->problem->A->cols * sizeof *w);
    for (int64_t i = 0; u && i < run->problem->A->rows; i++)
        s->a[i] = -u[i];
    s->m.pair = u && mgvi_tall_near_inside(s->s, u, run->problem->A->rows);
    s->m.warm = true;
    return MGV_OK;
}

/* ---- stages ---------------------------------------------------------------------------------- */

static mgv_status next_stage(mgvi_run *run, state *s)
{
    s->m.steps = 0;
    MGVI_TRY(mgvi_tall_stage_bind(run, s));
    mgvi_tall_smooth_start(&s->smooth);
    return MGV_OK;
}

static mgv_status place_rows(state *s, const double *u0, double far, int64_t *kept)
{
    const mgvi_tall_place p = {.all = &s->all,
                               .leverage = s->leverage,
                               .energy = s->energy,
                               .mean_leverage = s->m.mean_leverage,
                               .u = s->u,
                               .u0 = u0,
                               .far = far * s->m.alpha};
    return mgvi_tall_place_rows(&p, s->place, kept);
}

/* A pair that is near the solution, where few rows a column are near the hinge (the smoothing would
 * take short steps): the finish goes on from it, with the rows that it leaves open. */
static mgv_status go_on_from_pair(mgvi_run *run, state *s)
{
    const int64_t n = run->problem->A->rows, d = run->problem->A->cols;
    mgvi_vec *z = &run->lent[0];
    double primal;
    int64_t close = 0, kept;
    memcpy(s->w_out.x, s->w, (size_t)d * sizeof *s->w);
    mgvi_op_mul(run->problem->A, 1, &s->w_out, 0, z);
    for (int64_t i = 0; i < n; i++) {
        s->u[i] = 1 - z->x[i];
        close += fabs(s->u[i]) <= ALPHA_LAST;
    }
    s->m.tau = mgvi_tall_near_tau(s->s, s->u, s->a, n, &primal);
    for (int64_t j = 0; j < d; j++)
        primal += s->lambda[j] / 2 * s->w[j] * s->w[j] + s->mu[j] * fabs(s->w[j]);
    s->m.tau = fmax(s->m.tau, LEAST_TAU * s->m.target * primal / (2 * (double)n));
    s->m.pair = close < d && 2 * (double)n * s->m.tau <= NEARBY * primal;
    if (!s->m.pair)
        return MGV_OK;
    s->m.alpha = 4 * s->m.tau * (double)n; /* the weights sum to 1 */
    const double reach = mgvi_tall_near_reach(s->u, n, OPEN_ROWS * d, OPEN * s->m.alpha);
    MGVI_TRY(place_rows(s, s->u, reach / s->m.alpha, &kept));
    mgvi_tall_near_keep(s->s, s->u, s->a, n, s->place);
    s->m.phase = FINISH;
    return MGV_OK;
}

/* A neighbour's solution takes the place of the samples. */
static mgv_status begin(mgvi_run *run, state *s)
{
    const int64_t n = run->problem->A->rows;
    if (s->m.pair)
        MGVI_TRY(go_on_from_pair(run, s));
    if (s->m.pair)
        return MGV_OK;
    s->m.stage = 0;
    while (s->m.warm && mgvi_tall_stage_rows(n, s->m.stage) < n)
        s->m.stage++;
    s->m.alpha = s->m.warm ? WARM_ALPHA : 1;
    s->m.alpha_last = ALPHA_LAST;
    s->m.phase = SMOOTHING;
    return next_stage(run, s);
}

/* ---- smoothing ------------------------------------------------------------------------------- */

/* Whether the rows near the hinge can be had: dense ones are read where they lie if need be. */
static bool near_fits(const state *s, int64_t kept)
{
    const double lists = (double)kept * (sizeof *s->list + sizeof *s->near_u + 1);
    return lists + (s->all.sparse ? mgvi_row_set_bytes(s->rows, kept, false) : 0) <= s->spare;
}

/* After a step on all rows: those that are far from the hinge, before and after it, are fixed for
 * the rest of the path, when they are many. */
static mgv_status narrow(mgvi_run *run, state *s)
{
    const int64_t n = run->problem->A->rows;
    int64_t kept;
    MGVI_TRY(place_rows(s, run->lent[0].x, FAR_ON_THE_PATH, &kept));
    if ((double)kept > WORTHWHILE * (double)n || !near_fits(s, kept))
        return MGV_OK;
    s->m.near = true;
    MGVI_TRY(mgvi_tall_stage_bind(run, s));
    mgvi_tall_stage_collect(s);
    return MGV_OK;
}

/* The end of the path: all rows at both ends of the extrapolation; false when fixed rows have
 * crossed the hinge, and the path has to be followed on all rows. */
static mgv_status widen(mgvi_run *run, state *s, bool *sound)
{
    const int64_t n = run->problem->A->rows;
    const double *u0 = run->lent[0].x;
    int64_t crossed = 0;
    *sound = true;
    if (!s->m.near)
        return MGV_OK;
    mgvi_tall_stage_spread(s);
    for (int64_t i = 0; i < n; i++)
        crossed += s->place[i] != MGVI_ROW_KEPT && s->u[i] * u0[i] < 0;
    s->m.near = false;
    *sound = (double)crossed <= CROSSED * (double)n;
    s->m.not_near = !*sound;
    return *sound ? MGV_OK : next_stage(run, s);
}

/* So many rows lie at the hinge that fixing the others would save little, as when one class is rare
 * and w nearly 0: the path goes on until its own gap, which falls as alpha does, will do. False
 * when that is too far. */
static bool go_on(mgvi_run *run, state *s)
{
    const double goal = PROMISING * run->settings->tol, next = ALPHA_FACTOR * s->m.alpha;
    s->m.gap = fabs(mgvi_tall_smooth_look_ahead(&s->smooth, s->w_out.x, run->lent[1].x));
    s->shown_once = true;
    s->m.shown = s->m.gap <= goal;
    if (!s->m.shown && (next < ALPHA_LEAST || goal < s->m.gap * ALPHA_LEAST / s->m.alpha))
        return false;
    mgvi_tall_smooth_move(&s->smooth, next, next - s->m.alpha);
    s->m.alpha = s->m.alpha_last = next;
    return true;
}

/* Back to where the path would have ended; `place` is that of then. */
static void give_up(state *s)
{
    memcpy(s->w, s->w_before, (size_t)s->all.cols * sizeof *s->w);
    s->m.alpha = s->m.alpha_last = ALPHA_LAST;
    s->m.shown = false;
    s->m.phase = FINISH;
}

/* The rows of the finish, from where the path seems to end. */
static mgv_status end_path(mgvi_run *run, state *s)
{
    mgvi_tall_smooth *h = &s->smooth;
    int64_t kept;
    bool sound;
    const bool near = s->m.near;
    if (s->m.alpha_last < ALPHA_LAST) {
        if (!go_on(run, s))
            give_up(s);
        return MGV_OK;
    }
    s->m.lost = s->m.steps > MOST_STEPS || h->cautious;
    h->set = &s->all;
    mgvi_tall_smooth_extrapolate(h, run->lent[0].x);
    MGVI_TRY(widen(run, s, &sound));
    if (!sound)
        return MGV_OK;
    MGVI_TRY(place_rows(s, run->lent[0].x, FAR, &kept));
    memcpy(s->w_before, s->w, (size_t)s->all.cols * sizeof *s->w);
    const bool many = (double)kept > TOO_MANY * (double)s->all.m.rows && s->m.stage > 0;
    if (!many || near || s->m.lost || s->mu[0] > 0 || !go_on(run, s))
        s->m.phase = FINISH;
    return MGV_OK;
}

/* Whether fewer rows than columns are near the hinge, and weights may be 0: their curvature says
 * little then, steps at smaller alphas are short, and fixing the rows beyond them leaves columns
 * without any. */
static bool is_thin(const state *s)
{
    const mgvi_tall_smooth *h = &s->smooth;
    int64_t close = 0;
    if (!(s->mu[0] > 0) || h->alpha > ALPHA_THIN || h->set->cols < THIN_COLUMNS)
        return false;
    for (int64_t i = 0; i < mgvi_row_set_count(h->set); i++)
        close += fabs(h->u[i]) <= ALPHA_THIN;
    return close < h->set->cols;
}

/* The path ends here: rows enough for the columns, the nearest to the hinge, are kept. */
static mgv_status end_thin(state *s)
{
    mgvi_tall_smooth *h = &s->smooth;
    int64_t kept;
    s->m.thin = true;
    s->m.near = false;
    s->m.phase = FINISH;
    h->set = &s->all;
    h->u = s->u;
    mgvi_tall_smooth_start(h);
    const double least = FAR_ON_THE_PATH * ALPHA_THIN;
    const double reach = mgvi_tall_near_reach(s->u, s->all.m.rows, THIN_ROWS * s->all.cols, least);
    return place_rows(s, s->u, reach / s->m.alpha, &kept);
}

/* One Newton step; at the end of the path on these rows, the next ones. */
static mgv_status smooth(mgvi_run *run, state *s)
{
    const int64_t n = run->problem->A->rows, d = run->problem->A->cols;
    const int64_t rows = mgvi_tall_stage_rows(n, s->m.stage);
    const bool last = rows == n;
    const double least = last ? s->m.alpha_last : fmax(4 * (double)d / (double)rows, ALPHA_LAST);
    mgvi_tall_smooth *h = &s->smooth;
    h->trial = run->lent[0].x;
    if (s->m.near && s->m.steps >= NEAR_STEPS) {
        s->m.near = false;
        s->m.not_near = true;
        MGVI_TRY(next_stage(run, s));
    }
    MGVI_TRY(mgvi_tall_smooth_sweep(h));
    const bool on_path = h->decrement <= ON_THE_PATH * h->alpha || s->m.steps >= MOST_STEPS;
    if (s->m.warm && !on_path && s->m.steps >= WARM_STEPS) { /* it was too far away */
        s->m.warm = false;
        memset(s->w, 0, (size_t)d * sizeof *s->w);
        return begin(run, s);
    }
    s->m.steps++;
    if (s->m.alpha_last < ALPHA_LAST && h->decrement > ASTRAY * h->alpha) {
        give_up(s);
        return MGV_OK;
    }
    if (on_path && last && is_thin(s))
        return end_thin(s);
    if (!on_path) {
        mgvi_tall_smooth_move(h, h->alpha, 0);
    } else if (h->alpha > least) {
        const double next = fmax(ALPHA_FACTOR * h->alpha, least);
        mgvi_tall_smooth_move(h, next, next - h->alpha);
    } else if (!last) {
        for (int64_t j = 0; j < d; j++)
            s->w[j] += h->step[j];
        s->m.stage++;
        MGVI_TRY(next_stage(run, s));
    } else {
        return end_path(run, s);
    }
    s->m.alpha = h->alpha;
    const bool moved = s->m.stage > 0 && h->set == &s->all && s->m.steps > 0;
    /* fixing rows costs as much as a sweep and a half: some must be left to do */
    const bool far_to_go = last && moved && ALPHA_FACTOR * h->alpha > least;
    return far_to_go && !s->m.not_near ? narrow(run, s) : MGV_OK;
}

/* ---- the finish ------------------------------------------------------------------------------ */

/* The next round is asked for after the judge has seen the last one and was not satisfied. */
static mgv_status finish(mgvi_run *run, state *s)
{
    const bool kinks = run->problem->penalty->can & MGVI_KINK;
    mgvi_arena_free(s->stage); /* the path has ended */
    if (s->m.solved) {
        mgvi_vec *z = &run->lent[0];
        mgvi_op_mul(run->problem->A, 1, &s->w_out, 0, z);
        const int64_t joined = mgvi_tall_place_join(s->place, z->x, z->n, 0);
        const bool stuck = joined == 0 && s->m.gap > s->m.target;
        /* What is left is rounding; or the zeros of an answer that has its certificate, which are
         * not worth a solution with all rows. */
        const bool certified = run->goal < run->settings->tol;
        if ((stuck && s->m.lost) || (certified && (stuck || s->m.rounds >= ROUNDS_ALONE))) {
            run->finished = true;
            return MGV_OK;
        }
        s->m.lost = s->m.lost || stuck;
        if (joined == 0 && !stuck)
            s->m.target *= 0.03;
        if (joined == 0 && kinks && s->m.gap <= EXACT) {
            run->finished = true; /* of all rows too: nothing is left to do */
            return MGV_OK;
        }
    }
    if (s->m.lost || s->m.rounds >= ROUNDS_ALONE)
        memset(s->place, MGVI_ROW_KEPT, (size_t)run->problem->A->rows);
    if (s->m.pair && !s->m.lost)
        MGVI_TRY(mgvi_tall_finish_near(&s->finish, s->place, s->w, s->a, s->m.tau, s->m.target,
                                       &s->w_out, &run->lent[1]));
    else if (s->m.thin && !s->m.lost)
        MGVI_TRY(mgvi_tall_finish_cold(&s->finish, s->place, ZEROS, &s->w_out, &run->lent[1]));
    else
        MGVI_TRY(mgvi_tall_finish_solve(&s->finish, s->place, s->m.lost ? NULL : s->w, s->m.alpha,
                                        kinks ? fmin(s->m.target, ZEROS) : s->m.target, &s->w_out,
                                        &run->lent[1]));
    s->shown_once = true;
    s->m.gap = s->finish.value.gap;
    s->m.solved = true;
    s->m.rounds++;
    return MGV_OK;
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    switch ((phase)s->m.phase) {
    case BEGIN:
        MGVI_TRY(begin(run, s));
        return s->m.phase == FINISH ? finish(run, s) : smooth(run, s);
    case SMOOTHING:
        MGVI_TRY(smooth(run, s));
        if (s->m.near) /* for a checkpoint */
            mgvi_tall_stage_spread(s);
        return MGV_OK;
    case FINISH:
        return finish(run, s);
    }
    return MGV_OK;
}

/* Before the finish, and where the one that was found has gone with the judge or stayed behind a
 * checkpoint, the dual point is that of the smoothed loss, on all rows. */
static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    mgvi_vec *u = &run->lent[1];
    const bool found = s->m.solved || s->m.shown;
    if (!found)
        memcpy(s->w_out.x, s->w, (size_t)s->w_out.n * sizeof *s->w);
    if (!found || !s->shown_once) {
        const double alpha = s->m.alpha > 0 ? s->m.alpha : 1;
        mgvi_op_mul(run->problem->A, -1, &s->w_out, 0, u);
        for (int64_t i = 0; i < u->n; i++) {
            const double t = (1 + u->x[i]) / alpha;
            u->x[i] = -mgvi_coef_pick(s->s, i, 0) * (0.5 + 0.5 * t / hypot(1, t));
        }
    }
    return (mgvi_iterate){.w = &s->w_out, .u = u};
}

static double estimate(const mgvi_run *run)
{
    const state *s = run->state;
    return s->m.solved || s->m.shown ? s->m.gap : INFINITY;
}

/* The sets are functions of the data and the memory. */
static mgv_status restored(mgvi_run *run)
{
    state *s = run->state;
    if (s->m.phase < BEGIN || s->m.phase > FINISH || s->m.stage < 0 || s->m.stage > 3 ||
        !(s->m.alpha >= 0 && s->m.alpha < INFINITY) || !(s->m.target > 0) || !(s->m.tau >= 0) ||
        s->m.alpha_last < 0 || s->m.mean_leverage < 0 || isinf(s->m.mean_leverage) ||
        s->m.steps < 0 || s->m.rounds < 0 || s->m.present < 0 ||
        s->m.present > run->problem->A->rows)
        return MGVI_FAIL(run->ctx, MGV_E_INPUT, "the state of newton is not valid");
    for (int64_t i = 0; i < run->problem->A->rows; i++)
        if (s->place[i] > MGVI_ROW_ZERO)
            return MGVI_FAIL(run->ctx, MGV_E_INPUT, "the state of newton is not valid");
    s->shown_once = false;
    if (s->m.phase == SMOOTHING)
        MGVI_TRY(mgvi_tall_stage_bind(run, s));
    if (s->m.phase == SMOOTHING && s->m.near)
        mgvi_tall_stage_collect(s);
    run->touched = 0; /* an unbroken run did this, and what init does, once */
    return MGV_OK;
}

/* The rule of docs/algorithms/newton.md: 25 factorisations, as many multiplications as one pass of
 * N d^2, or some passes of its sparse form, and some over the data. Where columns are few, for the
 * rows too, and rows sparse it is the fastest by far. Nobody who did not ask for it gets matrices that no memory may
 * hold. */
static double cost(const mgv_problem *p, const mgv_settings *settings)
{
    enum { FEW_COLUMNS = 400, SEPARABLE = 2 }; /* rows a column, below which any labels can be */
    static const double DENSE = 0.3, MOST_BYTES = 1 << 30, PASSES = 20, VECTORS = 4000;
    const double n = (double)p->A->rows, d = (double)p->A->cols, nnz = (double)p->A->nnz;
    const double squares = fmin(n * d * d, 40 * nnz * nnz / n);
    const double passes = PASSES * mgvi_entry_cost(p) * nnz + VECTORS * n;
    const double work = squares + 10 * d * d * d + passes, by_rows = 40 * 60 * nnz;
    (void)settings;
    if (squares_bytes(p->A->cols) > fmax(MOST_BYTES, mgvi_problem_spare(p, HELD)))
        return INFINITY;
    return d <= FEW_COLUMNS && n >= SEPARABLE * d && nnz <= DENSE * n * d
               ? fmin(work, by_rows / 2 + VECTORS * n)
               : work;
}

const mgvi_solver_ops mgvi_solver_newton = {
    .name = "newton",
    .summary = "hinge with penalty l2, l1 or enet: smoothing, Newton steps, exact finish",
    .needs = {.loss = MGVI_MARGIN | MGVI_LINEAR_DUAL, .op = MGVI_ROW},
    .any = {.penalty = MGVI_SQUARE | MGVI_ABS},
    .no = {.loss = MGVI_HARD},
    .cost = cost,
    .finish = cost,
    .state_size = sizeof(state),
    .init = init,
    .start = start,
    .step = step,
    .expose = expose,
    .estimate = estimate,
    .restored = restored,
};
