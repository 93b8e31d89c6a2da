/* smsvm.c - the smoothing method for l1 support vector machines, corrected or to the letter;
 * docs/algorithms/smsvm.md.
 *
 *   alpha_k = alpha_start beta^k;  at each level Newton's method on the smoothed hinge plus mu |w|_1:
 *     A = {w_j != 0} and the columns at 0 whose gradient exceeds mu                             (2)
 *     H_AA d = -g_A, new columns that would move against their sign leave A                     (3)
 *     s from the exact line search on the local model, halved until f falls enough              (4)
 *   next level when g.H^-1 g <= eta alpha                                                       (5)
 *
 * Literally new columns join once a level, with d_j = -g_j and whatever sign they get (7), no step
 * is taken when a level ends, and weights are cut to 0 after the test of f (8).
 * It stops on the duality gap, or after the level alpha_end. A step is one Newton step. */
#include "op/row_set.h"

#include "base/limit.h"
#include "simd/simd.h"
#include "solver/baseline/linesearch_l1.h"
#include "solver/newton/tall_loops.h"
#include "solver/shared/scaled_cholesky.h"
#include "solver/solver_impl.h"

#include <math.h>
#include <string.h>

static const double ARMIJO = 1e-4, SHORTEST = 1e-9, ALPHA_LEAST = 1e-12;
static const double ULPS = 1e-9;  /* alpha_start beta^k misses alpha_end by rounding */
static const double V_ETA = 1e-3; /* how much better a level is solved before columns may be new */
static const double RIDGE = 1e-13;

typedef struct memory {
    int32_t level;
    bool level_done;         /* the last step ended a level */
    bool begun, grows;       /* literally: the first columns have joined; more may, at this level */
    int64_t steps, halvings; /* of the level */
    double alpha, value;
    double worked; /* alpha of the last step */
} memory;

typedef struct state {
    mgvi_row_set set;
    double *cap, *u, *trial, *Zd, *theta, *h;                       /* per row */
    double *lambda, *mu, *w, *next, *smooth, *g, *sign, *d, *small; /* per column */
    bool *active, *fresh; /* columns of A; of those the ones at 0 */
    double *H;
    mgvi_scaled_cholesky solver;
    mgvi_breakpoint *work;
    mgvi_vec w_out, u_out;
    bool softplus;
    memory m;
} state;

/* ---- starting -------------------------------------------------------------------------------- */

static mgv_status allocate(mgvi_run *run, state *s)
{
    const size_t n = (size_t)run->problem->A->rows, d = (size_t)run->problem->A->cols;
    MGVI_TRY(MGVI_VECTORS(&run->arena, n, &s->cap, &s->u, &s->trial, &s->Zd, &s->theta, &s->h));
    MGVI_TRY(MGVI_VECTORS(&run->arena, d, &s->lambda, &s->mu, &s->w, &s->next, &s->smooth, &s->g,
                          &s->sign, &s->d, &s->small));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->active, d));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->fresh, d));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->H, d * d));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->work, d));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->w_out));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->u_out));
    return mgvi_scaled_cholesky_init(&s->solver, &run->arena, (int64_t)d);
}

/* All rows in float64: the method knows no other finish than small alpha. */
static mgv_status gather(mgvi_run *run, state *s)
{
    const int64_t n = run->problem->A->rows;
    mgvi_rows *rows;
    MGVI_TRY(mgvi_rows_bare(run->problem->A, &run->arena, &rows));
    int32_t *list;
    MGVI_TRY(MGVI_RUN_ARRAY(run, list, n));
    for (int64_t i = 0; i < n; i++)
        list[i] = (int32_t)i;
    return mgvi_row_set_gather(rows, list, n, true, INFINITY, &run->arena, &run->touched, &s->set);
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const mgv_settings *set = run->settings;
    const int64_t n = run->problem->A->rows, d = run->problem->A->cols;
    MGVI_TRY(mgvi_run_check_rows(run));
    if (set->alpha_end > set->alpha_start)
        return MGVI_FAIL(
            run->ctx, MGV_E_ARG,
            "alpha_end lies above the first alpha (got %g, and alpha_start %g); give a "
            "smaller alpha_end",
            set->alpha_end, set->alpha_start);
    MGVI_TRY(allocate(run, s));
    mgvi_problem_coefficients(run->problem, s->cap, s->lambda, s->mu);
    MGVI_TRY(gather(run, s));
    s->softplus = set->smoother == MGVI_SMOOTHER_SOFTPLUS;
    s->m.alpha = set->alpha_start;
    s->m.value = NAN;
    for (int64_t i = 0; i < n; i++)
        s->u[i] = 1;
    MGVI_TRY(mgvi_run_keep(run, "memory", MGVI_T_U8, &s->m, sizeof s->m));
    MGVI_TRY(mgvi_run_keep(run, "w", MGVI_T_F64, s->w, d));
    MGVI_TRY(mgvi_run_keep(run, "u", MGVI_T_F64, s->u, n));
    MGVI_TRY(mgvi_run_keep(run, "fresh", MGVI_T_U8, s->fresh, d));
    return mgvi_run_keep(run, "u_out", MGVI_T_F64, s->u_out.x, n);
}

