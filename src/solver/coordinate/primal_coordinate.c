/* primal_coordinate.c - coordinate descent for squared losses and sparse penalties;
 * docs/algorithms/primal_coordinate.md.
 *
 *   min over w, b of  sum_j mu_j |w_j| + lambda_j/2 w_j^2 + sum_i s_i/2 (a_i.w + b - y_i)^2    (1)
 *
 * on a working set of columns, exact in one w_j at a time. With columns p_j = sqrt(s) a_j,
 * e = sqrt(s) and W = |e|^2 the free intercept is eliminated without touching the zeros of a
 * column: the residual is R + off e with
 *   R = e y - sum_j p_j w_j,   off = -mean(y) + sum_j m_j w_j,   m_j = p_j.e / W               (2)
 *   g_j = p_j.R + off p_j.e - m_j T,   T = e.(R + off e)                                       (3)
 *   w_j <- S(N_j w_j + g_j, mu_j) / (N_j + lambda_j),   N_j = |p_j - m_j e|^2                  (4)
 * T = 0 throughout when the intercept is free; without it m_j is what the scaling subtracts. */
#include "base/limit.h"
#include "base/threads.h"
#include "op/columns.h"
#include "simd/simd.h"
#include "solver/coordinate/set_quadratic.h"
#include "solver/shared/anderson.h"
#include "solver/shared/ranking.h"
#include "solver/solver_impl.h"

#include <math.h>
#include <string.h>

enum {
    MOST_SWEEPS = 100, /* of the working set between two looks at all columns */
    LEAST_JOINING = 100,
    GRAIN = 1 << 13, /* entries of a block of columns */
    BLOCKS = 64
};
static const double CONSTANT = 1e-13; /* N_j / |p_j|^2 below this: the column is constant */
static const double ROUNDING = 1e-31; /* moves N_j dw^2 below this part of sum s y^2 are none */
static const double INNER_GAIN = 0.1; /* sweeps end when the move fell by this much */
static const double HALF = 0.5;       /* of the gap: what an exact step brings at least */

/* Plain numbers of the state, saved as they are. */
typedef struct memory {
    double estimate; /* of the relative gap; infinite before the first step */
    int64_t blunt;   /* the last step was exact and brought little: the next one sweeps */
} memory;

typedef struct state {
    mgvi_packed P;
    double *e, *target;                 /* rows: sqrt(s), sqrt(s) y */
    double *mean, *sum, *square, *grad; /* cols: m_j, p_j.e, N_j, g_j */
    double *R;                          /* rows */
    mgvi_vec w, u;
    double W, off, T, energy; /* energy = sum s y^2 */
    bool free;                /* the intercept */
    bool fresh;               /* grad belongs to w */
    int32_t *set;
    int64_t set_count;
    mgvi_ranked *violators; /* by |g_j| over mu_j, in units of sqrt(N_j) */
    mgvi_anderson anderson; /* of the weights of the set */
    double *trial;
    mgvi_quadratic exact;             /* the set's, where sweeps are not enough */
    int32_t exact_set[MGVI_SET_MOST]; /* of its matrix */
    int64_t exact_count;
    memory m;
} state;

/* ---- columns --------------------------------------------------------------------------------- */

static double column_dot(const mgvi_run *run, const state *s, int64_t j, const double *x)
{
    const mgvi_simd *simd = run->ctx->simd;
    const int64_t first = s->P.ptr[j], n = mgvi_packed_nnz(&s->P, j);
    return s->P.dense ? simd->dot_f64(s->P.f64 + first, x, n)
                      : simd->gather_dot_f64(s->P.f64 + first, s->P.idx + first, n, x);
}

static void column_axpy(const mgvi_run *run, const state *s, int64_t j, double a, double *x)
{
    const mgvi_simd *simd = run->ctx->simd;
    const int64_t first = s->P.ptr[j], n = mgvi_packed_nnz(&s->P, j);
    if (s->P.dense)
        simd->axpy_f64(a, s->P.f64 + first, x, n);
    else
        simd->scatter_axpy_f64(a, s->P.f64 + first, s->P.idx + first, n, x);
}

static double gradient(const mgvi_run *run, const state *s, int64_t j) /* (3) */
{
    return column_dot(run, s, j, s->R) + s->off * s->sum[j] - s->mean[j] * s->T;
}

