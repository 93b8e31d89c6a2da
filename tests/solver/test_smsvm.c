/* test_smsvm.c - the corrected line search and the smoothing method; its steps to the letter are in
 * test_presets.c. */
#include "stepping.h"

#include "base/rng.h"
#include "solver/baseline/linesearch_l1.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12, WIDEST = 20 /* columns of the vectors */ };

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

/* The problem of a case of the vectors, as settings. */
static void case_options(const json_t *c, const char *more, char *out, size_t size)
{
    snprintf(out, size, "penalty=enet lambda=%.17g mu=%.17g intercept=%s %s",
             mgv_vector_number(json_object_get(c, "lam")),
             mgv_vector_number(json_object_get(c, "mu")),
             json_integer_value(json_object_get(c, "bias")) ? "yes" : "no", more);
}

static void open_case(mgv_fit *fit, const json_t *c, const char *more)
{
    char options[300];
    int64_t n;
    double *X = mgv_vector_array(c, "X", NULL), *y = mgv_vector_array(c, "y", &n);
    case_options(c, more, options, sizeof options);
    open_rows(fit, X, y, n, json_integer_value(json_object_get(c, "m")), options);
    free(X);
    free(y);
}

TEST(the_gap_falls_to_what_is_asked)
{
    static const char *const form[] = {"", "smsvm_form=literal max_iter=300",
                                       "smoother=softplus alpha_factor=0.3",
                                       "smsvm_form=literal smoother=softplus alpha_factor=0.3"};
    json_t *v = mgv_vector_load("sparse_svm_hinge");
    const json_t *cases = json_object_get(v, "cases");
    for (size_t k = 0; k < 4 * json_array_size(cases); k++) {
        const json_t *c = json_array_get(cases, k / 4);
        const double optimum = mgv_vector_number(json_object_get(c, "objective"));
        char more[100];
        snprintf(more, sizeof more, "solver=smsvm tol=1e-5 %s", form[k % 4]);
        mgv_fit fit;
        open_case(&fit, c, more);
        CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
        describe(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "case %d, %s: %s, gap %g", (int)(k / 4),
                   form[k % 4], mgv_stop_name(fit.run.stop), fit.certificate.relative_gap);
        CHECK_LE(optimum, fit.certificate.primal + 1e-14, "case %d", (int)(k / 4));
        CHECK_LE(fit.certificate.primal, optimum * (1 + 1e-5), "case %d", (int)(k / 4));
        mgv_fit_free(&fit);
    }
    json_decref(v);
}

/* Stored optima of (1) at one alpha: by the loss of that width, and by the level of that alpha. */
TEST(smoothed_optima_are_met)
{
    static const char *const way[] = {"loss=sqrt_hinge tol=1e-13",
                                      "loss=hinge solver=smsvm tol=0 level_tol=1e-9",
                                      "loss=hinge solver=smsvm tol=0 level_tol=1e-9 "
                                      "smsvm_form=literal"};
    json_t *v = mgv_vector_load("sparse_svm_hinge");
    int64_t met = 0;
    for (size_t k = 0; k < 3 * json_array_size(json_object_get(v, "cases")); k++) {
        const json_t *c = json_array_get(json_object_get(v, "cases"), k / 3);
        const json_t *known = json_object_get(c, "smoothed");
        const double alpha = known ? mgv_vector_number(json_object_get(known, "alpha")) : 0;
        mgv_fit fit;
        char more[200];
        if (!known)
            continue;
        snprintf(more, sizeof more, "%s %s=%g alpha_end=%g", way[k % 3],
                 k % 3 ? "alpha_start" : "smoothing", alpha, alpha);
        open_case(&fit, c, more);
        CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
        describe(&fit);
        const double near = k % 3 == 2 ? 1e-4 : 1e-6; /* literally a level ends without its step */
        const mgv_stop end = k % 3 ? MGV_STOP_SCHEDULE : MGV_STOP_CERTIFIED;
        CHECK_THAT(fit.run.stop == end, "%s: %s", more, mgv_stop_name(fit.run.stop));
        const mgvi_vec *w =
            k % 3 ? fit.solver->run.ops->expose(&fit.solver->run).w : &fit.solver->answer.w;
        double *expected = mgv_vector_array(known, "w", NULL), coef[WIDEST], intercept;
        CHECK(json_integer_value(json_object_get(c, "m")) <= WIDEST);
        mgvi_problem_user_weights(fit.problem, w->x, coef, &intercept);
        for (int64_t j = 0; j < json_integer_value(json_object_get(c, "m")); j++)
            CHECK_NEAR(coef[j], expected[j], near, "case %d, %s: %d", (int)(k / 3), way[k % 3],
                       (int)j);
        CHECK_NEAR(intercept, mgv_vector_number(json_object_get(known, "b")), near, "case %d, %s",
                   (int)(k / 3), way[k % 3]);
        met++;
        free(expected);
        mgv_fit_free(&fit);
    }
    CHECK(met == 21);
    json_decref(v);
}