/* ---- the levels ------------------------------------------------------------------------------ */

static void next_level(mgvi_run *run, state *s)
{
    const mgv_settings *set = run->settings;
    const double beta = set->alpha_factor, last = set->alpha_end;
    int64_t nonzeros = 0;
    for (int64_t j = 0; j < s->set.cols; j++)
        nonzeros += s->w[j] != 0;
    mgvi_log(run->ctx, MGV_INFO,
             "alpha %.3g: %" PRId64 " Newton step%s, %" PRId64 " halved, %" PRId64 " of %" PRId64
             " weights",
             s->m.alpha, s->m.steps, s->m.steps == 1 ? "" : "s", s->m.halvings, nonzeros,
             s->set.cols);
    s->m.alpha = set->alpha_start * pow(beta, ++s->m.level);
    s->m.steps = s->m.halvings = 0;
    s->m.grows = s->m.level_done = true;
    run->scheduled = s->m.alpha <= beta * last * (1 + ULPS);
    run->finished = run->scheduled || (isnan(last) && s->m.alpha < ALPHA_LEAST);
}

/* ---- the direction --------------------------------------------------------------------------- */

/* psi = ln(1 + e^t): t = v psi', h = v psi''/alpha. */
static void fill_softplus(const state *s, int64_t first, int64_t count, double *t, double *h)
{
    for (int64_t i = 0; i < count; i++) {
        const double e = exp(-fabs(s->u[first + i]) / s->m.alpha), v = s->cap[first + i];
        t[i] = v * (s->u[first + i] < 0 ? e : 1) / (1 + e);
        h[i] = v / s->m.alpha * e / ((1 + e) * (1 + e));
    }
}

static void fill(void *arg, int64_t first, int64_t count, double *t, double *t2, double *h)
{
    state *s = arg;
    (void)t2;
    if (s->softplus)
        fill_softplus(s, first, count, t, h);
    else
        s->set.ctx->simd->tall->coefficients(s->u + first, s->cap + first, NULL, count, s->m.alpha,
                                             0, t, NULL, h);
    memcpy(s->theta + first, t, (size_t)count * sizeof *t);
    memcpy(s->h + first, h, (size_t)count * sizeof *h);
}

/* (2): the gradient on A in g, 0 elsewhere. */
static void choose_columns(state *s)
{
    for (int64_t j = 0; j < s->set.cols; j++) {
        const double smooth = s->lambda[j] * s->w[j] - s->g[j];
        s->fresh[j] = s->w[j] == 0 && s->mu[j] > 0 && fabs(smooth) > s->mu[j];
        s->active[j] = s->w[j] != 0 || s->mu[j] == 0 || s->fresh[j];
        s->sign[j] = s->mu[j] == 0 ? 0 : copysign(1, s->w[j] != 0 ? s->w[j] : -smooth);
        s->g[j] = s->active[j] ? smooth + s->mu[j] * s->sign[j] : 0;
    }
}

