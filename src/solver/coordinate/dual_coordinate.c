/* dual_coordinate.c - dual coordinate ascent for l2 penalties; docs/algorithms/dual_coordinate.md.
 *
 *   max over u of  D(u) = -|A'u|^2/(2 lambda) - sum_i (s_i G_i)*(u_i),   w = -A'u/lambda
 *
 * by exact steps in one u_i at a time (coordinate/dual_epoch.h), in a fresh random order every pass.
 * Rows that did not move in a full pass (at a bound, with the right sign) are left out of the next
 * short passes; a full pass brings them back, so nothing is ever lost.                      (3)
 * The free intercept makes D subject to sum_i a_i0 u_i = 0, which single coordinates cannot
 * respect. The method of multipliers handles it: the dual gets the term
 *   +b0 sum_i a_i0 u_i - kappa/2 (sum_i a_i0 u_i)^2                                         (4)
 * which is a column of weight kappa around the shift b0, and after every pass
 *   b0 <- b0 - kappa sum_i a_i0 u_i.                                                        (5)
 * What has not converged after some passes has its free rows solved for (coordinate/free_rows.h). (6) */
#include "solver/coordinate/dual_epoch.h"

#include "base/limit.h"
#include "solver/coordinate/free_rows.h"
#include "solver/shared/intercept.h"
#include "solver/solver_impl.h"

#include <math.h>
#include <string.h>

enum {
    OPENING = 3,       /* full passes before rows are left out */
    SHORT_PASSES = 40, /* most short passes between two full ones, unless they cost little */
    FINISH_PASSES = 9, /* the same once Newton steps are taken in between */
    CHEAP_PASSES = 200,
    REFRESH = 25, /* full passes between two recomputations of w from u */
    CIRCLES = 30  /* full passes after which intervals beside an intercept are all looked at */
};

/* The relative gap below which the free rows are believed, however many. */
static const double FINISH = 1e-4;
/* Passes after which Newton steps are taken at any gap: what converges by itself has done so. They
 * may cost as much as all passes before them, and wait where the gap fell to no less than HELPED of
 * the one at the step before. */
static const double PATIENCE = 20, HELPED = 0.5;

/* Short passes that together cost less than this part of a full one go on until moves have fallen
 * to CHEAP_FALL of the first; others to DEAR_FALL, or the active rows' part of the gap to GAP_FALL.
 */
static const double CHEAP = 0.5, CHEAP_FALL = 0.01, DEAR_FALL = 0.1, GAP_FALL = 0.05;

/* A full pass that moved no more than this many times the rows of the short ones before it found
 * the same rows at work. Then the active rows' part of the gap is believed to be all of it, unless
 * that pass saw many times the tolerance; and short passes end where it falls to this part of the
 * tolerance, else to a smaller one, because the others will want more passes. */
static const double FAMILIAR = 1.25, MANY_TIMES = 20, SETTLED = 0.8, SETTLED_ELSE = 0.3;

/* Plain numbers of the state, saved as they are. */
typedef struct memory {
    int64_t full_passes, short_passes; /* short ones since the last full one */
    int64_t active;                    /* rows in the present list */
    int64_t moved;                     /* rows that moved in the last pass */
    int64_t familiar;                  /* the last full pass moved hardly any others */
    double first_move;                 /* worst move of the first short pass */
    double spent;                      /* on the short ones, in passes over the data */
    double free_sum;
    double estimate;         /* relative gap seen by the last full pass */
    double active_gap;       /* the active rows' part of it in the last short pass; NaN: unknown */
    double primal;           /* objective, as the last full pass saw it */
    int64_t rest, next_rest; /* full passes until the next Newton step; after a failed one */
    double passes;           /* over the data so far, Newton steps not counted */
    double tried;            /* the estimate at the last Newton step; NaN: none */
} memory;

typedef struct state {
    mgvi_rows *rows;
    mgvi_storage storage;
    double *acc; /* w in the row kernels' form */
    mgvi_vec u, w;
    double *curvature; /* r_i */
    double inverse_lambda, kappa;
    int32_t *order; /* active rows first, then whatever a full pass needs */
    int32_t *all;   /* every row with weight */
    int64_t all_count;
    bool watched;              /* the loss's terms of the gap cost less than a row */
    mgvi_free_rows *free_rows; /* NULL: no exact finish for this loss */
    memory m;
} state;

