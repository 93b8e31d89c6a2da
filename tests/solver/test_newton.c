/* test_newton.c - hinge SVMs by smoothing and an exact finish: exact optima, every shape and
 * strength, the driver's promises. */
#include "stepping.h"

#include "solver/driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- exact optima ---------------------------------------------------------------------------- */

static void check_vector(const json_t *c)
{
    const char *id = json_string_value(json_object_get(c, "id"));
    int64_t n, d;
    double *X = mgv_vector_array(c, "X", NULL), *y = mgv_vector_array(c, "y", &n);
    double *w = mgv_vector_array(c, "w", &d), *theta = mgv_vector_array(c, "theta", NULL);
    const double lambda = mgv_vector_number(json_object_get(c, "lam"));
    const double mu = mgv_vector_number(json_object_get(c, "mu"));
    const double b = mgv_vector_number(json_object_get(c, "b"));
    const double objective = mgv_vector_number(json_object_get(c, "objective"));
    double *coef = malloc((size_t)d * sizeof *coef), intercept;
    char options[200];
    snprintf(options, sizeof options, "solver=newton tol=1e-12 lambda=%.17g mu=%.17g intercept=%s",
             lambda, mu, json_integer_value(json_object_get(c, "bias")) ? "yes" : "no");
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, n, d, options);
    mgv_fit_solve(&fit);
    CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified, "%s: %s, gap %g", id,
               mgv_stop_name(fit.run.stop), fit.certificate.relative_gap);
    CHECK_LE(fit.certificate.gap, 1e-12, "%s", id);
    CHECK_NEAR(fit.certificate.primal, objective, 1e-12, "%s", id);
    mgvi_problem_user_weights(fit.problem, mgv_fit_weights(&fit), coef, &intercept);
    for (int64_t j = 0; j < d; j++) {
        CHECK_NEAR(coef[j], w[j], 1e-9, "%s: w[%d]", id, (int)j);
        CHECK_THAT(w[j] != 0 || coef[j] == 0, "%s: w[%d] is %g, not 0", id, (int)j, coef[j]);
    }
    CHECK_NEAR(intercept, b, 1e-9, "%s: b", id);
    for (int64_t i = 0; i < n; i++)
        CHECK_NEAR(-(double)n * fit.solver->answer.u.x[i], theta[i], 1e-9, "%s: theta[%d]", id,
                   (int)i);
    mgv_fit_free(&fit);
    free(X);
    free(y);
    free(w);
    free(theta);
    free(coef);
}

TEST(vectors_are_met)
{
    json_t *v = mgv_vector_load("sparse_svm_hinge");
    const json_t *cases = json_object_get(v, "cases");
    for (size_t k = 0; k < json_array_size(cases); k++)
        check_vector(json_array_get(cases, k));
    json_decref(v);
}

/* ---- every shape and strength ---------------------------------------------------------------- */

static void solve_random(int64_t n, int64_t d, double noise, double stretch, const char *options)
{
    double *X, *y;
    mgv_random_set((uint64_t)(n * 1000 + d), n, d, noise, &X, &y);
    for (int64_t i = 0; i < n; i++) /* columns of different units, away from the origin */
        for (int64_t j = 0; j < d; j++)
            X[i * d + j] = pow(stretch, (double)(j % 5)) * (X[i * d + j] + (double)(j % 3));
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, n, d, options);
    mgv_fit_set(&fit, "solver=newton tol=1e-8");
    mgv_fit_solve(&fit);
    CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified,
               "%d x %d, noise %g, stretch %g, %s: %s, gap %g", (int)n, (int)d, noise, stretch,
               options, mgv_stop_name(fit.run.stop), fit.certificate.relative_gap);
    mgv_fit_free(&fit);
    free(X);
    free(y);
}

TEST(random_problems_are_certified)
{
    static const int64_t shapes[][2] = {{20, 3}, {300, 8}, {900, 30}, {60, 60}, {30, 80}};
    static const char *const strengths[] = {
        "lambda=1 mu=0",       "lambda=0.01 mu=0", "lambda=1e-6 mu=0", "lambda=0.01 mu=0.02",
        "lambda=1e-4 mu=1e-3", "lambda=0 mu=0.03", "lambda=0 mu=1e-3"};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (size_t t = 0; t < sizeof strengths / sizeof *strengths; t++)
            for (int bits = 0; bits < 8; bits++) {
                char options[100];
                snprintf(options, sizeof options, "%s intercept=%s", strengths[t],
                         bits & 1 ? "yes" : "no");
                solve_random(shapes[k][0], shapes[k][1], bits & 2 ? 2 : 0, bits & 4 ? 7 : 1,
                             options);
            }
}

