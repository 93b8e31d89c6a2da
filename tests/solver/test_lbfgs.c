/* test_lbfgs.c - losses of many classes at once: softmax to its certificate. */
#include "vectors.h"

#include "model/model.h"
#include "solver/joint/class_hessian.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 120, D = 5, K = 3 };

/* F and the norm of its gradient at the model's weights, from the definition. */
static double objective(const mgv_model *m, const double *X, const double *y, const double *s,
                        double lambda, double *slope)
{
    double f = 0, grad[K * (D + 1)] = {0}, total = 0;
    for (int i = 0; i < N; i++)
        total += s ? s[i] : 1;
    for (int c = 0; c < K; c++)
        for (int j = 0; j < D; j++) {
            f += 0.5 * lambda * m->coef[c * D + j] * m->coef[c * D + j];
            grad[c * (D + 1) + j] = lambda * m->coef[c * D + j];
        }
    for (int i = 0; i < N; i++) {
        double z[K], sum = 0;
        for (int c = 0; c < K; c++) {
            z[c] = m->intercept[c];
            for (int j = 0; j < D; j++)
                z[c] += m->coef[c * D + j] * X[i * D + j];
            sum += exp(z[c]);
        }
        const double weight = (s ? s[i] : 1) / total;
        f += weight * (log(sum) - z[(int)y[i]]);
        for (int c = 0; c < K; c++) {
            const double u = weight * (exp(z[c]) / sum - (c == (int)y[i]));
            for (int j = 0; j <= D; j++)
                grad[c * (D + 1) + j] += u * (j < D ? X[i * D + j] : 1);
        }
    }
    *slope = 0;
    for (int t = 0; t < K * (D + 1); t++)
        if (t % (D + 1) < D || m->intercept[0] != 0)
            *slope += grad[t] * grad[t];
    *slope = sqrt(*slope);
    return f;
}

TEST(softmax_meets_its_optimality_condition)
{
    static const char *const options[] = {
        "loss=softmax lambda=0.01 tol=1e-10", "loss=softmax lambda=0.01 tol=1e-10 intercept=false",
        "loss=softmax lambda=1e-5 tol=1e-7", "loss=softmax C=0.5 tol=1e-10"};
    double X[N * D], y[N];
    mgv_clouds(X, y, N, D, K);
    for (int o = 0; o < 4; o++) {
        mgv_fit fit;
        mgv_model *m;
        double slope;
        mgv_fit_start(&fit, X, y, N, D, options[o]);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified, "%s",
                   options[o]);
        CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
        CHECK(m->outputs == K);
        const double f = objective(m, X, y, NULL, fit.problem->lambda, &slope);
        CHECK_NEAR(f, fit.certificate.primal, 1e-12, "%s", options[o]);
        CHECK_LE(slope, o == 2 ? 1e-5 : 3e-6, "%s", options[o]);
        mgv_model_free(fit.ctx, m);
        mgv_fit_free(&fit);
    }
}

/* Two classes: w = w_1 - w_0 with half the strength is the logistic fit. */
TEST(two_classes_are_logistic_regression)
{
    double X[N * D], y[N];
    mgv_clouds(X, y, N, D, 2);
    mgv_check_two_classes(
        X, y, N, D, "loss=softmax lambda=0.02 tol=1e-11",
        "loss=logistic lambda=0.01 tol=1e-11 solver=dual_coordinate max_iter=100000");
}

/* lower <= optimum <= upper at every certificate, weights count as rows repeated. */
static double best_dual = -INFINITY, least_primal = INFINITY;
static int watch(void *user, const mgv_event *e)
{
    (void)user;
    if (e->kind == MGV_EVENT_TRACE) {
        best_dual = fmax(best_dual, e->dual);
        least_primal = fmin(least_primal, e->primal);
    }
    return 0;
}

TEST(certificates_bracket_the_optimum_and_weights_are_rows)
{
    double X[N * D], y[N], twice[2 * N * D], labels[2 * N], weight[N];
    int64_t rows = 0;
    mgv_fit by_weight, by_rows;
    mgv_clouds(X, y, N, D, K);
    for (int i = 0; i < N; i++) {
        weight[i] = 1 + i % 2;
        for (int r = 0; r < weight[i]; r++, rows++) {
            memcpy(twice + rows * D, X + i * D, D * sizeof *X);
            labels[rows] = y[i];
        }
    }
    mgv_fit_start(&by_rows, twice, labels, rows, D, "loss=softmax lambda=0.001 tol=1e-10");
    mgv_fit_solve(&by_rows);
    mgv_fit_start(&by_weight, X, y, N, D, "loss=softmax lambda=0.001 tol=1e-10");
    CHECK_OK(by_weight.ctx, mgv_data_set_weights(by_weight.ctx, by_weight.data, weight));
    mgv_ctx_on_event(by_weight.ctx, watch, NULL);
    mgv_fit_solve(&by_weight);
    CHECK_NEAR(by_weight.certificate.primal, by_rows.certificate.primal, 1e-10, "objective");
    CHECK_LE(best_dual, by_rows.certificate.primal * (1 + 1e-12), "dual");
    CHECK_LE(by_rows.certificate.dual * (1 - 1e-12), least_primal, "primal");
    mgv_fit_free(&by_rows);
    mgv_fit_free(&by_weight);
}

