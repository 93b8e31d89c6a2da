/* primal_dual.c - preconditioned primal-dual splitting; docs/algorithms/primal_dual.md.
 *   w+ = prox_{tau R}(w - tau (grad F(w) + A'(2 u - u_old)))     (1)
 *   u+ = prox_{sigma G*}(u + sigma A w+)                         (2)
 * Stopped early, the number of iterations is the regularisation parameter. A w+ reads the columns
 * of the support; A' goes two ways:
 *   exact: p = A'u is kept by increments p+ = p + A'(u+ - u), which stays bounded where u does
 *          not (no w fits the data), and gives the mean's p for restarts;
 *   lazy:  A'(2 u - u_old) is formed for all columns every few iterations, in between for those
 *          that could leave 0.
 * A penalty that is a norm of D w may have dual variables of its own: A is then
 * [A; D] and (1) has no prox; or a second unknown U = D w: A is then [A 0; D -1]. */
#include "base/print.h"
#include "solver/sweep/restart.h"
#include "solver/sweep/steps.h"
#include "solver/sweep/support.h"

#include <math.h>

/* ---- dual variables of a norm of D w --------------------------------------------------------- */

/* For a penalty R(w) = c sum_g |(D w)_g|: no prox of R is needed. (15); lifted: (16). */
typedef struct norm_dual {
    mgvi_op *D;    /* NULL: not in use */
    int64_t group; /* rows of D that have one length */
    double radius; /* c */
    mgvi_vec v;    /* |v_g| <= c; lifted: the multipliers of D w = U */
    mgvi_vec step; /* v - v_old */
    bool lifted;
    mgvi_vec U, inside; /* lifted: U, and scratch */
} norm_dual;

static bool norm_dual_on(const norm_dual *s) { return s->D != NULL; }

/* A prox that iterates costs about this many products with D: where a product with A costs more
 * entries a column, fewer iterations with the prox are the better bargain. */
static const double INNER_STEPS = 100;

static bool wants_norm_dual(const mgvi_run *run)
{
    const mgv_problem *p = run->problem;
    const mgvi_split_kind choice = run->settings->split;
    if (!p->split.D || p->lanes != 1 || p->free_cols || choice == MGVI_SPLIT_NO)
        return false;
    return choice != MGVI_SPLIT_AUTO || mgvi_problem_is_bounded(p) ||
           (p->split.preferred && isnan(run->settings->prox_error) &&
            (double)p->A->nnz < INNER_STEPS * (double)p->A->cols);
}

/* By the setting `split` and what the problem's penalty offers. Kept for checkpoints. */
static mgv_status norm_dual_new(mgvi_run *run, norm_dual *out)
{
    const mgvi_norm_form *form = &run->problem->split;
    *out = (norm_dual){0};
    if (!wants_norm_dual(run) && form->D && mgvi_problem_is_bounded(run->problem))
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "bounds of the weights beside %s need --set split=yes and no intercept",
                         run->problem->penalty->name);
    const bool asked =
        run->settings->split == MGVI_SPLIT_YES || run->settings->split == MGVI_SPLIT_LIFTED;
    if (!wants_norm_dual(run) && form->D && asked)
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "split yes and lifted beside %s have no intercept; add --no-intercept",
                         run->problem->penalty->name);
    if (!wants_norm_dual(run))
        return MGV_OK;
    if (!isnan(run->settings->prox_error))
        return MGVI_FAIL(run->ctx, MGV_E_ARG,
                         "prox_error is of a proximal map, which split takes the place of; leave "
                         "one of them out, and low and high");
    out->D = form->D;
    out->group = form->group;
    out->radius = mgvi_coef_pick(&run->problem->col.scale, 0, 0);
    MGVI_TRY(MGVI_VECS(&run->arena, MGVI_ROWS, form->D->rows, 1, &out->v, &out->step));
    MGVI_TRY(mgvi_run_keep_vec(run, "split", &out->v));
    MGVI_TRY(mgvi_run_keep_vec(run, "split_step", &out->step));
    out->lifted = run->settings->split == MGVI_SPLIT_LIFTED;
    if (!out->lifted)
        return MGV_OK;
    MGVI_TRY(MGVI_VECS(&run->arena, MGVI_ROWS, form->D->rows, 1, &out->U, &out->inside));
    return mgvi_run_keep_vec(run, "lifted", &out->U);
}