/* ---- the driver's promises ------------------------------------------------------------------- */

/* Rows enough for samples, with a rare column and rows that stand out. */
static void rare_set(int64_t n, int64_t d, double **X, double **y)
{
    mgv_random_set(11, n, d, 1.5, X, y);
    for (int64_t i = 0; i < n; i++) {
        (*X)[i * d] = i % 500 == 0 ? 1 : 0;
        if (i % 997 == 0)
            for (int64_t j = 1; j < d; j++)
                (*X)[i * d + j] *= 8;
    }
}

TEST(same_bits_for_any_number_of_threads)
{
    enum { ROWS = 9000, COLS = 7 };
    double *X, *y, first[COLS + 1];
    rare_set(ROWS, COLS, &X, &y);
    for (int threads = 1; threads <= 3; threads++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, ROWS, COLS, "solver=newton lambda=1e-4 mu=1e-3 tol=1e-9");
        CHECK_OK(fit.ctx, mgv_ctx_set_threads(fit.ctx, threads));
        mgv_fit_solve(&fit);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
        if (threads == 1)
            memcpy(first, mgv_fit_weights(&fit), sizeof first);
        assert_memory_equal(first, mgv_fit_weights(&fit), sizeof first);
        mgv_fit_free(&fit);
    }
    free(X);
    free(y);
}

/* One class is rare and has nothing of its own: w is nearly 0, and most rows lie at the hinge. */
static void rare_class(int64_t n, int64_t d, double **X, double **y)
{
    mgv_random_set(12, n, d, 1.5, X, y);
    for (int64_t i = 0; i < n; i++)
        (*y)[i] = i % 20 == 0 ? 1 : -1;
}

enum { BROKEN_ROWS = 8200 };

static void check_broken(const double *X, const double *y, int64_t d, const char *options)
{
    const size_t bytes = (size_t)(d + 1) * sizeof(double);
    mgv_fit whole;
    mgv_fit_start(&whole, X, y, BROKEN_ROWS, d, options);
    mgv_fit_solve(&whole);
    CHECK_THAT(whole.run.stop == MGV_STOP_CERTIFIED, "%s: %s", options,
               mgv_stop_name(whole.run.stop));
    for (int64_t at = 0; at < whole.run.iterations; at += 2) {
        mgv_fit rest;
        mgv_fit_start(&rest, X, y, BROKEN_ROWS, d, options);
        mgv_fit_continue(&rest, X, y, BROKEN_ROWS, d, options, at);
        assert_memory_equal(mgv_fit_weights(&whole), mgv_fit_weights(&rest), bytes);
        mgv_fit_free(&rest);
    }
    mgv_fit_free(&whole);
}

/* With few columns; with more, where rows are fixed on the way; where too few could be. */
TEST(a_broken_run_is_continued_to_the_same_bits)
{
    enum { FEW = 5, MORE = 44 };
    double *X, *y;
    rare_set(BROKEN_ROWS, FEW, &X, &y);
    check_broken(X, y, FEW, "solver=newton lambda=1e-5 tol=1e-10 max_iter=1000");
    free(X);
    free(y);
    rare_set(BROKEN_ROWS, MORE, &X, &y);
    check_broken(X, y, MORE, "solver=newton lambda=1e-4 tol=1e-8 max_iter=1000");
    free(X);
    free(y);
    rare_class(BROKEN_ROWS, FEW, &X, &y);
    check_broken(X, y, FEW, "solver=newton lambda=1e-2 tol=1e-5 max_iter=1000");
    free(X);
    free(y);
}

