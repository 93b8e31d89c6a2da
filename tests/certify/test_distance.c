/* test_distance.c - what is printed of how far the optimal weights can be is true. */
#include "base/rng.h"
#include "vectors.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 24, COLS = 6, PROBLEMS = 1000 };

static const struct {
    const char *problem, *loose; /* what decides the answer, and how it is left off early */
    double p;
    bool separable;
} cases[] = {
    {"loss=hinge C=1", "solver=dual_coordinate tol=0.05", 2, false},
    {"loss=squared_hinge C=10 intercept=no", "solver=dual_coordinate tol=0.05", 2, false},
    {"loss=logistic lambda=0.03", "tol=0.05", 2, false},
    {"loss=logistic lambda=0.05 mu=0.02", "solver=proximal_newton tol=0.05", 2, false},
    {"loss=squared task=regress lambda=0.1 mu=0.1", "tol=0.01", 2, false},
    {"loss=squared task=regress lambda=0.1 scale=std", "solver=dual_coordinate tol=0.1", 2, false},
    {"loss=margin intercept=no", "solver=dual_diagonal tol=0.1", 2, true},
    {"loss=margin intercept=no p=1.5", "solver=mirror_coordinate tol=0.1", 1.5, true},
};

static double difference(const double *a, const double *b, double p)
{
    double sum = 0;
    for (int j = 0; j < COLS; j++)
        sum += pow(fabs(a[j] - b[j]), p);
    return pow(sum, 1 / p);
}

static void draw(uint64_t seed, bool separable, double *X, double *y)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    for (int i = 0; i < ROWS; i++) {
        double score = 0;
        for (int j = 0; j < COLS; j++) {
            X[i * COLS + j] = mgvi_rng_normal(&rng);
            score += (j % 3 - 0.8) * X[i * COLS + j];
        }
        y[i] = score + (separable ? 0 : mgvi_rng_normal(&rng)) > 0 ? 1 : -1;
        for (int j = 0; j < COLS && separable; j++) /* a margin that can be found */
            X[i * COLS + j] += 0.3 * y[i] * (j % 3 - 0.8);
    }
}

TEST(no_optimal_weights_are_further_away)
{
    double X[ROWS * COLS], y[ROWS];
    int told = 0, tight = 0;
    for (uint64_t seed = 1; seed <= PROBLEMS; seed++) {
        const size_t k = seed % (sizeof cases / sizeof *cases);
        char options[256];
        mgv_fit best, fit;
        draw(seed, cases[k].separable, X, y);
        snprintf(options, sizeof options, "%s tol=1e-10", cases[k].problem);
        mgv_fit_start(&best, X, y, ROWS, COLS, options);
        mgv_fit_solve(&best);
        snprintf(options, sizeof options, "%s %s", cases[k].problem, cases[k].loose);
        mgv_fit_start(&fit, X, y, ROWS, COLS, options);
        mgv_fit_solve(&fit);
        const double away = difference(mgv_fit_weights(&best), mgv_fit_weights(&fit), cases[k].p);
        if (!isnan(fit.run.distance) && best.run.distance < 1e-3) {
            CHECK_LE(away, fit.run.distance + best.run.distance, "%s, seed %d", cases[k].problem,
                     (int)seed);
            CHECK_THAT(fit.run.p == cases[k].p, "%s: norm %g", cases[k].problem, fit.run.p);
            told++;
            tight += away > 0.1 * fit.run.distance;
        }
        mgv_fit_free(&fit);
        mgv_fit_free(&best);
    }
    CHECK_THAT(told > 0.9 * PROBLEMS, "%d of %d problems say a distance", told, PROBLEMS);
    CHECK_THAT(tight > 0.1 * PROBLEMS, "the bound is near in %d", tight);
}

/* Nothing is said where there are many optimal weights, or none that meet the constraints yet. */
TEST(what_is_not_known_is_not_said)
{
    static const char *const options[] = {"loss=hinge mu=0.01 penalty=l1",
                                          "loss=squared task=regress mu=0.1",
                                          "loss=equal task=regress intercept=no max_iter=3 "
                                          "solver=primal_dual penalty=l2"};
    double X[ROWS * COLS], y[ROWS];
    draw(1, false, X, y);
    for (int k = 0; k < 3; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, ROWS, COLS, options[k]);
        mgv_fit_solve(&fit);
        CHECK_THAT(isnan(fit.run.distance), "%s: %g", options[k], fit.run.distance);
        mgv_fit_free(&fit);
    }
}

int main(void) { return RUN(no_optimal_weights_are_further_away, what_is_not_known_is_not_said); }
