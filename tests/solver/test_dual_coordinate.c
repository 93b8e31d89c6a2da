/* test_dual_coordinate.c - exact optima, laws and the driver's promises. */
#include "stepping.h"

#include "solver/driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- exact optima ---------------------------------------------------------------------------- */

static void start_linear_p2(mgv_fit *fit, const char *options)
{
    json_t *v = mgv_vector_load("margin_linear_p2");
    double *X = mgv_vector_array(v, "X", NULL), *y = mgv_vector_array(v, "y", NULL);
    mgv_fit_start(fit, X, y, 16, 5, options);
    free(X);
    free(y);
    json_decref(v);
}

static void check_weights(const mgv_fit *fit, const json_t *v, const char *key, double tolerance)
{
    int64_t d;
    double *w = mgv_vector_array(v, key, &d), scale = 0;
    for (int64_t j = 0; j < d; j++)
        scale = fmax(scale, fabs(w[j]));
    for (int64_t j = 0; j < d; j++)
        CHECK_NEAR(mgv_fit_weights(fit)[j], w[j], tolerance * scale, "w[%d]", (int)j);
    free(w);
}

TEST(soft_margin_vector)
{
    json_t *v = mgv_vector_load("margin_soft_margin");
    mgv_fit fit;
    start_linear_p2(&fit,
                    "loss=hinge solver=dual_coordinate C=2 intercept=no tol=1e-12 max_iter=100000");
    mgv_fit_solve(&fit);
    CHECK(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified);
    check_weights(&fit, v, "w_star", 1e-9);
    /* ours is the mean form: the vector's value divided by C n */
    const double primal = mgv_vector_number(json_object_get(v, "primal"));
    CHECK_NEAR(fit.certificate.primal * 32, primal, 1e-10 * primal, "primal");
    mgv_fit_free(&fit);
    json_decref(v);
}

TEST(smooth_hinge_vector)
{
    json_t *v = mgv_vector_load("margin_sdca_smooth_hinge");
    mgv_fit fit;
    start_linear_p2(&fit, "loss=smooth_hinge smoothing=1 lambda=0.05 intercept=no tol=1e-16 "
                          "max_iter=3000");
    mgv_fit_solve(&fit);
    CHECK_LE(fit.certificate.relative_gap, 1e-12, "gap");
    check_weights(&fit, v, "w_star", 1e-9);
    double *b = mgv_vector_array(v, "b_star", NULL);
    for (int i = 0; i < 16; i++) /* b_i = -n u_i */
        CHECK_NEAR(-16 * fit.solver->answer.u.x[i], b[i], 1e-7, "b[%d]", i);
    free(b);
    mgv_fit_free(&fit);
    json_decref(v);
}

TEST(hard_margin_vectors)
{
    static const char *const names[] = {"margin_linear_p2", "margin_wide_p2", "margin_toy_p2"};
    for (int k = 0; k < 3; k++) {
        json_t *v = mgv_vector_load(names[k]);
        double *X = mgv_vector_array(v, "X", NULL), *y = mgv_vector_array(v, "y", NULL);
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, json_integer_value(json_object_get(v, "n")),
                      json_integer_value(json_object_get(v, "d")),
                      "loss=margin intercept=no tol=1e-10 max_iter=1000000");
        mgv_fit_solve(&fit);
        const double gamma = mgv_vector_number(json_object_get(v, "gamma"));
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s: %s", names[k],
                   mgv_stop_name(fit.run.stop));
        CHECK(fit.certificate.separable == 1);
        CHECK_LE(fit.certificate.margin, gamma * (1 + 1e-12), "%s", names[k]);
        CHECK_LE(gamma * (1 - 1e-12), fit.certificate.margin_upper, "%s", names[k]);
        CHECK_NEAR(fit.certificate.margin, gamma, 1e-9 * gamma, "%s", names[k]);
        mgv_fit_free(&fit);
        free(X);
        free(y);
        json_decref(v);
    }
}

TEST(no_margin_is_proven)
{
    json_t *v = mgv_vector_load("margin_nonseparable");
    double *X = mgv_vector_array(v, "X", NULL);
    /* The vector has one class; a mirrored copy of a row makes the second. */
    const double rows[] = {X[0], X[1], X[2], X[3], -X[4], -X[5], X[6], X[7]};
    const double y[] = {1, 1, -1, 1};
    mgv_fit fit;
    mgv_fit_start(&fit, rows, y, 4, 2, "loss=margin intercept=no");
    mgv_fit_solve(&fit);
    CHECK(fit.run.stop == MGV_STOP_INFEASIBLE && fit.certificate.separable == 0);
    CHECK_LE(fit.certificate.proof_norm, 1e-12, "proof");
    const double *u;
    int64_t n;
    mgv_solver_dual(fit.solver, &u, &n);
    double sum = 0, x0 = 0, x1 = 0;
    for (int i = 0; i < 4; i++) {
        CHECK(u[i] <= 0);
        sum -= u[i];
        x0 -= u[i] * y[i] * rows[2 * i];
        x1 -= u[i] * y[i] * rows[2 * i + 1];
    }
    CHECK_NEAR(sum, 1, 1e-14, "sum");
    CHECK_LE(hypot(x0, x1), 1e-12, "combination");
    mgv_fit_free(&fit);
    free(X);
    json_decref(v);
}

