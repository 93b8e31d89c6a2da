/* test_exact_margin.c - the hard margin to machine precision, with and without intercept. */
#include "vectors.h"

#include "base/rng.h"
#include "solver/driver.h"
#include "solver/margin/active_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the active set by itself ---------------------------------------------------------------- */

/* K = B B' + 1 (with intercept: + y y') for random rows B; the optimality conditions of (1). */
static void check_active_set(uint64_t seed, int64_t n, int64_t d, bool intercept)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_arena arena;
    mgvi_active_set a;
    mgvi_rng rng = mgvi_rng_seed(seed);
    mgvi_arena_init(&arena, ctx);
    CHECK_OK(ctx, mgvi_active_set_init(&a, &arena, n / 2, d + intercept, intercept));
    double *B = malloc((size_t)(n * d) * sizeof *B);
    for (int64_t i = 0; i < n * d; i++)
        B[i] = mgvi_rng_normal(&rng) + (i % d == 0 ? 2 : 0);
    for (int64_t half = n / 2; half <= n; half += n - n / 2) { /* W grows: the factor survives */
        if (half > a.capacity)
            CHECK_OK(ctx, mgvi_active_set_grow(&a, &arena, half));
        for (int64_t i = 0; i < half; i++) {
            if (intercept)
                a.y[i] = i % 2 ? 1 : -1;
            for (int64_t j = 0; j < half; j++) {
                double k = intercept ? 1 * (i % 2 ? 1 : -1) * (j % 2 ? 1 : -1) : 0;
                for (int64_t t = 0; t < d; t++)
                    k += B[i * d + t] * B[j * d + t];
                a.K[i * a.capacity + j] = k;
            }
        }
        a.size = half;
        if (intercept && a.factor.count == 0)
            CHECK(mgvi_active_set_append(&a, 0) && mgvi_active_set_append(&a, 1));
        mgvi_active_end end;
        CHECK(mgvi_active_set_solve(&a, 10000, INFINITY, &end) == MGV_OK);
        CHECK_THAT(end == MGVI_ACTIVE_OPTIMAL, "seed %d: end %d", (int)seed, (int)end);
        double balance = 0;
        for (int64_t i = 0; i < half; i++) {
            double f = intercept ? a.b0 * a.y[i] : 0;
            for (int64_t j = 0; j < half; j++)
                f += a.K[i * a.capacity + j] * a.b[j];
            balance += intercept ? a.y[i] * a.b[i] : 0;
            CHECK(a.b[i] >= 0);
            CHECK_LE(1 - f, 1e-9, "seed %d: margin of row %d", (int)seed, (int)i);
            CHECK_LE(a.b[i] * fabs(f - 1), 1e-8, "seed %d: slackness of row %d", (int)seed, (int)i);
        }
        CHECK_LE(fabs(balance), 1e-9, "y'b");
    }
    free(B);
    mgvi_arena_free(&arena);
    mgv_ctx_free(ctx);
}

TEST(active_set_meets_its_conditions)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        check_active_set(seed, 24, 40, false); /* all independent */
        check_active_set(seed, 40, 6, false);  /* more rows than columns: exchanges */
        check_active_set(seed, 30, 60, true);
    }
    check_active_set(13, 440, 500, false); /* hundreds of rows with weight: blocks of pivots */
    check_active_set(14, 440, 500, true);
    check_active_set(15, 800, 230, false); /* blocks that do not pay */
}

/* ---- the solver ------------------------------------------------------------------------------ */

TEST(vectors_to_machine_precision)
{
    static const char *const names[] = {"margin_linear_p2", "margin_wide_p2", "margin_toy_p2"};
    for (int k = 0; k < 3; k++) {
        json_t *v = mgv_vector_load(names[k]);
        const int64_t n = json_integer_value(json_object_get(v, "n")),
                      d = json_integer_value(json_object_get(v, "d"));
        double *X = mgv_vector_array(v, "X", NULL), *y = mgv_vector_array(v, "y", NULL);
        double *w = mgv_vector_array(v, "w_star", NULL);
        const double gamma = mgv_vector_number(json_object_get(v, "gamma"));
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, n, d, "loss=margin intercept=no tol=1e-12 solver=exact_margin");
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s: %s, gap %g", names[k],
                   mgv_stop_name(fit.run.stop), fit.certificate.relative_gap);
        CHECK_NEAR(fit.certificate.margin, gamma, 1e-12 * gamma, "%s", names[k]);
        CHECK_NEAR(fit.certificate.margin_upper, gamma, 1e-12 * gamma, "%s", names[k]);
        for (int64_t j = 0; j < d; j++)
            CHECK_NEAR(mgv_fit_weights(&fit)[j], w[j], 1e-9, "%s: w[%d]", names[k], (int)j);
        mgv_fit_free(&fit);
        free(X);
        free(y);
        free(w);
        json_decref(v);
    }
}

