/* dual_gradient.c - gradient steps on the dual of a strongly convex penalty, plain and accelerated:
 * docs/algorithms/primal_dual.md (12), (13). With R = 1/2 |w|^2 these are Landweber's iteration and
 * Nesterov's; with R = |w|_1 + a/2 |w|^2 linearised Bregman and its acceleration.
 *   w = argmin R(w) + a/2 |w|^2 + <A'v, w>,   u+ = prox_{s G*}(v + s A w),  s = modulus/L^2
 *   v = u+ + momentum (u+ - u)
 * A step goes from u+ to w, so that iterate k has k gradients in it; z = A w stays for the next.
 * The intercept stays at the mean of the targets: columns are centred, and u keeps the sum 0. */
#include "solver/sweep/steps.h"
#include "solver/sweep/support.h"

#include <math.h>
#include <string.h>

extern const mgvi_solver_ops mgvi_solver_landweber, mgvi_solver_nesterov_landweber,
    mgvi_solver_linearized_bregman, mgvi_solver_accelerated_dual_gradient;

/* Plain numbers, for checkpoints. */
typedef struct memory {
    double t; /* of the accelerated form */
    double residual;
} memory;

typedef struct state {
    mgvi_penalty penalty;
    mgvi_support support;
    double alpha; /* a; 0: R is strongly convex already */
    double step;  /* s */
    mgvi_vec w, p;
    mgvi_vec u, v, u_next, z, work;
    memory memory;
} state;

/* The modulus of strong convexity that R brings itself. */
static double own_modulus(const mgv_problem *p)
{
    const mgvi_coef_array *c = p->penalty->can & MGVI_ABS ? &p->col.a : &p->col.scale;
    double least = INFINITY;
    if (!(p->penalty->can & MGVI_STRONG))
        return 0;
    for (int64_t j = 0; j < mgvi_problem_penalised(p); j++)
        least = fmin(least, mgvi_coef_pick(c, j, 0));
    return least;
}

/* a = kappa L^2 / R°(A'y): the first step already moves the best column when kappa is 1. The steps'
 * sigma is sigma_factor / R°. */
static void choose_smoothing(const mgvi_run *run, state *s, const mgvi_steps *steps)
{
    const double modulus = own_modulus(run->problem), square = steps->norm * steps->norm;
    if (!(modulus > 0))
        s->alpha = run->settings->kappa * square * steps->sigma / run->settings->sigma_factor;
    if (!(modulus > 0) && !(s->alpha > 0)) /* no row to step along: any does */
        s->alpha = 1;
    const double total = modulus > 0 ? modulus : s->alpha;
    s->step = square > 0 ? total / square : 1;
}

/* w = prox_{R/a}(-p/a), or R's own mirror map. */
static void minimise(const mgvi_run *run, state *s)
{
    const mgvi_vec p = mgvi_problem_penalised_part(run->problem, &s->p);
    mgvi_vec w = mgvi_problem_penalised_part(run->problem, &s->w);
    if (s->alpha > 0) {
        mgvi_vec_add(run->ctx, -1 / s->alpha, &p, 0, &p, &w);
        mgvi_penalty_prox(&s->penalty, &w, 1 / s->alpha, &w);
    } else {
        mgvi_vec_add(run->ctx, -1, &p, 0, &p, &w);
        mgvi_penalty_mirror(&s->penalty, &w, &w);
    }
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    mgvi_steps steps;
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->w, &s->p));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_ROWS, &s->u, &s->v, &s->u_next, &s->z, &s->work));
    MGVI_TRY(mgvi_problem_penalty(p, &run->arena, &s->penalty));
    MGVI_TRY(mgvi_support_new(run, &s->support));
    mgvi_start_weights(p, &s->w);
    MGVI_TRY(mgvi_steps_new(run, &s->penalty, s->support.columns, &s->w, &steps));
    choose_smoothing(run, s, &steps);
    s->memory.t = 1;
    minimise(run, s); /* of p = 0 */
    mgvi_support_mul(&s->support, &s->w, &s->z);
    MGVI_TRY(MGVI_RUN_KEEP_VECS(run, {"z", &s->z}, {"w", &s->w}, {"u", &s->u}, {"v", &s->v}));
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->memory, sizeof s->memory);
}

/* (13) */
static double momentum(const mgvi_run *run, state *s)
{
    const double k = (double)run->iteration + 1, t = s->memory.t;
    if (run->ops == &mgvi_solver_nesterov_landweber)
        return (k - 1) / (k + 2);
    if (run->ops != &mgvi_solver_accelerated_dual_gradient)
        return 0;
    s->memory.t = (1 + sqrt(1 + 4 * t * t)) / 2;
    return (t - 1) / s->memory.t;
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    const mgvi_coef_array r = {.constant = 1 / s->step};
    mgvi_loss_dual_step(run->ctx, p->loss, &p->row, &s->v, &s->z, &r, &s->u_next);
    const double m = momentum(run, s);
    mgvi_vec_add(run->ctx, 1 + m, &s->u_next, -m, &s->u, &s->v);
    mgvi_vec_copy(run->ctx, &s->u_next, &s->u);
    mgvi_support_mul_t(&s->support, &s->v, &s->p);
    minimise(run, s);
    mgvi_support_mul(&s->support, &s->w, &s->z);
    mgvi_displacement(p, &s->z, &s->work);
    mgvi_vec_norm2(run->ctx, &s->work, &s->memory.residual);
    if (!isfinite(s->memory.residual))
        return MGVI_FAIL(run->ctx, MGV_E_NUMERIC, "the iterates of %s left the numbers",
                         run->ops->name);
    return MGV_OK;
}

static mgvi_iterate expose(mgvi_run *run)
{
    const state *s = run->state;
    return (mgvi_iterate){.w = &s->w, .u = &s->u};
}

static double residual(const mgvi_run *run) { return ((const state *)run->state)->memory.residual; }

#define DUAL_GRADIENT(NAME, NEEDS, NOT, SUMMARY)                                                   \
    const mgvi_solver_ops mgvi_solver_##NAME = {                                                   \
        .name = #NAME,                                                                             \
        .summary = SUMMARY,                                                                        \
        .needs = {.penalty = (NEEDS),                                                              \
                  .loss = MGVI_HARD | MGVI_LINEAR_DUAL,                                            \
                  .op = MGVI_MUL | MGVI_MUL_T},                                                    \
        .no = {.penalty = (NOT), .loss = MGVI_MARGIN},                                             \
        .settings = "kappa sigma_factor sigma lipschitz",                                          \
        .fits = mgvi_centred_intercept,                                                            \
        .anywhere = true,                                                                          \
        .state_size = sizeof(state),                                                               \
        .init = init,                                                                              \
        .step = step,                                                                              \
        .expose = expose,                                                                          \
        .residual = residual,                                                                      \
    };
DUAL_GRADIENT(landweber, MGVI_SQUARE | MGVI_MIRROR, MGVI_ABS,
              "gradient descent on |A w - y|^2, as a path of iterates")
DUAL_GRADIENT(nesterov_landweber, MGVI_SQUARE | MGVI_MIRROR, MGVI_ABS,
              "landweber with Nesterov's momentum")
DUAL_GRADIENT(linearized_bregman, MGVI_PROX, 0, "dual gradient steps on R + a/2 |w|^2")
DUAL_GRADIENT(accelerated_dual_gradient, MGVI_PROX, 0,
              "accelerated dual gradient steps on R + a/2 |w|^2")