/* Every case of the l2 SVM, with and without an unpenalised intercept. */
TEST(svm_vectors_with_free_intercept)
{
    json_t *v = mgv_vector_load("sparse_svm_hinge"), *cases = json_object_get(v, "cases"), *c;
    size_t k;
    int done = 0;
    json_array_foreach(cases, k, c)
    {
        const double lambda = mgv_vector_number(json_object_get(c, "lam"));
        if (mgv_vector_number(json_object_get(c, "mu")) != 0 || lambda == 0)
            continue;
        const bool bias = json_integer_value(json_object_get(c, "bias")) != 0;
        const char *id = json_string_value(json_object_get(c, "id"));
        int64_t n;
        double *X = mgv_vector_array(c, "X", NULL), *y = mgv_vector_array(c, "y", &n);
        char options[160];
        snprintf(options, sizeof options,
                 "loss=hinge solver=dual_coordinate lambda=%.17g intercept=%s tol=1e-10 "
                 "max_iter=2000000",
                 lambda, bias ? "yes" : "no");
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, n, json_integer_value(json_object_get(c, "m")), options);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s: %s, gap %g", id,
                   mgv_stop_name(fit.run.stop), fit.certificate.relative_gap);
        check_weights(&fit, c, "w", 1e-4); /* a gap of 1e-10 bounds |w - w*| by its root */
        mgv_fit_free(&fit);
        free(X);
        free(y);
        done++;
    }
    CHECK(done >= 2);
    json_decref(v);
}

/* ---- laws ------------------------------------------------------------------------------------ */

TEST(every_loss_reaches_its_certificate)
{
    static const char *const losses[] = {
        "hinge",   "squared_hinge", "smooth_hinge", "sqrt_hinge",          "logistic",
        "squared", "huber",         "absolute",     "epsilon_insensitive", "softplus_hinge"};
    double *X, *y;
    mgv_random_set(1, 120, 7, 0.5, &X, &y);
    for (int k = 0; k < 10; k++)
        for (int intercept = 0; intercept < 2; intercept++) {
            char options[160];
            snprintf(options, sizeof options,
                     "solver=dual_coordinate loss=%s C=1 intercept=%d tol=1e-8 max_iter=200000",
                     losses[k], intercept);
            mgv_fit fit;
            mgv_fit_start(&fit, X, y, 120, 7, options);
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified,
                       "%s: %s, gap %g after %d", options, mgv_stop_name(fit.run.stop),
                       fit.certificate.relative_gap, (int)fit.run.iterations);
            mgv_fit_free(&fit);
        }
    free(X);
    free(y);
}

TEST(a_weight_of_two_is_the_row_twice)
{
    double *X, *y;
    mgv_random_set(2, 40, 5, 0.5, &X, &y);
    double twice[60 * 5], y2[60], weight[40];
    int64_t m = 0;
    for (int i = 0; i < 40; i++) {
        weight[i] = i % 4 == 0 ? 2 : i % 7 == 1 ? 0 : 1;
        for (int r = 0; r < weight[i]; r++, m++) {
            memcpy(twice + 5 * m, X + 5 * i, 5 * sizeof *X);
            y2[m] = y[i];
        }
    }
    static const char *const options[] = {
        "loss=hinge solver=dual_coordinate C=1 tol=1e-10 max_iter=200000",
        "loss=logistic lambda=0.01 tol=1e-12 max_iter=200000",
        "loss=margin intercept=no tol=1e-9 max_iter=200000"};
    for (int k = 0; k < 2; k++) {
        mgv_fit a, b;
        mgv_fit_start(&a, X, y, 40, 5, options[k]);
        CHECK_OK(a.ctx, mgv_data_set_weights(a.ctx, a.data, weight));
        mgv_fit_solve(&a);
        mgv_fit_start(&b, twice, y2, m, 5, options[k]);
        mgv_fit_solve(&b);
        CHECK_NEAR(a.certificate.primal, b.certificate.primal, 3e-10, "%s", options[k]);
        for (int j = 0; j < 6; j++)
            CHECK_NEAR(mgv_fit_weights(&a)[j], mgv_fit_weights(&b)[j], 1e-3, "w[%d]", j);
        mgv_fit_free(&a);
        mgv_fit_free(&b);
    }
    free(X);
    free(y);
}

