/* test_kernel_svm.c - margins with kernels: exact answers, other solvers, other forms. */
#include "vectors.h"

#include "model/model.h"
#include "solver/driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the exact vector ------------------------------------------------------------------------ */

static void fit_vector(mgv_fit *fit, const json_t *v, const char *options)
{
    const int64_t n = json_integer_value(json_object_get(v, "n"));
    double *X = mgv_vector_array(v, "X", NULL), *y = mgv_vector_array(v, "y", NULL);
    mgv_fit_start(fit, X, y, n, 2, "loss=margin kernel=rbf intercept=no sigma2=0.15");
    mgv_fit_set(fit, options);
    mgv_fit_solve(fit);
    free(X);
    free(y);
}

TEST(vector_to_its_digits)
{
    json_t *v = mgv_vector_load("margin_kernel_rbf");
    mgv_fit fit;
    fit_vector(&fit, v, "tol=1e-12");
    const double gamma = mgv_vector_number(json_object_get(v, "gamma"));
    CHECK(fit.certificate.verified && fit.run.stop == MGV_STOP_CERTIFIED);
    CHECK_NEAR(fit.certificate.margin, gamma, 1e-11, "margin");
    CHECK_NEAR(fit.certificate.margin_upper, gamma, 1e-11, "upper bound");
    double *alpha = mgv_vector_array(v, "alpha_star", NULL);
    const double *w = mgv_fit_weights(&fit);
    for (int i = 0; i < 14; i++)
        CHECK_NEAR(fabs(w[i]), alpha[i], 1e-9, "multiplier %d", i);
    double *points = mgv_vector_array(v, "test_points", NULL), scores[3];
    double *f = mgv_vector_array(v, "f_test", NULL);
    mgv_data *test;
    mgv_model *model;
    CHECK_OK(fit.ctx, mgv_data_from_dense(fit.ctx, MGV_F64, points, 3, 2, 2, 1, &test));
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &model));
    CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, model, test, scores));
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(scores[i], f[i], 1e-9, "score %d", i);
    mgv_model_info info = {.size = sizeof info};
    mgv_model_describe(model, &info);
    json_t *support = json_object_get(v, "support");
    CHECK(info.support == (int64_t)json_array_size(support) && info.coef == NULL);
    CHECK_NEAR(info.norm, mgv_vector_number(json_object_get(v, "norm_w")), 1e-9, "norm");
    mgv_model_free(fit.ctx, model);
    mgv_data_free(fit.ctx, test);
    free(f);
    free(points);
    free(alpha);
    json_decref(v);
    mgv_fit_free(&fit);
}

TEST(every_method_with_kernels_brackets_the_margin)
{
    static const char *const options[] = {
        "solver=dual_diagonal tol=1e-6",
        "solver=dual_diagonal tol=1e-4 backtracking=no",
        "solver=momentum_margin tol=1e-3",
        "solver=momentum_margin tol=1e-1 sampling=yes",
        "solver=batch_perceptron tol=1e-2",
        "solver=batch_perceptron tol=2e-1 perceptron_form=projected",
        "solver=normalized_gd tol=1e-1",
        "solver=normalized_gd tol=5e-1 theta_schedule=sqrt surrogate=logistic",
        "solver=homotopic_subgradient tol=3e-1",
        "solver=dual_coordinate tol=1e-9",
        "solver=kernel_svm tol=1e-3 cache=0",
        "solver=kernel_svm tol=1e-9"};
    json_t *v = mgv_vector_load("margin_kernel_rbf");
    const double gamma = mgv_vector_number(json_object_get(v, "gamma"));
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        mgv_fit fit;
        fit_vector(&fit, v, options[k]);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified, "%s: gap %g",
                   options[k], fit.certificate.relative_gap);
        CHECK_LE(fit.certificate.margin, gamma * (1 + 1e-12), "%s: lower", options[k]);
        CHECK_LE(gamma, fit.certificate.margin_upper * (1 + 1e-12), "%s: upper", options[k]);
        mgv_fit_free(&fit);
    }
    json_decref(v);
}

