/* test_norms.c - the margin's two bounds in every norm: exact at the stored solutions, valid
 * everywhere else, with and without intercept, in any units. */
#include "judging.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check_vector(const char *name, double unit)
{
    mgv_judged j;
    char options[80];
    int64_t n, d;
    json_t *v = mgv_vector_load(name);
    double *X = mgv_vector_array(v, "X", NULL), *y = mgv_vector_array(v, "y", &n);
    double *w = mgv_vector_array(v, "w_star", &d), *beta = mgv_vector_array(v, "beta_star", NULL);
    const double gamma = unit * mgv_vector_number(json_object_get(v, "gamma"));
    snprintf(options, sizeof options, "loss=margin intercept=no p=%s",
             json_string_value(json_object_get(v, "p")));
    for (int64_t i = 0; i < n * d; i++)
        X[i] *= unit;
    mgv_judged_open(&j, X, y, n, d, options);
    memcpy(j.w.x, w, (size_t)d * sizeof *w);
    for (int64_t i = 0; i < n; i++)
        j.u.x[i] = -7 * beta[i]; /* only the direction counts */
    const mgv_certificate c = mgvi_judge_certify(j.judge, &j.w, &j.u).certificate;
    CHECK_NEAR(c.margin, gamma, 1e-12 * gamma, "%s", name);
    CHECK_NEAR(c.margin_upper, gamma, 1e-12 * gamma, "%s", name);
    CHECK(c.margin <= gamma * (1 + 1e-15) && gamma <= c.margin_upper * (1 + 1e-15));
    CHECK(c.verified && c.separable == 1);
    mgv_judged_close(&j);
    json_decref(v);
    free(X);
    free(y);
    free(w);
    free(beta);
}

TEST(bounds_meet_at_the_stored_solutions)
{
    static const char *const names[] = {"margin_linear_p2", "margin_linear_p1_5", "margin_wide_p2",
                                        "margin_wide_p1_5", "margin_wide_plog"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        check_vector(names[k], 1);
        check_vector(names[k], 1e6);
        check_vector(names[k], 1e-6);
    }
}

/* lower <= gamma <= upper for any w and any b, hence lower <= upper. */
TEST(no_pair_crosses)
{
    static const char *const norms[] = {"2", "1.5", "1.05", "sparse"};
    mgvi_rng rng = mgvi_rng_seed(3);
    for (int trial = 0; trial < 200; trial++) {
        mgv_judged j;
        char options[80];
        double *X, *y;
        snprintf(options, sizeof options, "loss=margin intercept=%s p=%s", trial % 2 ? "yes" : "no",
                 norms[trial / 2 % 4]);
        mgv_random_set((uint64_t)trial, 12, 5, 0, &X, &y);
        y[0] = -y[1]; /* both classes occur, separable or not */
        mgv_judged_open(&j, X, y, 12, 5, options);
        for (int64_t i = 0; i < j.w.n; i++)
            j.w.x[i] = 1.0 / (double)(i + 1) + 0.2 * mgvi_rng_normal(&rng);
        for (int64_t i = 0; i < j.u.n; i++)
            j.u.x[i] = -mgvi_rng_uniform(&rng);
        const mgv_certificate c = mgvi_judge_certify(j.judge, &j.w, &j.u).certificate;
        CHECK_LE(c.margin, c.margin_upper, "%s, trial %d", options, trial);
        mgv_judged_close(&j);
        free(X);
        free(y);
    }
}

TEST(norms_of_vectors)
{
    const double x[4] = {3, -4, 0, 12}, zero[2] = {0, -0.0}, bad[2] = {0, NAN};
    CHECK_NEAR(mgvi_lp_norm(x, 4, 2), 13, 1e-15 * 13, "2");
    CHECK_NEAR(mgvi_lp_norm(x, 4, 1), 19, 1e-15 * 19, "1");
    CHECK(mgvi_lp_norm(x, 4, INFINITY) == 12 && mgvi_lp_norm(zero, 2, 1.5) == 0);
    CHECK_NEAR(mgvi_lp_norm(x, 2, 3), cbrt(27 + 64), 1e-14, "3");
    CHECK(isnan(mgvi_lp_norm(bad, 2, 1.5)) && isnan(mgvi_lp_norm(bad, 1 + 1, 2)));
    const double huge[2] = {3e300, 4e300}, tiny[2] = {3e-300, 4e-300};
    CHECK_NEAR(mgvi_lp_norm(huge, 2, 2) / 5e300, 1, 1e-15, "huge");
    CHECK_NEAR(mgvi_lp_norm(tiny, 2, 2) / 5e-300, 1, 1e-15, "tiny");
    CHECK(mgvi_dual_exponent(1) == INFINITY && mgvi_dual_exponent(1.5) == 3);
}

int main(void)
{
    return RUN(bounds_meet_at_the_stored_solutions, no_pair_crosses, norms_of_vectors);
}
