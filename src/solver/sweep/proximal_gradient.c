/* proximal_gradient.c - proximal gradient steps, plain (ISTA) and accelerated (FISTA), for a smooth
 * loss and any penalty with a prox; docs/algorithms/primal_dual.md (20).
 *   w+ = prox_{tau R}(v - tau A'G'(A v)),   v+ = w+ + momentum (w+ - w),   tau = 1/(c |A|^2)
 * with c the largest curvature of a row's loss. The products of v follow from those of w. */
#include "solver/solver_impl.h"

#include <math.h>

/* Plain numbers, for checkpoints. */
typedef struct memory {
    double t; /* of the momentum */
} memory;

typedef struct state {
    mgvi_penalty penalty;
    double tau;
    bool plain, nesterov;
    mgvi_vec w, v, next, g;   /* cols */
    mgvi_vec z, ahead, u, zw; /* rows: A w, A v, G'(A w), scratch */
    memory memory;
} state;

/* c: the dual of a row's loss is q u^2/(2 s), q its width or 1. */
static double curvature(const mgv_problem *p)
{
    double most = 0;
    for (int64_t i = 0; i < p->A->rows; i++) {
        const mgvi_coef c = mgvi_coefs_at(&p->row, i, 0);
        most = fmax(most, p->loss->can & MGVI_WIDTH ? c.scale / c.b : c.scale);
    }
    return most;
}

static mgv_status choose_step(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    double norm = sqrt(run->settings->lipschitz);
    if (isnan(norm))
        MGVI_TRY(mgvi_op_norm_cover(p->A, &run->arena, NULL, p->A->cols, 1, &norm));
    const double slope = curvature(p) * norm * norm;
    s->tau = slope > 0 ? 1 / slope : 1;
    return MGV_OK;
}

static mgv_status choose_acceleration(const mgvi_run *run, state *s)
{
    const mgvi_acceleration choice = run->settings->acceleration;
    s->plain = choice == MGVI_ACCELERATION_NONE;
    s->nesterov = choice == MGVI_ACCELERATION_NESTEROV;
    if (choice == MGVI_ACCELERATION_HEAVY_BALL || choice == MGVI_ACCELERATION_NU)
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "proximal_gradient has no acceleration heavy_ball or nu; use none, "
                         "nesterov or fista");
    return MGV_OK;
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    MGVI_TRY(choose_acceleration(run, s));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->w, &s->v, &s->next, &s->g));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_ROWS, &s->z, &s->ahead, &s->u, &s->zw));
    MGVI_TRY(mgvi_problem_penalty(run->problem, &run->arena, &s->penalty));
    MGVI_TRY(choose_step(run, s));
    s->memory.t = 1;
    mgvi_loss_grad(run->ctx, run->problem->loss, &run->problem->row, &s->z, &s->u);
    MGVI_TRY(MGVI_RUN_KEEP_VECS(run, {"w", &s->w}, {"v", &s->v}, {"z", &s->z}, {"ahead", &s->ahead},
                                {"u", &s->u}));
    if (s->penalty.work_size > 0) /* a prox that goes on from where the last one ended */
        MGVI_TRY(mgvi_run_keep(run, "prox", MGVI_T_F64, s->penalty.work, s->penalty.work_size));
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->memory, sizeof s->memory);
}

static mgv_status start(mgvi_run *run, const double *w, const double *u)
{
    state *s = run->state;
    (void)u; /* it follows from w */
    mgvi_vec_upload(run->ctx, w, &s->w);
    mgvi_op_mul(run->problem->A, 1, &s->w, 0, &s->z);
    mgvi_vec_copy(run->ctx, &s->w, &s->v);
    mgvi_vec_copy(run->ctx, &s->z, &s->ahead);
    mgvi_loss_grad(run->ctx, run->problem->loss, &run->problem->row, &s->z, &s->u);
    return MGV_OK;
}

static double momentum(const mgvi_run *run, state *s)
{
    const double k = (double)run->iteration + 1, t = s->memory.t;
    if (s->plain)
        return 0;
    if (s->nesterov)
        return (k - 1) / (k + 2);
    s->memory.t = (1 + sqrt(1 + 4 * t * t)) / 2;
    return (t - 1) / s->memory.t;
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    mgv_ctx *ctx = run->ctx;
    const mgv_problem *p = run->problem;
    mgvi_loss_grad(ctx, p->loss, &p->row, &s->ahead, &s->zw);
    mgvi_op_mul_t(p->A, 1, &s->zw, 0, &s->g);
    mgvi_vec_add(ctx, 1, &s->v, -s->tau, &s->g, &s->next); /* the intercept has no prox */
    mgvi_vec part = mgvi_problem_penalised_part(p, &s->next);
    mgvi_penalty_prox(&s->penalty, &part, s->tau, &part);
    mgvi_op_mul(p->A, 1, &s->next, 0, &s->zw);
    const double m = momentum(run, s);
    mgvi_vec_add(ctx, 1 + m, &s->next, -m, &s->w, &s->v);
    mgvi_vec_add(ctx, 1 + m, &s->zw, -m, &s->z, &s->ahead);
    mgvi_vec_copy(ctx, &s->next, &s->w);
    mgvi_vec_copy(ctx, &s->zw, &s->z);
    mgvi_loss_grad(ctx, p->loss, &p->row, &s->z, &s->u);
    return MGV_OK;
}

static mgvi_iterate expose(mgvi_run *run)
{
    const state *s = run->state;
    return (mgvi_iterate){.w = &s->w, .u = &s->u};
}

const mgvi_solver_ops mgvi_solver_proximal_gradient = {
    .name = "proximal_gradient",
    .summary = "a baseline: (accelerated) proximal gradient steps for a smooth loss",
    .needs = {.penalty = MGVI_VALUE | MGVI_PROX,
              .loss = MGVI_GRAD | MGVI_SMOOTH | MGVI_QUADRATIC_DUAL,
              .op = MGVI_MUL | MGVI_MUL_T},
    .settings = "acceleration lipschitz prox_tol",
    .anywhere = true,
    .state_size = sizeof(state),
    .init = init,
    .start = start,
    .step = step,
    .expose = expose,
};
