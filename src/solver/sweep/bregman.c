/* bregman.c - Bregman iteration, which is the augmented Lagrangian method for A w = y;
 * docs/algorithms/primal_dual.md (14).
 *   w+ = argmin R(w) + rho/2 |A w - y + u/rho|^2,   u+ = u + rho (A w+ - y)
 * The inner problem is a Lasso with the target y - u/rho; a fixed number of accelerated proximal
 * gradient steps from the last w solve it well enough. One step makes it linearised ADMM, which is
 * Bregmanised operator splitting. */
#include "solver/sweep/steps.h"
#include "solver/sweep/support.h"

#include <math.h>

typedef struct memory {
    double residual;
} memory;

typedef struct state {
    mgvi_penalty penalty;
    mgvi_support support;
    double rho, step;    /* step: 1/(rho L^2) */
    double norm, normal; /* L; of the normal equations, at the end */
    mgvi_vec w, ahead, next, g;
    mgvi_vec u, z, work;
    memory memory;
} state;

/* rho, if nobody says it, = 1/(sigma_factor R°(A'y)): the first Lasso has that share of the largest useful strength. */
static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    mgvi_steps steps;
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->w, &s->ahead, &s->next, &s->g));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_ROWS, &s->u, &s->z, &s->work));
    MGVI_TRY(mgvi_problem_penalty(run->problem, &run->arena, &s->penalty));
    MGVI_TRY(mgvi_support_new(run, &s->support));
    mgvi_start_weights(run->problem, &s->w);
    MGVI_TRY(mgvi_steps_new(run, &s->penalty, s->support.columns, &s->w, &steps));
    s->rho = run->settings->bregman_rho;
    if (isnan(s->rho))
        s->rho = steps.sigma / (run->settings->sigma_factor * run->settings->sigma_factor);
    s->norm = steps.norm;
    s->normal = NAN;
    s->step = steps.norm > 0 ? 1 / (s->rho * steps.norm * steps.norm) : 1;
    MGVI_TRY(MGVI_RUN_KEEP_VECS(run, {"w", &s->w}, {"u", &s->u}));
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->memory, sizeof s->memory);
}

/* One inner step from x: next = prox(x - step A'(u + rho (A x - y))). */
static void inner_step(const mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    mgvi_support_mul(&s->support, &s->ahead, &s->z);
    mgvi_displacement(p, &s->z, &s->work);
    mgvi_vec_axpby(run->ctx, 1, &s->u, s->rho, &s->work);
    mgvi_support_mul_t(&s->support, &s->work, &s->g);
    mgvi_vec_copy(run->ctx, &s->ahead, &s->next); /* the intercept rests */
    const mgvi_vec x = mgvi_problem_penalised_part(p, &s->ahead),
                   g = mgvi_problem_penalised_part(p, &s->g);
    mgvi_vec next = mgvi_problem_penalised_part(p, &s->next);
    mgvi_vec_add(run->ctx, 1, &x, -s->step, &g, &next);
    mgvi_penalty_prox(&s->penalty, &next, s->step, &next);
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    double t = 1;
    mgvi_vec_copy(run->ctx, &s->w, &s->ahead);
    for (int64_t i = 0; i < run->settings->inner_steps; i++) {
        inner_step(run, s);
        const double larger = (1 + sqrt(1 + 4 * t * t)) / 2, m = (t - 1) / larger;
        mgvi_vec_add(run->ctx, 1 + m, &s->next, -m, &s->w, &s->ahead);
        mgvi_vec_copy(run->ctx, &s->next, &s->w);
        t = larger;
    }
    mgvi_support_mul(&s->support, &s->w, &s->z);
    mgvi_displacement(run->problem, &s->z, &s->work);
    mgvi_vec_axpby(run->ctx, s->rho, &s->work, 1, &s->u);
    mgvi_vec_norm2(run->ctx, &s->work, &s->memory.residual);
    if (!isfinite(s->memory.residual))
        return MGVI_FAIL(run->ctx, MGV_E_NUMERIC, "the iterates of bregman left the numbers");
    return MGV_OK;
}

static mgvi_iterate expose(mgvi_run *run)
{
    const state *s = run->state;
    return (mgvi_iterate){.w = &s->w, .u = &s->u};
}

static double residual(const mgvi_run *run) { return ((const state *)run->state)->memory.residual; }

static double normal(const mgvi_run *run) { return ((const state *)run->state)->normal; }

static void ended(mgvi_run *run)
{
    state *s = run->state;
    s->normal = mgvi_normal_residual(run, s->norm, &s->w, (mgvi_scratch){&s->z, &s->work, &s->g});
}

const mgvi_solver_ops mgvi_solver_bregman = {
    .name = "bregman",
    .summary =
        "Bregman iteration (augmented Lagrangian): a Lasso per step, its residual added back",
    .needs = {.penalty = MGVI_PROX,
              .loss = MGVI_HARD | MGVI_LINEAR_DUAL,
              .op = MGVI_MUL | MGVI_MUL_T},
    .no = {.loss = MGVI_MARGIN},
    .settings = "sigma_factor sigma lipschitz bregman_rho inner_steps",
    .fits = mgvi_centred_intercept,
    .anywhere = true,
    .state_size = sizeof(state),
    .init = init,
    .step = step,
    .expose = expose,
    .residual = residual,
    .normal = normal,
    .ended = ended,
};