/* Every column is a block's own: the same bits for any number of threads. */
typedef struct column_pass {
    const mgvi_run *run;
    state *s;
    int64_t blocks;
    void (*fn)(const struct column_pass *pass, int64_t j);
} column_pass;

static void pass_block(void *arg, int64_t block)
{
    const column_pass *pass = arg;
    const int64_t cols = pass->s->P.cols;
    MGVI_FOR_BLOCK (j, cols, pass->blocks, block)
        pass->fn(pass, j);
}

static void for_columns(mgvi_run *run, void (*fn)(const column_pass *, int64_t))
{
    state *s = run->state;
    column_pass pass = {.run = run, .s = s, .fn = fn};
    pass.blocks = mgvi_block_count(s->P.ptr[s->P.cols], GRAIN, BLOCKS);
    mgvi_ctx_run(run->ctx, pass.blocks, pass_block, &pass);
    run->touched += (double)s->P.ptr[s->P.cols];
}

static void measure_column(const column_pass *pass, int64_t j)
{
    state *s = pass->s;
    const mgv_problem *p = pass->run->problem;
    const int64_t first = s->P.ptr[j], n = mgvi_packed_nnz(&s->P, j);
    double square = 0;
    for (int64_t t = first; t < first + n; t++)
        square += s->P.f64[t] * s->P.f64[t];
    s->sum[j] = column_dot(pass->run, s, j, s->e);
    s->mean[j] = s->free ? s->sum[j] / s->W : mgvi_view_shift(&p->view, j);
    const double centred = square + s->mean[j] * (s->mean[j] * s->W - 2 * s->sum[j]);
    s->square[j] = centred > CONSTANT * square ? centred : 0;
}

static void gradient_column(const column_pass *pass, int64_t j)
{
    pass->s->grad[j] = pass->s->square[j] > 0 ? gradient(pass->run, pass->s, j) : 0;
}

/* ---- the residual ---------------------------------------------------------------------------- */

/* (2) afresh from w: running sums drift by rounding. */
static void refresh(mgvi_run *run, state *s)
{
    const int64_t n = s->P.rows;
    memcpy(s->R, s->target, (size_t)n * sizeof *s->R);
    double shift = 0;
    for (int64_t j = 0; j < s->P.cols && !(j % 8 == 7 && mgvi_ctx_cut(run->ctx)); j++) {
        if (s->w.x[j] == 0)
            continue;
        column_axpy(run, s, j, -s->w.x[j], s->R);
        shift += s->mean[j] * s->w.x[j];
        run->touched += (double)mgvi_packed_nnz(&s->P, j);
    }
    const double sum = run->ctx->simd->dot_f64(s->e, s->R, n);
    s->fresh = false;
    s->off = s->free ? -sum / s->W : shift;
    s->T = s->free ? 0 : sum + s->off * s->W;
}

/* ---- making it ------------------------------------------------------------------------------- */

static mgv_status allocate(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const size_t n = (size_t)p->A->rows, d = (size_t)mgvi_problem_penalised(p);
    double *factor;
    MGVI_TRY(MGVI_VECTORS(&run->arena, n, &factor, &s->e, &s->target, &s->R));
    MGVI_TRY(MGVI_VECTORS(&run->arena, d, &s->mean, &s->sum, &s->square, &s->grad, &s->trial));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->set, d));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->violators, d));
    for (size_t i = 0; i < n; i++) {
        const mgvi_coef c = mgvi_coefs_at(&p->row, (int64_t)i, 0);
        s->e[i] = sqrt(c.scale);
        s->target[i] = s->e[i] * c.a;
        s->W += c.scale;
        s->energy += s->target[i] * s->target[i];
        factor[i] = s->e[i] * mgvi_view_row_scale(&p->view, (int64_t)i);
    }
    MGVI_TRY(mgvi_anderson_new(&run->arena, (int64_t)d, &s->anderson));
    const mgvi_matrix *X = p->A->stored;
    MGVI_TRY(mgvi_packed_new(&run->arena, &X, 1, factor, p->view.scale, NULL, MGV_F64, &s->P));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->w));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->u));
    MGVI_TRY(mgvi_run_keep(run, "memory", MGVI_T_U8, &s->m, sizeof s->m));
    return mgvi_run_keep(run, "w", MGVI_T_F64, s->w.x, (int64_t)d);
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    if (run->problem->A->cols > INT32_MAX)
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "solver primal_coordinate takes at most 2^31 columns");
    s->free = run->problem->free_cols > 0;
    s->m.estimate = INFINITY;
    s->exact = (mgvi_quadratic){.ctx = run->ctx, .arena = &run->arena, .simd = run->ctx->simd};
    MGVI_TRY(allocate(run, s));
    for_columns(run, measure_column);
    for (int64_t j = 0; j < s->P.cols; j++)
        if (!isfinite(s->square[j]))
            return MGVI_FAIL(run->ctx, MGV_E_INPUT,
                             "column %" PRId64 " is too large: its squares overflow; divide it by "
                             "a power of ten",
                             j + 1);
    refresh(run, s);
    return MGV_OK;
}

