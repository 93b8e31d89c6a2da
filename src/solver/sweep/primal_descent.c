/* primal_descent.c - four full-gradient methods for the hard margin;
 * docs/algorithms/margin_baselines.md. Rows are divided by R. With z = A w all of them do, at
 * t = 1, 2, ...
 *   b <- keep b + c,   w <- keep w + A'c,   c = c(z) >= 0,   so that w = A'b                  (6)
 *   normalized_gd:          keep = 1,        c = theta_t q, q of (2) in momentum_margin.md    (7)
 *   gd:                     keep = 1,        c_i = theta_t l'(-z_i) / n                       (8)
 *   homotopic_subgradient:  keep = 1 - 1/t,  c_i = t^(-2/3) / l0 where z_i < 1                (9)
 *   hinge_subgradient:      keep = 1,        c_i = theta_t / n where z_i < 1                 (10)
 */
#include "backend/surrogate.h"
#include "solver/sweep/margin_rows.h"
#include "solver/sweep/theta.h"

#include <math.h>

extern const mgvi_solver_ops mgvi_solver_homotopic_subgradient;

typedef struct state {
    mgvi_margin_rows rows;
    mgvi_surrogate kind;
    mgvi_vec w, v;    /* v is work space */
    mgvi_vec z, c, b; /* c is work space */
    double least;     /* min z */
    double l0;        /* of (9) */
    mgvi_theta theta;
} state;

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const mgvi_margin_pair pair = {.w = &s->w, .least = &s->least, .b = &s->b, .v = &s->w};
    MGVI_TRY(mgvi_margin_rows_new(run, pair, &s->rows));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_ROWS, &s->z, &s->c, &s->b));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->w, &s->v));
    mgvi_run_expect_products(run);
    s->kind = run->settings->surrogate;
    s->l0 = isnan(run->settings->lambda0) ? 1 : run->settings->lambda0;
    if (s->l0 == 0 && run->ops == &mgvi_solver_homotopic_subgradient)
        return MGVI_FAIL(run->ctx, MGV_E_ARG,
                         "homotopic_subgradient divides by lambda0 (got 0); say --lambda0 1");
    MGVI_TRY(mgvi_theta_read(run, s->rows.live.count, &s->theta));
    mgvi_margin_rows_start(&s->rows, &s->z);
    MGVI_TRY(mgvi_run_keep(run, "theta", MGVI_T_U8, &s->theta, sizeof s->theta));
    MGVI_TRY(MGVI_RUN_KEEP_VECS(run, {"w", &s->w}, {"z", &s->z}, {"b", &s->b}));
    return mgvi_run_keep(run, "least", MGVI_T_F64, &s->least, 1);
}

/* (6), and the margins of the new w. */
static void move(mgvi_run *run, state *s, double keep)
{
    mgvi_margin_rows_mul_t(&s->rows, &s->c, &s->v);
    mgvi_vec_axpby(run->ctx, 1, &s->v, keep, &s->w);
    mgvi_vec_axpby(run->ctx, 1, &s->c, keep, &s->b);
    mgvi_margin_rows_mul(&s->rows, &s->w, &s->z);
    mgvi_vec_min(run->ctx, &s->z, &s->least);
}

/* (7) */
static mgv_status normalized_step(mgvi_run *run)
{
    state *s = run->state;
    mgvi_surrogate_weights(run->ctx, s->kind, &s->z, &s->c);
    mgvi_vec_scale(run->ctx, mgvi_theta_at(&s->theta, run->iteration), &s->c);
    move(run, s, 1);
    return MGV_OK;
}

/* (8): l'(-z_i) = l'(psi) q_i, so the plain gradient is the normalised one with a shrinking step.
 */
static mgv_status plain_step(mgvi_run *run)
{
    state *s = run->state;
    const mgvi_surrogate_point at = mgvi_surrogate_weights(run->ctx, s->kind, &s->z, &s->c);
    const double slope = mgvi_surrogate_slope(s->kind, at.psi);
    const double theta = mgvi_theta_at(&s->theta, run->iteration);
    mgvi_vec_scale(run->ctx, theta * slope / (double)s->rows.live.count, &s->c);
    move(run, s, 1);
    return MGV_OK;
}

/* (9): the sum of the hinges plus lambda_t/2 |w|^2, lambda_t = l0 t^(-1/3), step 1/(lambda_t t);
 * the first step forgets the start. */
static mgv_status homotopic_step(mgvi_run *run)
{
    state *s = run->state;
    const double t = (double)run->iteration + 1, weight = pow(t, -2.0 / 3) / s->l0;
    mgvi_vec_split(run->ctx, &s->z, 1, weight, 0, &s->c);
    move(run, s, 1 - 1 / t);
    return MGV_OK;
}

/* (10): the mean of the hinges; at the kink the subgradient 0. Where every hinge is 0 nothing can
 * change any more. */
static mgv_status hinge_step(mgvi_run *run)
{
    state *s = run->state;
    double moved;
    const double theta = mgvi_theta_at(&s->theta, run->iteration);
    mgvi_vec_split(run->ctx, &s->z, 1, theta / (double)s->rows.live.count, 0, &s->c);
    mgvi_vec_sum(run->ctx, &s->c, &moved);
    run->finished = moved == 0;
    move(run, s, 1);
    return MGV_OK;
}

static mgv_status restored(mgvi_run *run)
{
    const state *s = run->state;
    return mgvi_theta_sound(&s->theta)
               ? MGV_OK
               : MGVI_FAIL(run->ctx, MGV_E_INPUT, "the checkpoint's step size is %g",
                           s->theta.first);
}

#define DESCENT_SOLVER(id, text, settings_of, step_fn)                                             \
    const mgvi_solver_ops mgvi_solver_##id = {                                                     \
        .name = #id,                                                                               \
        .summary = text,                                                                           \
        .needs = {.penalty = MGVI_SQUARE,                                                          \
                  .loss = MGVI_HARD | MGVI_MARGIN,                                                 \
                  .op = MGVI_MUL | MGVI_MUL_T | MGVI_ROW},                                         \
        .no = {.penalty = MGVI_ABS},                                                               \
        .no_intercept = true,                                                                      \
        .kernels = true,                                                                           \
        .contrasts = true,                                                                         \
        .settings = settings_of,                                                                   \
        .anywhere = true,                                                                          \
        .state_size = sizeof(state),                                                               \
        .init = init,                                                                              \
        .step = step_fn,                                                                           \
        .expose = mgvi_margin_rows_expose,                                                         \
        .estimate = mgvi_margin_rows_estimate,                                                     \
        .restored = restored,                                                                      \
    };

DESCENT_SOLVER(normalized_gd, "a baseline: normalised gradient descent on a surrogate loss",
               "surrogate theta theta_schedule", normalized_step)
DESCENT_SOLVER(gd, "a baseline: gradient descent on a surrogate loss",
               "surrogate theta theta_schedule", plain_step)
DESCENT_SOLVER(homotopic_subgradient, "a baseline: subgradients of the hinge with lambda -> 0",
               "lambda0", homotopic_step)
DESCENT_SOLVER(hinge_subgradient, "a baseline: subgradients of the hinge, which find no margin",
               "theta theta_schedule", hinge_step)
