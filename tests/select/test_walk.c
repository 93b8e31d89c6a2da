/* test_walk.c - paths: where they begin, that every point is certified and is what a run of its own
 * finds, lists, budgets, interruptions, refusals, failing memory, same bits. */
#include "select/strength.h"
#include "select/walk.h"
#include "vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the largest mu -------------------------------------------------------------------------- */

/* Whether w = 0 is a solution at mu, by a run of its own. */
static bool zero_solves(const double *X, const double *y, int64_t n, int64_t d, double mu,
                        const char *options)
{
    char strength[64];
    mgv_fit f;
    mgv_fit_start(&f, X, y, n, d, options);
    snprintf(strength, sizeof strength, "mu=%.17g tol=1e-12", mu);
    mgv_fit_set(&f, strength);
    mgv_fit_solve(&f);
    CHECK_LE(f.certificate.relative_gap, 1e-12, "%s mu = %g", options, mu);
    const bool zero = f.run.nonzeros == 0;
    mgv_fit_free(&f);
    return zero;
}

TEST(the_largest_mu_is_the_least_without_weights)
{
    static const char *const options[] = {
        "solver=column_generation intercept=no",
        "solver=column_generation intercept=yes",
        "solver=column_generation intercept=yes class_weight=balanced",
        "solver=column_generation intercept=yes scale=std",
        "loss=squared task=regress intercept=yes",
        "loss=squared task=regress intercept=no"};
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (size_t t = 0; t < sizeof options / sizeof *options; t++) {
            double *X, *y;
            mgv_random_set(seed, 30, 40, 0.5, &X, &y);
            for (int i = 0; i < 12; i++) /* classes of different weight */
                y[i] = 1;
            mgv_fit f;
            mgv_path *path;
            mgv_path_info info = {.size = sizeof info};
            mgv_fit_start(&f, X, y, 30, 40, options[t]);
            mgv_fit_set(&f, "along=mu");
            CHECK_OK(f.ctx, mgv_path_new(f.ctx, f.data, f.settings, &path));
            mgv_path_describe(path, &info);
            CHECK(strcmp(info.along, "mu") == 0 && info.points == 100 && info.done == 0);
            CHECK(zero_solves(X, y, 30, 40, info.largest * (1 + 1e-8), options[t]));
            CHECK(!zero_solves(X, y, 30, 40, info.largest * (1 - 1e-6), options[t]));
            mgv_path_free(f.ctx, path);
            mgv_fit_free(&f);
            free(X);
            free(y);
        }
}

/* ---- the points ------------------------------------------------------------------------------ */

/* The objective of a run of its own at this point. */
static double alone(const double *X, const double *y, int64_t n, int64_t d, const char *options,
                    const mgv_path_result *point)
{
    char strengths[96];
    mgv_fit f;
    mgv_fit_start(&f, X, y, n, d, options);
    snprintf(strengths, sizeof strengths, "lambda=%.17g mu=%.17g along=auto", point->lambda,
             point->mu);
    mgv_fit_set(&f, strengths);
    mgv_fit_solve(&f);
    const double primal = f.certificate.primal;
    mgv_fit_free(&f);
    return primal;
}

static void check_path(const char *options, const char *along)
{
    enum { N = 40, D = 60, POINTS = 6 };
    double *X, *y, before = INFINITY;
    mgv_random_set(5, N, D, 0.5, &X, &y);
    mgv_fit f;
    mgv_path *path;
    const mgv_solver *solver;
    const char *plain = strstr(options, "intercept=no") ? "tol=1e-9 intercept=no" : "tol=1e-9";
    mgv_fit_start(&f, X, y, N, D, options);
    mgv_fit_set(&f, "path_points=6 path_end=0.05 tol=1e-9");
    mgv_fit_set(&f, along);
    CHECK_OK(f.ctx, mgv_path_new(f.ctx, f.data, f.settings, &path));
    for (int k = 0; k <= POINTS; k++) {
        mgv_path_result point = {.size = sizeof point};
        CHECK_OK(f.ctx, mgv_path_next(f.ctx, path, &solver));
        CHECK((solver == NULL) == (k == POINTS));
        if (!solver)
            break;
        mgv_path_at(path, k, &point);
        CHECK_THAT(point.stop == MGV_STOP_CERTIFIED && point.verified, "%s %s: point %d", options,
                   along, k);
        CHECK_LE(point.relative_gap, 1e-9, "%s: point %d", options, k);
        const double strength = strstr(along, "mu") ? point.mu : point.lambda;
        CHECK(strength < before);
        before = strength;
        const double own = alone(X, y, N, D, plain, &point);
        CHECK_NEAR(point.primal, own, 2e-9 * own, "%s %s: point %d", options, along, k);
        mgv_model *model; /* every point can be kept */
        CHECK_OK(f.ctx, mgv_model_new(f.ctx, solver, &model));
        mgv_model_free(f.ctx, model);
    }
    mgv_path_result last = {.size = sizeof last};
    CHECK(mgv_path_at(path, POINTS, &last) == MGV_E_ARG &&
          mgv_path_at(path, -1, &last) == MGV_E_ARG);
    char *json;
    CHECK_OK(f.ctx, mgv_report_path(f.ctx, path, "data", NULL, &json));
    json_t *o = json_loads(json, 0, NULL);
    CHECK(json_array_size(json_object_get(o, "points")) == POINTS);
    json_decref(o);
    mgv_string_free(f.ctx, json);
    mgv_path_free(f.ctx, path);
    mgv_fit_free(&f);
    free(X);
    free(y);
}