/* U+ = prox_{tau c |.|}(U + tau (2 v - v_old)) = x - P(x), P onto balls of radius tau c; step is
 * scratch once v + step is known. */
static void lifted_move(mgv_ctx *ctx, norm_dual *s, double tau)
{
    mgvi_vec_axpby(ctx, tau, &s->v, 1, &s->U);
    mgvi_vec_axpby(ctx, tau, &s->step, 1, &s->U);
    if (!(s->radius > 0))
        return;
    mgvi_vec_copy(ctx, &s->U, &s->step);
    mgvi_vec_fill(ctx, &s->inside, 0);
    mgvi_vec_project(ctx, s->group, tau * s->radius, &s->inside, &s->step);
    mgvi_vec_axpby(ctx, -1, &s->inside, 1, &s->U);
}

/* v+ = P(v + sigma D w), P the projection of every group onto the ball of radius c; lifted: v+ = v +
 * sigma (D w - U). */
static void norm_dual_move(mgv_ctx *ctx, norm_dual *s, double sigma, const mgvi_vec *w)
{
    if (!(s->radius > 0) && !s->lifted) {
        mgvi_vec_fill(ctx, &s->step, 0); /* v = 0 and stays */
        return;
    }
    mgvi_op_mul(s->D, sigma, w, 0, &s->step);
    if (s->lifted) {
        mgvi_vec_axpby(ctx, -sigma, &s->U, 1, &s->step);
        mgvi_vec_axpby(ctx, 1, &s->step, 1, &s->v);
        return;
    }
    mgvi_vec_project(ctx, s->group, s->radius, &s->v, &s->step);
}

/* ---- the state ------------------------------------------------------------------------------- */

/* Plain numbers, for checkpoints. */
typedef struct memory {
    double norm;      /* L, as large as the iterates have shown it to be */
    double residual;  /* |displacement| of the exposed point */
    double stillness; /* exact form: how little w and the normal residual moved last */
} memory;

typedef struct state {
    mgvi_penalty penalty;
    mgvi_support support;
    mgvi_steps steps;
    mgvi_point now;                   /* p: exact form only */
    mgvi_vec next, g;                 /* cols: w+; A'(2 u - u_old) */
    mgvi_vec smooth;                  /* cols: grad F(w); none without an F */
    mgvi_vec du, u_next, z_old, work; /* rows: u - u_old, u+, A w before, scratch */
    norm_dual split;
    int64_t lazy; /* 1: exact form */
    bool average, restarts;
    double normal; /* of the normal equations, at the end */
    mgvi_restart mean;
    memory memory;
} state;

/* ---- making it ------------------------------------------------------------------------------ */

/* Columns can only be left out where a small gradient keeps w_j at 0, which a formula per
 * coordinate says. */
static int64_t choose_lazy(const mgvi_run *run, const state *s)
{
    const int64_t wanted = run->settings->lazy;
    if (!s->support.columns || !(run->problem->penalty->can & MGVI_SEPARABLE) ||
        mgvi_problem_has_smooth(run->problem))
        return 1;
    return wanted > 0 ? wanted : run->early ? 5 : 1;
}

static mgv_status make_vectors(mgvi_run *run, state *s)
{
    MGVI_TRY(mgvi_point_new(run, &s->now));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->next, &s->g));
    if (mgvi_problem_has_smooth(run->problem))
        MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->smooth));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_ROWS, &s->du, &s->u_next, &s->z_old));
    return mgvi_run_vec(run, MGVI_ROWS, &s->work);
}

/* A tv2d's next prox starts where the last one ended. */
static mgv_status keep_everything(mgvi_run *run, state *s)
{
    const struct {
        const char *name;
        mgvi_vec *vec;
    } parts[] = {{"w", &s->now.w}, {"p", &s->now.p}, {"u", &s->now.u},
                 {"z", &s->now.z}, {"g", &s->g},     {"du", &s->du}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        MGVI_TRY(mgvi_run_keep_vec(run, parts[i].name, parts[i].vec));
    if (s->penalty.work_size > 0)
        MGVI_TRY(mgvi_run_keep(run, "prox", MGVI_T_F64, s->penalty.work, s->penalty.work_size));
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->memory, sizeof s->memory);
}

static int facts(const mgvi_run *run, mgvi_fact *out)
{
    const mgv_problem *p = run->problem;
    return mgvi_steps_facts(&((const state *)run->state)->steps, mgvi_problem_penalised(p),
                            p->A->rows, out);
}

