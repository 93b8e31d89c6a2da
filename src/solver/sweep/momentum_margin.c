/* momentum_margin.c - margin maximisation by momentum; docs/algorithms/momentum_margin.md.
 * Rows are divided by R = max_i |a_i| (sweep/margin_rows.h). With z = A w and the weights q of the
 * exponential or the logistic loss (backend/surrogate.h), at t = 0, 1, 2, ...
 *   V   = A'q                                                                                (1)
 *   g   <- beta (g + V),   b <- beta (b + q),   so that g = A'b                              (3)
 *   w   <- w + theta (g + V)                                                                 (4)
 * with beta = t/(t+1) unless the settings say otherwise (9), and at every t
 *   min_i z_i / |w|  <=  margin  <=  |g| / sum b.                                            (5)
 * theta = 1 always works; theta > 1 does while
 *   |A'(q_new - q)|^2 <= (2/theta) KL(q_new || q),                                           (6)
 * so it starts large and is halved, and the step redone, where that fails. The sampling variant
 * puts a single row i ~ q in the place of A'q, with theta = 1.                               (7)
 * A given beta makes g forget: then the dual point is that of w itself, w = A'(sum theta (b + q)). */
#include "backend/surrogate.h"
#include "certify/rates.h"
#include "solver/sweep/margin_rows.h"
#include "solver/sweep/theta.h"

#include <math.h>

static const double FIRST_THETA = 1024;

typedef struct memory {
    double theta;            /* of the last step */
    double largest;          /* that (6) has let pass */
    mgvi_surrogate_point at; /* of w and q */
    mgvi_theta first;        /* what the settings say of theta */
    double lambda;           /* lambda_t of (9) */
} memory;

typedef struct state {
    mgvi_margin_rows rows;
    mgvi_surrogate kind;
    mgvi_vec w, g, v;      /* (4), (3), (1) */
    mgvi_vec q, b;         /* (2), (3) */
    mgvi_vec w_try, v_try; /* a step under test */
    mgvi_vec q_try, z;     /* the same; z = A w_try */
    mgvi_vec delta;        /* work space */
    mgvi_vec own;          /* a given beta: the combination of rows that w is */
    double *acc;           /* work space of a sampled row */
    memory m;
} state;

/* Whether beta is given: then b forgets. */
static bool forgets(const mgvi_run *run) { return !isnan(run->settings->momentum_margin_beta); }

static mgv_status allocate(mgvi_run *run, state *s)
{
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->w, &s->g, &s->v, &s->w_try, &s->v_try, &s->delta));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_ROWS, &s->q, &s->b, &s->q_try, &s->z));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->acc, (size_t)mgvi_rows_acc_len(s->rows.rows)));
    MGVI_TRY(MGVI_RUN_KEEP_VECS(run, {"w", &s->w}, {"g", &s->g}, {"v", &s->v}, {"q", &s->q},
                                {"b", &s->b}));
    if (forgets(run)) {
        MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->own));
        MGVI_TRY(mgvi_run_keep_vec(run, "own", &s->own));
    }
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->m, sizeof s->m);
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const bool own = forgets(run);
    const mgvi_margin_pair pair = {
        .w = &s->w, .least = &s->m.at.least, .b = own ? &s->own : &s->b, .v = own ? &s->w : &s->g};
    MGVI_TRY(mgvi_margin_rows_new(run, pair, &s->rows));
    MGVI_TRY(allocate(run, s));
    if (!run->settings->sampling)
        mgvi_run_expect_products(run);
    s->kind = run->settings->surrogate;
    s->m.largest = FIRST_THETA;
    s->m.lambda = 1;
    MGVI_TRY(mgvi_theta_read(run, s->rows.live.count, &s->m.first));
    if (run->settings->momentum_margin_rho == MGVI_RHO_ROWS)
        s->m.first.first /= (double)s->rows.live.count;
    mgvi_margin_rows_start(&s->rows, &s->z);
    mgvi_margin_rows_balance(&s->rows, &s->z);
    s->m.at = mgvi_surrogate_weights(run->ctx, s->kind, &s->z, &s->q);
    return MGV_OK;
}

/* A row with probability in proportion to q. */
static int64_t draw(mgvi_run *run, const mgvi_margin_rows *rows, const mgvi_vec *q)
{
    double sum;
    mgvi_vec_sum(run->ctx, q, &sum);
    const int64_t i = mgvi_vec_draw(q, mgvi_rng_uniform(&run->rng) * sum);
    return i < 0 ? rows->live.row[0] : i;
}

