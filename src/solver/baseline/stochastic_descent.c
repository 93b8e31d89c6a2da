/* stochastic_descent.c - three stochastic subgradient methods; docs/algorithms/svm_baselines.md.
 * One iteration is one pass over the rows in a fresh random order, `batch` rows B at a time:
 *   g = R'(w) + (n/|B|) sum_{i in B} s_i G_i'(a_i.w) a_i,   sign(0) = 0                          (1)
 *   nesterov_sgd:  w <- w + rho^2 v - (1 + rho) eta g,   v <- rho v - eta g                      (2)
 *   adadelta:      a <- rho a + (1 - rho) g^2,   d = g sqrt(b + eps)/sqrt(a + eps),
 *                  b <- rho b + (1 - rho) d^2,   w <- w - d                                      (3)
 *   adam:          m <- b1 m + (1 - b1) g,   q <- b2 q + (1 - b2) g^2,
 *                  w <- w - eta (m/(1 - b1^t)) / (sqrt(q/(1 - b2^t)) + eps)                      (4)
 * with the constants of the paper for defaults. The subgradients met are averaged, later passes counting more:
 * an average of dual points is one (5). */
#include "op/rows.h"

#include "base/limit.h"
#include "solver/shared/intercept.h"
#include "solver/solver_impl.h"

#include <math.h>
#include <string.h>

typedef struct state {
    mgvi_rows *rows;
    double *acc, *grad_acc;  /* w and the batch's gradient in the row kernels' form */
    mgvi_vec w, g, one, two; /* `one` and `two` are the method's memory */
    mgvi_vec shown, z, u;    /* what expose() shows; z is work space */
    int32_t *order;
    int64_t live, steps;
} state;

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    MGVI_TRY(mgvi_run_check_rows(run));
    MGVI_TRY(mgvi_rows_new(p->A, &run->arena, &s->rows));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->w, &s->g, &s->one, &s->two, &s->shown));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_ROWS, &s->z, &s->u));
    const size_t len = (size_t)mgvi_rows_acc_len(s->rows);
    MGVI_TRY(MGVI_VECTORS(&run->arena, len, &s->acc, &s->grad_acc));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->order, p->A->rows));
    for (int64_t i = 0; i < p->A->rows; i++)
        if (mgvi_coef_pick(&p->row.scale, i, 0) > 0)
            s->live++;
    MGVI_TRY(mgvi_run_keep(run, "w", MGVI_T_F64, s->w.x, s->w.n));
    MGVI_TRY(mgvi_run_keep(run, "one", MGVI_T_F64, s->one.x, s->one.n));
    MGVI_TRY(mgvi_run_keep(run, "two", MGVI_T_F64, s->two.x, s->two.n));
    MGVI_TRY(mgvi_run_keep(run, "u", MGVI_T_F64, s->u.x, s->u.n));
    return mgvi_run_keep(run, "steps", MGVI_T_U8, &s->steps, sizeof s->steps);
}

/* (1), and (5) with weight `late` for the rows of this batch. */
static void batch_gradient(mgvi_run *run, state *s, const int32_t *rows, int64_t count, double late)
{
    const mgv_problem *p = run->problem;
    const size_t len = (size_t)mgvi_rows_acc_len(s->rows);
    const double factor = (double)s->live / (double)count;
    memset(s->grad_acc, 0, len * sizeof *s->grad_acc);
    mgvi_rows_load(s->rows, s->w.x, s->acc);
    for (int64_t t = 0; t < count && !mgvi_ctx_cut_row(run->ctx, t); t++) {
        const int64_t i = rows[t];
        const mgvi_coef c = mgvi_coefs_at(&p->row, i, 0);
        const double u = p->loss->grad(c, mgvi_rows_dot(s->rows, i, s->acc));
        s->u.x[i] += late * (u - s->u.x[i]);
        mgvi_rows_axpy(s->rows, i, factor * u, s->grad_acc);
        run->touched += 2 * (double)mgvi_rows_nnz(s->rows, i);
    }
    mgvi_rows_weights(s->rows, s->grad_acc, s->g.x);
    for (int64_t j = 0; j < mgvi_problem_penalised(p); j++)
        s->g.x[j] += p->penalty->grad(mgvi_coefs_at(&p->col, j, 0), s->w.x[j]);
}

typedef void (*update_fn)(state *s, const mgv_settings *set);

