/* test_decide.c - separability in columns of very different size, decided by the driver when a
 * solver has ended: what is said is true, and a model said to separate does. */
#include "vectors.h"

#include "base/rng.h"
#include "base/twofold.h"
#include "solver/decide.h"
#include "solver/driver.h"

#include <math.h>
#include <string.h>

/* min_i y_i (x_i.w + b) of the model's weights, in twofold numbers. */
static double least_score(const mgv_fit *fit, const double *X, const double *y, int64_t n,
                          int64_t d)
{
    double coef[16], b, least = INFINITY;
    mgvi_problem_user_weights(fit->problem, fit->solver->answer.w.x, coef, &b);
    for (int64_t i = 0; i < n; i++) {
        mgvi_two z = mgvi_two_prod(y[i], b);
        for (int64_t j = 0; j < d; j++)
            z = mgvi_two_fma(z, y[i] * X[i * d + j], coef[j]);
        least = fmin(least, mgvi_two_real(z));
    }
    return least;
}

/* What is said of it: 1 separable, 0 not, -1 open. */
static int answer(const double *X, const double *y, int64_t n, int64_t d, const char *options)
{
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, n, d, "loss=margin");
    mgv_fit_set(&fit, options);
    mgv_fit_solve(&fit);
    const int said = fit.certificate.separable;
    CHECK(said != 0 || fit.run.stop == MGV_STOP_INFEASIBLE);
    if (said == 1) {
        CHECK_THAT(least_score(&fit, X, y, n, d) > 0, "%s", options);
        CHECK_THAT(fit.certificate.margin > 0, "%s", options);
    }
    mgv_fit_free(&fit);
    return said;
}

/* torture D2, which ended with a proof that there are no such weights. */
TEST(a_small_column_beside_a_large_one_separates)
{
    const double X[] = {1e12, 0, 1e12, -1}, y[] = {1, -1};
    CHECK(answer(X, y, 2, 2, "intercept=no") == 1);
    const double wide[] = {1e16, 3, 1e16, 2};
    CHECK(answer(wide, y, 2, 2, "intercept=no") == 1);
    CHECK(answer(wide, y, 2, 2, "intercept=yes") == 1);
    const double large[] = {1e16, 1e16 + 2}; /* two neighbours */
    CHECK(answer(large, y, 2, 1, "intercept=yes") == 1);
    const double same[] = {1e16, 1, 1e16, 1};
    CHECK(answer(same, y, 2, 2, "intercept=yes") == 0);
}

TEST(a_column_equal_to_the_label_separates)
{
    enum { N = 12, D = 5 };
    double X[N * D], y[N];
    mgvi_rng rng = mgvi_rng_seed(1);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < N; i++) {
            y[i] = i % 2 ? 1 : -1;
            for (int j = 0; j < D - 1; j++)
                X[i * D + j] = rint((mgvi_rng_uniform(&rng) - 0.5) * pow(10, 12 + j));
            X[i * D + D - 1] = y[i];
        }
        CHECK(answer(X, y, N, D, round % 2 ? "intercept=yes" : "intercept=no") == 1);
    }
}

/* Groups of indicators and a large real column: columns that depend on each other exactly. */
TEST(indicators_are_proven)
{
    enum { N = 24, D = 7 };
    double X[N * D] = {0}, y[N];
    mgvi_rng rng = mgvi_rng_seed(2);
    for (int i = 0; i < N; i++) {
        const int first = i / 2 % 3, second = i / 6 % 3; /* every pair of values, both labels */
        X[i * D + first] = 1e6;
        X[i * D + 3 + second] = 1;
        X[i * D + 6] = 1e14 * mgvi_rng_normal(&rng);
        y[i] = i % 2 ? 1 : -1;
    }
    CHECK(answer(X, y, N, D, "intercept=yes") == 0);
    CHECK(answer(X, y, N, D, "intercept=no") == 0);
    CHECK(answer(X, y, N, D, "intercept=yes solver=momentum_margin max_iter=300") == 0);
    CHECK(answer(X, y, N, D, "intercept=yes p=1.5") == 0);
}

/* Two points an ulp apart in one column: rounded one by one the weights still part them. */
TEST(weights_are_rounded_so_that_they_separate)
{
    double X[] = {1234567.1, 0.3, -7e9, 1234567.1, 0.3, -7e9}, y[] = {1, -1};
    X[3] = nextafter(X[3], INFINITY);
    CHECK(answer(X, y, 2, 3, "intercept=yes") == 1);
    CHECK(answer(X, y, 2, 3, "intercept=no") != 0);
}

TEST(it_keeps_within_its_means)
{
    const double X[] = {1, 2, 3, 4}, y[] = {1, -1, 1, -1};
    double w[2], q[4];
    mgvi_decision out;
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, 4, 1, "loss=margin");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_OK(fit.ctx, mgvi_decide(fit.problem, 10, w, q, &out));
    CHECK(out == MGVI_DECIDED_NOT);
    CHECK_OK(fit.ctx, mgvi_decide(fit.problem, 1e6, w, q, &out));
    CHECK(out == MGVI_DECIDED_INSEPARABLE);
    double sum = 0, first = 0, total = 0;
    for (int i = 0; i < 4; i++) {
        sum += q[i] * y[i];
        first += q[i] * y[i] * X[i];
        total += q[i];
    }
    CHECK(total > 0 && fabs(sum) <= 1e-15 * total && fabs(first) <= 1e-15 * total);
    mgv_fit_free(&fit);
}

int main(void)
{
    return RUN(a_small_column_beside_a_large_one_separates, a_column_equal_to_the_label_separates,
               indicators_are_proven, weights_are_rounded_so_that_they_separate,
               it_keeps_within_its_means);
}