/* ---- the linear kernel is the linear form ---------------------------------------------------- */

static void training_scores(mgv_fit *fit, double *scores)
{
    mgv_model *model;
    CHECK_OK(fit->ctx, mgv_model_new(fit->ctx, fit->solver, &model));
    CHECK_OK(fit->ctx, mgv_model_scores(fit->ctx, model, fit->data, scores));
    mgv_model_free(fit->ctx, model);
}

/* The same steps: scores of all rows agree after a number of iterations. */
TEST(linear_kernel_takes_the_linear_steps)
{
    static const char *const methods[] = {
        /* the search for L meets a tie that rounding decides */
        "solver=dual_diagonal max_iter=60 backtracking=no lipschitz=600",
        "solver=dual_diagonal max_iter=60 backtracking=no lipschitz=600 inertia=0",
        "solver=momentum_margin max_iter=60",
        "solver=momentum_margin max_iter=60 sampling=yes",
        "solver=momentum_margin max_iter=60 surrogate=logistic",
        "solver=batch_perceptron max_iter=60",
        "solver=batch_perceptron max_iter=60 perceptron_form=projected",
        "solver=normalized_gd max_iter=60 theta_schedule=sqrt",
        "solver=gd max_iter=60 surrogate=logistic theta=5",
        "solver=hinge_subgradient max_iter=60 theta=3",
        "solver=homotopic_subgradient max_iter=60 lambda0=2",
        "solver=dual_coordinate max_iter=40 shrink=no",
        "solver=dual_coordinate max_iter=40 shrink=no loss=squared_hinge C=2"};
    double *X, *y;
    mgv_random_set(21, 60, 6, 0, &X, &y);
    for (int i = 0; i < 60; i++) {
        double score = 0;
        for (int j = 0; j < 6; j++)
            score += X[i * 6 + j] / (j + 1);
        y[i] = score > 0 ? 1 : -1;
        X[i * 6] += 2 * y[i];
    }
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        double scores[2][60], size = 0;
        for (int form = 0; form < 2; form++) {
            mgv_fit fit;
            mgv_fit_start(&fit, X, y, 60, 6, "loss=margin intercept=no tol=1e-15");
            mgv_fit_set(&fit, methods[k]);
            if (form)
                mgv_fit_set(&fit, "kernel=poly degree=1 offset=0");
            mgv_fit_solve(&fit);
            /* where the run is, not the best of the iterates that were certified on the way */
            const mgvi_iterate at = fit.solver->run.ops->expose(&fit.solver->run);
            mgvi_vec z = mgvi_vec_wrap(scores[form], 60, MGVI_ROWS);
            mgvi_op_mul(fit.problem->A, 1, at.w, 0, &z);
            mgv_fit_free(&fit);
        }
        for (int i = 0; i < 60; i++)
            size = fmax(size, fabs(scores[0][i]));
        for (int i = 0; i < 60; i++)
            CHECK_NEAR(scores[0][i], scores[1][i], 1e-12 * size, "%s: row %d", methods[k], i);
    }
    free(X);
    free(y);
}