TEST(standardising_equals_standardised_data)
{
    enum { N = 50, D = 4 };
    double *X, *y, mean[D] = {0}, dev[D] = {0}, Z[N * D];
    mgv_random_set(3, N, D, 0.4, &X, &y);
    for (int i = 0; i < N * D; i++)
        X[i] = X[i] * (1 + i % D) + 3 * (i % D);
    for (int i = 0; i < N * D; i++)
        mean[i % D] += X[i] / N;
    for (int i = 0; i < N * D; i++)
        dev[i % D] += (X[i] - mean[i % D]) * (X[i] - mean[i % D]) / N;
    for (int i = 0; i < N * D; i++)
        Z[i] = (X[i] - mean[i % D]) / sqrt(dev[i % D]);
    for (int intercept = 0; intercept < 2; intercept++) {
        char options[128];
        snprintf(options, sizeof options,
                 "loss=squared_hinge C=0.5 tol=1e-13 intercept=%d "
                 "max_iter=100000",
                 intercept);
        mgv_fit a, b;
        mgv_fit_start(&a, X, y, N, D, options);
        mgv_fit_set(&a, "scale=std");
        mgv_fit_solve(&a);
        mgv_fit_start(&b, Z, y, N, D, options);
        mgv_fit_solve(&b);
        CHECK_NEAR(a.certificate.primal, b.certificate.primal, 1e-12, "primal");
        double coef[D], shift, square = 0;
        mgvi_problem_user_weights(a.problem, mgv_fit_weights(&a), coef, &shift);
        for (int j = 0; j < D; j++)
            square += coef[j] * coef[j];
        CHECK_NEAR(a.run.norm, sqrt(square), 1e-12, "norm in the user's units");
        for (int i = 0; i < N; i++) { /* scores agree in the user's units */
            double sa = shift, sb = intercept ? mgv_fit_weights(&b)[D] : 0;
            for (int j = 0; j < D; j++) {
                sa += X[i * D + j] * coef[j];
                sb += Z[i * D + j] * mgv_fit_weights(&b)[j];
            }
            CHECK_NEAR(sa, sb, 1e-5, "score %d", i);
        }
        mgv_fit_free(&a);
        mgv_fit_free(&b);
    }
    free(X);
    free(y);
}

TEST(shrinking_changes_the_work_not_the_answer)
{
    double *X, *y;
    mgv_random_set(4, 300, 10, 0.3, &X, &y);
    double primal[2], passes[2];
    for (int shrink = 0; shrink < 2; shrink++) {
        mgv_fit fit;
        mgv_fit_start(
            &fit, X, y, 300, 10,
            "loss=hinge solver=dual_coordinate C=10 intercept=no tol=1e-7 max_iter=100000");
        mgv_fit_set(&fit, shrink ? "shrink=yes" : "shrink=no");
        mgv_fit_solve(&fit);
        primal[shrink] = fit.certificate.primal;
        passes[shrink] = fit.run.passes;
        mgv_fit_free(&fit);
    }
    CHECK_NEAR(primal[0], primal[1], 1e-6 * primal[0], "primal");
    CHECK_LE(passes[1], passes[0], "passes");
    free(X);
    free(y);
}

/* ---- the driver's promises ------------------------------------------------------------------- */

static int count_events(void *user, const mgv_event *event)
{
    (void)event;
    ++*(int *)user;
    return 0;
}

TEST(same_bits_for_threads_and_log)
{
    double *X, *y, *first = NULL;
    const int64_t n = 3000, d = 40;
    mgv_random_set(5, n, d, 0.5, &X, &y);
    for (int variant = 0; variant < 4; variant++) {
        mgv_fit fit;
        int events = 0;
        mgv_fit_start(&fit, X, y, n, d,
                      "loss=hinge solver=dual_coordinate C=1 tol=1e-5 max_iter=60");
        CHECK_OK(fit.ctx, mgv_ctx_set_threads(fit.ctx, 1 + variant));
        if (variant % 2)
            mgv_ctx_on_event(fit.ctx, count_events, &events);
        mgv_fit_solve(&fit);
        CHECK((events > 0) == (variant % 2));
        const size_t size = (size_t)(d + 1) * sizeof *first;
        if (!first) {
            first = malloc(size);
            memcpy(first, mgv_fit_weights(&fit), size);
        }
        assert_memory_equal(first, mgv_fit_weights(&fit), size);
        mgv_fit_free(&fit);
    }
    free(first);
    free(X);
    free(y);
}

TEST(ten_and_ten_steps_are_twenty)
{
    double *X, *y;
    const int64_t n = 200, d = 6;
    const char *options = "loss=hinge solver=dual_coordinate C=1 tol=1e-14 max_iter=23";
    mgv_random_set(6, n, d, 0.5, &X, &y);
    mgv_check_same_bits(X, y, n, d, options, 9);
    free(X);
    free(y);
}