static mgv_status allocate(mgvi_run *run, state *s)
{
    const int64_t n = run->problem->A->rows;
    MGVI_TRY(mgvi_rows_new(run->problem->A, &run->arena, &s->rows));
    const int64_t acc_len = mgvi_rows_acc_len(s->rows);
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->u));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->w));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->acc, acc_len));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->curvature, n));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->order, n));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->all, n));
    MGVI_TRY(mgvi_run_keep(run, "u", MGVI_T_F64, s->u.x, n));
    MGVI_TRY(mgvi_run_keep(run, "acc", MGVI_T_F64, s->acc, acc_len));
    MGVI_TRY(mgvi_run_keep(run, "order", MGVI_T_I32, s->order, n));
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->m, sizeof s->m);
}

/* kappa: a tenth of an average row's curvature. Stiffer, single rows can hardly move; softer, the
 * shift needs more passes. 0.03 to 0.3 was within a quarter of the best on every set tried. */
static mgv_status measure_rows(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const int64_t n = p->A->rows;
    double sum = 0;
    mgvi_rows_square_norms(s->rows, s->curvature);
    for (int64_t i = 0; i < n; i++) {
        s->curvature[i] *= s->inverse_lambda;
        if (!isfinite(s->curvature[i]))
            return MGVI_FAIL(run->ctx, MGV_E_INPUT,
                             "row %" PRId64
                             " is too large: |x|^2/lambda overflows; divide the data "
                             "by a power of ten",
                             i + 1);
        sum += s->curvature[i];
    }
    /* rows of zeros: the curvature of the losses' conjugates, 1/s_i */
    s->kappa = p->free_cols ? 0.1 * (sum > 0 ? sum / (double)n : (double)n) : 0;
    for (int64_t i = 0; i < n; i++)
        s->curvature[i] += s->kappa;
    return MGV_OK;
}

/* Rows that can move. A hard constraint on a row of zeros has no solution: such a row alone is
 * the proof, and starts with weight. */
static void choose_rows(const mgv_problem *p, state *s)
{
    const bool hard = p->loss->can & MGVI_HARD;
    for (int64_t i = 0; i < p->A->rows; i++) {
        if (mgvi_coef_pick(&p->row.scale, i, 0) == 0)
            continue;
        if (hard && s->curvature[i] == 0)
            s->u.x[i] = p->loss->can & MGVI_MARGIN ? -1 : 0;
        else
            s->all[s->all_count++] = (int32_t)i;
    }
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    MGVI_TRY(mgvi_run_check_rows(run));
    MGVI_TRY(allocate(run, s));
    s->storage = mgvi_dual_storage(s->rows);
    s->inverse_lambda = 1 / p->lambda;
    MGVI_TRY(measure_rows(run, s));
    choose_rows(p, s);
    if (run->settings->shrink && (p->loss->can & MGVI_MIRROR) && !s->rows->kernel)
        MGVI_TRY(mgvi_free_rows_new(p, s->rows, &run->arena, &s->free_rows));
    const bool simple = p->loss->can & (MGVI_QUADRATIC_DUAL | MGVI_WIDTH);
    s->watched = simple && (p->loss->can & MGVI_MARGIN) && !(p->loss->can & MGVI_HARD);
    /* the best constant is where the shift starts */
    mgvi_intercept_improve(p, 1e-6, &s->w, &run->lent[0]);
    if (p->free_cols)
        s->acc[mgvi_rows_acc_len(s->rows) - 1] = s->w.x[s->w.n - 1];
    s->m.estimate = s->m.tried = NAN;
    return MGV_OK;
}