/* Large ones, at every tolerance: the answer does not depend on how rows were left out. */
TEST(samples_and_fixed_rows_do_not_change_the_answer)
{
    enum { ROWS = 8200, COLS = 40 };
    static const char *const strengths[] = {"lambda=1e-2", "lambda=1e-4", "lambda=1e-3 mu=1e-3"};
    for (size_t k = 0; k < 2 * sizeof strengths / sizeof *strengths; k++) {
        double *X, *y, exact = 0;
        if (k % 2)
            rare_class(ROWS, COLS, &X, &y);
        else
            rare_set(ROWS, COLS, &X, &y);
        for (double tol = 1e-9; tol < 1e-3; tol *= 1e3) {
            char options[100];
            snprintf(options, sizeof options, "solver=newton %s tol=%g", strengths[k / 2], tol);
            mgv_fit fit;
            mgv_fit_start(&fit, X, y, ROWS, COLS, options);
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified,
                       "set %d, %s: %s, gap %g", (int)(k % 2), options, mgv_stop_name(fit.run.stop),
                       fit.certificate.relative_gap);
            exact = tol < 1e-8 ? fit.certificate.primal : exact;
            CHECK_LE(fabs(fit.certificate.primal - exact), 2 * tol * exact, "%s", options);
            mgv_fit_free(&fit);
        }
        free(X);
        free(y);
    }
}

/* Pictures of 12 x 12 grey values: blurred noise, and a class that a blot tells, mostly. */
static void pictures(int64_t rows, double **X, double **y)
{
    enum { SIDE = 12, COLS = SIDE * SIDE };
    mgvi_rng rng = mgvi_rng_seed(5);
    *X = malloc((size_t)(rows * COLS) * sizeof **X);
    *y = malloc((size_t)rows * sizeof **y);
    for (int64_t i = 0; i < rows; i++) {
        double *x = *X + i * COLS, noise[SIDE + 2][SIDE + 2], score = 0.3 * mgvi_rng_normal(&rng);
        for (int a = 0; a < SIDE + 2; a++)
            for (int b = 0; b < SIDE + 2; b++)
                noise[a][b] = mgvi_rng_normal(&rng);
        for (int a = 0; a < SIDE; a++)
            for (int b = 0; b < SIDE; b++) {
                double sum = 0;
                for (int t = 0; t < 9; t++)
                    sum += noise[a + t / 3][b + t % 3];
                x[a * SIDE + b] = fmax(0, floor(40 * (sum - 1)));
                score += (a - 5) * (b - 6) * x[a * SIDE + b] / 2000;
            }
        (*y)[i] = score > 0 ? 1 : -1;
    }
}

/* Fewer rows than columns are near the hinge: no path of short steps there. */
TEST(few_rows_at_the_hinge_take_few_passes)
{
    enum { ROWS = 2000, COLS = 144, MOST_PASSES = 130 };
    static const char *const strengths[] = {"penalty=l1 C=1", "penalty=enet C=1",
                                            "penalty=l1 C=1 scale=std"};
    double *X, *y;
    pictures(ROWS, &X, &y);
    for (size_t k = 0; k < sizeof strengths / sizeof *strengths; k++) {
        char options[100];
        mgv_fit fit;
        snprintf(options, sizeof options, "solver=newton loss=hinge %s", strengths[k]);
        mgv_fit_start(&fit, X, y, ROWS, COLS, options);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified, "%s: %s, gap %g",
                   options, mgv_stop_name(fit.run.stop), fit.certificate.relative_gap);
        CHECK_LE(fit.certificate.relative_gap, 1e-8, "%s: weights are 0 or clearly not", options);
        CHECK_LE(fit.run.passes, MOST_PASSES, "%s", options);
        mgv_fit_free(&fit);
    }
    free(X);
    free(y);
}

/* From a neighbour's solution the path is shorter; from anywhere else the answer is the same. */
TEST(a_start_does_not_change_the_answer)
{
    enum { ROWS = 9000, COLS = 7 };
    static const char *const strengths[] = {"lambda=1e-3", "mu=2e-3"};
    double *X, *y, w[COLS + 1];
    rare_set(ROWS, COLS, &X, &y);
    for (int k = 0; k < 2; k++) {
        mgv_fit cold, warm;
        char options[80];
        snprintf(options, sizeof options, "solver=newton tol=1e-8 %s", strengths[k]);
        mgv_fit_start(&cold, X, y, ROWS, COLS, options);
        mgv_fit_solve(&cold);
        for (int near = 0; near < 2; near++) {
            for (int j = 0; j <= COLS; j++)
                w[j] = near ? 0.98 * mgv_fit_weights(&cold)[j] : j % 2 ? 40 : -30;
            open_rows(&warm, X, y, ROWS, COLS, options);
            CHECK_OK(warm.ctx, mgvi_driver_start(warm.solver, w, NULL));
            CHECK_OK(warm.ctx, mgv_solver_run(warm.ctx, warm.solver));
            describe(&warm);
            CHECK(warm.run.stop == MGV_STOP_CERTIFIED && warm.certificate.verified);
            CHECK_NEAR(warm.certificate.primal, cold.certificate.primal,
                       2e-8 * cold.certificate.primal, "%s", options);
            CHECK(!near || warm.run.iterations < cold.run.iterations);
            mgv_fit_free(&warm);
        }
        mgv_fit_free(&cold);
    }
    free(X);
    free(y);
}