static mgv_status pass(mgvi_run *run, update_fn update)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    enum { LOOK = 256 }; /* rows between two looks at the limit; batches are of a few */
    const int64_t batch = run->settings->batch;
    const double late = 2 / ((double)run->iteration + 2);
    int64_t live = 0;
    for (int64_t i = 0; i < p->A->rows; i++)
        if (mgvi_coef_pick(&p->row.scale, i, 0) > 0)
            s->order[live++] = (int32_t)i;
    mgvi_rng_shuffle(&run->rng, s->order, live);
    for (int64_t first = 0, look = LOOK; first < live; first += batch) {
        if (first >= look) {
            if (mgvi_ctx_cut(run->ctx))
                return MGV_OK;
            look += LOOK;
        }
        batch_gradient(run, s, s->order + first, live - first < batch ? live - first : batch, late);
        s->steps++;
        update(s, run->settings);
    }
    double size;
    mgvi_vec_norm2(run->ctx, &s->w, &size);
    return isfinite(size) ? MGV_OK
                          : MGVI_FAIL(run->ctx, MGV_E_NUMERIC,
                                      "solver %s left the finite numbers: scale the data "
                                      "(--scale std)",
                                      run->ops->name);
}

static void nesterov(state *s, const mgv_settings *set) /* (2); `one` is v */
{
    const double rho = set->momentum, eta = set->rate;
    for (int64_t j = 0; j < s->w.n; j++) {
        const double v = s->one.x[j], g = s->g.x[j];
        s->w.x[j] += rho * rho * v - (1 + rho) * eta * g;
        s->one.x[j] = rho * v - eta * g;
    }
}

static void adadelta(state *s, const mgv_settings *set) /* (3); `one` is a, `two` is b */
{
    const double rho = set->adadelta_decay, eps = set->square_floor;
    for (int64_t j = 0; j < s->w.n; j++) {
        const double g = s->g.x[j];
        s->one.x[j] = rho * s->one.x[j] + (1 - rho) * g * g;
        const double d = g * sqrt(s->two.x[j] + eps) / sqrt(s->one.x[j] + eps);
        s->two.x[j] = rho * s->two.x[j] + (1 - rho) * d * d;
        s->w.x[j] -= d;
    }
}

static void adam(state *s, const mgv_settings *set) /* (4); `one` is m, `two` is q */
{
    const double b1 = set->first_moment, b2 = set->second_moment, t = (double)s->steps;
    const double first = 1 - pow(b1, t), second = 1 - pow(b2, t);
    for (int64_t j = 0; j < s->w.n; j++) {
        const double g = s->g.x[j];
        s->one.x[j] = b1 * s->one.x[j] + (1 - b1) * g;
        s->two.x[j] = b2 * s->two.x[j] + (1 - b2) * g * g;
        s->w.x[j] -=
            set->rate * (s->one.x[j] / first) / (sqrt(s->two.x[j] / second) + set->square_floor);
    }
}

static mgv_status nesterov_step(mgvi_run *run) { return pass(run, nesterov); }
static mgv_status adadelta_step(mgvi_run *run) { return pass(run, adadelta); }
static mgv_status adam_step(mgvi_run *run) { return pass(run, adam); }

/* The best intercept for these weights is shown; the method goes on with its own. */
static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    mgvi_vec_copy(run->ctx, &s->w, &s->shown);
    mgvi_intercept_improve(run->problem, 0.01 * run->settings->tol, &s->shown, &s->z);
    return (mgvi_iterate){.w = &s->shown, .u = &s->u};
}

#define STOCHASTIC_SOLVER(id, text, own, step_fn)                                                  \
    const mgvi_solver_ops mgvi_solver_##id = {                                                     \
        .name = #id,                                                                               \
        .summary = text,                                                                           \
        .needs = {.penalty = MGVI_GRAD | MGVI_CONJ,                                                \
                  .loss = MGVI_VALUE | MGVI_GRAD | MGVI_CONJ | MGVI_DUAL_CLIP,                     \
                  .op = MGVI_MUL | MGVI_MUL_T | MGVI_ROW},                                         \
        .any = {.penalty = MGVI_SQUARE | MGVI_ABS},                                                \
        .settings = "batch " own,                                                                  \
        .state_size = sizeof(state),                                                               \
        .init = init,                                                                              \
        .step = step_fn,                                                                           \
        .expose = expose,                                                                          \
    };

STOCHASTIC_SOLVER(nesterov_sgd, "a baseline: stochastic subgradients with Nesterov's momentum",
                  "rate momentum", nesterov_step)
STOCHASTIC_SOLVER(adadelta, "a baseline: AdaDelta on stochastic subgradients",
                  "adadelta_decay square_floor", adadelta_step)
STOCHASTIC_SOLVER(adam, "a baseline: Adam on stochastic subgradients",
                  "rate first_moment second_moment square_floor", adam_step)