/* acc from u afresh: running sums drift by rounding. */
static void refresh(mgvi_run *run, state *s)
{
    const int64_t slot = mgvi_rows_acc_len(s->rows) - 1;
    const double intercept = s->acc[slot];
    memset(s->acc, 0, (size_t)(slot + 1) * sizeof *s->acc);
    s->m.free_sum = 0;
    for (int64_t i = 0; i < s->u.n && !mgvi_ctx_cut_row(run->ctx, i); i++) {
        if (s->u.x[i] == 0)
            continue;
        mgvi_rows_axpy(s->rows, i, -s->u.x[i] * s->inverse_lambda, s->acc);
        s->m.free_sum += mgvi_problem_free_entry(run->problem, i) * s->u.x[i];
        run->touched += (double)mgvi_rows_nnz(s->rows, i);
    }
    if (run->problem->free_cols)
        s->acc[slot] = intercept;
}

/* From the dual variables of a neighbouring problem, such as another lambda; w follows. */
static mgv_status start(mgvi_run *run, const double *w, const double *u)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    if (!u || !(p->loss->can & MGVI_DUAL_CLIP) || (p->loss->can & MGVI_HARD))
        return MGV_OK;
    memcpy(s->u.x, u, (size_t)s->u.n * sizeof *u);
    mgvi_loss_dual_clip(run->ctx, p->loss, &p->row, &s->u);
    if (p->free_cols)
        s->acc[mgvi_rows_acc_len(s->rows) - 1] = w[s->w.n - 1];
    refresh(run, s);
    return MGV_OK;
}

/* The relative gap, as far as a full pass with moving w can tell. */
static double guess_gap(const mgv_problem *p, const mgvi_dual_epoch *e)
{
    if ((p->loss->can & MGVI_HARD) && (p->loss->can & MGVI_MARGIN)) /* 1 - lower/upper */
        return e->product != 0 ? 1 - e->least * e->sum_u / e->product : NAN;
    return e->fenchel / (e->loss - 0.5 * e->product); /* lambda |w|^2 = -sum u z */
}

/* What a pass has shown: whether the active rows are worth another short one. */
static void learn(const mgvi_run *run, state *s, const mgvi_dual_epoch *e, bool full)
{
    const mgv_problem *p = run->problem;
    memory *m = &s->m;
    if (full) {
        m->estimate = guess_gap(p, e);
        m->primal = e->loss - 0.5 * e->product;
        m->familiar = m->full_passes > OPENING && (double)m->active <= FAMILIAR * (double)m->moved;
    }
    m->moved = m->active;
    m->active_gap = !full && s->watched ? e->fenchel / m->primal : NAN;
    m->spent = full ? 0 : m->spent + e->touched / fmax(1, (double)p->A->nnz);
    if (m->short_passes <= 1) {
        m->first_move = e->worst_move;
        return;
    }
    const bool dear = m->spent >= CHEAP;
    if (e->worst_move <= (dear ? DEAR_FALL : CHEAP_FALL) * m->first_move ||
        m->active_gap <= (m->familiar ? SETTLED : SETTLED_ELSE) * run->settings->tol ||
        (dear && m->active_gap <= GAP_FALL * m->estimate))
        m->active = 0;
}

static void pass(mgvi_run *run, state *s, bool full)
{
    const mgv_problem *p = run->problem;
    mgvi_dual_epoch e = {.problem = p,
                         .rows = s->rows,
                         .storage = s->storage,
                         .curvature = s->curvature,
                         .inverse_lambda = s->inverse_lambda,
                         .free_weight = s->kappa,
                         .watch = full || s->watched,
                         .u = s->u.x,
                         .acc = s->acc,
                         .free_sum = s->m.free_sum};
    const int64_t count = full ? s->all_count : s->m.active;
    if (full)
        memcpy(s->order, s->all, (size_t)count * sizeof *s->order);
    mgvi_rng_shuffle(&run->rng, s->order, count);
    s->m.active = mgvi_dual_epoch_run(&e, s->order, count, s->order);
    run->touched += e.touched;
    s->m.passes += e.touched / fmax(1, (double)p->A->nnz);
    s->m.free_sum = e.free_sum;
    if (p->free_cols) /* (5) */
        s->acc[mgvi_rows_acc_len(s->rows) - 1] -= s->kappa * s->m.free_sum;
    learn(run, s, &e, full);
}