/* The same optimum, with an intercept, by solvers that have nothing in common. */
TEST(linear_kernel_has_the_linear_optimum)
{
    static const char *const problems[] = {
        "loss=hinge C=0.5", "loss=squared_hinge C=3", "loss=hinge C=2 class_weight=balanced",
        "loss=hinge C=1 intercept=no", "loss=squared_hinge C=1 intercept=no scale=std"};
    double *X, *y;
    mgv_random_set(5, 90, 4, 0.6, &X, &y);
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
        mgv_fit linear, kernel;
        mgv_fit_start(&linear, X, y, 90, 4, "tol=1e-10 solver=dual_coordinate max_iter=200000");
        mgv_fit_set(&linear, problems[k]);
        mgv_fit_solve(&linear);
        mgv_fit_start(&kernel, X, y, 90, 4, "tol=1e-10 kernel=poly degree=1 offset=0");
        mgv_fit_set(&kernel, problems[k]);
        mgv_fit_solve(&kernel);
        CHECK(linear.certificate.verified && kernel.certificate.verified);
        CHECK(kernel.run.stop == MGV_STOP_CERTIFIED);
        CHECK_NEAR(linear.certificate.primal, kernel.certificate.primal,
                   1e-10 * linear.certificate.primal, "%s", problems[k]);
        double a[90], b[90];
        training_scores(&linear, a);
        training_scores(&kernel, b);
        for (int i = 0; i < 90; i++)
            CHECK_NEAR(a[i], b[i], 1e-4, "%s: row %d", problems[k], i);
        mgv_fit_free(&linear);
        mgv_fit_free(&kernel);
    }
    free(X);
    free(y);
}

/* ---- soft margins against a slow solver ------------------------------------------------------ */

enum { N = 120 };

/* The dual of the hinge without intercept, coordinate by coordinate on the explicit matrix: its
 * value bounds every primal value from below. */
static double slow_dual(const double *X, const double *y, const double *C, double sigma2,
                        bool squared)
{
    static double K[N][N], a[N], g[N];
    for (int i = 0; i < N; i++) {
        a[i] = 0;
        g[i] = 1;
        for (int j = 0; j < N; j++) {
            const double dx = X[2 * i] - X[2 * j], dy = X[2 * i + 1] - X[2 * j + 1];
            K[i][j] = y[i] * y[j] * exp(-(dx * dx + dy * dy) / (2 * sigma2));
        }
        K[i][i] += squared ? 1 / C[i] : 0;
    }
    for (int sweep = 0; sweep < 20000; sweep++)
        for (int i = 0; i < N; i++) {
            const double next = fmin(fmax(a[i] + g[i] / K[i][i], 0), squared ? INFINITY : C[i]);
            for (int j = 0; j < N && next != a[i]; j++)
                g[j] -= (next - a[i]) * K[i][j];
            a[i] = next;
        }
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += 0.5 * a[i] * (1 + g[i]);
    return sum;
}

TEST(soft_margins_are_those_of_a_slow_solver)
{
    double *X, *y, C[N], weights[N];
    mgv_random_set(17, N, 2, 0.8, &X, &y);
    for (int squared = 0; squared < 2; squared++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, 2, "kernel=rbf sigma2=0.4 C=2 tol=1e-9 intercept=no");
        mgv_fit_set(&fit, squared ? "loss=squared_hinge C=1" : "loss=hinge"); /* no 1/2 beside C */
        double total = 0;
        for (int i = 0; i < N; i++) {
            weights[i] = 0.5 + (i % 4);
            C[i] = 2 * weights[i];
            total += weights[i];
        }
        CHECK_OK(fit.ctx, mgv_data_set_weights(fit.ctx, fit.data, weights));
        mgv_fit_solve(&fit);
        const double scale = 2 * total; /* the objective is divided by C times the weights */
        const double want = slow_dual(X, y, C, 0.4, squared) / scale;
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
        CHECK_NEAR(fit.certificate.primal, want, 1e-8 * want, "squared %d", squared);
        CHECK_NEAR(fit.certificate.dual, want, 1e-8 * want, "squared %d", squared);
        mgv_fit_free(&fit);
    }
    free(X);
    free(y);
}

/* Classes that overlap, one of them twice as large: most rows violate something, those of both
 * classes have to come in. */