/* 1, 0.1, ..., 1e-3 and no further; a beta of 1/2 that meets its end by rounding alone. */
TEST(levels_end_at_alpha_end)
{
    static const struct {
        const char *options;
        int levels;
    } cases[] = {{"alpha_end=1e-3", 4},
                 {"alpha_end=0.0009", 5},
                 {"alpha_start=8 alpha_factor=0.5 alpha_end=0.25", 6},
                 {"alpha_end=1e-3 smsvm_form=literal", 4},
                 {"alpha_start=0.3 alpha_end=0.3 smsvm_form=literal", 1}};
    double *X, *y;
    mgv_random_set(4, 30, 4, 0.7, &X, &y);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char options[200];
        mgv_fit fit;
        int levels = 0;
        double last = INFINITY;
        snprintf(options, sizeof options,
                 "task=classify loss=hinge solver=smsvm tol=0 penalty=enet lambda=0.01 mu=0.01 %s",
                 cases[k].options);
        open_rows(&fit, X, y, 30, 4, options);
        mgvi_run *run = &fit.solver->run;
        while (!run->finished) {
            CHECK_OK(fit.ctx, run->ops->step(run));
            const double alpha = run->ops->smoothing(run);
            levels += alpha < last;
            CHECK(alpha <= last);
            last = alpha;
        }
        CHECK_THAT(levels == cases[k].levels && run->scheduled, "%s: %d levels", cases[k].options,
                   levels);
        mgv_fit_free(&fit);
    }
    free(X);
    free(y);
}

TEST(an_end_above_the_start_is_refused)
{
    double *X, *y;
    mgv_fit fit;
    mgv_random_set(4, 30, 4, 0.7, &X, &y);
    mgv_fit_start(&fit, X, y, 30, 4, "task=classify loss=hinge solver=smsvm lambda=1 alpha_end=2");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver), MGV_E_ARG,
                "alpha_end lies above the first alpha (got 2, and alpha_start 1)");
    mgv_fit_free(&fit);
    free(X);
    free(y);
}

TEST(a_resumed_run_takes_the_same_steps)
{
    double *X, *y;
    mgv_random_set(4, 30, 4, 0.7, &X, &y);
    for (int k = 0; k < 2; k++)
        check_resumed_steps(X, y, 30, 4,
                            k ? "task=classify loss=hinge solver=smsvm smsvm_form=literal "
                                "penalty=enet lambda=0.01 mu=0.05"
                              : "task=classify loss=hinge solver=smsvm lambda=0.01",
                            k ? 1 : 4, 9);
    free(X);
    free(y);
}

int main(void)
{
    return RUN(line_search_vectors_are_met, no_point_of_the_ray_is_lower,
               the_gap_falls_to_what_is_asked, smoothed_optima_are_met, levels_end_at_alpha_end,
               an_end_above_the_start_is_refused, a_resumed_run_takes_the_same_steps);
}
