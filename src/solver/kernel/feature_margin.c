/* feature_margin.c - the hard margin with a kernel of few features, on the features themselves;
 * docs/algorithms/kernel.md, "No margin".
 *
 * For poly and for a precomputed matrix of low rank the problem is also one over the rows phi(x_i).
 * There exact_margin has factors and a prover that do not end at the root of rounding, as anything
 * made of K does. Its multipliers, or the weights of its proof, are those of the kernel problem:
 *   w = sum_i b_i y_i phi(x_i),   u = -b                                                      (15)
 * One step is the whole run. */
#include "op/features.h"
#include "solver/driver.h"
#include "solver/solver_impl.h"

#include <math.h>
#include <string.h>

typedef struct state {
    mgvi_vec w, u;
    double *phi; /* rows x width */
    int64_t width;
    double estimate;
} state;

static mgv_status fits(mgv_ctx *ctx, const mgv_problem *p)
{
    mgvi_kernel_op *k = mgvi_problem_kernel(p);
    if (k && (p->kernel.kind == MGVI_KERNEL_PRECOMPUTED || mgvi_kernel_width(k) > 0))
        return MGV_OK;
    return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                     "solver feature_margin needs a kernel of at most %d features (poly of small "
                     "degree, precomputed of low rank)",
                     MGVI_FEATURES_MOST);
}

/* Less than kernel_svm where the features are fewer than the rows, for then K is
 * singular; else after it. */
static double cost(const mgv_problem *p, const mgv_settings *settings)
{
    const double n = (double)p->A->rows, width = (double)mgvi_kernel_width(mgvi_problem_kernel(p));
    (void)settings;
    return (width > 0 && width < n ? 0.5 : fmax(width, 2)) * mgvi_kernel_cost(p);
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    s->estimate = INFINITY;
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->w));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->u));
    return mgvi_kernel_features(mgvi_problem_kernel(run->problem), &run->arena, &s->phi, &s->width);
}

/* The settings of the run over phi: no files, no scaling, the same goal and limits. */
static mgv_settings settings_for(const mgvi_run *run)
{
    mgv_settings t = *run->settings;
    t.kernel = MGVI_KERNEL_LINEAR;
    t.scale = MGVI_SCALE_NONE;
    t.solver = "auto";
    t.checkpoint = "";
    return t;
}

/* Runs to the end over the rows of phi; u of the answer. */
static mgv_status run_inside(mgvi_run *run, state *s, const mgvi_matrix *phi)
{
    const mgv_problem *p = run->problem;
    const mgv_settings settings = settings_for(run);
    mgv_problem *twin = NULL;
    mgv_solver *solver = NULL;
    mgv_status st = mgvi_problem_new_columns(run->ctx, p, phi, &settings, &twin);
    if (st == MGV_OK)
        st = mgvi_driver_new(run->ctx, twin, &settings, &solver);
    if (st == MGV_OK)
        st = mgvi_driver_run(solver);
    if (st == MGV_OK) {
        mgvi_vec_copy(run->ctx, &solver->answer.u, &s->u);
        run->suspicious = solver->stop == MGV_STOP_INFEASIBLE;
        run->touched += mgvi_driver_passes(solver) * (double)phi->nnz;
    }
    mgvi_driver_free(solver);
    mgvi_problem_free(twin);
    return st;
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    const int64_t n = mgvi_problem_examples(p);
    const mgvi_matrix phi = {.layout = MGV_DENSE,
                             .dtype = MGV_F64,
                             .rows = n,
                             .cols = s->width,
                             .nnz = n * s->width,
                             .val = s->phi,
                             .row_stride = s->width,
                             .col_stride = 1};
    MGVI_TRY(run_inside(run, s, &phi));
    mgvi_op_mul_t(p->A, -1, &s->u, 0, &s->w); /* (15); the judge knows the best intercept */
    run->finished = true;
    s->estimate = 0;
    return MGV_OK;
}

static mgvi_iterate expose(mgvi_run *run)
{
    const state *s = run->state;
    return (mgvi_iterate){.w = &s->w, .u = &s->u};
}

static double estimate(const mgvi_run *run) { return ((const state *)run->state)->estimate; }

const mgvi_solver_ops mgvi_solver_feature_margin = {
    .name = "feature_margin",
    .summary = "hard margin with a kernel of few features, exactly, on the features themselves",
    .needs = {.penalty = MGVI_SQUARE, .loss = MGVI_HARD | MGVI_MARGIN, .op = MGVI_KERNEL},
    .no = {.penalty = MGVI_ABS},
    .kernels = true,
    .contrasts = true,
    .uniform = true,
    .fits = fits,
    .cost = cost,
    .state_size = sizeof(state),
    .init = init,
    .step = step,
    .expose = expose,
    .estimate = estimate,
};