TEST(overlapping_classes_are_certified)
{
    enum { ROWS = 2000, COLS = 3 };
    double *X, *y;
    mgv_random_set(31, ROWS, COLS, 0, &X, &y);
    for (int i = 0; i < ROWS; i++) {
        y[i] = i % 3 ? 1 : -1;
        X[i * COLS] += 0.7 * y[i];
    }
    static const char *const options[] = {"C=1", "C=0.01", "C=30 intercept=no", "C=0.3 tol=1e-7"};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, ROWS, COLS, "kernel=rbf sigma2=2 loss=hinge solver=kernel_svm");
        mgv_fit_set(&fit, options[k]);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s: gap %g", options[k],
                   fit.certificate.relative_gap);
        mgv_fit_free(&fit);
    }
    free(X);
    free(y);
}

/* Cores that leave rows out, float32 values and then float64 ones: the optimum is that of the same
 * matrix given as numbers, which goes another way (a growing set, kept rows, float64). */
TEST(cores_have_the_optimum_of_the_matrix)
{
    enum { ROWS = 1200, COLS = 4 };
    static const char *const options[] = {"C=0.02 tol=1e-7", "C=1 tol=1e-8", "C=1 tol=1e-6 laplace",
                                          "C=1000 tol=1e-4", "C=5 tol=1e-8 intercept=no"};
    double *X, *y, *K = malloc(sizeof *K * ROWS * ROWS), weights[ROWS];
    mgv_random_set(41, ROWS, COLS, 0.9, &X, &y);
    for (int i = 0; i < ROWS; i++) {
        weights[i] = i % 7 == 3 ? 0 : 0.25 + i % 5;
        memcpy(X + i * COLS, X + i % 9 * COLS, (i % 50 == 9) * COLS * sizeof *X); /* twins */
    }
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        const char *root = strstr(options[k], " laplace");
        char shared[64];
        snprintf(shared, sizeof shared, "%.*s", root ? (int)(root - options[k]) : 63, options[k]);
        for (int64_t t = 0; t < ROWS * ROWS; t++) {
            double square = 0;
            for (int j = 0; j < COLS; j++) {
                const double apart = X[t / ROWS * COLS + j] - X[t % ROWS * COLS + j];
                square += apart * apart;
            }
            K[t] = root ? exp(-sqrt(square / 2)) : exp(-square / 4);
        }
        mgv_fit a, b;
        mgv_fit_start(&a, X, y, ROWS, COLS, "sigma2=2 loss=hinge solver=kernel_svm");
        mgv_fit_set(&a, root ? "kernel=laplace" : "kernel=rbf");
        mgv_fit_start(&b, K, y, ROWS, ROWS, "kernel=precomputed loss=hinge solver=kernel_svm");
        mgv_fit *const both[] = {&a, &b};
        for (int f = 0; f < 2; f++) {
            mgv_fit_set(both[f], shared);
            CHECK_OK(both[f]->ctx, mgv_data_set_weights(both[f]->ctx, both[f]->data, weights));
            mgv_fit_solve(both[f]);
            CHECK_THAT(both[f]->run.stop == MGV_STOP_CERTIFIED, "%s, %d: gap %g", options[k], f,
                       both[f]->certificate.relative_gap);
        }
        CHECK_LE(a.certificate.dual, b.certificate.primal * (1 + 1e-12), "%s", options[k]);
        CHECK_LE(b.certificate.dual, a.certificate.primal * (1 + 1e-12), "%s", options[k]);
        mgv_fit_free(&a);
        mgv_fit_free(&b);
    }
    free(K);
    free(X);
    free(y);
}

/* Separable classes: no strength of the loss makes them harder. */
TEST(separable_classes_end_at_any_C)
{
    enum { ROWS = 2500, COLS = 3 };
    double *X, *y;
    mgv_random_set(43, ROWS, COLS, 0, &X, &y);
    for (int i = 0; i < ROWS; i++)
        X[i * COLS] += 5 * y[i];
    int64_t first = 0;
    for (int k = 0; k < 4; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, ROWS, COLS, "kernel=rbf sigma2=4 loss=hinge solver=kernel_svm");
        mgv_fit_set(&fit, ((const char *const[]){"C=10", "C=1000", "C=1e5", "C=1e8"})[k]);
        mgv_fit_solve(&fit);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
        first = k == 0 ? fit.run.iterations : first;
        CHECK_LE((double)fit.run.iterations, 3 * (double)first + 5, "%d", k);
        mgv_fit_free(&fit);
    }
    free(X);
    free(y);
}

