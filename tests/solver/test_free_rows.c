/* test_free_rows.c - Newton steps on the free rows of a dual. */
#include "stepping.h"

#include "base/rng.h"
#include "solver/coordinate/free_rows.h"

#include <math.h>
#include <string.h>

enum { N = 60, D = 25 };

/* Half of the entries are 0; row 1 is row 0 again and row 3 is row 2 with the other label, which
 * makes the system of the free rows singular. */
static void make_rows(uint64_t seed, double *X, double *y)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    for (int i = 0; i < N; i++) {
        y[i] = i % 3 ? 1 : -1;
        for (int j = 0; j < D; j++)
            X[i * D + j] = mgvi_rng_below(&rng, 2) ? mgvi_rng_normal(&rng) + 0.2 * y[i] : 0;
    }
    memcpy(X + D, X, D * sizeof *X);
    memcpy(X + 3 * D, X + 2 * D, D * sizeof *X);
    y[1] = y[0];
    y[3] = -y[2];
}

/* F of free_rows.h, by the textbook. */
static double dual_value(const mgv_problem *p, const double *u, double kappa, double b0)
{
    mgvi_vec uv = mgvi_vec_wrap((double *)u, N, MGVI_ROWS), v;
    mgvi_arena arena;
    mgvi_arena_init(&arena, p->ctx);
    CHECK_OK(p->ctx, mgvi_vec_new(&arena, MGVI_COLS, p->A->cols, 1, &v));
    mgvi_op_mul_t(p->A, 1, &uv, 0, &v);
    double F = 0, free_sum = 0;
    for (int64_t j = 0; j < mgvi_problem_penalised(p); j++)
        F -= v.x[j] * v.x[j] / (2 * p->lambda);
    for (int i = 0; i < N; i++) {
        F -= p->loss->conj(mgvi_coefs_at(&p->row, i, 0), u[i]);
        free_sum += mgvi_problem_free_entry(p, i) * u[i];
    }
    mgvi_arena_free(&arena);
    return F + b0 * free_sum - kappa / 2 * free_sum * free_sum;
}

static const char *const views[] = {"intercept=no", "intercept=yes", "intercept=no scale=std",
                                    "intercept=yes scale=maxabs", "intercept=yes scale=rownorm"};

static const char *const losses[] = {"hinge", "squared_hinge", "smooth_hinge", "logistic"};

/* A dual point of a problem of our rows, and the w that goes with it. */
typedef struct point {
    mgvi_arena arena;
    mgvi_rows *rows;
    int64_t len;
    double *acc, kappa, b0, free_sum, u[N], curvature[N];
} point;

static void add_row(const mgv_problem *p, const point *at, int i, double *acc, double *free_sum)
{
    mgvi_rows_axpy(at->rows, i, -at->u[i] / p->lambda, acc);
    *free_sum += mgvi_problem_free_entry(p, i) * at->u[i];
}

/* Every fifth row at each end of the hinge's box. */
static void open_point(const mgv_problem *p, point *at)
{
    *at = (point){.kappa = p->free_cols ? 3 : 0, .b0 = p->free_cols ? 0.2 : 0};
    mgvi_arena_init(&at->arena, p->ctx);
    CHECK_OK(p->ctx, mgvi_rows_new(p->A, &at->arena, &at->rows));
    at->len = mgvi_rows_acc_len(at->rows);
    at->acc = mgvi_arena_array(&at->arena, (size_t)at->len, sizeof *at->acc);
    mgvi_rows_square_norms(at->rows, at->curvature);
    for (int i = 0; i < N; i++) {
        at->curvature[i] = at->curvature[i] / p->lambda + at->kappa;
        const double s = mgvi_coef_pick(&p->row.scale, i, 0);
        at->u[i] = i % 5 == 4 ? 0 : i % 5 == 3 ? -s : -(0.1 + 0.2 * (i % 4)) * s;
        add_row(p, at, i, at->acc, &at->free_sum);
    }
    if (p->free_cols)
        at->acc[at->len - 1] = at->b0 - at->kappa * at->free_sum;
}

