/* class_newton.c - the loss crammer_singer with penalty l2: multipliers and Newton's method;
 * docs/algorithms/class_newton.md.
 *
 *   F(W, b) = lambda/2 |W|^2 + rho/2 |b - b^0|^2
 *             + sum_i s_i [max over p in the simplex of p.t_i - alpha/2 |p - p^0_i|^2 - t_ic] (1)
 *
 * with t_i = z_i + 1 - e_c. Newton steps with an exact line search until F is minimised well enough
 * for this centre (7); then p^0 <- p, b^0 <- b, and alpha falls. A step is one Newton step. Tables
 * with many unknowns go by entropy (9). */
#include "solver/joint/class_entropy.h"
#include "solver/joint/class_smooth.h"
#include "solver/joint/class_system.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

static const double ALPHA_FACTOR = 0.5, ALPHA_LEAST = 0.01;
/* Where a round takes a step or two its classes are those of the solution. */
static const double SETTLED_FACTOR = 0.1, SETTLED_LEAST = 1e-9;
static const double WARM_ALPHA = 0.1; /* where a neighbour's solution begins */
static const double MOST_RHO = 0.01;
static const double KAPPA = 1;      /* of (7) */
static const double LITTLE = 0.03;  /* part of the gap aimed at that (7) leaves to the weights */
static const double SEARCHED = 0.1; /* part of its slope that a line search leaves */
enum { MOST_STEPS = 60, SETTLED_STEPS = 2, MOST_IDLE = 15, LOST = 5, TRIALS = 40 };

typedef struct state {
    mgvi_class_smooth rows;
    mgvi_class_system system;
    mgvi_vec w, g, dir;
    double *b0; /* per class */
    double rho;
    bool by_entropy; /* by (9), and nothing of the rest */
    mgvi_class_entropy entropy;
    struct memory {
        double alpha, gap, best;
        double shown;    /* the gap at which the judge was asked last */
        double products; /* of conjugate gradients, expected */
        int32_t asked;   /* nothing has moved since gap was measured */
        int32_t fresh;   /* p is of the last round: its classes are kept for a step */
        int32_t begun, steps, idle;
    } m;
} state;

static mgv_status fits(mgv_ctx *ctx, const mgv_problem *p)
{
    if (p->A->rows > INT32_MAX || !mgvi_class_system_reads(p->A))
        return MGVI_FAIL(
            ctx, MGV_E_UNSUPPORTED,
            "solver class_newton takes at most 2^31 rows of a stored matrix; there are "
            "%" PRId64 " of the operator %s",
            p->A->rows, p->A->ops->name);
    return MGV_OK;
}

/* rho = lambda/mean |x_i|^2: b counts as much as what the weights make of a row; and no more than
 * a part of all weight, or b would crawl where the weights have next to no say. */
static double proximity(const state *s, const mgv_problem *p)
{
    double sum = 0, weight = 0;
    for (int64_t i = 0; i < p->A->rows; i++) {
        const double share = mgvi_coef_pick(&p->row.scale, i, 0);
        sum += share > 0 ? share * mgvi_rows_square_norm(s->system.few.rows, i) : 0;
        weight += share;
    }
    return fmin(p->lambda * weight / sum, MOST_RHO * weight);
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    const int64_t n = p->A->rows, k = p->lanes, d = p->A->cols;
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->w, &s->g, &s->dir));
    MGVI_TRY(mgvi_run_keep(run, "w", MGVI_T_F64, s->w.x, d * k));
    s->m.alpha = s->m.products = 1;
    MGVI_TRY(mgvi_run_keep(run, "memory", MGVI_T_U8, &s->m, sizeof s->m));
    if ((s->by_entropy = mgvi_class_entropy_fits(p)))
        return mgvi_class_entropy_new(run, &s->entropy);
    MGVI_TRY(mgvi_class_smooth_new(run, &s->rows));
    MGVI_TRY(mgvi_class_system_new(run, &s->rows, &s->system));
    if (!(s->b0 = mgvi_run_array(run, (size_t)k, sizeof *s->b0)))
        return MGV_E_MEMORY;
    s->system.few.rho = s->rho = proximity(s, p);
    s->m.gap = s->m.best = s->m.shown = INFINITY;
    s->m.products = 30;
    MGVI_TRY(mgvi_run_keep(run, "b0", MGVI_T_F64, s->b0, k));
    MGVI_TRY(mgvi_run_keep(run, "z", MGVI_T_F64, s->rows.z, n * k));
    MGVI_TRY(mgvi_run_keep(run, "p", MGVI_T_F64, s->rows.p, n * k));
    return mgvi_run_keep(run, "centre", MGVI_T_F64, s->rows.centre, n * k);
}

