/* test_primal_coordinate.c - optima against a slow reference, closed forms, weights and scalings.
 */
#include "vectors.h"

#include "base/rng.h"
#include "solver/driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 40, D = 60 };

static void make(uint64_t seed, int n, int d, double *X, double *y)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    for (int i = 0; i < n; i++) {
        y[i] = 3 + mgvi_rng_normal(&rng);
        for (int j = 0; j < d; j++) {
            X[i * d + j] = mgvi_rng_normal(&rng) + (j % 3 == 0);
            if (j < 5)
                y[i] += X[i * d + j];
        }
    }
}

/* min mu|w|_1 + lambda/2|w|^2 + mean 1/2 (X w + b - y)^2: plain sweeps over b and every w_j. */
static double slow_optimum(const double *X, const double *y, int n, int d, double mu, double lambda,
                           bool intercept, double *w)
{
    double r[N * 2], b = 0;
    memset(w, 0, (size_t)d * sizeof *w);
    for (int i = 0; i < n; i++)
        r[i] = y[i];
    for (int sweep = 0; sweep < 20000; sweep++) {
        double change = 0, mean = 0;
        for (int i = 0; i < n; i++)
            mean += r[i] / n;
        if (intercept)
            for (int i = 0; i < n; i++)
                r[i] -= mean;
        b += intercept ? mean : 0;
        for (int j = 0; j < d; j++) {
            double g = 0, N2 = 0;
            for (int i = 0; i < n; i++) {
                g += X[i * d + j] * r[i] / n;
                N2 += X[i * d + j] * X[i * d + j] / n;
            }
            const double v = g + N2 * w[j];
            const double next = copysign(fmax(0, fabs(v) - mu), v) / (N2 + lambda);
            for (int i = 0; i < n; i++)
                r[i] -= X[i * d + j] * (next - w[j]);
            change = fmax(change, fabs(next - w[j]));
            w[j] = next;
        }
        if (change < 1e-14)
            break;
    }
    return b;
}

static void solve(mgv_fit *fit, const double *X, const double *y, int n, int d, const char *options)
{
    mgv_fit_start(fit, X, y, n, d, options);
    mgv_fit_solve(fit);
    CHECK_THAT(fit->run.stop == MGV_STOP_CERTIFIED && fit->certificate.verified, "%s: %s, gap %g",
               options, mgv_stop_name(fit->run.stop), fit->certificate.relative_gap);
}

TEST(optima_are_those_of_plain_sweeps)
{
    double X[N * D], y[N], slow[D];
    make(1, N, D, X, y);
    for (int k = 0; k < 8; k++) {
        char options[200];
        const double mu = k % 2 ? 0.3 : 0.03, lambda = k & 2 ? 0.1 : 0;
        const bool intercept = k & 4;
        snprintf(options, sizeof options,
                 "solver=primal_coordinate task=regress penalty=%s mu=%g lambda=%g intercept=%s "
                 "tol=1e-12 "
                 "solver=primal_coordinate",
                 lambda > 0 ? "enet" : "l1", mu, lambda, intercept ? "yes" : "no");
        mgv_fit fit;
        solve(&fit, X, y, N, D, options);
        const double b = slow_optimum(X, y, N, D, mu, lambda, intercept, slow);
        double coef[D], own;
        mgvi_problem_user_weights(fit.problem, mgv_fit_weights(&fit), coef, &own);
        for (int j = 0; j < D; j++)
            CHECK_NEAR(coef[j], slow[j], 1e-6, "%s: w[%d]", options, j);
        CHECK_NEAR(own, b, 1e-6, "%s: intercept", options);
        mgv_fit_free(&fit);
    }
}

/* Orthogonal columns of square n: w_j = S(x_j.y/n, mu). */
TEST(orthogonal_design_is_a_threshold)
{
    enum { SIZE = 8 };
    double H[SIZE * SIZE], y[SIZE] = {3, -1, 4, 1, -5, 9, -2, 6};
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            H[i * SIZE + j] = __builtin_popcount((unsigned)(i & j)) % 2 ? -1 : 1;
    mgv_fit fit;
    solve(&fit, H, y, SIZE, SIZE,
          "solver=primal_coordinate task=regress penalty=l1 mu=1 intercept=no tol=1e-12");
    for (int j = 0; j < SIZE; j++) {
        double c = 0;
        for (int i = 0; i < SIZE; i++)
            c += H[i * SIZE + j] * y[i] / SIZE;
        CHECK_NEAR(mgv_fit_weights(&fit)[j], copysign(fmax(0, fabs(c) - 1), c), 1e-13, "w[%d]", j);
    }
    CHECK_THAT(fit.run.iterations <= 3, "%d iterations", (int)fit.run.iterations);
    mgv_fit_free(&fit);
}