/* (7): q becomes a single row, v that row. */
static void sample(mgvi_run *run, state *s, mgvi_vec *q, mgvi_vec *v)
{
    const int64_t i = draw(run, &s->rows, q);
    mgvi_vec_fill(run->ctx, q, 0);
    mgvi_vec_set(q, i, 1);
    for (int64_t j = 0; j < mgvi_rows_acc_len(s->rows.rows); j++)
        s->acc[j] = 0;
    mgvi_margin_rows_add(&s->rows, i, 1, s->acc);
    mgvi_margin_rows_weights(&s->rows, s->acc, v);
}

/* (1), or its sample. */
static void combine(mgvi_run *run, state *s, mgvi_vec *q, mgvi_vec *v)
{
    if (run->settings->sampling)
        sample(run, s, q, v);
    else
        mgvi_margin_rows_mul_t(&s->rows, q, v);
}

/* (6). Differences at rounding level say nothing, and would halve theta for ever. */
static bool step_holds(mgvi_run *run, state *s)
{
    double moved, size;
    mgvi_vec_copy(run->ctx, &s->v_try, &s->delta);
    mgvi_vec_axpby(run->ctx, -1, &s->v, 1, &s->delta);
    moved = mgvi_op_length(run->problem->A, &s->delta);
    size = mgvi_op_length(run->problem->A, &s->v);
    if (moved <= 1e-10 * size)
        return true;
    const double divergence = mgvi_surrogate_divergence(run->ctx, &s->q, &s->q_try);
    return moved * moved <= 2 / s->m.theta * divergence;
}

/* Large steps are for softmaxes: before its tail the logistic loss takes theta = 1. */
static bool may_be_large(const mgvi_run *run, const state *s)
{
    const mgv_settings *set = run->settings;
    return set->large_steps && !set->sampling && mgvi_theta_is_free(set) && !forgets(run) &&
           set->momentum_margin_rho == MGVI_RHO_ONE && s->m.at.normalised != 0;
}

/* beta at t >= 1, and lambda from that of t - 1: beta_t = lambda_(t-1) (1 - lambda_t)/lambda_t with
 * lambda_t = 2/(t+2), or the root of 1/lambda_t^2 - 1/lambda_t = 1/lambda_(t-1)^2.           (9) */
static double next_beta(const mgvi_run *run, memory *m)
{
    const double t = (double)run->iteration + 1, before = m->lambda;
    if (forgets(run))
        return run->settings->momentum_margin_beta;
    if (run->settings->momentum_margin_lambda == MGVI_DUAL_LAMBDA_HARMONIC)
        return t / (t + 1);
    m->lambda = 2 / (1 + sqrt(1 + 4 / (before * before)));
    return before * (1 - m->lambda) / m->lambda;
}

/* (4), with the weights of the new point. */
static mgvi_surrogate_point try_step(mgvi_run *run, state *s)
{
    mgvi_vec_copy(run->ctx, &s->w, &s->w_try);
    mgvi_vec_axpby(run->ctx, s->m.theta, &s->g, 1, &s->w_try);
    mgvi_vec_axpby(run->ctx, s->m.theta, &s->v, 1, &s->w_try);
    mgvi_margin_rows_mul(&s->rows, &s->w_try, &s->z);
    mgvi_margin_rows_balance(&s->rows, &s->z);
    const mgvi_surrogate_point to = mgvi_surrogate_weights(run->ctx, s->kind, &s->z, &s->q_try);
    combine(run, s, &s->q_try, &s->v_try);
    return to;
}

/* g_0 = beta_0 V_0: 0 by (9), but not where beta is given. */
static void begin(mgvi_run *run, state *s)
{
    const double beta = forgets(run) ? run->settings->momentum_margin_beta : 0;
    combine(run, s, &s->q, &s->v);
    if (beta == 0)
        return;
    mgvi_vec_axpby(run->ctx, beta, &s->v, 0, &s->g);
    mgvi_vec_axpby(run->ctx, beta, &s->q, 0, &s->b);
}

/* From (w_t, q_t, g_t) to the next. The products by A' stand at the end, so that w, b and g are of
 * the same t whenever somebody looks. */