TEST(other_solvers_and_losses_say_what_they_lack)
{
    double X[N * D], y[N];
    mgv_fit fit;
    mgv_clouds(X, y, N, D, K);
    mgv_fit_start(&fit, X, y, N, D, "loss=softmax solver=dual_coordinate");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                MGV_E_UNSUPPORTED, "all classes at once");
    mgv_fit_free(&fit);
    mgv_fit_start(&fit, X, y, N, D, "loss=softmax task=regress");
    CHECK_FAILS(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem), MGV_E_ARG,
                "needs classes");
    mgv_fit_free(&fit);
}

TEST(runs_have_the_same_bits)
{
    double X[N * D], y[N];
    mgv_clouds(X, y, N, D, K);
    mgv_check_same_bits(X, y, N, D, "loss=softmax lambda=1e-4 tol=1e-14 max_iter=20", 10);
}

/* Columns from 1e-3 to 1e3, one that few rows have, a rare class: the second derivative knows. With
 * and without sampling its rows. */
enum { RAW = 6000, RAW_COLS = 8 };

static void raw_clouds(double *X, double *y, int rows)
{
    mgvi_rng rng = mgvi_rng_seed(9);
    for (int i = 0; i < rows; i++) {
        y[i] = i % 97 == 0 ? 3 : i % 3;
        for (int j = 0; j < RAW_COLS; j++)
            X[i * RAW_COLS + j] = (double)(float)(pow(10, j - 3) * (mgvi_rng_normal(&rng) +
                                                                    (j % 4 == (int)y[i]) + 5));
        X[i * RAW_COLS + RAW_COLS - 1] = i % 211 == 0;
    }
}

TEST(raw_columns_need_few_iterations)
{
    double *X = malloc(RAW * RAW_COLS * sizeof *X), *y = malloc(RAW * sizeof *y);
    static const char *const options[] = {
        "loss=softmax C=1e-3 tol=1e-7", "loss=softmax C=1 tol=1e-7", "loss=softmax C=100 tol=1e-7",
        "loss=softmax C=1 tol=1e-7 intercept=no", "loss=softmax C=1 tol=1e-7 scale=std"};
    for (int o = 0; o < 10; o++) {
        const int rows = o < 5 ? 400 : RAW;
        mgv_fit fit;
        raw_clouds(X, y, rows);
        mgv_fit_start(&fit, X, y, rows, RAW_COLS, options[o % 5]);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified, "%d rows, %s",
                   rows, options[o % 5]);
        CHECK_LE(fit.run.iterations, 60, "%d rows, %s", rows, options[o % 5]);
        mgv_fit_free(&fit);
    }
    raw_clouds(X, y, RAW);
    mgv_check_same_bits(X, y, RAW, RAW_COLS, "loss=softmax C=1 tol=1e-15 max_iter=12", 7);
    free(X);
    free(y);
}

/* Large enough for the fused pass, the epochs before it and the metric; tight enough to end in
 * float64. */
enum { ROWS = 4200, COLS = 23, CLASSES = 45 };

static void many_clouds(double *X, double *y)
{
    mgvi_rng rng = mgvi_rng_seed(4);
    for (int i = 0; i < ROWS; i++) {
        y[i] = i % CLASSES;
        for (int j = 0; j < COLS; j++)
            X[i * COLS + j] =
                (double)(float)(mgvi_rng_normal(&rng) + 2 * (i % CLASSES % COLS == j) + (j % 4));
    }
}

TEST(the_fast_way_reaches_the_same_optimum)
{
    static const char *const options[] = {"loss=softmax lambda=1e-3 tol=1e-3",
                                          "loss=softmax lambda=1e-3 tol=1e-8",
                                          "loss=softmax lambda=1e-3 tol=1e-8 intercept=no",
                                          "loss=softmax lambda=10 tol=1e-6",
                                          "loss=softmax lambda=1e-3 tol=1e-6 scale=std",
                                          "loss=softmax lambda=0.1 tol=1e-6 scale=rownorm"};
    double *X = malloc(ROWS * COLS * sizeof *X), y[ROWS], optimum = NAN;
    many_clouds(X, y);
    for (int o = 0; o < 6; o++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, ROWS, COLS, options[o]);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified, "%s",
                   options[o]);
        CHECK_LE(fit.run.iterations, 150, "%s", options[o]);
        if (o == 1) /* the loose run is within its own certificate */
            CHECK_LE(optimum, fit.certificate.primal * (1 + 1e-3), "optimum");
        optimum = fit.certificate.primal;
        mgv_fit_free(&fit);
    }
    free(X);
}