/* A Newton step on the free rows (6), unless the last ones were idle: rests double. */
static mgv_status finish(mgvi_run *run, state *s)
{
    if (s->m.rest > 0) {
        s->m.rest--;
        return MGV_OK;
    }
    const double gap = 0.3 * run->settings->tol;
    const mgvi_free_goal goal = {
        .inverse_lambda = s->inverse_lambda,
        .kappa = s->kappa,
        .curvature = s->curvature,
        .target = gap * s->m.primal,
        .most = s->m.passes * (double)run->problem->A->nnz,
        /* more rows than columns, and none that curve: they are not the last ones */
        .most_rows = s->m.estimate < FINISH || (run->problem->loss->can & MGVI_SMOOTH)
                         ? INFINITY
                         : (double)run->problem->A->cols};
    mgvi_free_step taken;
    MGVI_TRY(mgvi_free_rows_step(s->free_rows, &goal, s->u.x, s->acc, &taken));
    const bool helped = taken.gain > 0 && !(s->m.estimate > HELPED * s->m.tried);
    s->m.free_sum += taken.free_sum;
    s->m.next_rest = helped ? 0 : 2 * s->m.next_rest + 1;
    s->m.rest = s->m.next_rest;
    s->m.tried = s->m.estimate;
    run->touched += taken.touched;
    return MGV_OK;
}

/* Rows within their intervals, at u = 0, hold the shift (5) from both sides: left out, they let it
 * go too far, and passes may go in circles for ever. */
static bool leaves_out(const mgvi_run *run)
{
    const mgv_problem *p = run->problem;
    const bool held = p->free_cols > 0 && (p->loss->can & MGVI_BETWEEN);
    const memory *m = &((const state *)run->state)->m;
    return run->settings->shrink && !(held && m->full_passes > CIRCLES);
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    const bool close = s->free_rows && (s->m.estimate < FINISH || s->m.passes >= PATIENCE);
    const int64_t most = s->m.spent < CHEAP ? CHEAP_PASSES : close ? FINISH_PASSES : SHORT_PASSES;
    const bool full = !leaves_out(run) || s->m.full_passes < OPENING || s->m.active == 0 ||
                      s->m.short_passes >= most;
    if (full) {
        if (close)
            MGVI_TRY(finish(run, s));
        if (s->m.full_passes % REFRESH == REFRESH - 1)
            refresh(run, s);
        s->m.full_passes++;
        s->m.short_passes = 0;
    } else {
        s->m.short_passes++;
    }
    pass(run, s, full);
    return MGV_OK;
}

static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    mgvi_rows_weights(s->rows, s->acc, s->w.x);
    mgvi_intercept_improve(run->problem, 0.01 * run->settings->tol, &s->w, &run->lent[0]);
    return (mgvi_iterate){.w = &s->w, .u = &s->u};
}

/* A full pass knows; the last short one where the same rows are at work. */
static double estimate(const mgvi_run *run)
{
    const memory *m = &((const state *)run->state)->m;
    if (m->short_passes == 0)
        return m->estimate;
    const bool whole = m->familiar && m->estimate < MANY_TIMES * run->settings->tol;
    return whole && m->active == 0 ? m->active_gap : NAN;
}

/* A checkpoint is a file: nothing in it may lead outside our arrays. */
static mgv_status restored(mgvi_run *run)
{
    const state *s = run->state;
    return mgvi_run_check_list(run, s->order, s->m.full_passes >= 0 ? s->m.active : -1,
                               s->all_count);
}

/* The entries of rows that are quick, for they stay in the caches, and their own steps. */
/* The step of a row beside its entries: in closed form, or by Newton's method. */
static double row_cost(const mgv_problem *p)
{
    static const double STEP = 400, ROOT = 2500;
    return p->loss->can & (MGVI_BENT | MGVI_STRONG | MGVI_HARD) ? STEP : ROOT;
}

static double pass_cost(const mgv_problem *p)
{
    const double entry = mgvi_op_is_dense(p->A) ? 8 : 20;
    return entry * (double)p->A->nnz + row_cost(p) * (double)p->A->rows;
}

static bool is_squared_hinge(const mgv_problem *p)
{
    const unsigned can = p->loss->can;
    return (can & MGVI_BENT) && (can & MGVI_SMOOTH) && (can & MGVI_MARGIN) && !(can & MGVI_BOUNDED);
}