/* Weight 2 is the row twice, weight 0 no row. */
TEST(weights_are_repeated_rows)
{
    double X[2 * N * D], y[2 * N], weights[N];
    make(2, N, D, X, y);
    int rows = N;
    for (int i = 0; i < N; i++) {
        weights[i] = i % 3 == 0 ? 2 : 1;
        if (weights[i] == 2) {
            memcpy(X + rows * D, X + i * D, D * sizeof *X);
            y[rows++] = y[i];
        }
    }
    const char *options =
        "solver=primal_coordinate task=regress penalty=l1 mu=.1 scale=std tol=1e-11";
    mgv_fit weighted, repeated;
    mgv_fit_start(&weighted, X, y, N, D, options);
    CHECK_OK(weighted.ctx, mgv_data_set_weights(weighted.ctx, weighted.data, weights));
    mgv_fit_solve(&weighted);
    solve(&repeated, X, y, rows, D, options);
    for (int j = 0; j < D; j++)
        CHECK_NEAR(mgv_fit_weights(&weighted)[j], mgv_fit_weights(&repeated)[j], 1e-7, "w[%d]", j);
    mgv_fit_free(&weighted);
    mgv_fit_free(&repeated);
}

TEST(every_scaling_is_certified)
{
    static const char *const scales[] = {"none", "std", "maxabs", "rownorm"};
    double X[N * D], y[N];
    make(3, N, D, X, y);
    for (int k = 0; k < 8; k++) {
        char options[200];
        snprintf(options, sizeof options,
                 "solver=primal_coordinate task=regress penalty=l1 mu=.02 scale=%s intercept=%s "
                 "tol=1e-10",
                 scales[k % 4], k < 4 ? "yes" : "no");
        mgv_fit fit;
        solve(&fit, X, y, N, D, options);
        mgv_fit_free(&fit);
    }
}

/* A constant column is the intercept's business. */
TEST(constant_columns_stay_out)
{
    double X[N * 3], y[N];
    make(4, N, 3, X, y);
    for (int i = 0; i < N; i++)
        X[i * 3 + 1] = 1e6;
    mgv_fit fit;
    solve(&fit, X, y, N, 3, "solver=primal_coordinate task=regress penalty=l1 mu=1e-3 tol=1e-10");
    CHECK(mgv_fit_weights(&fit)[1] == 0);
    mgv_fit_free(&fit);
}

TEST(a_warm_start_ends_at_the_same_point_sooner)
{
    double X[N * D], y[N];
    make(5, N, D, X, y);
    mgv_fit cold;
    solve(&cold, X, y, N, D, "solver=primal_coordinate task=regress penalty=l1 mu=.01 tol=1e-11");
    mgv_solver *again;
    CHECK_OK(cold.ctx, mgvi_driver_new(cold.ctx, cold.problem, cold.settings, &again));
    CHECK_OK(cold.ctx, mgvi_driver_start(again, mgv_fit_weights(&cold), NULL));
    CHECK_OK(cold.ctx, mgvi_driver_run(again));
    CHECK(again->stop == MGV_STOP_CERTIFIED && again->run.iteration < cold.run.iterations);
    for (int j = 0; j < D; j++)
        CHECK_NEAR(again->answer.w.x[j], mgv_fit_weights(&cold)[j], 1e-6, "w[%d]", j);
    mgvi_driver_free(again);
    mgv_fit_free(&cold);
}

TEST(threads_do_not_matter)
{
    enum { BIG = 200, WIDE = 500 };
    double *X = malloc(BIG * WIDE * sizeof *X), y[BIG], first[WIDE];
    make(6, BIG, WIDE, X, y);
    for (int threads = 1; threads <= 8; threads *= 2) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, BIG, WIDE,
                      "solver=primal_coordinate task=regress penalty=l1 mu=.05 tol=1e-8");
        CHECK_OK(fit.ctx, mgv_ctx_set_threads(fit.ctx, threads));
        mgv_fit_solve(&fit);
        if (threads == 1)
            memcpy(first, mgv_fit_weights(&fit), sizeof first);
        assert_memory_equal(first, mgv_fit_weights(&fit), sizeof first);
        mgv_fit_free(&fit);
    }
    free(X);
}

int main(void)
{
    return RUN(optima_are_those_of_plain_sweeps, orthogonal_design_is_a_threshold,
               weights_are_repeated_rows, every_scaling_is_certified, constant_columns_stay_out,
               a_warm_start_ends_at_the_same_point_sooner, threads_do_not_matter);
}