static mgv_status start(mgvi_run *run, const double *w, const double *u)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    const int32_t k = p->lanes;
    if (s->by_entropy) /* tau begins at 1, far from any answer */
        return MGV_OK;
    memcpy(s->w.x, w, (size_t)(s->w.n * k) * sizeof *w);
    if (p->free_cols)
        memcpy(s->b0, w + mgvi_problem_penalised(p) * k, (size_t)k * sizeof *w);
    if (!u)
        return MGV_OK;
    for (int64_t i = 0; i < p->A->rows; i++) {
        const double weight = mgvi_coef_pick(&p->row.scale, i, 0);
        const int32_t own = (int32_t)mgvi_coef_pick(&p->row.a, i, 0);
        for (int32_t j = 0; j < k && weight > 0; j++)
            s->rows.centre[i * k + j] = fmin(fmax(u[i * k + j] / weight + (j == own), 0), 1);
    }
    s->m.alpha = WARM_ALPHA;
    return MGV_OK;
}

/* ---- a step ---------------------------------------------------------------------------------- */

static mgvi_vec scores(const state *s)
{
    return (mgvi_vec){.x = s->rows.z, .n = s->rows.n, .k = s->rows.k, .space = MGVI_ROWS};
}

/* rho (b - b^0) and lambda W join A'u in g. */
static void add_ridges(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const int64_t penalised = mgvi_problem_penalised(p) * p->lanes;
    for (int64_t t = 0; t < penalised; t++)
        s->g.x[t] += p->lambda * s->w.x[t];
    for (int64_t t = penalised; t < s->w.n * p->lanes; t++)
        s->g.x[t] += s->rho * (s->w.x[t] - s->b0[t - penalised]);
}

/* |G|^2/2 in the metric of (lambda, rho), from A'u in g: of the weights it is the part of the gap
 * that is theirs. Also the dual value's |A'u|^2/(2 lambda), and the intercepts' sums. */
typedef struct lengths {
    double gradient, weights, dual, sums;
} lengths;

static lengths measure(mgvi_run *run, const state *s)
{
    const mgv_problem *p = run->problem;
    const int64_t penalised = mgvi_problem_penalised(p) * p->lanes;
    lengths l = {0};
    for (int64_t t = 0; t < penalised; t++) {
        const double slope = s->g.x[t] + p->lambda * s->w.x[t];
        l.gradient += slope * slope / (2 * p->lambda);
        l.weights += p->lambda / 2 * s->w.x[t] * s->w.x[t];
        l.dual += s->g.x[t] * s->g.x[t] / (2 * p->lambda);
    }
    for (int64_t t = penalised; t < s->w.n * p->lanes; t++) {
        const double slope = s->g.x[t] + s->rho * (s->w.x[t] - s->b0[t - penalised]);
        l.gradient += slope * slope / (2 * s->rho);
        l.sums += fabs(s->g.x[t]);
    }
    return l;
}

/* <g, dir> without the rows' part at 0, and its growth with the step. */
static double own_slope(mgvi_run *run, const state *s, double *growth)
{
    const mgv_problem *p = run->problem;
    const int64_t penalised = mgvi_problem_penalised(p) * p->lanes;
    double slope = 0;
    *growth = 0;
    for (int64_t t = 0; t < s->w.n * p->lanes; t++) {
        const double h = t < penalised ? p->lambda : s->rho;
        const double from = t < penalised ? 0 : s->b0[t - penalised];
        slope += h * (s->w.x[t] - from) * s->dir.x[t];
        *growth += h * s->dir.x[t] * s->dir.x[t];
    }
    return slope;
}

/* The root of the slope along dir, by the Illinois rule within a bracket that doubles while there
 * is none, as near as SEARCHED; 0: nothing descends. */