static void tell_steps(const mgvi_run *run)
{
    char text[MGVI_FACTS_MAX * 40] = "";
    mgvi_fact fact[MGVI_FACTS_MAX];
    size_t used = 0;
    const int count = facts(run, fact);
    for (int i = 0; i < count; i++)
        used += (size_t)mgvi_print(text + used, sizeof text - used, "%s%s %.6g", i ? ", " : "",
                                   fact[i].name, fact[i].value);
    mgvi_log(run->ctx, MGV_INFO, "primal_dual: %s", text);
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    MGVI_TRY(make_vectors(run, s));
    MGVI_TRY(mgvi_problem_penalty(p, &run->arena, &s->penalty));
    MGVI_TRY(mgvi_support_new(run, &s->support));
    s->lazy = choose_lazy(run, s);
    s->average = run->settings->iterate == MGVI_ITERATE_AVERAGE;
    MGVI_TRY(norm_dual_new(run, &s->split));
    if (!isnan(run->settings->sigma) && !isnan(run->settings->step_ratio))
        return MGVI_FAIL(run->ctx, MGV_E_ARG,
                         "sigma and step_ratio both say the dual step; leave one of them out");
    s->restarts = run->settings->primal_dual_restart && !run->early && !s->average &&
                  s->lazy == 1 && (p->penalty->can & MGVI_CONJ) && !norm_dual_on(&s->split) &&
                  !mgvi_problem_has_smooth(p);
    mgvi_start_weights(p, &s->now.w);
    MGVI_TRY(mgvi_steps_new(run, &s->penalty, s->support.columns, &s->now.w, &s->steps));
    s->steps.split = norm_dual_on(&s->split) ? p->split.square_norm + s->split.lifted : 0;
    s->steps.smooth = p->smooth.lipschitz;
    s->steps.ratio = isnan(run->settings->step_ratio) ? 0 : run->settings->step_ratio;
    mgvi_steps_set_norm(run, &s->steps, s->steps.norm);
    mgvi_op_mul(p->A, 1, &s->now.w, 0, &s->now.z);
    mgvi_displacement(p, &s->now.z, &s->work);
    s->memory.norm = s->steps.norm;
    s->memory.stillness = INFINITY;
    s->normal = NAN;
    mgvi_vec_norm2(run->ctx, &s->work, &s->memory.residual);
    if (s->average || s->restarts)
        MGVI_TRY(mgvi_restart_new(run, s->memory.residual, &s->mean));
    tell_steps(run);
    return keep_everything(run, s);
}

static mgv_status start(mgvi_run *run, const double *w, const double *u)
{
    state *s = run->state;
    mgvi_op *A = run->problem->A;
    mgvi_vec_upload(run->ctx, w, &s->now.w);
    mgvi_op_mul(A, 1, &s->now.w, 0, &s->now.z);
    if (s->split.lifted)
        mgvi_op_mul(s->split.D, 1, &s->now.w, 0, &s->split.U);
    if (!u)
        return MGV_OK;
    mgvi_vec_upload(run->ctx, u, &s->now.u);
    mgvi_op_mul_t(A, 1, &s->now.u, 0, &s->now.p);
    mgvi_vec_copy(run->ctx, &s->now.p, &s->g);
    return MGV_OK;
}

/* ---- products ------------------------------------------------------------------------------- */

/* Lazy form: g = A'(u + du), on the columns that are not 0, or would not be if their last gradient
 * had doubled; or on all of them. */
static void refresh_direction(const mgvi_run *run, state *s)
{
    const mgvi_vec w = mgvi_problem_penalised_part(run->problem, &s->now.w),
                   g = mgvi_problem_penalised_part(run->problem, &s->g);
    mgvi_vec_add(run->ctx, 1, &s->now.u, 1, &s->du, &s->work);
    if (run->iteration % s->lazy == 1) {
        mgvi_support_mul_t(&s->support, &s->work, &s->g);
        return;
    }
    const int64_t count = mgvi_penalty_movable(&s->penalty, &w, 2, &g, s->support.list);
    mgvi_columns_mul_t(s->support.columns, s->support.list, count, &s->work, &s->g);
}

/* Exact form: p += A'du, g = p + A'du; with a split penalty p and du stand for both kinds of dual
 * variables. */