static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    mgv_ctx *ctx = run->ctx;
    if (run->iteration == 0)
        begin(run, s);
    const bool large = may_be_large(run, s);
    s->m.theta = large ? s->m.largest : mgvi_theta_at(&s->m.first, run->iteration);
    mgvi_surrogate_point to = try_step(run, s);
    while (large && s->m.theta > 1 && !step_holds(run, s)) {
        s->m.largest = s->m.theta /= 2;
        to = try_step(run, s);
    }
    s->m.at = to;
    if (forgets(run)) {
        mgvi_vec_axpby(ctx, s->m.theta, &s->b, 1, &s->own);
        mgvi_vec_axpby(ctx, s->m.theta, &s->q, 1, &s->own);
    }
    mgvi_vec_copy(ctx, &s->w_try, &s->w);
    mgvi_vec_copy(ctx, &s->q_try, &s->q);
    mgvi_vec_copy(ctx, &s->v_try, &s->v);
    const double beta = next_beta(run, &s->m);
    mgvi_vec_axpby(ctx, beta, &s->v, beta, &s->g); /* (3) */
    mgvi_vec_axpby(ctx, beta, &s->q, beta, &s->b);
    return MGV_OK;
}

/* ---- what is proven -------------------------------------------------------------------------- */

/* Theorem 3.1 is of theta = 1 and beta = t/(t + 1), with the exponential loss and no intercept. */
static bool is_theorems(const mgvi_run *run)
{
    const mgv_settings *set = run->settings;
    return !set->large_steps && !set->sampling && mgvi_theta_is_free(set) && !forgets(run) &&
           set->momentum_margin_rho == MGVI_RHO_ONE &&
           set->momentum_margin_lambda == MGVI_DUAL_LAMBDA_HARMONIC &&
           set->surrogate == MGVI_SURROGATE_EXPONENTIAL && !run->problem->free_cols;
}

/* In the problem's units. Where classes are many the margin is that of the contrasts. */
static int theorems(const mgvi_run *run, const mgvi_optimum *known, mgv_bound *out)
{
    const state *s = run->state;
    const double t = (double)run->iteration, n = (double)s->rows.live.count, R = s->rows.radius;
    if (!is_theorems(run))
        return 0;
    const mgvi_interval square = mgvi_momentum_square(mgvi_op_length(run->problem->A, &s->g), n, t);
    const double gamma = fmax(known->certificate->margin, 0) / R;
    const double now = s->m.at.least / mgvi_op_length(run->problem->A, &s->w);
    out[0] = (mgv_bound){.item = "Ji, Srebro, Telgarsky: theorem 3.1, part 2",
                         .quantity = "largest margin, 0 where there is none",
                         .low = R * sqrt(square.low),
                         .high = R * sqrt(square.high),
                         .found = NAN};
    out[1] = (mgv_bound){.item = "Ji, Srebro, Telgarsky: theorem 3.1, part 1",
                         .quantity = "margin of the iterate",
                         .low = R * mgvi_momentum_least(gamma, n, t),
                         .high = NAN,
                         .found = R * now};
    return gamma > 0 ? 2 : 1;
}

static mgv_status fits(mgv_ctx *ctx, const mgv_problem *p)
{
    if (p->free_cols && p->settings.surrogate == MGVI_SURROGATE_LOGISTIC)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver momentum_margin finds intercepts for the surrogate exponential "
                         "only; --no-intercept for the logistic one");
    return MGV_OK;
}

static mgv_status restored(mgvi_run *run)
{
    const memory *m = &((const state *)run->state)->m;
    const bool sound = m->largest >= 1 && m->largest <= FIRST_THETA && m->lambda > 0 &&
                       m->lambda <= 1 && mgvi_theta_sound(&m->first);
    return sound ? MGV_OK
                 : MGVI_FAIL(run->ctx, MGV_E_INPUT, "the checkpoint's step size is %g or %g",
                             m->largest, m->first.first);
}

const mgvi_solver_ops mgvi_solver_momentum_margin = {
    .name = "momentum_margin",
    .summary = "hard margin by momentum on the exponential or logistic loss, error 1/t^2",
    .needs = {.penalty = MGVI_SQUARE,
              .loss = MGVI_HARD | MGVI_MARGIN,
              .op = MGVI_MUL | MGVI_MUL_T | MGVI_ROW},
    .no = {.penalty = MGVI_ABS},
    .kernels = true,
    .contrasts = true,
    .fits = fits,
    .settings = "surrogate large_steps sampling theta theta_schedule momentum_margin_beta "
                "momentum_margin_lambda momentum_margin_rho",
    .anywhere = true,
    .state_size = sizeof(state),
    .init = init,
    .step = step,
    .expose = mgvi_margin_rows_expose,
    .estimate = mgvi_margin_rows_estimate,
    .restored = restored,
    .theorems = theorems,
};