TEST(every_point_is_certified_and_what_a_run_of_its_own_finds)
{
    check_path("penalty=l1", "along=mu");
    check_path("lambda=0.01", "along=mu");
    check_path("mu=0.01", "along=lambda");
    check_path("intercept=no", "along=lambda");
}

TEST(strengths_may_be_listed_and_fall)
{
    double *X, *y;
    mgv_random_set(5, 30, 50, 0.5, &X, &y);
    mgv_fit f;
    mgv_path *path;
    mgv_path_result point = {.size = sizeof point};
    mgv_path_info info = {.size = sizeof info};
    mgv_fit_start(&f, X, y, 30, 50, "penalty=l1 strengths=0.01,0.1,0.03");
    CHECK_OK(f.ctx, mgv_path_new(f.ctx, f.data, f.settings, &path));
    mgv_path_describe(path, &info);
    CHECK(info.points == 3 && info.largest == 0.1);
    const double want[] = {0.1, 0.03, 0.01};
    for (int k = 0; k < 3; k++) {
        mgv_path_at(path, k, &point);
        CHECK(point.mu == want[k] && point.stop == MGV_STOP_NONE);
    }
    mgv_path_free(f.ctx, path);
    mgv_fit_free(&f);
    free(X);
    free(y);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static int stop_at_once(void *user, const mgv_event *event)
{
    (void)user;
    return event->kind != MGV_EVENT_LOG;
}

TEST(a_path_that_is_interrupted_keeps_what_it_has)
{
    double *X, *y;
    mgv_random_set(6, 30, 50, 0.5, &X, &y);
    mgv_fit f;
    mgv_path *path;
    const mgv_solver *solver;
    mgv_path_info info = {.size = sizeof info};
    mgv_path_result point = {.size = sizeof point};
    mgv_fit_start(&f, X, y, 30, 50, "penalty=l1 path_points=5 tol=1e-12 intercept=no");
    CHECK_OK(f.ctx, mgv_path_new(f.ctx, f.data, f.settings, &path));
    CHECK_OK(f.ctx, mgv_path_next(f.ctx, path, &solver));
    CHECK_OK(f.ctx, mgv_path_next(f.ctx, path, &solver));
    mgv_ctx_on_event(f.ctx, stop_at_once, NULL);
    CHECK_OK(f.ctx, mgv_path_next(f.ctx, path, &solver));
    mgv_ctx_on_event(f.ctx, NULL, NULL);
    CHECK(solver != NULL);
    mgv_path_describe(path, &info);
    CHECK(info.done == 3);
    mgv_path_at(path, 1, &point);
    CHECK(point.stop == MGV_STOP_CERTIFIED);
    mgv_path_at(path, 2, &point);
    CHECK(point.stop == MGV_STOP_USER);
    CHECK_OK(f.ctx, mgv_path_next(f.ctx, path, &solver)); /* and may go on */
    mgv_path_at(path, 3, &point);
    CHECK(point.stop == MGV_STOP_CERTIFIED);
    path->settings.time_limit = path->spent; /* all time is spent: no further point */
    CHECK_OK(f.ctx, mgv_path_next(f.ctx, path, &solver));
    CHECK(solver == NULL);
    mgv_path_free(f.ctx, path);
    mgv_fit_free(&f);
    free(X);
    free(y);
}

TEST(refusals_say_why)
{
    static const struct {
        const char *options, *part;
        mgv_status code;
    } cases[] = {{"along=mu mu=1", "mu is given", MGV_E_ARG},
                 {"along=lambda C=1", "C is given", MGV_E_ARG},
                 {"along=lambda lambda=1", "lambda is given", MGV_E_ARG},
                 {"loss=margin", "is a constraint", MGV_E_ARG},
                 {"penalty=l1 along=lambda", "no path along lambda", MGV_E_ARG},
                 {"penalty=l1 strengths=1,x", "'x'", MGV_E_ARG},
                 {"penalty=l1 strengths=1,,2", "''", MGV_E_ARG},
                 {"mu=1e9", "there is no path", MGV_E_ARG}};
    double *X, *y;
    mgv_random_set(6, 20, 5, 0.5, &X, &y);
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        mgv_fit f;
        mgv_path *path;
        mgv_fit_start(&f, X, y, 20, 5, cases[t].options);
        CHECK_FAILS(f.ctx, mgv_path_new(f.ctx, f.data, f.settings, &path), cases[t].code,
                    cases[t].part);
        CHECK(path == NULL);
        CHECK_FAILS(f.ctx, mgv_path_new(f.ctx, NULL, f.settings, &path), MGV_E_ARG, "data is NULL");
        mgv_fit_free(&f);
    }
    const double nothing[40] = {0};
    mgv_fit f;
    mgv_path *path;
    mgv_fit_start(&f, nothing, y, 20, 2, "penalty=l1");
    CHECK_FAILS(f.ctx, mgv_path_new(f.ctx, f.data, f.settings, &path), MGV_E_INPUT,
                "no column tells the labels apart");
    mgv_fit_free(&f);
    free(X);
    free(y);
}