static double search(mgvi_run *run, state *s, const mgvi_vec *dz)
{
    double growth, low = 0, high = INFINITY, step = 1, f_high = 0;
    const double own = own_slope(run, s, &growth);
    mgvi_class_smooth_along(&s->rows, dz);
    const double start = own + mgvi_class_smooth_slope(&s->rows, dz, 0);
    double f_low = start;
    if (!(start < 0))
        return 0;
    for (int trial = 0; trial < TRIALS && !mgvi_ctx_cut(run->ctx); trial++) {
        const double f = own + growth * step + mgvi_class_smooth_slope(&s->rows, dz, step);
        if (fabs(f) <= -SEARCHED * start)
            return step;
        if (f < 0) {
            f_high = high < INFINITY && low > 0 ? f_high / 2 : f_high;
            low = step;
            f_low = f;
        } else {
            f_low = high < INFINITY ? f_low / 2 : f_low;
            high = step;
            f_high = f;
        }
        step = high < INFINITY ? low + (high - low) * f_low / (f_low - f_high) : 2 * step;
    }
    return low;
}

static mgv_status move(mgvi_run *run, state *s, bool *moved)
{
    MGVI_TRY(mgvi_class_system_solve(&s->system, &s->g, &s->m.products, &s->dir));
    mgvi_vec *dz = &run->lent[0], z = scores(s);
    mgvi_op_mul(run->problem->A, 1, &s->dir, 0, dz);
    const double step = search(run, s, dz);
    *moved = step > 0;
    mgvi_vec_axpby(run->ctx, step, &s->dir, 1, &s->w);
    mgvi_vec_axpby(run->ctx, step, dz, 1, &z);
    return MGV_OK;
}

/* The next centre. Rounds that gain nothing end the run. */
static void next_round(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const int64_t penalised = mgvi_problem_penalised(p) * p->lanes;
    mgvi_vec z = scores(s);
    memcpy(s->rows.centre, s->rows.p, (size_t)(s->rows.n * s->rows.k) * sizeof *s->rows.p);
    if (p->free_cols)
        memcpy(s->b0, s->w.x + penalised, (size_t)p->lanes * sizeof *s->b0);
    mgvi_op_mul(p->A, 1, &s->w, 0, &z); /* what the steps have added up, without their rounding */
    const double before = s->m.alpha;
    if (s->m.steps <= SETTLED_STEPS)
        s->m.alpha = fmax(SETTLED_FACTOR * before, SETTLED_LEAST);
    else
        s->m.alpha = fmin(fmax(ALPHA_FACTOR * before, ALPHA_LEAST), before);
    s->m.products *= sqrt(before / s->m.alpha);
    s->m.fresh = true;
    if (s->m.gap < 0.9 * s->m.best)
        s->m.idle = 0;
    else
        s->m.idle += s->m.steps > MOST_STEPS ? LOST : 1; /* or rounds that do not end either */
    s->m.steps = 0;
    s->m.best = fmin(s->m.best, s->m.gap);
    run->finished = s->m.idle >= MOST_IDLE;
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    mgvi_vec *u = &run->lent[1], z = scores(s);
    bool moved;
    if (s->by_entropy)
        return mgvi_class_entropy_step(run, &s->entropy, &s->w, &s->dir, &s->g);
    s->rows.alpha = s->m.alpha;
    if (!s->m.begun) {
        mgvi_op_mul(run->problem->A, 1, &s->w, 0, &z);
        s->m.begun = true;
    }
    if (s->m.fresh) {
        mgvi_class_smooth_affine(&s->rows, u);
        mgvi_op_mul_t(run->problem->A, 1, u, 0, &s->g);
        add_ridges(run, s);
        s->m.fresh = false;
        return move(run, s, &moved);
    }
    const mgvi_class_sums sums = mgvi_class_smooth_slopes(&s->rows, u);
    mgvi_op_mul_t(run->problem->A, 1, u, 0, &s->g);
    const lengths l = measure(run, s);
    const double primal = l.weights + sums.loss, dual = sums.linear - l.dual;
    s->m.gap = (fabs(primal - dual) + l.sums) / fmax(fabs(primal), 1e-300);
    s->m.asked = s->m.gap <= fmin(run->goal, 0.5 * s->m.shown);
    if (s->m.asked) {
        s->m.shown = s->m.gap;
        return MGV_OK;
    }
    const double enough = KAPPA * s->m.alpha / 2 * sums.moved; /* (7) */
    if (l.gradient <= fmax(enough, LITTLE * run->goal * primal) || ++s->m.steps > MOST_STEPS) {
        next_round(run, s);
        return MGV_OK;
    }
    add_ridges(run, s);
    MGVI_TRY(move(run, s, &moved));
    if (!moved) /* of rounding */
        next_round(run, s);
    return MGV_OK;
}