static void extend_direction(const mgvi_run *run, state *s)
{
    mgvi_support_mul_t(&s->support, &s->du, &s->g);
    double size, residual;
    mgvi_vec_norm2(run->ctx, &s->g, &size);
    mgvi_vec_norm2(run->ctx, &s->du, &residual);
    s->memory.stillness = residual > 0 ? size / (residual * s->steps.norm) : 0;
    if (norm_dual_on(&s->split))
        mgvi_op_mul_t(s->split.D, 1, &s->split.step, 1, &s->g);
    mgvi_vec_axpby(run->ctx, 1, &s->g, 1, &s->now.p);
    mgvi_vec_axpby(run->ctx, 1, &s->now.p, 1, &s->g);
}

/* ---- the step ------------------------------------------------------------------------------- */

/* (1); the free column has no penalty and a step of its own. g gets grad F(w) added. */
static void move_weights(const mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const mgvi_steps *steps = &s->steps;
    if (mgvi_problem_has_smooth(p)) {
        mgvi_problem_smooth_grad(p, &s->now.w, &s->smooth);
        mgvi_vec_axpby(run->ctx, 1, &s->smooth, 1, &s->g);
    }
    const mgvi_vec w = mgvi_problem_penalised_part(p, &s->now.w),
                   g = mgvi_problem_penalised_part(p, &s->g);
    mgvi_vec next = mgvi_problem_penalised_part(p, &s->next);
    if (steps->square) {
        const mgvi_coef_array each = {.values = steps->square, .lanes = 1};
        mgvi_vec_weigh(run->ctx, &each, &g, &next);
        mgvi_vec_add(run->ctx, 1, &w, -1, &next, &next);
        mgvi_penalty_prox_each(&s->penalty, &next, &each, &next);
    } else {
        mgvi_vec_add(run->ctx, 1, &w, -steps->tau, &g, &next);
        if (s->split.lifted)
            lifted_move(run->ctx, &s->split, steps->tau);
        if (!norm_dual_on(&s->split))
            mgvi_penalty_prox(&s->penalty, &next, steps->tau, &next);
        else if (mgvi_problem_is_bounded(p))
            mgvi_vec_clip(run->ctx, p->low, p->high, &next);
    }
    const mgvi_vec w_free = mgvi_problem_free_part(p, &s->now.w),
                   g_free = mgvi_problem_free_part(p, &s->g);
    mgvi_vec next_free = mgvi_problem_free_part(p, &s->next);
    mgvi_vec_add(run->ctx, 1, &w_free, -steps->tau_free, &g_free, &next_free);
}

/* L was estimated: |A (w+ - w)| > L |w+ - w| would show that it is too small, and tau too large.
 * How far w moved, relative to its length. */
static double watch_norm(const mgvi_run *run, state *s)
{
    mgv_ctx *ctx = run->ctx;
    double moved, image, length;
    mgvi_vec_add(ctx, 1, &s->now.z, -1, &s->z_old, &s->work);
    mgvi_vec_norm2(ctx, &s->work, &image);
    mgvi_vec_axpby(ctx, 1, &s->next, -1, &s->now.w); /* the old w is not needed any more */
    mgvi_vec_norm2(ctx, &s->now.w, &moved);
    mgvi_vec_norm2(ctx, &s->next, &length);
    const bool free_rests = !run->problem->free_cols || mgvi_vec_at(&s->now.w, s->now.w.n - 1) == 0;
    if (free_rests && !s->steps.unit && image > s->memory.norm * moved * (1 + 1e-9)) {
        const double COVER = 1.02;
        s->memory.norm = COVER * image / moved;
        mgvi_steps_set_norm(run, &s->steps, s->memory.norm);
    }
    return moved / fmax(length, 1e-300);
}

/* (2) */
static void move_dual(const mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const mgvi_coef_array r = {
        .values = s->steps.inverse, .lanes = 1, .constant = 1 / s->steps.sigma};
    mgvi_loss_dual_step(run->ctx, p->loss, &p->row, &s->now.u, &s->now.z, &r, &s->u_next);
    mgvi_vec_add(run->ctx, 1, &s->u_next, -1, &s->now.u, &s->du);
    mgvi_vec_copy(run->ctx, &s->u_next, &s->now.u);
    if (norm_dual_on(&s->split))
        norm_dual_move(run->ctx, &s->split, s->steps.sigma, &s->now.w);
}