/* About 60 passes to the default tolerance, more on dense rows, whose scales are anybody's,
 * where rows are many for each column, and with C = 1/(lambda n); an entry of a row taken at random
 * costs as much as 40 multiplications of a matrix product. Rows that are few for the columns are
 * nearly orthogonal: 30 passes; 20 takes the hinge with many sparse columns, a moderate C and a
 * moderate tolerance (docs/algorithms/newton.md). A hard margin takes hundreds. */
static double cost(const mgv_problem *p, const mgv_settings *settings)
{
    enum { MANY_COLUMNS = 200, FEW_ROWS = 2, SEPARABLE = 2, TALL = 4 };
    static const double ORTHOGONAL = 30, MODERATE = 1e-4, MODERATE_C = 2, SPARSE = 0.3;
    static const double MARGIN = 600, PROOF = 1500;
    static const double ALIKE = 2; /* dense rows have a mean, or more, in common */
    const double n = (double)p->A->rows, d = (double)p->A->cols, nnz = (double)p->A->nnz;
    const bool margin = p->loss->can & MGVI_MARGIN, kernel = p->A->ops->can & MGVI_KERNEL;
    if ((p->loss->can & MGVI_HARD) && (!margin || kernel))
        return INFINITY;
    if (kernel) /* few effective columns, and C makes them ill-conditioned */
        return 100 * (1 + sqrt(1 / (p->lambda * n))) * 40 * nnz;
    if (n * FEW_ROWS < d)
        return (mgvi_op_is_dense(p->A) ? ALIKE : 1) * ORTHOGONAL * pass_cost(p);
    if (p->loss->can & MGVI_HARD) /* a proof that there is none, or linear convergence */
        return (n > SEPARABLE * d ? PROOF : MARGIN * fmax(1, log(settings->tol) / log(MODERATE))) *
               pass_cost(p);
    const double strength = 1 / (p->lambda * n * MODERATE_C);
    const bool hinge = (p->loss->can & MGVI_BENT) && !(p->loss->can & MGVI_SMOOTH);
    const bool easy = hinge && settings->tol >= MODERATE && strength <= 1 && d >= MANY_COLUMNS &&
                      nnz < SPARSE * n * d;
    const double many = n > TALL * d ? 200 : 60;
    const double square = margin ? SEPARABLE : 1; /* rows a column */
    const double more = n > square * d ? fmin(fmax(sqrt(strength), 1), 10) : 1;
    const bool dense = mgvi_op_is_dense(p->A);
    const double passes = easy ? 20 : many * more, full = is_squared_hinge(p) ? 200 * more : 200;
    return (dense ? full : passes) * (40 * nnz + (dense ? 0 : row_cost(p)) * n);
}

/* Rows that can nearly be separated, or are hardly weighed at all, take 10 to 40 passes where
 * others take thousands (docs/algorithms/newton.md). Not under the squared hinge at large C: no
 * bound stops its dual variables. */
static double trial(const mgv_problem *p, const mgv_settings *settings)
{
    enum { SEPARABLE = 2 };
    static const double PASSES = 20, MOST = 10;
    const double C = 1 / (2 * p->lambda * (double)p->A->rows);
    const bool longer = is_squared_hinge(p) && p->A->rows > SEPARABLE * p->A->cols;
    (void)settings;
    return p->loss->can & MGVI_HARD || p->A->ops->can & MGVI_KERNEL
               ? INFINITY
               : (longer ? fmin(fmax(sqrt(C), 1), MOST) : 1) * PASSES * pass_cost(p);
}

const mgvi_solver_ops mgvi_solver_dual_coordinate = {
    .name = "dual_coordinate",
    .summary = "exact dual coordinate ascent in random order with shrinking, penalty l2",
    .needs = {.penalty = MGVI_SQUARE, .loss = MGVI_VALUE | MGVI_CONJ | MGVI_PROX, .op = MGVI_ROW},
    .no = {.penalty = MGVI_ABS},
    .ascends = true,
    .kernels = true,
    .cost = cost,
    .trial = trial,
    .uniform = true,
    .state_size = sizeof(state),
    .init = init,
    .start = start,
    .step = step,
    .expose = expose,
    .estimate = estimate,
    .restored = restored,
};
