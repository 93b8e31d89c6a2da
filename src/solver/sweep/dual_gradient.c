/* dual_gradient.c - gradient steps on the dual of a strongly convex penalty, plain and accelerated:
 * docs/algorithms/primal_dual.md (12), (13). With R = 1/2 |w|^2 these are Landweber's iteration and
 * Nesterov's; with R = |w|_1 + a/2 |w|^2 linearised Bregman and its acceleration.
 *   w = argmin R(w) + a/2 |w|^2 + <A'v, w>,   u+ = prox_{c s G*}(v + c s A w),  s = modulus/L^2
 *   v = u+ + momentum (u+ - u)         Nesterov's and FISTA's, c = 1
 *   v = u+ + momentum (v_old - v_older)      heavy ball, nu-method
 * With a fidelity D in place of the equalities G is D/lambda_k, lambda_k -> 0: diagonal steps (18).
 * A step goes from u+ to w, so that iterate k has k gradients in it; z = A w stays for the next.
 * The intercept stays at the mean of the targets: columns are centred, and u keeps the sum 0. */
#include "solver/shared/schedule.h"
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
    mgvi_vec u, v, u_next, z, work; /* u: v before, where the momentum is that of v */
    mgvi_acceleration acceleration;
    const mgvi_loss_ops *fidelity; /* NULL: the equalities themselves */
    mgvi_coefs row;                /* of the fidelity, its scale 1/lambda_k */
    double *scale, lambda0;
    double norm, normal; /* |A|; of the normal equations, at the end */
    bool behind;         /* the point before the extrapolation is shown: */
    mgvi_vec shown, q;   /* its w, and A'u */
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

/* w = prox_{R/a}(-p/a), or R's own mirror map, of p = A'(a dual point). */
static void minimise(const mgvi_run *run, state *s, const mgvi_vec *from, mgvi_vec *to)
{
    const mgvi_vec p = mgvi_problem_penalised_part(run->problem, from);
    mgvi_vec w = mgvi_problem_penalised_part(run->problem, to);
    if (s->alpha > 0) {
        mgvi_vec_add(run->ctx, -1 / s->alpha, &p, 0, &p, &w);
        mgvi_penalty_prox(&s->penalty, &w, 1 / s->alpha, &w);
    } else {
        mgvi_vec_add(run->ctx, -1, &p, 0, &p, &w);
        mgvi_penalty_mirror(&s->penalty, &w, &w);
    }
}

static void choose_acceleration(const mgvi_run *run, state *s)
{
    s->acceleration = run->settings->acceleration;
    if (s->acceleration == MGVI_ACCELERATION_AUTO)
        s->acceleration = run->ops == &mgvi_solver_nesterov_landweber ? MGVI_ACCELERATION_NESTEROV
                          : run->ops == &mgvi_solver_accelerated_dual_gradient
                              ? MGVI_ACCELERATION_FISTA
                              : MGVI_ACCELERATION_NONE;
    s->behind = !run->settings->extrapolated && (s->acceleration == MGVI_ACCELERATION_NESTEROV ||
                                                 s->acceleration == MGVI_ACCELERATION_FISTA);
}

/* The momentum is that of v. */
static bool by_v(const state *s)
{
    return s->acceleration == MGVI_ACCELERATION_HEAVY_BALL ||
           s->acceleration == MGVI_ACCELERATION_NU;
}

/* lambda_0, if nobody says it, halves the first step of a square. */
static mgv_status choose_fidelity(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const char *name = run->settings->fidelity;
    if (!name[0])
        return MGV_OK;
    s->fidelity = mgvi_loss_find(name);
    const unsigned needs = MGVI_CONJ | MGVI_DUAL_CLIP;
    if (!s->fidelity || (s->fidelity->can & needs) != needs ||
        (s->fidelity->can & (MGVI_HARD | MGVI_BETWEEN | MGVI_MARGIN | MGVI_JOINT)))
        return MGVI_FAIL(
            run->ctx, MGV_E_ARG,
            "fidelity is '%.60s'; it takes a soft loss of a residual, squared or huber", name);
    if (by_v(s))
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "diagonal steps (fidelity) have acceleration none, nesterov or fista");
    MGVI_TRY(MGVI_VECTORS(&run->arena, p->A->rows, &s->scale));
    s->row = p->row;
    s->row.scale = (mgvi_coef_array){.values = s->scale, .lanes = 1};
    s->row.b = (mgvi_coef_array){.lanes = 1, .constant = run->settings->smoothing};
    s->lambda0 = isnan(run->settings->lambda0) ? 1 / s->step : run->settings->lambda0;
    if (!(s->lambda0 > 0))
        return MGVI_FAIL(run->ctx, MGV_E_ARG, "lambda0 is %g; diagonal steps want it above 0",
                         s->lambda0);
    return MGV_OK;
}