/* d on A from the small system. */
static mgv_status solve_active(state *s)
{
    const int64_t d = s->set.cols;
    int64_t k = 0;
    for (int64_t i = 0; i < d; i++) {
        if (!s->active[i])
            continue;
        int64_t t = k;
        for (int64_t j = i; j < d; j++)
            if (s->active[j])
                s->solver.H[k * d + t++] = s->H[i * d + j] + (i == j ? s->lambda[i] : 0);
        s->small[k++] = -s->g[i];
    }
    /* rows of the small matrix lie d apart: bring them together */
    for (int64_t i = 1; i < k; i++)
        memmove(s->solver.H + i * k, s->solver.H + i * d, (size_t)k * sizeof *s->H);
    s->solver.n = k;
    mgv_status st = mgvi_scaled_cholesky_factor(&s->solver, RIDGE);
    if (st == MGV_OK)
        st = mgvi_scaled_cholesky_refine(&s->solver, s->small, 1);
    s->solver.n = d;
    for (int64_t i = 0, t = 0; i < d; i++)
        s->d[i] = s->active[i] ? s->small[t++] : 0;
    return st;
}

/* (3); *decrement = -g.d, *grown when columns are new. */
static mgv_status newton_direction(state *s, double *decrement, bool *grown)
{
    for (bool again = true; again;) {
        again = false;
        *grown = false;
        MGVI_TRY(solve_active(s));
        for (int64_t j = 0; j < s->set.cols; j++) {
            if (s->fresh[j] && s->d[j] * s->sign[j] <= 0) {
                s->fresh[j] = s->active[j] = false;
                s->g[j] = 0;
                again = true;
            }
            *grown = *grown || s->fresh[j];
        }
    }
    *decrement = 0;
    for (int64_t j = 0; j < s->set.cols; j++)
        *decrement -= s->g[j] * s->d[j];
    return MGV_OK;
}

/* ---- the step length ------------------------------------------------------------------------- */

/* alpha psi(u/alpha) */
static double smoothed(const state *s, double u)
{
    if (s->softplus)
        return fmax(u, 0) + s->m.alpha * log1p(exp(-fabs(u) / s->m.alpha));
    const double r = hypot(u, s->m.alpha);
    return (u < 0 ? s->m.alpha * s->m.alpha / (r - u) : u + r) / 2;
}

/* f at w and u. */
static double value(const state *s, const double *w, const double *u)
{
    double sum = 0;
    for (int64_t j = 0; j < s->set.cols; j++)
        sum += s->lambda[j] / 2 * w[j] * w[j] + s->mu[j] * fabs(w[j]);
    for (int64_t i = 0; i < mgvi_row_set_count(&s->set) && !mgvi_ctx_cut_row(s->set.ctx, i); i++)
        sum += s->cap[i] * smoothed(s, u[i]);
    return sum;
}

/* d.(H + Lambda) d / 2, from the upper triangle */
static double curvature(const state *s)
{
    const int64_t d = s->set.cols;
    double sum = 0;
    for (int64_t i = 0; i < d; i++) {
        sum += (s->H[i * d + i] + s->lambda[i]) * s->d[i] * s->d[i] / 2;
        for (int64_t j = i + 1; j < d; j++)
            sum += s->H[i * d + j] * s->d[i] * s->d[j];
    }
    return sum;
}

/* next = w + t d with signs kept, trial its slacks. */
static void try_step(state *s, double t, int64_t landing)
{
    bool cut = false;
    for (int64_t j = 0; j < s->set.cols; j++) {
        s->next[j] = s->w[j] + t * s->d[j];
        if (j == landing || (s->mu[j] > 0 && s->next[j] * s->sign[j] < 0)) {
            cut = cut || s->next[j] != 0;
            s->next[j] = 0;
        }
    }
    const int64_t n = mgvi_row_set_count(&s->set);
    if (cut)
        mgvi_row_set_mul(&s->set, s->next, s->trial);
    for (int64_t i = 0; i < n; i++)
        s->trial[i] = cut ? 1 - s->trial[i] : s->u[i] - t * s->Zd[i];
}