static mgv_status walk(mgv_fit *f, mgv_path **path)
{
    char *json = NULL;
    const mgv_solver *solver;
    MGVI_TRY(mgv_path_new(f->ctx, f->data, f->settings, path));
    do
        MGVI_TRY(mgv_path_next(f->ctx, *path, &solver));
    while (solver);
    const mgv_status st = mgv_report_path(f->ctx, *path, "data", NULL, &json);
    mgv_string_free(f->ctx, json);
    return st;
}

TEST(every_allocation_may_fail)
{
    static const char *const options[] = {"penalty=l1", "along=lambda"};
    double *X, *y;
    mgv_random_set(12, 9, 20, 0.5, &X, &y);
    y[0] = -y[1];
    for (size_t t = 0; t < sizeof options / sizeof *options; t++)
        for (long fail_at = 1;; fail_at++) {
            mgv_check_allocator a;
            mgv_fit f = {.ctx = NULL};
            mgv_path *path = NULL;
            mgv_check_allocator_init(&a, 0);
            assert_int_equal(mgv_ctx_new(&a.hooks, &f.ctx), MGV_OK);
            CHECK_OK(f.ctx, mgv_data_from_dense(f.ctx, MGV_F64, X, 9, 20, 20, 1, &f.data));
            CHECK_OK(f.ctx, mgv_data_set_labels(f.ctx, f.data, y));
            CHECK_OK(f.ctx, mgv_settings_new(f.ctx, &f.settings));
            mgv_fit_set(&f, "path_points=2");
            mgv_fit_set(&f, options[t]);
            a.fail_at = a.calls + fail_at;
            const mgv_status st = walk(&f, &path);
            a.fail_at = 0;
            CHECK(st == MGV_OK || (st == MGV_E_MEMORY && mgv_ctx_error(f.ctx)[0]));
            mgv_path_free(f.ctx, path);
            mgv_fit_free(&f);
            assert_int_equal(a.live, 0);
            if (st == MGV_OK) {
                CHECK(fail_at > 30);
                break;
            }
        }
    free(X);
    free(y);
}

TEST(threads_do_not_change_the_bits)
{
    double *X, *y, first[401];
    mgv_random_set(9, 50, 400, 0.5, &X, &y);
    for (int threads = 1; threads <= 3; threads++) {
        mgv_fit f;
        mgv_path *path;
        mgv_fit_start(&f, X, y, 50, 400, "penalty=l1 path_points=4");
        CHECK_OK(f.ctx, mgv_ctx_set_threads(f.ctx, threads));
        CHECK_OK(f.ctx, walk(&f, &path));
        if (threads == 1)
            memcpy(first, path->solver->answer.w.x, sizeof first);
        assert_memory_equal(first, path->solver->answer.w.x, sizeof first);
        mgv_path_free(f.ctx, path);
        mgv_fit_free(&f);
    }
    free(X);
    free(y);
}

int main(void)
{
    return RUN(the_largest_mu_is_the_least_without_weights,
               every_point_is_certified_and_what_a_run_of_its_own_finds,
               strengths_may_be_listed_and_fall, a_path_that_is_interrupted_keeps_what_it_has,
               refusals_say_why, every_allocation_may_fail, threads_do_not_change_the_bits);
}