static mgv_status start(mgvi_run *run, const double *w, const double *u)
{
    state *s = run->state;
    (void)u;
    for (int64_t j = 0; j < s->P.cols; j++)
        s->w.x[j] = s->square[j] > 0 ? w[j] : 0;
    refresh(run, s);
    return MGV_OK;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The gap of (w, t (R + off e)): t scales the residual into the dual's domain.
 *   P = |r|^2/2 + sum mu|w| + lambda/2 w^2,   D = t y.r - t^2/2 (|r|^2 + sum lambda w^2)       (5)
 * with lambda w as further rows of the data: what must stay below mu_j is h_j = g_j - lambda_j w_j.
 */
static double relative_gap(const mgvi_run *run, const state *s)
{
    const mgv_problem *p = run->problem;
    double rr = 0, yr = 0, penalty = 0, ridge = 0, limit = INFINITY;
    for (int64_t i = 0; i < s->P.rows; i++) {
        const double r = s->R[i] + s->off * s->e[i];
        rr += r * r;
        yr += s->target[i] * r;
    }
    for (int64_t j = 0; j < s->P.cols; j++) {
        const mgvi_coef c = mgvi_coefs_at(&p->col, j, 0);
        const double w = s->w.x[j], h = fabs(s->grad[j] - c.a * w);
        penalty += c.scale * fabs(w);
        ridge += c.a * w * w;
        if (h > c.scale)
            limit = fmin(limit, c.scale / h);
    }
    const double extended = rr + ridge;
    const double best = extended > 0 ? yr / extended : 0;
    const double t = fmax(-limit, fmin(limit, best));
    const double primal = 0.5 * extended + penalty;
    const double dual = t * yr - 0.5 * t * t * extended;
    return (primal - dual) / fmax(primal, 1e-300);
}

/* The nonzero columns and the worst violators, no more than double the former. */
static int64_t choose_set(const mgvi_run *run, state *s)
{
    int64_t joining = 0;
    s->set_count = 0;
    for (int64_t j = 0; j < s->P.cols; j++) {
        const double excess = fabs(s->grad[j]) - mgvi_coef_pick(&run->problem->col.scale, j, 0);
        if (s->w.x[j] != 0)
            s->set[s->set_count++] = (int32_t)j;
        else if (excess > 0 && s->square[j] > 0)
            s->violators[joining++] = (mgvi_ranked){excess / sqrt(s->square[j]), (int32_t)j};
    }
    const int64_t most = 2 * s->set_count > LEAST_JOINING ? 2 * s->set_count : LEAST_JOINING;
    return mgvi_rank_join(s->violators, joining, most, s->set, &s->set_count);
}

/* (4) for every column of the set; returns the largest N_j dw^2. */
static double sweep(mgvi_run *run, state *s)
{
    double largest = 0;
    for (int64_t k = 0; k < s->set_count && !(k % 8 == 7 && mgvi_ctx_cut(run->ctx)); k++) {
        const int64_t j = s->set[k];
        const mgvi_coef c = mgvi_coefs_at(&run->problem->col, j, 0);
        const double w = s->w.x[j], N = s->square[j];
        const double v = N * w + gradient(run, s, j);
        const double next = copysign(fmax(0, fabs(v) - c.scale), v) / (N + c.a), move = next - w;
        run->touched += (double)mgvi_packed_nnz(&s->P, j);
        if (move == 0)
            continue;
        column_axpy(run, s, j, -move, s->R);
        s->off += s->mean[j] * move;
        s->T -= (s->sum[j] - s->mean[j] * s->W) * move;
        s->w.x[j] = next;
        run->touched += (double)mgvi_packed_nnz(&s->P, j);
        largest = fmax(largest, N * move * move);
    }
    return largest;
}

static void drop_zeros(state *s)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < s->set_count; k++)
        if (s->w.x[s->set[k]] != 0)
            s->set[kept++] = s->set[k];
    s->set_count = kept;
}