TEST(a_checkpoint_of_another_run_is_refused)
{
    double *X, *y;
    const int64_t n = 200, d = 6;
    char file[64];
    mgv_random_set(6, n, d, 0.5, &X, &y);
    snprintf(file, sizeof file, "test_checkpoint.%d", (int)getpid());
    mgv_fit first, second;
    mgv_fit_start(&first, X, y, n, d, "loss=hinge solver=dual_coordinate max_iter=9");
    mgv_fit_solve(&first);
    CHECK_OK(first.ctx, mgv_solver_checkpoint(first.ctx, first.solver, file));
    open_rows(&second, X, y, n, d, "loss=hinge solver=dual_coordinate max_iter=9 seed=1");
    CHECK_FAILS(second.ctx, mgv_solver_resume(second.ctx, second.solver, file), MGV_E_INPUT,
                "other data, settings, tolerance or seed");
    remove(file);
    mgv_fit_free(&first);
    mgv_fit_free(&second);
    free(X);
    free(y);
}

static int stop_at_three(void *user, const mgv_event *event)
{
    (void)user;
    return event->iteration >= 3;
}

TEST(budgets_and_callbacks_end_a_run_with_an_answer)
{
    double *X, *y;
    mgv_random_set(7, 200, 6, 0.5, &X, &y);
    static const struct {
        const char *options;
        mgv_stop stop;
    } cases[] = {{"max_iter=0", MGV_STOP_MAX_ITER},
                 {"max_iter=4", MGV_STOP_MAX_ITER},
                 {"max_passes=5", MGV_STOP_MAX_PASSES},
                 {"time_limit=0", MGV_STOP_TIME},
                 {"max_iter=100", MGV_STOP_USER}};
    for (int k = 0; k < 5; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, 200, 6, "loss=hinge solver=dual_coordinate C=100 tol=1e-13");
        mgv_fit_set(&fit, cases[k].options);
        if (cases[k].stop == MGV_STOP_USER)
            mgv_ctx_on_event(fit.ctx, stop_at_three, NULL);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == cases[k].stop, "%s: %s", cases[k].options,
                   mgv_stop_name(fit.run.stop));
        CHECK(fit.certificate.verified && isfinite(fit.certificate.primal));
        mgv_fit_free(&fit);
    }
    free(X);
    free(y);
}

TEST(rows_beyond_the_numbers_are_refused)
{
    const double X[] = {1e200, -1e200, 2e200}, y[] = {1, -1, 1};
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, 3, 1, "loss=hinge solver=dual_coordinate");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                MGV_E_INPUT, "row 1 is too large");
    mgv_fit_free(&fit);
}

/* The intercept is a quantity beside steps of any size: a kernel in a small unit takes as many. */
TEST(the_unit_of_a_kernel_does_not_matter)
{
    enum { N = 20 };
    double G[N * N], K[N * N], y[N];
    int64_t steps = 0;
    mgvi_rng rng = mgvi_rng_seed(31);
    for (int i = 0; i < N * N; i++)
        G[i] = mgvi_rng_normal(&rng);
    for (int i = 0; i < N; i++)
        y[i] = 300 + 10 * mgvi_rng_normal(&rng);
    for (int power = 0; power >= -60; power -= 20) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double sum = i == j;
                for (int k = 0; k < N; k++)
                    sum += G[i * N + k] * G[j * N + k];
                K[i * N + j] = ldexp(sum, power);
            }
        mgv_fit fit;
        mgv_fit_start(&fit, K, y, N, N,
                      "loss=interval task=regress epsilon=0.1 kernel=precomputed "
                      "solver=dual_coordinate");
        mgv_fit_solve(&fit);
        steps = power == 0 ? fit.run.iterations : steps;
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.run.iterations == steps,
                   "2^%d: %s after %d steps, not %d", power, mgv_stop_name(fit.run.stop),
                   (int)fit.run.iterations, (int)steps);
        mgv_fit_free(&fit);
    }
}

int main(void)
{
    return RUN(the_unit_of_a_kernel_does_not_matter, soft_margin_vector, smooth_hinge_vector,
               hard_margin_vectors, no_margin_is_proven, svm_vectors_with_free_intercept,
               every_loss_reaches_its_certificate, a_weight_of_two_is_the_row_twice,
               standardising_equals_standardised_data, shrinking_changes_the_work_not_the_answer,
               same_bits_for_threads_and_log, ten_and_ten_steps_are_twenty,
               a_checkpoint_of_another_run_is_refused, rows_beyond_the_numbers_are_refused,
               budgets_and_callbacks_end_a_run_with_an_answer);
}