/* Nobody leaves the box, w and the intercept follow u, and at the end no free row wants to move. */
static void check_point(const mgv_problem *p, const point *at, double moved, const char *said)
{
    double *again = mgvi_alloc(p->ctx, (size_t)at->len, sizeof *again), sum = 0, worst = 0;
    memset(again, 0, (size_t)at->len * sizeof *again);
    for (int i = 0; i < N; i++) {
        CHECK(p->loss->dual_clip(mgvi_coefs_at(&p->row, i, 0), at->u[i]) == at->u[i]);
        add_row(p, at, i, again, &sum);
    }
    CHECK_NEAR(sum - at->free_sum, moved, 1e-14, "%s", said);
    if (p->free_cols)
        again[at->len - 1] = at->b0 - at->kappa * sum;
    for (int64_t j = 0; j < at->len; j++)
        CHECK_NEAR(at->acc[j], again[j], 1e-11 * (1 + fabs(again[j])), "%s: acc[%d]", said, (int)j);
    for (int i = 0; i < N; i++) {
        const mgvi_coef c = mgvi_coefs_at(&p->row, i, 0);
        if (at->u[i] < 0 && at->u[i] > p->loss->dual_clip(c, -INFINITY) && i % 5 < 3)
            worst = fmax(worst,
                         fabs(mgvi_rows_dot(at->rows, i, at->acc) - p->loss->mirror(c, at->u[i])));
    }
    const bool weighted = p->row.scale.values; /* rows of little weight have little of the gap */
    CHECK_LE(worst, weighted ? 1e-3 : 1e-4, "%s", said);
    mgvi_release(p->ctx, again);
}

/* F grows by what is claimed. */
static void check_a_step(const double *X, const double *y, const double *weight,
                         const char *options)
{
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, N, D, options);
    CHECK_OK(fit.ctx, mgv_data_set_weights(fit.ctx, fit.data, weight));
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    const mgv_problem *p = fit.problem;
    mgvi_free_rows *f;
    mgvi_free_step taken;
    point at;
    open_point(p, &at);
    CHECK_OK(fit.ctx, mgvi_free_rows_new(p, at.rows, &at.arena, &f));
    const mgvi_free_goal goal = {.inverse_lambda = 1 / p->lambda,
                                 .kappa = at.kappa,
                                 .curvature = at.curvature,
                                 .target = 1e-12,
                                 .most = INFINITY,
                                 .most_rows = INFINITY};
    const double before = dual_value(p, at.u, at.kappa, at.b0);
    CHECK_OK(fit.ctx, mgvi_free_rows_step(f, &goal, at.u, at.acc, &taken));
    const double after = dual_value(p, at.u, at.kappa, at.b0);
    CHECK_THAT(taken.rows >= 36 && taken.gain > 0, "%s: %d rows", options, (int)taken.rows);
    CHECK_NEAR(after - before, taken.gain, 1e-12 * fabs(after), "%s", options);
    check_point(p, &at, taken.free_sum, options);
    mgvi_arena_free(&at.arena);
    mgv_fit_free(&fit);
}

TEST(a_step_does_what_it_says)
{
    double X[N * D], y[N], same[N], weight[N]; /* of rows, copies among them */
    make_rows(3, X, y);
    for (int i = 0; i < N; i++) {
        same[i] = 1;
        weight[i] = 0.25 + (i * 7 % 11);
    }
    for (size_t k = 0; k < sizeof views / sizeof *views; k++)
        for (size_t l = 0; l < sizeof losses / sizeof *losses; l++) {
            char options[160];
            snprintf(options, sizeof options, "loss=%s lambda=0.05 tol=1e-9 %s", losses[l],
                     views[k]);
            check_a_step(X, y, same, options);
            check_a_step(X, y, weight, options);
        }
}

/* Many rows: nothing is done. */
TEST(a_step_may_be_too_large)
{
    double X[N * D], y[N];
    make_rows(3, X, y);
    mgv_fit fit;
    open_rows(&fit, X, y, N, D, "loss=hinge lambda=0.05");
    mgvi_free_rows *f;
    mgvi_free_step taken;
    point at;
    open_point(fit.problem, &at);
    CHECK_OK(fit.ctx, mgvi_free_rows_new(fit.problem, at.rows, &at.arena, &f));
    const mgvi_free_goal goal = {.inverse_lambda = 1 / fit.problem->lambda,
                                 .kappa = at.kappa,
                                 .curvature = at.curvature,
                                 .most = INFINITY,
                                 .most_rows = 35};
    CHECK_OK(fit.ctx, mgvi_free_rows_step(f, &goal, at.u, at.acc, &taken));
    CHECK(taken.rows == 0 && taken.products == 0 && taken.gain == 0);
    mgvi_arena_free(&at.arena);
    mgv_fit_free(&fit);
}