TEST(a_weight_of_two_is_the_row_twice)
{
    enum { ROWS = 200, COLS = 4 };
    double *X, *y, twice_X[2 * ROWS * COLS], twice_y[2 * ROWS], weight[ROWS];
    mgv_random_set(3, ROWS, COLS, 1, &X, &y);
    int64_t n = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        weight[i] = (double)(i % 3);
        for (int64_t t = 0; t < i % 3; t++, n++) {
            memcpy(twice_X + n * COLS, X + i * COLS, COLS * sizeof *X);
            twice_y[n] = y[i];
        }
    }
    mgv_fit weighted, repeated;
    mgv_fit_start(&weighted, X, y, ROWS, COLS, "solver=newton lambda=0.01 mu=0.01 tol=1e-10");
    CHECK_OK(weighted.ctx, mgv_data_set_weights(weighted.ctx, weighted.data, weight));
    mgv_fit_solve(&weighted);
    mgv_fit_start(&repeated, twice_X, twice_y, n, COLS,
                  "solver=newton lambda=0.01 mu=0.01 tol=1e-10");
    mgv_fit_solve(&repeated);
    CHECK_NEAR(weighted.certificate.primal, repeated.certificate.primal, 1e-10, "primal");
    for (int j = 0; j <= COLS; j++)
        CHECK_NEAR(mgv_fit_weights(&weighted)[j], mgv_fit_weights(&repeated)[j], 1e-5, "w[%d]", j);
    mgv_fit_free(&weighted);
    mgv_fit_free(&repeated);
    free(X);
    free(y);
}

TEST(columns_beyond_the_numbers_are_refused)
{
    const double X[] = {1e30, -1e30, 2e30}, y[] = {1, -1, 1};
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, 3, 1, "solver=newton");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                MGV_E_UNSUPPORTED, "those of column 1 are too large");
    mgv_fit_free(&fit);
    mgv_fit_start(&fit, X, y, 3, 1, ""); /* another takes its place */
    mgv_fit_solve(&fit);
    CHECK(strcmp(fit.run.solver, "newton") != 0 && fit.certificate.verified);
    mgv_fit_free(&fit);
}

/* Matrices of 100,000 columns squared fit no memory: nobody hands over to it. */
TEST(many_columns_are_no_choice)
{
    enum { N = 4, D = 100000 };
    const double val[N] = {1, -2, 3, -1}, y[N] = {1, -1, 1, -1};
    const int32_t idx[N] = {0, 5, 77, D - 1};
    const int64_t ptr[N + 1] = {0, 1, 2, 3, 4};
    mgv_fit fit;
    mgv_fit_start(&fit, val, y, N, 1, "tol=1e-12");
    mgv_data_free(fit.ctx, fit.data);
    CHECK_OK(fit.ctx,
             mgv_data_from_sparse(fit.ctx, MGV_CSR, MGV_F64, val, ptr, idx, N, D, &fit.data));
    CHECK_OK(fit.ctx, mgv_data_set_labels(fit.ctx, fit.data, y));
    mgv_fit_solve(&fit);
    CHECK(isinf(mgvi_solver_find("newton")->cost(fit.problem, fit.settings)));
    CHECK_THAT(fit.certificate.relative_gap <= 1e-9, "%g", fit.certificate.relative_gap);
    mgv_fit_free(&fit);
}

int main(void)
{
    return RUN(vectors_are_met, random_problems_are_certified, same_bits_for_any_number_of_threads,
               a_broken_run_is_continued_to_the_same_bits, few_rows_at_the_hinge_take_few_passes,
               samples_and_fixed_rows_do_not_change_the_answer, a_start_does_not_change_the_answer,
               a_weight_of_two_is_the_row_twice, columns_beyond_the_numbers_are_refused,
               many_columns_are_no_choice);
}