/* More unknowns than one matrix is made for: a matrix for every class. */
TEST(blocks_of_classes_need_few_iterations)
{
    enum { TALL = 4200, WIDE = 220, FEW = 5 };
    static const char *const options[] = {"loss=softmax C=1 tol=1e-6",
                                          "loss=softmax C=100 tol=1e-6"};
    double *X = malloc((size_t)TALL * WIDE * sizeof *X), *y = malloc(TALL * sizeof *y);
    mgvi_rng rng = mgvi_rng_seed(9);
    for (int i = 0; i < TALL; i++) {
        y[i] = i % FEW;
        for (int j = 0; j < WIDE; j++)
            X[i * WIDE + j] = (mgvi_rng_normal(&rng) + 0.2 * (j % FEW == i % FEW)) / (1 + j % 7);
    }
    for (int o = 0; o < 2; o++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, TALL, WIDE, options[o]);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified, "%s",
                   options[o]);
        CHECK_LE((double)fit.run.iterations, 40, "%s", options[o]);
        mgv_fit_free(&fit);
    }
    mgv_check_same_bits(X, y, TALL, WIDE, "loss=softmax C=1 tol=1e-15 max_iter=12", 7);
    free(X);
    free(y);
}

TEST(the_fast_way_has_the_same_bits)
{
    double *X = malloc(ROWS * COLS * sizeof *X), y[ROWS];
    many_clouds(X, y);
    mgv_check_same_bits(X, y, ROWS, COLS, "loss=softmax lambda=1e-3 tol=1e-15 max_iter=20", 12);
    free(X);
}

/* A tolerance below rounding: the run ends where F falls no more, and has its certificate. */
TEST(a_run_ends_where_rounding_does)
{
    static const char *const options[] = {"loss=softmax C=1 tol=1e-15 max_iter=5000",
                                          "loss=softmax C=100 tol=1e-15 max_iter=5000",
                                          "loss=softmax C=1 tol=1e-15 max_iter=5000 intercept=no"};
    double X[N * D], y[N];
    mgv_clouds(X, y, N, D, K);
    for (int o = 0; o < 3; o++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, options[o]);
        mgv_fit_solve(&fit);
        CHECK_LE((double)fit.run.iterations, 500, "%s", options[o]);
        CHECK_LE(fit.certificate.relative_gap, 1e-11, "%s", options[o]);
        mgv_fit_free(&fit);
    }
}

/* Images of 28 x 28 and ten digits: factors of float64 were more than half of so small a table and
 * 64 MiB, and without a metric raw pixels never ended. */
TEST(blocks_of_images_fit_beside_a_small_table)
{
    enum { IMAGES = 4000, PIXELS = 784, DIGITS = 10 };
    float *X = calloc((size_t)IMAGES * PIXELS, sizeof *X);
    double *y = malloc(IMAGES * sizeof *y);
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_settings *settings;
    mgv_data *data;
    mgv_problem *p;
    for (int i = 0; i < IMAGES; i++) {
        y[i] = i % DIGITS;
        X[(int64_t)i * PIXELS + i % PIXELS] = 255;
    }
    CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F32, X, IMAGES, PIXELS, PIXELS, 1, &data));
    CHECK_OK(ctx, mgv_data_set_labels(ctx, data, y));
    CHECK_OK(ctx, mgv_settings_new(ctx, &settings));
    CHECK_OK(ctx, mgv_settings_set(ctx, settings, "loss", "softmax"));
    CHECK_OK(ctx, mgv_problem_new(ctx, data, settings, &p));
    CHECK(mgvi_class_hessian_apart_rows(p) == IMAGES);
    CHECK(isinf(mgvi_class_hessian_cost(p)) && isfinite(mgvi_class_hessian_blocks_cost(p)));
    mgv_problem_free(ctx, p);
    mgv_settings_free(ctx, settings);
    mgv_data_free(ctx, data);
    mgv_ctx_free(ctx);
    free(X);
    free(y);
}

int main(void)
{
    return RUN(softmax_meets_its_optimality_condition, two_classes_are_logistic_regression,
               certificates_bracket_the_optimum_and_weights_are_rows,
               other_solvers_and_losses_say_what_they_lack, runs_have_the_same_bits,
               raw_columns_need_few_iterations, the_fast_way_reaches_the_same_optimum,
               blocks_of_classes_need_few_iterations, the_fast_way_has_the_same_bits,
               a_run_ends_where_rounding_does, blocks_of_images_fit_beside_a_small_table);
}