/* (1) over the set, which holds every nonzero column. */
static double objective(const mgvi_run *run, const state *s)
{
    double value = 0;
    for (int64_t i = 0; i < s->P.rows; i++) {
        const double r = s->R[i] + s->off * s->e[i];
        value += 0.5 * r * r;
    }
    for (int64_t k = 0; k < s->set_count; k++) {
        const mgvi_coef c = mgvi_coefs_at(&run->problem->col, s->set[k], 0);
        const double w = s->w.x[s->set[k]];
        value += c.scale * fabs(w) + 0.5 * c.a * w * w;
    }
    return value;
}

/* Exchanges the set's weights with `trial`. */
static void exchange(mgvi_run *run, state *s)
{
    for (int64_t k = 0; k < s->set_count; k++) {
        const double w = s->w.x[s->set[k]];
        s->w.x[s->set[k]] = s->trial[k];
        s->trial[k] = w;
    }
    refresh(run, s);
}

/* After a sweep: now and then the point that the sweeps are heading for, if it is better. */
static void extrapolate(mgvi_run *run, state *s)
{
    double *slot = mgvi_anderson_slot(&s->anderson);
    for (int64_t k = 0; k < s->set_count; k++)
        slot[k] = s->w.x[s->set[k]];
    if (!mgvi_anderson_push(&s->anderson, s->trial))
        return;
    const double before = objective(run, s);
    exchange(run, s);
    if (!(objective(run, s) < before))
        exchange(run, s);
}

/* Sweeps until the largest move has fallen: true. Where the set is not large they end when they
 * have cost as much as its Gram matrix does: a sweep reads a column twice, the matrix m/2 times. */
static bool sweep_set(mgvi_run *run, state *s, double first)
{
    enum { SOME = 10 };
    const int64_t even = SOME + s->set_count / 4;
    const bool small = s->set_count <= MGVI_SET_MOST && !s->m.blunt;
    const int64_t most = small && even < MOST_SWEEPS ? even : MOST_SWEEPS;
    double move = first;
    mgvi_anderson_reset(&s->anderson, s->set_count);
    for (int64_t k = 1;
         k < most && move > INNER_GAIN * INNER_GAIN * first && !mgvi_ctx_was_cut(run->ctx); k++) {
        move = sweep(run, s);
        extrapolate(run, s);
    }
    return move <= INNER_GAIN * INNER_GAIN * first;
}

/* The minimum of (1) over the set: the signs are found there, and the weights to rounding. */
static mgv_status solve_set(mgvi_run *run, state *s)
{
    const mgvi_packed_set set = {.packed = &s->P,
                                 .col = s->set,
                                 .count = s->set_count,
                                 .e = s->e,
                                 .mean = s->mean,
                                 .square = s->square,
                                 .work = s->u.x,
                                 .made = s->exact_set,
                                 .made_count = &s->exact_count};
    for (int64_t k = 0; k < s->set_count; k++)
        s->grad[s->set[k]] = gradient(run, s, s->set[k]);
    MGVI_TRY(mgvi_set_solve(&s->exact, &set, &run->problem->col, s->grad, s->w.x));
    run->work += s->exact.work;
    s->exact.work = 0;
    return MGV_OK;
}

/* Sweeps of a working set, then a look at every column. A set that is not large is solved exactly
 * where sweeps do not end, and where the tolerance is met and the zeros are wanted. */
