/* test_C.c - C is the C of LIBLINEAR: for every loss that it has, and for those spelled alike, the
 * weights minimise 1/2 |w|^2 + sum_i C c_i xi_i (or |w|_1 + ...), written out here once more with
 * its own formulas; docs/terms.md, "C". */
#include "vectors.h"

#include "problem/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60, D = 4 };
static const double C = 0.7;

/* What LIBLINEAR sums: -s 0, 6, 7; 1, 2, 5; 3; 11 with -p 0. */
static double logistic(double z) { return log1p(exp(-z)); }
static double l2_svm(double z) { return fmax(0, 1 - z) * fmax(0, 1 - z); }
static double l1_svm(double z) { return fmax(0, 1 - z); }
static double square(double z) { return (z - 1) * (z - 1); } /* y^2 = 1: (x.w - y)^2 */

typedef struct liblinear {
    const char *options;
    double (*xi)(double z);
    double l1; /* share of |w|_1 in the penalty, the rest is 1/2 |w|^2 */
} liblinear;

static const liblinear known[] = {
    {"loss=logistic", logistic, 0},
    {"loss=squared_hinge", l2_svm, 0},
    {"loss=hinge", l1_svm, 0},
    {"loss=squared", square, 0},
    {"loss=logistic penalty=l1", logistic, 1},
    {"loss=squared_hinge penalty=l1", l2_svm, 1},
    {"loss=squared penalty=l1", square, 1},
    {"loss=logistic penalty=enet enet_share=0.3", logistic, 0.3},
    {"loss=squared_hinge penalty=enet", l2_svm, 0.5},
};

static double objective(const liblinear *k, const double *X, const double *y, const double *c,
                        const double *w)
{
    double sum = 0;
    for (int j = 0; j < D; j++)
        sum += (1 - k->l1) / 2 * w[j] * w[j] + k->l1 * fabs(w[j]);
    for (int i = 0; i < N; i++) {
        double z = 0;
        for (int j = 0; j < D; j++)
            z += y[i] * X[i * D + j] * w[j];
        sum += C * c[i] * k->xi(z);
    }
    return sum;
}

/* No step in any direction leads down. */
static void check_minimum(const liblinear *k, const double *X, const double *y, const double *c,
                          const double *w)
{
    static const double STEP = 1e-4;
    const double best = objective(k, X, y, c, w);
    double other[D];
    for (int j = 0; j <= D; j++)
        for (int side = -1; side <= 1; side += 2) {
            for (int t = 0; t < D; t++)
                other[t] = w[t] * (j == D ? 1 + side * STEP : 1) + (t == j ? side * STEP : 0);
            CHECK_LE(best, objective(k, X, y, c, other) + 1e-12, "%s, %d", k->options, j);
        }
}

TEST(weights_minimise_the_objective_of_liblinear)
{
    double *X, *y, one[N], uneven[N], classes[N];
    mgv_random_set(31, N, D, 0.6, &X, &y);
    for (int i = 0; i < N; i++) {
        one[i] = 1;
        uneven[i] = 0.5 + i % 3;
        classes[i] = y[i] > 0 ? 3 : 1; /* -w1 3 */
    }
    for (size_t t = 0; t < sizeof known / sizeof *known; t++)
        for (int weighted = 0; weighted < 3; weighted++) {
            mgv_fit fit;
            mgv_fit_start(&fit, X, y, N, D, known[t].options);
            mgv_fit_set(&fit, "C=0.7 intercept=no tol=1e-12 task=classify");
            if (weighted == 1)
                CHECK_OK(fit.ctx, mgv_data_set_weights(fit.ctx, fit.data, uneven));
            if (weighted == 2)
                mgv_fit_set(&fit, "class_weight=1:3");
            mgv_fit_solve(&fit);
            CHECK_NEAR(mgvi_problem_C(fit.problem), C, 1e-14, "%s", known[t].options);
            check_minimum(&known[t], X, y,
                          weighted == 0   ? one
                          : weighted == 1 ? uneven
                                          : classes,
                          mgv_fit_weights(&fit));
            mgv_fit_free(&fit);
        }
    free(X);
    free(y);
}

/* The strengths that follow from C, and the C that follows from strengths. */
TEST(strengths_and_C_are_each_others)
{
    static const struct {
        const char *options;
        double lambda, mu, C;
    } cases[] = {{"loss=hinge C=2", 1 / (2. * N), 0, 2},
                 {"loss=squared_hinge C=2", 1 / (4. * N), 0, 2},
                 {"loss=squared_hinge", 1 / (2. * N), 0, 1},
                 {"loss=hinge", 1. / N, 0, 1},
                 {"loss=hinge kernel=rbf C=2", 1 / (2. * N), 0, 2},
                 {"loss=squared task=regress C=2", 1 / (4. * N), 0, 2},
                 {"loss=huber task=regress C=2", 1 / (2. * N), 0, 2},
                 {"loss=squared_hinge lambda=0.01", 0.01, 0, 1 / (0.02 * N)},
                 {"loss=logistic mu=0.01", 0, 0.01, 1 / (0.01 * N)},
                 {"loss=logistic penalty=linf C=3", 0, 1 / (3. * N), 3},
                 {"loss=logistic penalty=l1_nonneg C=3", 0, 1 / (3. * N), 3},
                 {"loss=logistic penalty=enet C=3", 0.5 / (3. * N), 0.5 / (3. * N), 3},
                 {"loss=logistic lambda=0.01 mu=0.03", 0.01, 0.03, 1 / (0.04 * N)},
                 {"loss=margin", 1, 0, NAN}};
    double *X, *y;
    mgv_random_set(32, N, D, 0.6, &X, &y);
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, cases[t].options);
        CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
        CHECK_NEAR(fit.problem->lambda, cases[t].lambda, 1e-15, "%s", cases[t].options);
        CHECK_NEAR(fit.problem->mu, cases[t].mu, 1e-15, "%s", cases[t].options);
        const double found = mgvi_problem_C(fit.problem);
        CHECK_THAT(isnan(found) ? isnan(cases[t].C) : fabs(found - cases[t].C) < 1e-12, "%s: C %g",
                   cases[t].options, found);
        mgv_fit_free(&fit);
    }
    free(X);
    free(y);
}

TEST(contradictions_are_refused)
{
    static const struct {
        const char *options, *words;
    } cases[] = {{"C=1 lambda=1", "give C or lambda, not both"},
                 {"C=1 penalty=l1 mu=0.1", "give C or mu, not both"},
                 {"C=1 mu=0.1", "give C or mu, not both"},
                 {"C=1 penalty=enet mu=0.1", "give C, or lambda and mu"},
                 {"C=1 loss=margin", "is a constraint"},
                 {"C=0", "C is 0"},
                 {"penalty=l1 mu=1 lambda=1", "penalty l1 has no lambda"},
                 {"penalty=l2 mu=1", "penalty l2 has no mu"},
                 {"penalty=group", "--C X"}};
    double *X, *y;
    mgv_random_set(33, N, D, 0.6, &X, &y);
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, cases[t].options);
        CHECK_FAILS(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem),
                    MGV_E_ARG, cases[t].words);
        mgv_fit_free(&fit);
    }
    free(X);
    free(y);
}

int main(void)
{
    return RUN(weights_minimise_the_objective_of_liblinear, strengths_and_C_are_each_others,
               contradictions_are_refused);
}