/* A weight of 2 is the row twice. */
TEST(weights_are_repetitions)
{
    double *X, *y, twice[2 * 2 * N], labels[2 * N], weights[N];
    mgv_random_set(23, N, 2, 0.5, &X, &y);
    int64_t rows = 0;
    for (int i = 0; i < N; i++) {
        weights[i] = i % 3; /* 0 is no row at all */
        for (int r = 0; r < i % 3; r++) {
            memcpy(twice + 2 * rows, X + 2 * i, 2 * sizeof *X);
            labels[rows++] = y[i];
        }
    }
    for (int k = 0; k < 2; k++) {
        mgv_fit a, b;
        const char *loss = k ? "loss=squared_hinge" : "loss=hinge";
        mgv_fit_start(&a, X, y, N, 2, "kernel=rbf sigma2=1 lambda=0.01 tol=1e-9");
        mgv_fit_set(&a, loss);
        CHECK_OK(a.ctx, mgv_data_set_weights(a.ctx, a.data, weights));
        mgv_fit_solve(&a);
        mgv_fit_start(&b, twice, labels, rows, 2, "kernel=rbf sigma2=1 lambda=0.01 tol=1e-9");
        mgv_fit_set(&b, loss);
        mgv_fit_solve(&b);
        CHECK_NEAR(a.certificate.primal, b.certificate.primal, 1e-8 * b.certificate.primal, "%s",
                   loss);
        mgv_fit_free(&a);
        mgv_fit_free(&b);
    }
    free(X);
    free(y);
}

/* ---- precision ------------------------------------------------------------------------------- */

enum { WIDE = 40 }; /* points of few columns are float64 throughout */

static void fit_f32(mgv_fit *fit, const float *X, const double *y, const char *options)
{
    mgv_fit_start(fit, (double[]){0, 0}, (double[]){1, -1}, 2, 1, options);
    mgv_data_free(fit->ctx, fit->data);
    CHECK_OK(fit->ctx, mgv_data_from_dense(fit->ctx, MGV_F32, X, N, WIDE, WIDE, 1, &fit->data));
    CHECK_OK(fit->ctx, mgv_data_set_labels(fit->ctx, fit->data, y));
    mgv_fit_solve(fit);
}

/* float32 kernels end with a float64 certificate, or in float64. */
TEST(float32_answers_are_certified_in_float64)
{
    static const char *const problems[] = {
        "loss=hinge C=1 tol=1e-3", "loss=hinge C=50 tol=1e-4", "loss=squared_hinge C=1 tol=1e-3",
        "loss=hinge C=100000 tol=1e-2", "loss=hinge C=1 tol=1e-10"};
    double *X, *y;
    float x32[WIDE * N];
    mgv_random_set(29, N, WIDE, 0.5, &X, &y);
    for (int i = 0; i < WIDE * N; i++)
        x32[i] = (float)X[i];
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
        mgv_fit fast, slow;
        char options[128];
        snprintf(options, sizeof options, "kernel=rbf sigma2=20 precision=f32 %s", problems[k]);
        fit_f32(&fast, x32, y, options);
        snprintf(options, sizeof options, "kernel=rbf sigma2=20 %s tol=1e-8", problems[k]);
        fit_f32(&slow, x32, y, options);
        CHECK_THAT(fast.run.stop == MGV_STOP_CERTIFIED && fast.certificate.verified, "%s",
                   problems[k]);
        CHECK_LE(slow.certificate.dual, fast.certificate.primal * (1 + 1e-8), "%s", problems[k]);
        CHECK_LE(fast.certificate.dual, slow.certificate.primal * (1 + 1e-8), "%s", problems[k]);
        const bool f32 = mgvi_kernel_fast(mgvi_kernel_of(fast.problem->A)) == MGV_F32;
        CHECK_THAT(f32 == (k < 3), "%s: stayed in float32: %d", problems[k], f32);
        mgv_fit_free(&fast);
        mgv_fit_free(&slow);
    }
    free(X);
    free(y);
}