/* Random separable sets of every shape: certified to 1e-10, the same margin from coordinates. */
TEST(shapes_and_intercepts)
{
    static const int64_t shape[][2] = {{2, 1}, {2, 5}, {30, 100}, {600, 10}, {2000, 40}, {5, 3}};
    for (size_t k = 0; k < sizeof shape / sizeof *shape; k++)
        for (int intercept = 0; intercept < 2; intercept++) {
            const int64_t n = shape[k][0], d = shape[k][1];
            double *X, *y;
            mgv_random_set(40 + k, n, d, 0, &X, &y);
            y[0] = 1;
            y[1] = -1;
            for (int64_t i = 0; i < n; i++) /* push the classes apart */
                for (int64_t j = 0; j < d; j++)
                    X[i * d + j] += 3 * y[i] / (double)(j + 1);
            mgv_fit fit;
            mgv_fit_start(&fit, X, y, n, d, "loss=margin tol=1e-10");
            mgv_fit_set(&fit, intercept ? "intercept=yes" : "intercept=no");
            mgv_fit_solve(&fit);
            CHECK_THAT(strcmp(fit.run.solver, "exact_margin") == 0, "auto took %s", fit.run.solver);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%d x %d: %s, margin [%g, %g]", (int)n,
                       (int)d, mgv_stop_name(fit.run.stop), fit.certificate.margin,
                       fit.certificate.margin_upper);
            mgv_fit slow;
            mgv_fit_start(&slow, X, y, n, d, "loss=margin tol=1e-4 solver=dual_coordinate");
            mgv_fit_set(&slow, intercept ? "intercept=yes" : "intercept=no");
            mgv_fit_solve(&slow);
            CHECK_LE(slow.certificate.margin, fit.certificate.margin_upper * (1 + 1e-9), "lower");
            CHECK_LE(fit.certificate.margin, slow.certificate.margin_upper * (1 + 1e-9), "upper");
            mgv_fit_free(&slow);
            mgv_fit_free(&fit);
            free(X);
            free(y);
        }
}

/* Multiplying the data changes the margin's unit and nothing else. */
TEST(scale_does_not_matter)
{
    double *X, *y, margin[3];
    static const double factor[] = {1, 1e6, 1e-6};
    for (int k = 0; k < 3; k++) {
        mgv_random_set(50, 80, 6, 0, &X, &y);
        for (int i = 0; i < 80 * 6; i++)
            X[i] = (X[i] + 2 * y[i / 6] * (i % 6 == 0)) * factor[k];
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, 80, 6, "loss=margin tol=1e-10");
        mgv_fit_solve(&fit);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
        margin[k] = fit.certificate.margin / factor[k];
        CHECK_NEAR(margin[k], margin[0], 1e-9 * margin[0], "factor %g", factor[k]);
        mgv_fit_free(&fit);
        free(X);
        free(y);
    }
}

TEST(inseparable_sets_are_proven)
{
    int proven = 0;
    for (uint64_t seed = 60; seed < 72; seed++) {
        const int64_t n = 300, d = 8;
        double *X, *y;
        mgv_random_set(seed, n, d, 1, &X, &y);
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, n, d, "loss=margin max_iter=2000");
        mgv_fit_set(&fit, seed % 2 ? "intercept=yes" : "intercept=no");
        mgv_fit_solve(&fit);
        if (fit.run.stop == MGV_STOP_INFEASIBLE) {
            const double *u;
            int64_t count;
            double sum = 0, total[9] = {0};
            mgv_solver_dual(fit.solver, &u, &count);
            for (int64_t i = 0; i < n; i++) {
                CHECK(u[i] <= 0);
                sum -= u[i];
                total[d] -= seed % 2 ? u[i] * y[i] : 0;
                for (int64_t j = 0; j < d; j++)
                    total[j] -= u[i] * y[i] * X[i * d + j];
            }
            for (int64_t j = 0; j <= d; j++)
                CHECK_LE(fabs(total[j]), 1e-10, "seed %d: column %d", (int)seed, (int)j);
            CHECK_NEAR(sum, 1, 1e-12, "convex weights");
            proven++;
        }
        CHECK(fit.certificate.separable != 1);
        mgv_fit_free(&fit);
        free(X);
        free(y);
    }
    CHECK_THAT(proven == 12, "%d of 12 proven", proven);
}

TEST(duplicates_and_opposites)
{
    /* a row twice: the copy depends on the first; a row and its negative: no margin */
    const double twice[] = {1, 2, 1, 2, -1, -1, -3, 0}, y[] = {1, 1, -1, -1};
    const double opposite[] = {1, 2, 1, 2, -1, -1, 2, 3};
    mgv_fit fit;
    mgv_fit_start(&fit, twice, y, 4, 2, "loss=margin intercept=no tol=1e-10");
    mgv_fit_solve(&fit);
    CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
    mgv_fit_free(&fit);
    mgv_fit_start(&fit, opposite, (const double[]){1, -1, 1, -1}, 4, 2, "loss=margin intercept=no");
    mgv_fit_solve(&fit);
    CHECK(fit.run.stop == MGV_STOP_INFEASIBLE);
    mgv_fit_free(&fit);
}

TEST(the_same_bits_again)
{
    double *X, *y;
    const int64_t n = 3000, d = 30;
    mgv_random_set(80, n, d, 0, &X, &y);
    for (int64_t i = 0; i < n; i++)
        X[i * d] += y[i];
    mgv_check_same_bits(X, y, n, d, "loss=margin tol=1e-11", 2);
    free(X);
    free(y);
}

int main(void)
{
    return RUN(active_set_meets_its_conditions, vectors_to_machine_precision, shapes_and_intercepts,
               scale_does_not_matter, inseparable_sets_are_proven, duplicates_and_opposites,
               the_same_bits_again);
}
