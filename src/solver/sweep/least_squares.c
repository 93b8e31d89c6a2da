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
#include <string.h>

enum { REFRESH = 40 }; /* steps between two residuals from w itself: the recursion drifts */

typedef struct state {
    mgvi_vec w, g, d, diagonal; /* cols: weights, gradient, direction, 1/diag H */
    mgvi_vec z;                 /* rows: A w - y; A d and the dual point are in lent vectors */
    const mgvi_coef_array *s;
    double gp; /* g . g/diag */
    int64_t since;
    double estimate;
} state;

static double dot(const mgvi_run *run, const mgvi_vec *x, const mgvi_vec *y)
{
    double value;
    mgvi_vec_dot(run->ctx, x, y, &value);
    return value;
}

/* out_i = s_i x_i */
static void weigh(const state *s, const mgvi_vec *x, mgvi_vec *out)
{
    for (int64_t i = 0; i < x->n; i++)
        out->x[i] = mgvi_coef_pick(s->s, i, 0) * x->x[i];
}

static void scale_back(const state *s, const mgvi_vec *x, mgvi_vec *out)
{
    for (int64_t j = 0; j < x->n; j++)
        out->x[j] = s->diagonal.x[j] * x->x[j];
}

/* lambda w of the penalised columns */
static double strength(const mgvi_run *run, int64_t j)
{
    return j < mgvi_problem_penalised(run->problem) ? run->problem->lambda : 0;
}

/* The relative gap that goes with g; the intercept's part of g has no say in the dual. */
static double guess_gap(const mgvi_run *run, const state *s)
{
    const mgv_problem *p = run->problem;
    double loss = 0, norm = 0, residual = 0;
    for (int64_t i = 0; i < s->z.n; i++)
        loss += mgvi_coef_pick(s->s, i, 0) / 2 * s->z.x[i] * s->z.x[i];
    for (int64_t j = 0; j < mgvi_problem_penalised(p); j++) {
        norm += s->w.x[j] * s->w.x[j];
        residual += s->g.x[j] * s->g.x[j];
    }
    const double primal = loss + p->lambda / 2 * norm;
    return residual / (2 * p->lambda) / fmax(primal, 1e-300);
}

/* z and g from w, and the steepest direction. */
static void refresh(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    mgvi_vec *u = &run->lent[1];
    mgvi_op_mul(p->A, 1, &s->w, 0, &s->z);
    for (int64_t i = 0; i < s->z.n; i++)
        s->z.x[i] -= mgvi_coef_pick(&p->row.a, i, 0);
    weigh(s, &s->z, u);
    mgvi_op_mul_t(p->A, 1, u, 0, &s->g);
    for (int64_t j = 0; j < s->g.n; j++)
        s->g.x[j] += strength(run, j) * s->w.x[j];
    scale_back(s, &s->g, &s->d);
    s->gp = dot(run, &s->g, &s->d);
    mgvi_vec_scale(run->ctx, -1, &s->d);
    s->since = 0;
    s->estimate = guess_gap(run, s);
}

/* 1/diag H from the columns' variances: with an intercept A's columns are centred. An operator that
 * is no stored table has no columns to look at: its steps are not scaled. */
static mgv_status measure(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const int64_t d = mgvi_problem_penalised(p);
    if (!(p->A->ops->can & MGVI_ROW)) {
        for (int64_t j = 0; j < s->diagonal.n; j++)
            s->diagonal.x[j] = 1;
        return MGV_OK;
    }
    double *mean = mgvi_run_array(run, (size_t)d, sizeof *mean);
    if (!mean)
        return MGV_E_MEMORY;
    MGVI_TRY(mgvi_matrix_column_stats(run->ctx, p->A->stored, s->s->values, mean, s->diagonal.x,
                                      NULL, NULL));
    for (int64_t j = 0; j < d; j++) {
        const double std = s->diagonal.x[j], m = p->view.centre ? 0 : mean[j];
        const double scale = mgvi_view_scale(&p->view, j);
        s->diagonal.x[j] = 1 / (p->lambda + scale * scale * (std * std + m * m));
        if (!isfinite(s->diagonal.x[j]) || s->diagonal.x[j] == 0)
            return MGVI_FAIL(run->ctx, MGV_E_INPUT,
                             "column %" PRId64 " is too large: its squares overflow; divide it by "
                             "a power of ten",
                             j + 1);
    }
    if (p->free_cols)
        s->diagonal.x[d] = 1;
    return MGV_OK;
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    s->s = &run->problem->row.scale;
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->w));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->g));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->d));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->diagonal));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->z));
    MGVI_TRY(mgvi_run_keep(run, "w", MGVI_T_F64, s->w.x, s->w.n));
    MGVI_TRY(mgvi_run_keep(run, "g", MGVI_T_F64, s->g.x, s->g.n));
    MGVI_TRY(mgvi_run_keep(run, "d", MGVI_T_F64, s->d.x, s->d.n));
    MGVI_TRY(mgvi_run_keep(run, "z", MGVI_T_F64, s->z.x, s->z.n));
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
    memcpy(s->w.x, w, (size_t)s->w.n * sizeof *w);
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
    weigh(s, Ad, u);
    double curvature = dot(run, Ad, u);
    for (int64_t j = 0; j < s->d.n; j++)
        curvature += strength(run, j) * s->d.x[j] * s->d.x[j];
    const double t = s->gp / curvature;
    mgvi_vec_axpby(ctx, t, &s->d, 1, &s->w);
    mgvi_vec_axpby(ctx, t, Ad, 1, &s->z);
    if (++s->since == REFRESH) {
        refresh(run, s);
    } else { /* g += t H d, and the next direction */
        mgvi_op_mul_t(p->A, t, u, 1, &s->g);
        for (int64_t j = 0; j < s->g.n; j++)
            s->g.x[j] += t * strength(run, j) * s->d.x[j];
        double next = 0;
        for (int64_t j = 0; j < s->g.n; j++)
            next += s->diagonal.x[j] * s->g.x[j] * s->g.x[j];
        const double beta = next / s->gp;
        for (int64_t j = 0; j < s->g.n; j++)
            s->d.x[j] = beta * s->d.x[j] - s->diagonal.x[j] * s->g.x[j];
        s->gp = next;
        s->estimate = guess_gap(run, s);
    }
    return isfinite(s->gp)
               ? MGV_OK
               : MGVI_FAIL(ctx, MGV_E_NUMERIC, "conjugate gradients left the finite numbers");
}

static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    weigh(s, &s->z, &run->lent[1]);
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
    .state_size = sizeof(state),
    .init = init,
    .start = start,
    .step = step,
    .expose = expose,
    .estimate = estimate,
};