/* ---- the run --------------------------------------------------------------------------------- */

TEST(threads_and_resuming_do_not_change_bits)
{
    double *X, *y;
    mgv_random_set(37, 900, 3, 0.6, &X, &y);
    mgv_check_same_bits(X, y, 900, 3, "kernel=rbf sigma2=1 C=5 tol=1e-7", 3);
    free(X);
    free(y);
    mgv_random_set(38, 4200, 2, 0.1, &X, &y); /* so many that no rows of K are kept */
    mgv_check_same_bits(X, y, 4200, 2, "kernel=rbf sigma2=1 C=1 tol=1e-4", 3);
    free(X);
    free(y);
}

/* One point among others: its margin needs multipliers of 1e8, whose last bits are more than what
 * the tolerance asks for. No ascent is driven below them. */
TEST(an_ascent_ends_at_the_last_bits_of_its_multipliers)
{
    enum { POINTS = 28 };
    const double X[POINTS] = {-0.9690153,   -1.02554417,  -0.947271049, -0.929119349, -0.991672218,
                              -0.93880105,  -1.00905669,  -1.06815434,  -1.03995037,  -1.1558522,
                              -0.928069711, -1.03463805,  -1.038499,    -0.976648927, -1.04528642,
                              -0.93434453,  -1.0715332,   -1.07336235,  -1.00654304,  -0.98204881,
                              -0.952458739, -1.02693892,  -0.976791024, -0.976841569, -0.90497607,
                              -0.990391672, -0.886409879, -0.935528338};
    double y[POINTS];
    mgv_fit fit;
    for (int i = 0; i < POINTS; i++)
        y[i] = i == 1 ? 1 : -1;
    mgv_fit_start(&fit, X, y, POINTS, 1,
                  "loss=margin kernel=rbf sigma2=0.1059 intercept=no tol=1e-9 max_iter=60");
    mgv_fit_solve(&fit);
    CHECK_THAT(fit.run.passes < 1e5 && fit.certificate.separable == 1, "%s after %g passes",
               mgv_stop_name(fit.run.stop), fit.run.passes);
    CHECK_THAT(fit.certificate.relative_gap < 1e-5, "%g", fit.certificate.relative_gap);
    mgv_fit_free(&fit);
}

TEST(refusals_are_sentences)
{
    double X[] = {0, 1, 2, 3, 4, 5, 6, 7}, y[] = {1, -1, 1, -1};
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, 4, 2, "kernel=rbf mu=1");
    CHECK_FAILS(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem),
                MGV_E_UNSUPPORTED, "penalty l2");
    mgv_fit_free(&fit);
    mgv_fit_start(&fit, X, y, 4, 2, "kernel=precomputed");
    CHECK_FAILS(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem),
                MGV_E_INPUT, "square");
    mgv_fit_free(&fit);
    mgv_fit_start(&fit, X, y, 4, 2, "kernel=rbf solver=perceptron loss=margin intercept=no");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                MGV_E_UNSUPPORTED, "kernel");
    mgv_fit_free(&fit);
}

int main(void)
{
    return RUN(vector_to_its_digits, every_method_with_kernels_brackets_the_margin,
               linear_kernel_takes_the_linear_steps, linear_kernel_has_the_linear_optimum,
               soft_margins_are_those_of_a_slow_solver, overlapping_classes_are_certified,
               cores_have_the_optimum_of_the_matrix, separable_classes_end_at_any_C,
               weights_are_repetitions, float32_answers_are_certified_in_float64,
               an_ascent_ends_at_the_last_bits_of_its_multipliers,
               threads_and_resuming_do_not_change_bits, refusals_are_sentences);
}
