/* test_kernel_proofs.c - hard margins with kernels have three answers: a margin, a proof that there
 * is none, or an interval below precision. Proofs are checked here from the examples. */
#include "vectors.h"

#include "op/features.h"
#include "solver/driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60, D = 3 };

static const char *const kernels[] = {"kernel=rbf", "kernel=laplace", "kernel=poly degree=2",
                                      "kernel=poly degree=5"};

/* (x.z + 1)^degree, one product after the other. */
static double poly(const double *x, const double *z, int degree)
{
    double g = 1, y = 1;
    for (int j = 0; j < D; j++)
        g += x[j] * z[j];
    for (int t = 0; t < degree; t++)
        y *= g;
    return y;
}

/* The proof's convex weights, -u, to be freed; how many are not 0. */
static int proof_of(const mgv_fit *fit, double **q, int64_t *rows)
{
    const double *u;
    double sum = 0;
    int count = 0;
    mgv_solver_dual(fit->solver, &u, rows);
    *q = malloc((size_t)*rows * sizeof **q);
    for (int64_t i = 0; i < *rows; i++) {
        (*q)[i] = -u[i];
        CHECK_LE(u[i], 0, "weight %d", (int)i);
        sum -= u[i];
        count += u[i] != 0;
    }
    CHECK_NEAR(sum, 1, 1e-12, "sum of the weights");
    return count;
}

/* ---- equal examples with different labels ---------------------------------------------------- */

TEST(opposite_twins_are_the_proof_with_any_kernel)
{
    static const char *const forms[] = {"intercept=yes", "intercept=no", "scale=std",
                                        "solver=dual_coordinate intercept=no",
                                        "solver=momentum_margin intercept=no"};
    double *X, *y;
    mgv_random_set(31, N, D, 0, &X, &y);
    memcpy(X + 7 * D, X + 3 * D, D * sizeof *X);
    y[3] = 1;
    y[7] = -1;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            mgv_fit fit;
            double *q;
            int64_t rows;
            mgv_fit_start(&fit, X, y, N, D, "loss=margin tol=1e-6 max_iter=20000");
            mgv_fit_set(&fit, kernels[k]);
            mgv_fit_set(&fit, forms[f]);
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_INFEASIBLE && fit.certificate.separable == 0,
                       "%s %s: stop %d", kernels[k], forms[f], (int)fit.run.stop);
            CHECK(proof_of(&fit, &q, &rows) == 2 && q[3] == 0.5 && q[7] == 0.5);
            CHECK(fit.certificate.proof_norm == 0 && fit.certificate.verified);
            free(q);
            mgv_fit_free(&fit);
        }
    free(X);
    free(y);
}

TEST(sparse_twins_and_twins_of_many_classes)
{
    double X[12 * 2], y[12];
    for (int i = 0; i < 12; i++) {
        X[2 * i] = i % 5;
        X[2 * i + 1] = i % 3 == 0 ? 0 : i;
        y[i] = i % 3;
    }
    X[2 * 11] = X[2 * 4]; /* classes 2 and 1 */
    X[2 * 11 + 1] = X[2 * 4 + 1];
    int64_t ptr[13] = {0};
    int32_t idx[24];
    double val[24];
    for (int i = 0, at = 0; i < 12; i++) {
        for (int j = 0; j < 2; j++)
            if (X[2 * i + j] != 0) {
                val[at] = X[2 * i + j];
                idx[at++] = j;
            }
        ptr[i + 1] = at;
    }
    for (int sparse = 0; sparse < 2; sparse++) {
        mgv_fit fit;
        double *q;
        int64_t rows;
        mgv_fit_start(&fit, X, y, 12, 2,
                      "loss=margin multiclass=joint intercept=no kernel=rbf sigma2=2");
        if (sparse) {
            mgv_data_free(fit.ctx, fit.data);
            CHECK_OK(fit.ctx, mgv_data_from_sparse(fit.ctx, MGV_CSR, MGV_F64, val, ptr, idx, 12, 2,
                                                   &fit.data));
            CHECK_OK(fit.ctx, mgv_data_set_labels(fit.ctx, fit.data, y));
        }
        mgv_fit_solve(&fit);
        CHECK(fit.run.stop == MGV_STOP_INFEASIBLE);
        CHECK(proof_of(&fit, &q, &rows) == 2 && rows == 36);
        CHECK(q[4 * 3 + 2] == 0.5 && q[11 * 3 + 1] == 0.5);
        free(q);
        mgv_fit_free(&fit);
    }
}