/* At the end of a round p is that of the centre; else it is brought to where the weights are. */
static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    mgvi_vec *u = &run->lent[1];
    if (s->by_entropy) {
        memcpy(u->x, s->entropy.dual.v, (size_t)(u->n * u->k) * sizeof *u->x);
        return (mgvi_iterate){.w = &s->w, .u = u};
    }
    s->rows.alpha = s->m.alpha;
    if (s->m.fresh || !s->m.begun)
        mgvi_class_smooth_show(&s->rows, u);
    else
        mgvi_class_smooth_slopes(&s->rows, u);
    if (run->problem->free_cols) /* without memory the judge does it, less well */
        (void)mgvi_class_smooth_balance(&s->rows, u);
    return (mgvi_iterate){.w = &s->w, .u = u};
}

static double estimate(const mgvi_run *run)
{
    const state *s = run->state;
    if (s->by_entropy)
        return s->entropy.m.gap;
    return s->m.fresh || s->m.asked ? s->m.gap : INFINITY;
}

static mgv_status restored(mgvi_run *run)
{
    const state *s = run->state;
    if (!(s->m.alpha >= SETTLED_LEAST && s->m.alpha <= 1) || !(s->m.products > 0) ||
        s->m.steps < 0 || s->m.idle < 0)
        return MGVI_FAIL(run->ctx, MGV_E_INPUT, "the state of class_newton is not valid");
    return MGV_OK;
}

/* Multiplications of (5) where its matrix is never too large, half of the classes of a row being
 * near; else infinite. */
static double pairs_cost(const mgv_problem *p)
{
    const double n = (double)p->A->rows, most = n * (p->lanes - 1), m = most / 2;
    return most <= MGVI_CLASS_SYSTEM_PAIRS ? n * (double)p->A->nnz + m * m * m / 3 : INFINITY;
}

/* The rule of docs/algorithms/class_newton.md: some 50 steps of a system each, and the passes that
 * its preconditioner leaves to conjugate gradients. */
static double cost(const mgv_problem *p, const mgv_settings *settings)
{
    enum { MOST_UNKNOWNS = 1 << 20 };
    enum { STEPS = 50, WHOLE = 150, APART = 400, DIAGONAL = 1000 };
    static const double BLOCKED = 1.0 / 8; /* of a multiplication: those of a matrix product */
    static const double ENTRY = 40,
                        VECTORS = 80; /* of a pass: an entry; a row's or column's class */
    const double nnz = (double)p->A->nnz, rows = 4 * nnz * p->lanes; /* products of a sweep */
    const double pass = ENTRY * nnz + VECTORS * p->lanes * (double)(p->A->rows + p->A->cols);
    const double whole = mgvi_class_hessian_cost(p), apart = mgvi_class_hessian_blocks_cost(p);
    (void)settings;
    if (mgvi_class_entropy_fits(p))
        return mgvi_class_entropy_cost(p);
    if (p->A->cols * p->lanes > MOST_UNKNOWNS) /* the vectors alone would be a burden */
        return INFINITY;
    if (isfinite(whole))
        return WHOLE * pass + STEPS * BLOCKED * whole * rows;
    const double blocks = APART * pass + STEPS * BLOCKED * apart * rows;
    return fmin(fmin(blocks, DIAGONAL * pass), WHOLE * pass + STEPS * BLOCKED * pairs_cost(p));
}

const mgvi_solver_ops mgvi_solver_class_newton = {
    .name = "class_newton",
    .summary = "loss crammer_singer: multipliers, Newton steps on a smoothed maximum",
    .needs = {.penalty = MGVI_SQUARE, .loss = MGVI_JOINT, .op = MGVI_ROW},
    .no = {.penalty = MGVI_ABS, .loss = MGVI_SMOOTH},
    .fits = fits,
    .cost = cost,
    .uniform = true,
    .state_size = sizeof(state),
    .init = init,
    .start = start,
    .step = step,
    .expose = expose,
    .estimate = estimate,
    .restored = restored,
};