/* u+ from v and z by a step of length c s. */
static void move_dual(mgvi_run *run, state *s, double c)
{
    const mgv_problem *p = run->problem;
    const mgvi_coef_array r = {.constant = 1 / (c * s->step)};
    if (!s->fidelity) {
        mgvi_loss_dual_step(run->ctx, p->loss, &p->row, &s->v, &s->z, &r, &s->u_next);
        return;
    }
    const double most = 1e300; /* beyond it the loss is as good as hard */
    const double weight =
        mgvi_schedule_growth(run->settings->schedule, run->iteration) / s->lambda0;
    for (int64_t i = 0; i < p->A->rows; i++)
        s->scale[i] = mgvi_coef_pick(&p->row.scale, i, 0) > 0 ? fmin(weight, most) : 0;
    mgvi_loss_dual_step(run->ctx, s->fidelity, &s->row, &s->v, &s->z, &r, &s->u_next);
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    mgvi_steps steps;
    choose_acceleration(run, s);
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->w, &s->p));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_ROWS, &s->u, &s->v, &s->u_next, &s->z, &s->work));
    if (s->behind)
        MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->shown, &s->q));
    MGVI_TRY(mgvi_problem_penalty(p, &run->arena, &s->penalty));
    MGVI_TRY(mgvi_support_new(run, &s->support));
    mgvi_start_weights(p, &s->w);
    MGVI_TRY(mgvi_steps_new(run, &s->penalty, s->support.columns, &s->w, &steps));
    choose_smoothing(run, s, &steps);
    MGVI_TRY(choose_fidelity(run, s));
    s->memory.t = 1;
    s->norm = steps.norm;
    s->normal = NAN;
    minimise(run, s, &s->p, &s->w); /* of p = 0 */
    mgvi_support_mul(&s->support, &s->w, &s->z);
    MGVI_TRY(MGVI_RUN_KEEP_VECS(run, {"z", &s->z}, {"w", &s->w}, {"u", &s->u}, {"v", &s->v}));
    if (s->behind) {
        mgvi_vec_copy(run->ctx, &s->w, &s->shown);
        MGVI_TRY(MGVI_RUN_KEEP_VECS(run, {"shown", &s->shown}, {"q", &s->q}));
    }
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->memory, sizeof s->memory);
}

/* (13) of step k, and c, the length of the step in units of s. */
static double momentum(const mgvi_run *run, state *s, double *c)
{
    const double k = (double)run->iteration + 1, t = s->memory.t, nu = run->settings->nu;
    *c = 1;
    switch (s->acceleration) {
    case MGVI_ACCELERATION_NESTEROV:
        return (k - 1) / (k + 2);
    case MGVI_ACCELERATION_FISTA:
        s->memory.t = (1 + sqrt(1 + 4 * t * t)) / 2;
        return (t - 1) / s->memory.t;
    case MGVI_ACCELERATION_HEAVY_BALL:
        return run->settings->heavy_ball;
    case MGVI_ACCELERATION_NU:
        *c = 4 * (2 * k + 2 * nu - 1) * (k + nu - 1) / ((k + 2 * nu - 1) * (2 * k + 4 * nu - 1));
        return k < 2 ? 0
                     : (k - 1) * (2 * k - 3) * (2 * k + 2 * nu - 1) /
                           ((k + 2 * nu - 1) * (2 * k + 4 * nu - 1) * (2 * k + 2 * nu - 3));
    default:
        return 0;
    }
}