/* ---- kernels of few features ----------------------------------------------------------------- */

/* |sum q_i y_i phi(x_i)|^2 in long double from the kernel's own definition. */
static double square_of_proof(const double *X, const double *y, const double *q, int n, int degree)
{
    long double sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            sum += (long double)q[i] * y[i] * q[j] * y[j] * poly(X + i * D, X + j * D, degree);
    return fabs((double)sum);
}

TEST(poly_with_random_labels_is_proven_inseparable)
{
    for (int degree = 1; degree <= 3; degree++)
        for (int intercept = 0; intercept < 2; intercept++) {
            enum { MANY = 200 };
            double *X, *y, balance = 0;
            char options[96];
            mgv_fit fit;
            double *q;
            int64_t rows;
            mgv_random_set(40 + (uint64_t)degree, MANY, D, 20, &X, &y);
            snprintf(options, sizeof options, "loss=margin kernel=poly degree=%d intercept=%s",
                     degree, intercept ? "yes" : "no");
            mgv_fit_start(&fit, X, y, MANY, D, options);
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_INFEASIBLE, "%s", options);
            CHECK_LE(fit.certificate.proof_norm, 1e-12 * pow(20, degree), "%s", options);
            proof_of(&fit, &q, &rows);
            for (int i = 0; i < MANY; i++)
                balance += q[i] * y[i];
            CHECK_THAT(!intercept || fabs(balance) <= 1e-12, "%s: y'q = %g", options, balance);
            /* long double leaves the root of its own rounding */
            CHECK_LE(sqrt(square_of_proof(X, y, q, MANY, degree)), 1e-7 * pow(20, degree), "%s",
                     options);
            mgv_fit_free(&fit);
            free(q);
            free(X);
            free(y);
        }
}

/* The features are the kernel: phi(x).phi(z) = k(x, z). */
TEST(features_have_the_inner_products_of_the_kernel)
{
    static const int64_t widths[] = {4, 10, 20, 35};
    double *X, *y;
    mgv_random_set(50, N, D, 1, &X, &y);
    for (int degree = 1; degree <= 4; degree++) {
        char options[96];
        mgv_fit fit;
        double *phi;
        int64_t width;
        mgvi_arena arena;
        snprintf(options, sizeof options, "loss=hinge kernel=poly degree=%d", degree);
        mgv_fit_start(&fit, X, y, N, D, options);
        CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
        mgvi_arena_init(&arena, fit.ctx);
        CHECK_OK(fit.ctx,
                 mgvi_kernel_features(mgvi_kernel_of(fit.problem->A), &arena, &phi, &width));
        CHECK(width == widths[degree - 1]);
        for (int i = 0; i < N; i += 7)
            for (int j = 0; j < N; j += 5) {
                double sum = 0;
                const double want = poly(X + i * D, X + j * D, degree);
                for (int64_t f = 0; f < width; f++)
                    sum += phi[i * width + f] * phi[j * width + f];
                CHECK_NEAR(sum, want, 1e-12 * (1 + pow(30, degree)), "degree %d", degree);
            }
        mgvi_arena_free(&arena);
        mgv_fit_free(&fit);
    }
    free(X);
    free(y);
}

/* Where there is a margin, feature_margin, kernel_svm and the linear form agree. */
TEST(features_and_kernel_have_the_same_margin)
{
    double *X, *y;
    mgv_random_set(21, N, D, 0, &X, &y);
    for (int i = 0; i < N; i++)
        X[i * D] += 2 * y[i];
    for (int intercept = 0; intercept < 2; intercept++) {
        static const char *const solvers[] = {"kernel=poly degree=1 offset=0 solver=feature_margin",
                                              "kernel=poly degree=1 offset=0 solver=kernel_svm",
                                              "solver=exact_margin"};
        mgv_certificate c[3];
        for (int k = 0; k < 3; k++) {
            mgv_fit fit;
            mgv_fit_start(&fit, X, y, N, D, "loss=margin tol=1e-9");
            mgv_fit_set(&fit, intercept ? "intercept=yes" : "intercept=no");
            mgv_fit_set(&fit, solvers[k]);
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s", solvers[k]);
            c[k] = fit.certificate;
            mgv_fit_free(&fit);
        }
        CHECK_NEAR(c[0].margin, c[2].margin, 1e-12 * c[2].margin, "feature_margin and linear");
        CHECK_NEAR(c[1].margin, c[2].margin, 1e-8 * c[2].margin, "kernel_svm and linear");
    }
    free(X);
    free(y);
}

