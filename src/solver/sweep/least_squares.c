/* least_squares.c - conjugate gradients for squared losses with an l2 penalty;
 * docs/algorithms/ridge_path.md.
 *
 *   min over w of  lambda/2 |w|^2 + sum_i s_i/2 (a_i.w - y_i)^2,   the intercept not penalised
 *   H = A' diag(s) A + lambda I,   g = A'(s (A w - y)) + lambda w = 0                        (5)
 *
 * preconditioned by the diagonal of H. u = s (A w - y) is dual feasible, and the gap at (w, u) is
 * |g|^2/(2 lambda). */
#include "op/stats.h"
#include "solver/solver_impl.h"

#include <math.h>

enum { REFRESH = 40 }; /* steps between two residuals from w itself: the recursion drifts */

typedef struct state {
    mgvi_vec w, g, d, h, diagonal; /* cols: weights, gradient, direction, g/diag H, 1/diag H */
    mgvi_vec z;                    /* rows: A w - y; A d and the dual point are in lent vectors */
    const mgvi_coef_array *s;
    double gp; /* g . g/diag */
    int64_t since;
    double estimate;
} state;

/* |x|^2 of the penalised columns */
static double square(const mgvi_run *run, const mgvi_vec *x)
{
    const mgvi_vec part = mgvi_problem_penalised_part(run->problem, x);
    return mgvi_vec_inner(run->ctx, &part, &part);
}

/* g += t lambda x of the penalised columns */
static void add_strength(const mgvi_run *run, double t, const mgvi_vec *x, mgvi_vec *g)
{
    const mgvi_vec x_part = mgvi_problem_penalised_part(run->problem, x);
    mgvi_vec g_part = mgvi_problem_penalised_part(run->problem, g);
    mgvi_vec_axpby(run->ctx, t * run->problem->lambda, &x_part, 1, &g_part);
}

/* The relative gap that goes with g, sum s_i z_i^2 at hand; the intercept's part of g has no say
 * in the dual. */
static double guess_gap(const mgvi_run *run, const state *s, double loss)
{
    const mgv_problem *p = run->problem;
    const double primal = loss / 2 + p->lambda / 2 * square(run, &s->w);
    return square(run, &s->g) / (2 * p->lambda) / fmax(primal, 1e-300);
}

/* z and g from w, and the steepest direction. */
static void refresh(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    mgvi_vec *u = &run->lent[1];
    mgvi_op_mul(p->A, 1, &s->w, 0, &s->z);
    mgvi_vec_less(run->ctx, &s->z, &p->row.a, &s->z);
    mgvi_vec_weigh(run->ctx, s->s, &s->z, u);
    mgvi_op_mul_t(p->A, 1, u, 0, &s->g);
    add_strength(run, 1, &s->w, &s->g);
    mgvi_vec_multiply(run->ctx, &s->diagonal, &s->g, &s->d);
    s->gp = mgvi_vec_inner(run->ctx, &s->g, &s->d);
    mgvi_vec_scale(run->ctx, -1, &s->d);
    s->since = 0;
    s->estimate = guess_gap(run, s, mgvi_vec_inner(run->ctx, u, &s->z));
}

/* 1/diag H from the columns' variances: with an intercept A's columns are centred. An operator that
 * is no stored table has no columns to look at: its steps are not scaled. */