static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    if (!s->fresh)
        for_columns(run, gradient_column);
    const int64_t joining = choose_set(run, s);
    const double first = sweep(run, s);
    drop_zeros(s);
    const bool small = s->set_count > 0 && s->set_count <= MGVI_SET_MOST && !s->m.blunt;
    const bool zeros = run->goal < run->settings->tol;
    const bool exact = small && (zeros || !sweep_set(run, s, first));
    if (exact)
        MGVI_TRY(solve_set(run, s));
    else if (!small)
        sweep_set(run, s, first);
    refresh(run, s);
    for_columns(run, gradient_column);
    s->fresh = true;
    const double gap = relative_gap(run, s);
    s->m.blunt = exact && !(gap < HALF * s->m.estimate);
    s->m.estimate = gap;
    run->finished = joining == 0 && first <= ROUNDING * s->energy;
    return isfinite(gap)
               ? MGV_OK
               : MGVI_FAIL(run->ctx, MGV_E_NUMERIC, "coordinate descent left the finite numbers");
}

/* u = s (z - y), orthogonal to the intercept column. */
static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    for (int64_t i = 0; i < s->P.rows; i++)
        s->u.x[i] = -s->e[i] * (s->R[i] + s->off * s->e[i]);
    if (s->free) {
        double b = -s->off;
        for (int64_t j = 0; p->view.centre && j < s->P.cols; j++)
            b += mgvi_view_shift(&p->view, j) * s->w.x[j];
        s->w.x[s->P.cols] = b;
    }
    return (mgvi_iterate){.w = &s->w, .u = &s->u};
}

static double estimate(const mgvi_run *run)
{
    const state *s = run->state;
    return run->iteration > 0 ? s->m.estimate : NAN;
}

static mgv_status restored(mgvi_run *run)
{
    state *s = run->state;
    MGVI_TRY(mgvi_run_check_kept(run, &s->w));
    refresh(run, s);
    return MGV_OK;
}

/* Some tens of sweeps of the working set and a few looks at all columns. Where there is no room for
 * its copy of the data it is not taken unasked: proximal_newton does without one. */
/* Sweeps to the gap at which zeros are sure: its answers are finished exactly (sparsify.c), also
 * where less is asked for. */
static double cost(const mgv_problem *problem, const mgv_settings *settings)
{
    static const double SHARP = 1e-12;
    static const double HELD = 9;     /* numbers a row, the driver's included */
    static const double ENTRY = 12;   /* of the packed columns */
    static const double CROWDED = 15; /* times the sweeps */
    if (mgvi_packed_bytes(problem->A->stored, MGV_F64) > mgvi_problem_spare(problem, HELD))
        return INFINITY;
    const double entry = mgvi_columns_crowd(problem) ? CROWDED * ENTRY : ENTRY;
    return entry * (double)problem->A->nnz *
           (20 - 10 * log10(fmax(fmin(settings->tol, SHARP), 1e-16)));
}

/* Where columns crowd: sweeps of a few of them, which end soon if few are wanted. */
static double trial(const mgv_problem *problem, const mgv_settings *settings)
{
    static const double ENTRY = 12, PASSES = 20;
    return mgvi_columns_crowd(problem) && isfinite(cost(problem, settings))
               ? ENTRY * PASSES * (double)problem->A->nnz
               : INFINITY;
}

/* An exact step. */
static double finish(const mgv_problem *p, const mgv_settings *settings)
{
    static const double ENTRY = 40, PAIR = 8; /* an entry read, alone and with a column */
    const double nnz = (double)p->A->nnz, cols = (double)p->A->cols;
    const double most = fmin(fmin((double)p->A->rows, cols), MGVI_SET_MOST);
    (void)settings;
    return 3 * ENTRY * nnz + PAIR * nnz / cols * most * most / 2 + most * most * most / 6;
}

const mgvi_solver_ops mgvi_solver_primal_coordinate = {
    .name = "primal_coordinate",
    .summary = "coordinate descent on a working set of columns: squared loss, l1 and elastic net",
    .needs = {.penalty = MGVI_ABS, .loss = MGVI_STRONG | MGVI_QUADRATIC_DUAL, .op = MGVI_ROW},
    .cost = cost,
    .trial = trial,
    .trial_pays = 0.03,
    .finish = finish,
    .sweeps = true,
    .state_size = sizeof(state),
    .init = init,
    .start = start,
    .step = step,
    .expose = expose,
    .estimate = estimate,
    .restored = restored,
};