/* ---- precomputed ----------------------------------------------------------------------------- */

TEST(a_given_matrix_of_low_rank_is_proven_inseparable)
{
    for (int classes = 2; classes <= 3; classes++) {
        double *X, *y, K[N * N], label[N];
        mgv_fit fit;
        double *q;
        int64_t rows;
        mgv_random_set(60, N, D, 20, &X, &y);
        for (int k = 0; k < N * D; k++)
            X[k] = rint(16 * X[k]) / 16; /* K is then of low rank exactly, not but for rounding */
        for (int i = 0; i < N; i++) {
            label[i] = (i * 7 + i / 5) % classes;
            for (int j = 0; j < N; j++)
                K[i * N + j] = poly(X + i * D, X + j * D, 1) - 1;
        }
        mgv_fit_start(&fit, K, label, N, N, "loss=margin kernel=precomputed intercept=no");
        mgv_fit_set(&fit, classes > 2 ? "multiclass=joint" : "tol=1e-6");
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_INFEASIBLE, "%d classes: stop %d", classes,
                   (int)fit.run.stop);
        proof_of(&fit, &q, &rows);
        double worst = 0;
        for (int i = 0; i < N && classes == 2; i++) {
            long double sum = 0;
            for (int j = 0; j < N; j++)
                sum += (long double)K[i * N + j] * q[j] * (label[j] > 0 ? 1 : -1);
            worst = fmax(worst, fabs((double)sum));
        }
        CHECK_LE(worst, 1e-12, "|K c|");
        free(q);
        mgv_fit_free(&fit);
        free(X);
        free(y);
    }
}

TEST(matrices_that_are_no_kernels_are_refused)
{
    static const struct {
        double K[9];
        const char *words;
    } cases[] = {{{1, 0, 0, 0, -2, 0, 0, 0, 1}, "row 2 has -2"},
                 {{1, 3, 0, 3, 1, 0, 0, 0, 1}, "row 2, column 1 is 3"},
                 {{1, 0.5, 0, 0.4, 1, 0, 0, 0, 1}, "row 2, column 1 is 0.4"}};
    double y[] = {1, -1, 1};
    mgv_fit fit;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        mgv_fit_start(&fit, cases[k].K, y, 3, 3, "kernel=precomputed");
        CHECK_FAILS(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem),
                    MGV_E_INPUT, cases[k].words);
        mgv_fit_free(&fit);
    }
    /* no single entry is wrong, but c = (1, -1, 1) has c'K c = 3 - 6 * 0.9 */
    const double K[] = {1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1};
    mgv_fit_start(&fit, K, y, 3, 3, "kernel=precomputed loss=hinge C=10 intercept=no");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_OK(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver));
    CHECK_FAILS(fit.ctx, mgv_solver_run(fit.ctx, fit.solver), MGV_E_INPUT,
                "not positive semidefinite");
    mgv_fit_free(&fit);
}

/* ---- below precision ------------------------------------------------------------------------- */

/* Different points with random labels: in exact arithmetic there is a margin with rbf, of a size
 * that float64 cannot see. Nothing is claimed, and the run ends by itself. */
TEST(a_margin_below_precision_is_undecided)
{
    double *X, *y;
    mgv_random_set(70, N, D, 20, &X, &y);
    for (int k = 0; k < 2; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, "kernel=rbf loss=margin");
        mgv_fit_set(&fit, k ? "sigma2=1e12" : "sigma2=1e4");
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_STALLED, "stop %d", (int)fit.run.stop);
        CHECK(fit.certificate.separable == -1);
        CHECK_LE(1e-8, fit.certificate.margin_upper, "an upper bound knows its rounding");
        CHECK_LE(fit.certificate.margin_upper, 1e-3, "upper bound");
        mgv_fit_free(&fit);
    }
    free(X);
    free(y);
}

int main(void)
{
    return RUN(opposite_twins_are_the_proof_with_any_kernel, sparse_twins_and_twins_of_many_classes,
               poly_with_random_labels_is_proven_inseparable,
               features_have_the_inner_products_of_the_kernel,
               features_and_kernel_have_the_same_margin,
               a_given_matrix_of_low_rank_is_proven_inseparable,
               matrices_that_are_no_kernels_are_refused, a_margin_below_precision_is_undecided);
}