/* (4); false when no step of any length helps. */
static bool search(state *s, double decrement)
{
    double slope = 0;
    int64_t landing;
    for (int64_t j = 0; j < s->set.cols; j++)
        slope += (s->g[j] - s->mu[j] * s->sign[j]) * s->d[j];
    double t = mgvi_linesearch_l1(s->set.cols, s->w, s->d, s->mu, curvature(s), slope, 1 / SHORTEST,
                                  s->work, &landing);
    if (t == 0)
        t = 1;
    const double start = value(s, s->w, s->u);
    for (; t > SHORTEST && !mgvi_ctx_cut(s->set.ctx); t /= 2, landing = -1, s->m.halvings++) {
        try_step(s, t, landing);
        s->m.value = value(s, s->next, s->trial);
        if (s->m.value <= start - ARMIJO * fmin(t, 1) * decrement)
            return true;
    }
    return false;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* The dual point of the pending step, a - h (A d): better than a by an order of magnitude. */
static void linearised_dual(state *s)
{
    for (int64_t i = 0; i < s->u_out.n; i++)
        s->u_out.x[i] = -fmin(fmax(s->theta[i] - s->h[i] * s->Zd[i], 0), s->cap[i]);
}

/* To `next`. */
static void move(state *s)
{
    memcpy(s->w, s->next, (size_t)s->set.cols * sizeof *s->w);
    memcpy(s->u, s->trial, (size_t)mgvi_row_set_count(&s->set) * sizeof *s->u);
}

static mgv_status corrected_step(mgvi_run *run)
{
    state *s = run->state;
    double decrement;
    bool grown;
    mgvi_row_set_sweep(&s->set, fill, s, s->g, NULL, s->H, s->set.cols);
    choose_columns(s);
    MGVI_TRY(newton_direction(s, &decrement, &grown));
    if (!isfinite(decrement))
        return MGVI_FAIL(run->ctx, MGV_E_NUMERIC, "a Newton step of smsvm is not finite");
    mgvi_row_set_mul(&s->set, s->d, s->Zd);
    linearised_dual(s);
    const double enough = run->settings->level_tol * s->m.alpha * (grown ? V_ETA : 1);
    s->m.steps++;
    const bool moved = decrement > 0 && search(s, decrement);
    if (moved)
        move(s);
    s->m.level_done = decrement <= enough || !moved; /* (5) */
    if (s->m.level_done)
        next_level(run, s);
    return MGV_OK;
}

/* ---- a step to the letter -------------------------------------------------------------------- */

/* Columns at 0 whose gradient exceeds mu. */
static bool violates(const state *s, int64_t j)
{
    return s->w[j] == 0 && s->mu[j] > 0 && fabs(s->smooth[j]) > s->mu[j];
}

/* g of the columns that are in A: lines 1 to 3 of Algorithm 2, and of Algorithm 1 at the start. */
static void literal_gradient(state *s)
{
    for (int64_t j = 0; j < s->set.cols; j++) {
        s->smooth[j] = s->lambda[j] * s->w[j] - s->g[j];
        if (!s->m.begun)
            s->fresh[j] = violates(s, j);
        s->active[j] = s->w[j] != 0 || s->mu[j] == 0 || s->fresh[j];
        const double side = s->w[j] != 0 ? s->w[j] : -s->smooth[j];
        s->g[j] = s->active[j] ? s->smooth[j] + copysign(s->mu[j], side) : 0;
    }
    s->m.grows = s->m.grows || !s->m.begun;
    s->m.begun = true;
}

/* (7), Algorithm 3: new columns join with a gradient step; false: there are none, or have been. */
static bool join(state *s)
{
    bool joined = false;
    for (int64_t j = 0; s->m.grows && j < s->set.cols; j++) {
        if (s->active[j] || !violates(s, j))
            continue;
        s->active[j] = s->fresh[j] = joined = true;
        s->g[j] = s->smooth[j] - copysign(s->mu[j], s->smooth[j]);
        s->d[j] = -s->g[j];
    }
    s->m.grows = s->m.grows && !joined;
    return joined;
}

static double inner(const double *x, const double *y, int64_t n)
{
    double sum = 0;
    for (int64_t j = 0; j < n; j++)
        sum += x[j] * y[j];
    return sum;
}

/* Lines 9 to 14 of Algorithm 2: next = w + t d and its slacks in trial; false: too short a step. */
static bool literal_search(state *s, double slope, int64_t *landing)
{
    const int64_t d = s->set.cols, n = mgvi_row_set_count(&s->set);
    double t = mgvi_linesearch_l1(d, s->w, s->d, s->mu, curvature(s), inner(s->smooth, s->d, d),
                                  1 / SHORTEST, s->work, landing);
    const double start = value(s, s->w, s->u);
    for (;; t /= 2, *landing = -1, s->m.halvings++) {
        for (int64_t j = 0; j < d; j++)
            s->next[j] = s->w[j] + t * s->d[j];
        for (int64_t i = 0; i < n; i++)
            s->trial[i] = s->u[i] - t * s->Zd[i];
        s->m.value = value(s, s->next, s->trial);
        if (!(s->m.value > start + ARMIJO * t * slope) || mgvi_ctx_cut(s->set.ctx))
            return true;
        if (t < SHORTEST)
            return false;
    }
}

/* (8), lines 20 and 21: what has changed its sign is 0, and every column in A has been there. */
static void truncate_weights(state *s, int64_t landing)
{
    bool cut = false;
    for (int64_t j = 0; j < s->set.cols; j++) {
        s->fresh[j] = false;
        if (j != landing && !(s->mu[j] > 0 && s->w[j] * s->next[j] < 0))
            continue;
        cut = cut || s->next[j] != 0;
        s->next[j] = 0;
    }
    if (!cut)
        return;
    mgvi_row_set_mul(&s->set, s->next, s->trial);
    for (int64_t i = 0; i < mgvi_row_set_count(&s->set); i++)
        s->trial[i] = 1 - s->trial[i];
}

static mgv_status literal_step(mgvi_run *run)
{
    state *s = run->state;
    int64_t landing;
    s->m.level_done = false;
    mgvi_row_set_sweep(&s->set, fill, s, s->g, NULL, s->H, s->set.cols);
    literal_gradient(s);
    MGVI_TRY(solve_active(s));
    double slope = inner(s->d, s->g, s->set.cols);
    if (!isfinite(slope))
        return MGVI_FAIL(run->ctx, MGV_E_NUMERIC, "a Newton step of smsvm is not finite");
    mgvi_row_set_mul(&s->set, s->d, s->Zd);
    linearised_dual(s);
    if (fabs(slope) < run->settings->level_tol * s->m.alpha) {
        if (!join(s)) {
            next_level(run, s);
            return MGV_OK;
        }
        slope = inner(s->d, s->g, s->set.cols);
        mgvi_row_set_mul(&s->set, s->d, s->Zd);
    }
    s->m.steps++;
    if (!literal_search(s, slope, &landing)) {
        next_level(run, s); /* lines 15 to 18 */
        return MGV_OK;
    }
    truncate_weights(s, landing);
    move(s);
    return MGV_OK;
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    s->m.worked = s->m.alpha;
    return run->settings->smsvm_form == MGVI_SMSVM_LITERAL ? literal_step(run)
                                                           : corrected_step(run);
}

static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    memcpy(s->w_out.x, s->w, (size_t)s->w_out.n * sizeof *s->w);
    return (mgvi_iterate){.w = &s->w_out, .u = &s->u_out};
}

