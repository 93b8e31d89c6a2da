/* test_smsvm.c - the corrected line search and the published smoothing method. */
#include "vectors.h"

#include "base/rng.h"
#include "solver/baseline/linesearch_l1.h"
#include "solver/driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12 };

static double model_value(int64_t n, const double *w, const double *d, const double *mu, double a,
                          double b, double s)
{
    double sum = a * s * s + b * s;
    for (int64_t j = 0; j < n; j++)
        sum += mu[j] * fabs(w[j] + s * d[j]);
    return sum;
}

TEST(line_search_vectors_are_met)
{
    json_t *v = mgv_vector_load("sparse_linesearch_l1");
    const json_t *cases = json_object_get(v, "cases");
    CHECK(json_array_size(cases) == 12);
    for (size_t k = 0; k < json_array_size(cases); k++) {
        const json_t *c = json_array_get(cases, k);
        int64_t n, landing;
        double *w = mgv_vector_array(c, "w", &n), *d = mgv_vector_array(c, "d", NULL);
        double mu[MOST];
        mgvi_breakpoint work[MOST];
        CHECK(n <= MOST);
        for (int64_t j = 0; j < n; j++)
            mu[j] = mgv_vector_number(json_object_get(c, "mu"));
        const double a = mgv_vector_number(json_object_get(c, "a"));
        const double b = mgv_vector_number(json_object_get(c, "b"));
        const double s = mgvi_linesearch_l1(n, w, d, mu, a, b, 1e300, work, &landing);
        CHECK_NEAR(s, mgv_vector_number(json_object_get(c, "s")), 1e-12, "case %d: s", (int)k);
        CHECK(landing == json_integer_value(json_object_get(c, "landing_index")));
        CHECK_NEAR(model_value(n, w, d, mu, a, b, s),
                   mgv_vector_number(json_object_get(c, "value")), 1e-12, "case %d: value", (int)k);
        free(w);
        free(d);
    }
    json_decref(v);
}

/* Beside every kink and every vertex of a parabola between two kinks. */
TEST(no_point_of_the_ray_is_lower)
{
    mgvi_rng rng = mgvi_rng_seed(5);
    for (int trial = 0; trial < 3000; trial++) {
        double w[MOST], d[MOST], mu[MOST];
        mgvi_breakpoint work[MOST];
        int64_t landing;
        const int64_t n = 1 + trial % MOST;
        for (int64_t j = 0; j < n; j++) { /* ties and zeros are common */
            w[j] = floor(4 * mgvi_rng_normal(&rng)) / 4;
            d[j] = floor(4 * mgvi_rng_normal(&rng)) / 4;
            mu[j] = j % 4 == 3 ? 0 : mgvi_rng_uniform(&rng);
        }
        const double a = trial % 7 == 0 ? 0 : mgvi_rng_uniform(&rng);
        const double b = 3 * mgvi_rng_normal(&rng), most = 5;
        const double s = mgvi_linesearch_l1(n, w, d, mu, a, b, most, work, &landing);
        const double found = model_value(n, w, d, mu, a, b, s);
        CHECK(s >= 0 && s <= most);
        if (landing >= 0)
            CHECK_NEAR(w[landing] + s * d[landing], 0, 1e-14, "landing");
        for (int t = 0; t <= 2000; t++)
            CHECK_LE(found, model_value(n, w, d, mu, a, b, most * t / 2000.0) + 1e-12,
                     "trial %d at %g", trial, most * t / 2000.0);
    }
}

/* The smoothed optima of the vectors: Newton's method at their alpha, started cold. */
TEST(the_gap_falls_to_what_is_asked)
{
    json_t *v = mgv_vector_load("sparse_svm_hinge");
    const json_t *cases = json_object_get(v, "cases");
    for (size_t k = 0; k < json_array_size(cases); k++) {
        const json_t *c = json_array_get(cases, k);
        int64_t n, d;
        double *X = mgv_vector_array(c, "X", NULL), *y = mgv_vector_array(c, "y", &n);
        double *w = mgv_vector_array(c, "w", &d);
        const double lambda = mgv_vector_number(json_object_get(c, "lam"));
        char options[200];
        snprintf(options, sizeof options,
                 "solver=smsvm tol=1e-5 lambda=%.17g mu=%.17g intercept=%s", lambda,
                 mgv_vector_number(json_object_get(c, "mu")),
                 json_integer_value(json_object_get(c, "bias")) ? "yes" : "no");
        if (lambda > 0) { /* without it the published method has no curvature to rely on */
            mgv_fit fit;
            mgv_fit_start(&fit, X, y, n, d, options);
            mgv_fit_solve(&fit);
            const double optimum = mgv_vector_number(json_object_get(c, "objective"));
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "case %d: %s, gap %g", (int)k,
                       mgv_stop_name(fit.run.stop), fit.certificate.relative_gap);
            CHECK_LE(optimum, fit.certificate.primal + 1e-14, "case %d", (int)k);
            CHECK_LE(fit.certificate.primal, optimum * (1 + 1e-5), "case %d", (int)k);
            mgv_fit_free(&fit);
        }
        free(X);
        free(y);
        free(w);
    }
    json_decref(v);
}

int main(void)
{
    return RUN(line_search_vectors_are_met, no_point_of_the_ray_is_lower,
               the_gap_falls_to_what_is_asked);
}