/* Means and restarts; after a restart the next step goes by p alone. */
static void take_means(mgvi_run *run, state *s)
{
    if (s->average || s->restarts)
        mgvi_restart_add(&s->mean, &s->now);
    if (s->restarts && mgvi_restart_look(&s->mean, &s->now)) {
        mgvi_vec_fill(run->ctx, &s->du, 0);
        mgvi_vec_copy(run->ctx, &s->now.p, &s->g);
    }
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    s->steps.norm = s->memory.norm;
    if (!isnan(run->settings->prox_error)) /* eps_k of (17) */
        s->penalty.error =
            run->settings->prox_error * pow((double)run->iteration + 1, -run->settings->prox_decay);
    if (s->lazy > 1 && run->iteration > 0)
        refresh_direction(run, s);
    move_weights(run, s);
    mgvi_vec_copy(run->ctx, &s->now.z, &s->z_old);
    mgvi_support_mul(&s->support, &s->next, &s->now.z);
    const double moved = watch_norm(run, s);
    mgvi_vec_copy(run->ctx, &s->next, &s->now.w); /* no swaps: a checkpoint knows the places */
    move_dual(run, s);
    if (s->lazy == 1)
        extend_direction(run, s);
    take_means(run, s);
    mgvi_displacement(run->problem, s->average ? &s->mean.mean.z : &s->now.z, &s->work);
    mgvi_vec_norm2(run->ctx, &s->work, &s->memory.residual);
    if (!isfinite(s->memory.residual))
        return MGVI_FAIL(run->ctx, MGV_E_NUMERIC, "the iterates of primal_dual left the numbers");
    /* (9): no w fits, and the least-squares weights of least R are reached */
    const double still = 1e-3 * run->settings->tol;
    run->finished = s->lazy == 1 && (run->problem->loss->can & MGVI_HARD) && run->iteration > 10 &&
                    moved <= still && s->memory.stillness <= still;
    return MGV_OK;
}

/* ---- what the driver asks -------------------------------------------------------------------- */

static mgvi_iterate expose(mgvi_run *run)
{
    const state *s = run->state;
    const mgvi_point *x = s->average ? &s->mean.mean : &s->now;
    return (mgvi_iterate){.w = &x->w, .u = &x->u};
}

static double estimate(const mgvi_run *run)
{
    const state *s = run->state;
    return s->restarts ? s->mean.memory.best : NAN;
}

static double residual(const mgvi_run *run)
{
    const state *s = run->state;
    return s->memory.residual;
}

static double normal(const mgvi_run *run) { return ((const state *)run->state)->normal; }

static void ended(mgvi_run *run)
{
    state *s = run->state;
    const mgvi_scratch by = {&s->u_next, &s->work, &s->next};
    if (!s->steps.unit)
        s->normal = mgvi_normal_residual(run, s->steps.norm, expose(run).w, by);
    if (run->finished)
        mgvi_log(run->ctx, MGV_WARNING,
                 "no weights satisfy the constraints: these fit them in the least-squares sense, "
                 "with the least penalty");
}

static mgv_status restored(mgvi_run *run)
{
    state *s = run->state;
    if (!(s->memory.norm >= 0))
        return MGVI_FAIL(run->ctx, MGV_E_INPUT, "the checkpoint's norm is %g", s->memory.norm);
    mgvi_steps_set_norm(run, &s->steps, s->memory.norm);
    return MGV_OK;
}

const mgvi_solver_ops mgvi_solver_primal_dual = {
    .name = "primal_dual",
    .summary =
        "primal-dual splitting for any penalty, loss and operator; early stopping regularises",
    .needs = {.penalty = MGVI_VALUE | MGVI_PROX,
              .loss = MGVI_CONJ | MGVI_DUAL_CLIP,
              .op = MGVI_MUL | MGVI_MUL_T},
    .bounds = true,
    .smooth = true,
    .means = true,
    .settings =
        "sigma sigma_factor step_ratio lipschitz steps iterate lazy primal_dual_restart prox_tol "
        "prox_error prox_decay split",
    .anywhere = true,
    .state_size = sizeof(state),
    .init = init,
    .start = start,
    .step = step,
    .expose = expose,
    .estimate = estimate,
    .residual = residual,
    .facts = facts,
    .normal = normal,
    .ended = ended,
    .restored = restored,
};