static mgv_status measure(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const int64_t d = mgvi_problem_penalised(p);
    if (!(p->A->ops->can & MGVI_ROW)) {
        mgvi_vec_fill(run->ctx, &s->diagonal, 1);
        return MGV_OK;
    }
    double *mean, *diagonal;
    MGVI_TRY(MGVI_RUN_ARRAY(run, mean, d));
    MGVI_TRY(MGVI_RUN_ARRAY(run, diagonal, s->diagonal.n));
    MGVI_TRY(
        mgvi_matrix_column_stats(run->ctx, p->A->stored, s->s->values, mean, diagonal, NULL, NULL));
    for (int64_t j = 0; j < d; j++) {
        const double std = diagonal[j], m = p->view.centre ? 0 : mean[j];
        const double scale = mgvi_view_scale(&p->view, j);
        diagonal[j] = 1 / (p->lambda + scale * scale * (std * std + m * m));
        if (!isfinite(diagonal[j]) || diagonal[j] == 0)
            return MGVI_FAIL(run->ctx, MGV_E_INPUT,
                             "column %" PRId64 " is too large: its squares overflow; divide it by "
                             "a power of ten",
                             j + 1);
    }
    if (p->free_cols)
        diagonal[d] = 1;
    mgvi_vec_upload(run->ctx, diagonal, &s->diagonal);
    return MGV_OK;
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    s->s = &run->problem->row.scale;
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->w, &s->g, &s->d, &s->h, &s->diagonal));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->z));
    MGVI_TRY(MGVI_RUN_KEEP_VECS(run, {"w", &s->w}, {"g", &s->g}, {"d", &s->d}, {"z", &s->z}));
    MGVI_TRY(mgvi_run_keep(run, "since", MGVI_T_I64, &s->since, 1));
    MGVI_TRY(mgvi_run_keep(run, "gp", MGVI_T_F64, &s->gp, 1));
    MGVI_TRY(measure(run, s));
    refresh(run, s);
    return MGV_OK;
}

static mgv_status start(mgvi_run *run, const double *w, const double *u)
{
    state *s = run->state;
    (void)u;
    mgvi_vec_upload(run->ctx, w, &s->w);
    refresh(run, s);
    return MGV_OK;
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    mgv_ctx *ctx = run->ctx;
    mgvi_vec *Ad = &run->lent[0], *u = &run->lent[1];
    if (s->gp == 0) {
        run->finished = true;
        return MGV_OK;
    }
    mgvi_op_mul(p->A, 1, &s->d, 0, Ad);
    mgvi_vec_weigh(ctx, s->s, Ad, u);
    const double t = s->gp / (mgvi_vec_inner(run->ctx, Ad, u) + p->lambda * square(run, &s->d));
    mgvi_vec_axpby(ctx, t, &s->d, 1, &s->w);
    mgvi_vec_axpby(ctx, t, Ad, 1, &s->z);
    if (++s->since == REFRESH) {
        refresh(run, s);
    } else { /* g += t H d, and the next direction */
        mgvi_op_mul_t(p->A, t, u, 1, &s->g);
        add_strength(run, t, &s->d, &s->g);
        mgvi_vec_multiply(ctx, &s->diagonal, &s->g, &s->h);
        const double next = mgvi_vec_inner(run->ctx, &s->g, &s->h);
        mgvi_vec_axpby(ctx, -1, &s->h, next / s->gp, &s->d);
        s->gp = next;
        mgvi_vec_weigh(ctx, s->s, &s->z, u);
        s->estimate = guess_gap(run, s, mgvi_vec_inner(run->ctx, u, &s->z));
    }
    return isfinite(s->gp)
               ? MGV_OK
               : MGVI_FAIL(ctx, MGV_E_NUMERIC, "conjugate gradients left the finite numbers");
}

static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    mgvi_vec_weigh(run->ctx, s->s, &s->z, &run->lent[1]);
    return (mgvi_iterate){.w = &s->w, .u = &run->lent[1]};
}

static double estimate(const mgvi_run *run)
{
    const state *s = run->state;
    return s->estimate;
}

/* Some tens of steps of two products; more where lambda is small beside the data. */
static double cost(const mgv_problem *problem, const mgv_settings *settings)
{
    const double passes = 7 + 5 * log10(1 / fmax(settings->tol, 1e-16));
    return passes * mgvi_entry_cost(problem) * (double)problem->A->nnz;
}

const mgvi_solver_ops mgvi_solver_least_squares = {
    .name = "least_squares",
    .summary = "conjugate gradients: squared loss, penalty l2",
    .needs = {.penalty = MGVI_SQUARE,
              .loss = MGVI_STRONG | MGVI_QUADRATIC_DUAL,
              .op = MGVI_MUL | MGVI_MUL_T},
    .no = {.penalty = MGVI_ABS},
    .cost = cost,
    .uniform = true,
    .anywhere = true,
    .state_size = sizeof(state),
    .init = init,
    .start = start,
    .step = step,
    .expose = expose,
    .estimate = estimate,
};