/* At the end of a level the gap is near alpha/20, and at most 0.15 alpha. */
static double estimate(const mgvi_run *run)
{
    const state *s = run->state;
    const double alpha = s->m.alpha / run->settings->alpha_factor;
    return s->m.level_done && s->m.value > 0 ? 0.05 * alpha / s->m.value : NAN;
}

static double smoothing(const mgvi_run *run)
{
    const state *s = run->state;
    return s->m.worked;
}

static mgv_status restored(mgvi_run *run)
{
    const state *s = run->state;
    if (s->m.level < 0 || !(s->m.alpha > 0) || isinf(s->m.alpha))
        return MGVI_FAIL(run->ctx, MGV_E_INPUT, "the state of smsvm is not valid");
    return MGV_OK;
}

const mgvi_solver_ops mgvi_solver_smsvm = {
    .name = "smsvm",
    .summary = "hinge with penalty l2, l1 or enet: the published smoothing method",
    .needs = {.loss = MGVI_MARGIN | MGVI_LINEAR_DUAL, .op = MGVI_ROW},
    .any = {.penalty = MGVI_SQUARE | MGVI_ABS},
    .no = {.loss = MGVI_HARD},
    .settings = "smsvm_form smoother alpha_start alpha_factor alpha_end level_tol",
    .state_size = sizeof(state),
    .init = init,
    .step = step,
    .expose = expose,
    .estimate = estimate,
    .smoothing = smoothing,
    .restored = restored,
};