/* M y = x on the face, by the textbook; y = 0 elsewhere. */
TEST(the_metric_is_inverted)
{
    enum { ROWS = 7 };
    const int64_t twin[ROWS] = {0, 0, 2, 0, 2, 5, 6};
    const bool face[ROWS] = {true, true, true, true, true, false, true};
    double root[ROWS] = {3, -3, 1, 3, 1, 2, -5}, bend[ROWS] = {0.1, 1e-3, 2, 1, 1e-6, 1, 0.5};
    double x[ROWS] = {1, 2, -1, 0.5, 3, 7, 1}, y[ROWS], pull[ROWS], width[ROWS], product = 0;
    const mgvi_free_metric m = {.count = ROWS,
                                .twin = (int64_t *)twin,
                                .root = root,
                                .bend = bend,
                                .pull = pull,
                                .width = width};
    const double said = mgvi_free_metric_solve(&m, face, x, y);
    for (int i = 0; i < ROWS; i++) {
        double back = bend[i] * y[i];
        for (int k = 0; k < ROWS; k++)
            back += twin[k] == twin[i] && face[k] ? root[i] * root[k] * y[k] : 0;
        CHECK_NEAR(face[i] ? back : y[i], face[i] ? x[i] : 0, 1e-7, "row %d", i);
        product += x[i] * y[i];
    }
    CHECK_NEAR(said, product, 1e-9 * fabs(product), "x'y");
}

/* Half of the rows again, with the other label: coordinate ascent alone moves a pair by about
 * lambda/|x|^2 of its way in a pass. */
TEST(copies_of_other_classes_are_solved_for)
{
    enum { FEW = 20, WIDE = 60, ALL = 2 * FEW };
    double X[ALL * WIDE], y[ALL];
    mgvi_rng rng = mgvi_rng_seed(11);
    for (int i = 0; i < FEW; i++) {
        y[i] = i % 2 ? 1 : -1;
        y[FEW + i] = i % 4 ? y[i] : -y[i];
        for (int j = 0; j < WIDE; j++)
            X[i * WIDE + j] = 10 * mgvi_rng_normal(&rng);
    }
    memcpy(X + FEW * WIDE, X, FEW * WIDE * sizeof *X);
    for (size_t l = 0; l < sizeof losses / sizeof *losses; l++) {
        mgv_fit fit;
        char options[160];
        snprintf(options, sizeof options,
                 "loss=%s C=100 tol=1e-6 solver=dual_coordinate "
                 "max_passes=1000",
                 losses[l]);
        mgv_fit_start(&fit, X, y, ALL, WIDE, options);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s: gap %g", options,
                   fit.certificate.relative_gap);
        mgv_fit_free(&fit);
    }
}

/* The certificate that plain coordinate ascent reaches in many passes, in few. */
TEST(the_finish_is_exact)
{
    double X[N * D], y[N];
    make_rows(5, X, y);
    for (size_t k = 0; k < sizeof views / sizeof *views; k++) {
        double primal[2];
        int64_t iterations[2];
        for (int plain = 0; plain < 2; plain++) {
            mgv_fit fit;
            char options[160];
            snprintf(options, sizeof options,
                     "loss=hinge lambda=1e-3 tol=1e-10 max_iter=300000 solver=dual_coordinate "
                     "shrink=%s %s",
                     plain ? "no" : "yes", views[k]);
            mgv_fit_start(&fit, X, y, N, D, options);
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s: gap %g", options,
                       fit.certificate.relative_gap);
            primal[plain] = fit.certificate.primal;
            iterations[plain] = fit.run.iterations;
            mgv_fit_free(&fit);
        }
        CHECK_NEAR(primal[0], primal[1], 2e-10 * primal[0], "%s", views[k]);
        CHECK_THAT(iterations[0] < iterations[1], "%s: %d passes, plain %d", views[k],
                   (int)iterations[0], (int)iterations[1]);
    }
}

TEST(threads_do_not_matter)
{
    double X[N * D], y[N], primal[2];
    make_rows(7, X, y);
    for (int t = 0; t < 2; t++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, "loss=hinge lambda=1e-3 tol=1e-10 solver=dual_coordinate");
        CHECK_OK(fit.ctx, mgv_ctx_set_threads(fit.ctx, t ? 3 : 1));
        mgv_fit_solve(&fit);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
        primal[t] = fit.certificate.primal;
        mgv_fit_free(&fit);
    }
    CHECK(primal[0] == primal[1]);
}

int main(void)
{
    return RUN(a_step_does_what_it_says, a_step_may_be_too_large, the_metric_is_inverted,
               copies_of_other_classes_are_solved_for, the_finish_is_exact, threads_do_not_matter);
}