/* v, and u for the next time. */
static void extrapolate(const mgvi_run *run, state *s, double m)
{
    if (!by_v(s)) {
        mgvi_vec_add(run->ctx, 1 + m, &s->u_next, -m, &s->u, &s->v);
        mgvi_vec_copy(run->ctx, &s->u_next, &s->u);
        return;
    }
    mgvi_vec_axpby(run->ctx, m, &s->v, 1, &s->u_next);
    mgvi_vec_axpby(run->ctx, -m, &s->u, 1, &s->u_next);
    mgvi_vec_copy(run->ctx, &s->v, &s->u);
    mgvi_vec_copy(run->ctx, &s->u_next, &s->v);
}

/* p = A'v; of the point behind v, w from A'u, which gives A'v without another product. */
static void look_back(const mgvi_run *run, state *s, double m)
{
    mgvi_vec_copy(run->ctx, &s->q, &s->p);
    mgvi_support_mul_t(&s->support, &s->u, &s->q);
    minimise(run, s, &s->q, &s->shown);
    mgvi_vec_axpby(run->ctx, 1 + m, &s->q, -m, &s->p);
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    double c;
    const double m = momentum(run, s, &c);
    move_dual(run, s, c);
    extrapolate(run, s, m);
    if (s->behind)
        look_back(run, s, m);
    else
        mgvi_support_mul_t(&s->support, &s->v, &s->p);
    minimise(run, s, &s->p, &s->w);
    if (s->behind)
        mgvi_support_mul(&s->support, &s->shown, &s->work);
    mgvi_support_mul(&s->support, &s->w, &s->z);
    mgvi_displacement(p, s->behind ? &s->work : &s->z, &s->u_next);
    mgvi_vec_norm2(run->ctx, &s->u_next, &s->memory.residual);
    if (!isfinite(s->memory.residual))
        return MGVI_FAIL(run->ctx, MGV_E_NUMERIC, "the iterates of %s left the numbers",
                         run->ops->name);
    return MGV_OK;
}

static mgvi_iterate expose(mgvi_run *run)
{
    const state *s = run->state;
    return (mgvi_iterate){.w = s->behind ? &s->shown : &s->w, .u = by_v(s) ? &s->v : &s->u};
}

static double residual(const mgvi_run *run) { return ((const state *)run->state)->memory.residual; }

static double normal(const mgvi_run *run) { return ((const state *)run->state)->normal; }

static void ended(mgvi_run *run)
{
    state *s = run->state;
    const mgvi_scratch by = {&s->u_next, &s->work, &s->p};
    s->normal = mgvi_normal_residual(run, s->norm, expose(run).w, by);
}

#define DUAL_GRADIENT(NAME, NEEDS, NOT, SUMMARY)                                                   \
    const mgvi_solver_ops mgvi_solver_##NAME = {                                                   \
        .name = #NAME,                                                                             \
        .summary = SUMMARY,                                                                        \
        .needs = {.penalty = (NEEDS),                                                              \
                  .loss = MGVI_HARD | MGVI_LINEAR_DUAL,                                            \
                  .op = MGVI_MUL | MGVI_MUL_T},                                                    \
        .no = {.penalty = (NOT), .loss = MGVI_MARGIN},                                             \
        .settings = "kappa sigma_factor sigma lipschitz acceleration extrapolated heavy_ball nu "  \
                    "fidelity schedule lambda0",                                                   \
        .fits = mgvi_centred_intercept,                                                            \
        .anywhere = true,                                                                          \
        .state_size = sizeof(state),                                                               \
        .init = init,                                                                              \
        .step = step,                                                                              \
        .expose = expose,                                                                          \
        .residual = residual,                                                                      \
        .normal = normal,                                                                          \
        .ended = ended,                                                                            \
    };
DUAL_GRADIENT(landweber, MGVI_SQUARE | MGVI_MIRROR, MGVI_ABS,
              "gradient descent on |A w - y|^2, as a path of iterates")
DUAL_GRADIENT(nesterov_landweber, MGVI_SQUARE | MGVI_MIRROR, MGVI_ABS,
              "landweber with Nesterov's momentum")
DUAL_GRADIENT(linearized_bregman, MGVI_PROX, 0, "dual gradient steps on R + a/2 |w|^2")
DUAL_GRADIENT(accelerated_dual_gradient, MGVI_PROX, 0,
              "accelerated dual gradient steps on R + a/2 |w|^2")
