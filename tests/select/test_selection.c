/* test_selection.c - the public functions: choosing, certifying, what the model and report carry.
 */
#include "choosing.h"

#include <string.h>
#include <unistd.h>

enum { N = 80, D = 40, TRUE = 5 };

/* Five columns matter. */
static double planted(int64_t j) { return j < TRUE ? 2 : 0; }

static void make(mgv_fit *fit, uint64_t seed, const char *options)
{
    mgv_planted_set(fit, seed, N, D, 0, planted, options);
}

static mgv_selection_info describe(const mgv_selection *s)
{
    mgv_selection_info info = {.size = sizeof info};
    mgv_selection_describe(s, &info);
    return info;
}

TEST(the_chosen_model_is_certified_and_sparse)
{
    mgv_fit fit;
    make(&fit, 1, "task=regress penalty=l1 select=cv:5 tol=1e-9");
    mgv_selection *s = mgv_choose(&fit);
    const mgv_selection_info info = describe(s);
    mgv_certificate c = {.size = sizeof c};
    mgv_run_info run = {.size = sizeof run};
    mgv_solver_describe(mgv_selection_solver(s), &run, &c);
    CHECK(run.stop == MGV_STOP_CERTIFIED && c.verified && c.relative_gap <= 1e-9);
    CHECK(strcmp(info.rule, "cv:5") == 0 && strcmp(info.method, "lasso path") == 0);
    CHECK(info.score > .8 && info.score < 1.8 && info.score_se > 0 && !info.classify);
    CHECK(run.nonzeros >= TRUE && run.nonzeros < D);
    for (int64_t k = 0; k < TRUE; k++) { /* those that matter are the largest, in every fold */
        mgv_feature f = {.size = sizeof f};
        CHECK_OK(fit.ctx, mgv_selection_feature(fit.ctx, s, k, &f));
        CHECK(f.column < TRUE && f.folds == 5 && f.name == NULL);
        CHECK_NEAR(f.coef, 2, .5, "column %d", (int)f.column);
    }
    mgv_feature f = {.size = sizeof f};
    CHECK_FAILS(fit.ctx, mgv_selection_feature(fit.ctx, s, D, &f), MGV_E_ARG, "fewer");
    for (int64_t k = 1; k < info.points; k++) { /* the path goes down, the chosen one is its best */
        mgv_path_point before = {.size = sizeof before}, point = {.size = sizeof point};
        CHECK_OK(fit.ctx, mgv_selection_point(s, k - 1, &before));
        CHECK_OK(fit.ctx, mgv_selection_point(s, k, &point));
        CHECK(point.mu < before.mu && point.score >= info.score && point.gap <= 3.0001e-2);
    }
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
}

/* At every point of the path the final solver meets the optimality conditions to 1e-8. */
TEST(every_point_can_be_polished)
{
    mgv_fit fit;
    make(&fit, 2, "task=regress penalty=l1 select=cv:4 tol=1e-12 path_points=12");
    mgv_selection *s = mgv_choose(&fit);
    for (int64_t k = 0; k < describe(s).points; k++) {
        mgv_path_point point = {.size = sizeof point};
        mgv_selection_point(s, k, &point);
        mgv_settings own = s->settings;
        own.mu = point.mu;
        mgv_problem *problem;
        mgv_solver *solver;
        CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, &own, &problem));
        CHECK_OK(fit.ctx, mgv_solver_new(fit.ctx, problem, &own, &solver));
        CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, solver));
        double coef[D], b, r[N];
        mgvi_problem_user_weights(problem, solver->answer.w.x, coef, &b);
        for (int i = 0; i < N; i++) {
            r[i] = fit.data->labels[i] - b;
            for (int j = 0; j < D; j++)
                r[i] -= fit.X[i * D + j] * coef[j];
        }
        for (int j = 0; j < D; j++) {
            double g = 0;
            for (int i = 0; i < N; i++)
                g += fit.X[i * D + j] * r[i] / N;
            if (coef[j] != 0)
                CHECK_NEAR(g, copysign(point.mu, coef[j]), 1e-8 * (1 + point.mu), "column %d", j);
            else
                CHECK_LE(fabs(g), point.mu * (1 + 1e-8), "column %d", j);
        }
        mgv_solver_free(fit.ctx, solver);
        mgv_problem_free(fit.ctx, problem);
    }
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
}

/* Every method's rows of the trace say what was read until then. */
static int count_blank_passes(void *user, const mgv_event *event)
{
    int *blank = user;
    *blank +=
        event->kind == MGV_EVENT_TRACE && !isnan(event->validation_score) && !(event->passes > 0);
    return 0;
}

TEST(rows_of_the_trace_know_their_passes)
{
    static const char *const options[] = {"task=regress penalty=l1 select=cv:3",
                                          "task=regress penalty=l2 select=cv:3",
                                          "task=regress penalty=l1 loss=equal select=cv:3",
                                          "task=regress penalty=l2 loss=equal select=cv:3",
                                          "task=regress penalty=l1 loss=huber select=cv:3"};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        mgv_fit fit;
        int blank = 0;
        make(&fit, 7, options[k]);
        mgv_ctx_on_event(fit.ctx, count_blank_passes, &blank);
        mgv_selection *s = mgv_choose(&fit);
        CHECK_THAT(blank == 0, "%s: %d rows", options[k], blank);
        mgv_selection_free(fit.ctx, s);
        mgv_fit_free(&fit);
    }
}

/* Ridge paths read the data, too. */
TEST(max_passes_are_of_the_path_and_the_fit_together)
{
    mgv_fit fit;
    make(&fit, 8, "task=regress penalty=l2 select=cv:3");
    mgv_selection *s = mgv_choose(&fit);
    CHECK(!s->cut && s->path[0].passes > 31);
    mgv_selection_free(fit.ctx, s);
    mgv_fit_set(&fit, "max_passes=20");
    s = mgv_choose(&fit);
    CHECK(s->cut && s->path[0].passes > 20 && s->path[0].basis_count == 15);
    CHECK(mgv_selection_solver(s)->stop == MGV_STOP_MAX_PASSES);
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
}

TEST(one_standard_error_is_sparser)
{
    mgv_fit fit;
    make(&fit, 3, "task=regress penalty=l1 select=cv:5");
    mgv_selection *best = mgv_choose(&fit);
    mgv_fit_set(&fit, "one_se=yes");
    mgv_selection *sparse = mgv_choose(&fit);
    const mgv_selection_info a = describe(best), b = describe(sparse);
    CHECK(b.point < a.point && b.score <= a.score + a.score_se && b.score > a.score);
    mgv_selection_free(fit.ctx, best);
    mgv_selection_free(fit.ctx, sparse);
    mgv_fit_free(&fit);
}

TEST(discrepancy_takes_the_first_residual_that_is_small)
{
    mgv_fit fit;
    make(&fit, 4, "task=regress penalty=l1 select=discrepancy:9");
    mgv_selection *s = mgv_choose(&fit);
    const int64_t k = describe(s).point;
    CHECK(k > 0 && s->path[0].point[k].residual <= 9 && s->path[0].point[k - 1].residual > 9);
    CHECK(isnan(describe(s).score));
    mgv_selection_free(fit.ctx, s);
    mgv_fit_set(&fit, "select=discrepancy:1e-9");
    CHECK_FAILS(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &s), MGV_E_INPUT,
                "residual");
    CHECK(s == NULL);
    mgv_fit_free(&fit);
}

/* A file of rows to validate with; weights 2 are rows twice, in both. */
TEST(validation_files_and_weights)
{
    char name[64];
    snprintf(name, sizeof name, "test_selection.%d.csv", (int)getpid());
    FILE *file = fopen(name, "w");
    mgvi_rng rng = mgvi_rng_seed(9);
    fprintf(file, "y");
    for (int j = 0; j < D; j++)
        fprintf(file, ",x%d", j);
    for (int i = 0; i < 40; i++) {
        double x[D], y = 3 + mgvi_rng_normal(&rng);
        for (int j = 0; j < D; j++) {
            x[j] = mgvi_rng_normal(&rng);
            y += j < TRUE ? 2 * x[j] : 0;
        }
        fprintf(file, "\n%.17g", y);
        for (int j = 0; j < D; j++)
            fprintf(file, ",%.17g", x[j]);
    }
    fprintf(file, "\n");
    fclose(file);
    char options[200];
    snprintf(options, sizeof options,
             "task=regress penalty=enet label_column=y select=val:%s tol=1e-10", name);
    mgv_fit twice, weighted;
    make(&weighted, 5, options);
    double *X = malloc(2 * N * D * sizeof *X), y[2 * N], weights[N];
    int rows = 0;
    for (int i = 0; i < N; i++) {
        weights[i] = i % 4 == 0 ? 2 : 1;
        for (int k = 0; k < weights[i]; k++, rows++) {
            memcpy(X + rows * D, weighted.X + i * D, D * sizeof *X);
            y[rows] = weighted.data->labels[i];
        }
    }
    CHECK_OK(weighted.ctx, mgv_data_set_weights(weighted.ctx, weighted.data, weights));
    mgv_fit_start(&twice, X, y, rows, D, options);
    mgv_selection *a = mgv_choose(&weighted), *b = mgv_choose(&twice);
    CHECK(describe(a).point == describe(b).point && describe(a).points == describe(b).points);
    CHECK_NEAR(describe(a).score, describe(b).score, 1e-3 * describe(b).score, "score");
    CHECK_NEAR(a->problem->mu, b->problem->mu, 1e-6 * b->problem->mu, "mu");
    for (int j = 0; j < D; j++)
        CHECK_NEAR(a->solver->answer.w.x[j], b->solver->answer.w.x[j], 1e-4, "w[%d]", j);
    mgv_selection_free(weighted.ctx, a);
    mgv_selection_free(twice.ctx, b);
    mgv_fit_free(&weighted);
    mgv_fit_free(&twice);
    free(X);
    remove(name);
}

TEST(the_model_carries_its_path)
{
    char name[64];
    snprintf(name, sizeof name, "test_selection.%d.mgm", (int)getpid());
    mgv_fit fit;
    make(&fit, 6, "task=regress penalty=l1 select=holdout:.25");
    mgv_selection *s = mgv_choose(&fit);
    mgv_model *model, *loaded;
    char *json;
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, mgv_selection_solver(s), &model));
    CHECK_OK(fit.ctx, mgv_model_save(fit.ctx, model, name));
    CHECK_OK(fit.ctx, mgv_model_load(fit.ctx, name, &loaded));
    mgv_model_info a = {.size = sizeof a}, b = {.size = sizeof b};
    mgv_model_describe(model, &a);
    mgv_model_describe(loaded, &b);
    assert_memory_equal(a.coef, b.coef, D * sizeof *a.coef);
    CHECK(b.nonzeros > 0);
    CHECK_OK(fit.ctx, mgv_report_fit(fit.ctx, mgv_selection_solver(s), model, "d", "m", &json));
    CHECK(strstr(json, "\"holdout:.25\"") && strstr(json, "\"features\""));
    mgv_string_free(fit.ctx, json);
    mgv_model_free(fit.ctx, loaded);
    mgv_model_free(fit.ctx, model);
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
    remove(name);
}

TEST(the_same_bits_for_any_number_of_threads)
{
    double first[D + 1];
    for (int threads = 1; threads <= 4; threads *= 2) {
        mgv_fit fit;
        make(&fit, 7, "task=regress penalty=l1 select=cv:10 seed=5");
        CHECK_OK(fit.ctx, mgv_ctx_set_threads(fit.ctx, threads));
        mgv_selection *s = mgv_choose(&fit);
        if (threads == 1)
            memcpy(first, s->solver->answer.w.x, sizeof first);
        assert_memory_equal(first, s->solver->answer.w.x, sizeof first);
        mgv_selection_free(fit.ctx, s);
        mgv_fit_free(&fit);
    }
}

TEST(what_cannot_be_is_said)
{
    mgv_fit fit;
    mgv_selection *s;
    make(&fit, 8, "task=regress penalty=l1 select=none");
    CHECK_FAILS(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &s), MGV_E_ARG, "none");
    mgv_fit_set(&fit, "select=cv:5 checkpoint=file");
    CHECK_FAILS(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &s), MGV_E_UNSUPPORTED,
                "checkpoint");
    mgv_fit_set(&fit, "select=val:no/such/file checkpoint=");
    CHECK_FAILS(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &s), MGV_E_IO,
                "no/such");
    mgv_fit_free(&fit);
}

static mgv_status use_everything(mgv_ctx *ctx, mgv_settings *settings, mgv_data *data)
{
    mgv_selection *s = NULL;
    mgv_model *model = NULL;
    char *json = NULL;
    mgv_feature f = {.size = sizeof f};
    mgv_status st = mgv_selection_run(ctx, data, settings, &s);
    if (st == MGV_OK)
        st = mgv_selection_feature(ctx, s, 0, &f);
    if (st == MGV_OK)
        st = mgv_model_new(ctx, mgv_selection_solver(s), &model);
    if (st == MGV_OK)
        st = mgv_report_fit(ctx, mgv_selection_solver(s), model, NULL, NULL, &json);
    mgv_string_free(ctx, json);
    mgv_model_free(ctx, model);
    mgv_selection_free(ctx, s);
    return st;
}

static void fail_allocations(const char *options)
{
    mgv_fit plain;
    make(&plain, 10, options);
    for (long fail_at = 1;; fail_at++) {
        mgv_check_allocator a;
        mgv_check_allocator_init(&a, 0);
        mgv_ctx *ctx;
        mgv_data *data;
        assert_int_equal(mgv_ctx_new(&a.hooks, &ctx), MGV_OK);
        CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F64, plain.X, N, D, D, 1, &data));
        CHECK_OK(ctx, mgv_data_set_labels(ctx, data, plain.data->labels));
        const long before = a.live;
        a.fail_at = a.calls + fail_at;
        const mgv_status st = use_everything(ctx, plain.settings, data);
        CHECK_THAT(a.live == before, "allocation %ld leaks %ld", fail_at, a.live - before);
        CHECK_THAT(st == MGV_OK || (st == MGV_E_MEMORY && mgv_ctx_error(ctx)[0]),
                   "allocation %ld: %s", fail_at, mgv_ctx_error(ctx));
        mgv_data_free(ctx, data);
        mgv_ctx_free(ctx);
        assert_int_equal(a.live, 0);
        if (st == MGV_OK) {
            CHECK(fail_at > 30);
            break;
        }
    }
    mgv_fit_free(&plain);
}

/* The linear kernel written as a kernel: the same folds, the same errors, the same choice. */
TEST(kernels_choose_what_their_linear_form_chooses)
{
    static const char *const cases[] = {"loss=hinge intercept=no select=cv:3",
                                        "loss=hinge select=holdout:.3",
                                        "loss=margin intercept=no solver=dual_diagonal "
                                        "max_iter=30 select=cv:3"};
    double *X, *y;
    mgv_random_set(9, 90, 4, 0.1, &X, &y);
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        mgv_fit linear, kernel;
        mgv_fit_start(&linear, X, y, 90, 4, cases[t]);
        mgv_fit_start(&kernel, X, y, 90, 4, cases[t]);
        mgv_fit_set(&kernel, "kernel=poly degree=1 offset=0 sigma2=1");
        mgv_selection *a = mgv_choose(&linear), *b = mgv_choose(&kernel);
        const mgv_selection_info p = describe(a), q = describe(b);
        CHECK_THAT(p.points == q.points && p.point == q.point, "%s", cases[t]);
        CHECK_NEAR(p.score, q.score, 1e-12, "%s", cases[t]);
        mgv_feature f = {.size = sizeof f};
        CHECK_FAILS(kernel.ctx, mgv_selection_feature(kernel.ctx, b, 0, &f), MGV_E_ARG, "fewer");
        mgv_selection_free(linear.ctx, a);
        mgv_selection_free(kernel.ctx, b);
        mgv_fit_set(&kernel, "select=val:nowhere.csv");
        CHECK_FAILS(kernel.ctx, mgv_selection_run(kernel.ctx, kernel.data, kernel.settings, &b),
                    MGV_E_IO, "nowhere.csv");
        mgv_fit_free(&linear);
        mgv_fit_free(&kernel);
    }
    free(X);
    free(y);
}

TEST(every_allocation_may_fail)
{
    fail_allocations("task=regress penalty=l1 select=cv:3 path_points=10");
    fail_allocations("task=regress penalty=l1 select=cv:3 path_points=10 debias=yes");
    fail_allocations("task=regress loss=equal penalty=l1 select=cv:3 max_iter=9 stable=.6");
    fail_allocations("task=regress penalty=l2 select=cv:3");
    fail_allocations("task=regress loss=equal penalty=l2 select=holdout:.5 max_iter=5");
}

int main(void)
{
    return RUN(the_chosen_model_is_certified_and_sparse, every_point_can_be_polished,
               rows_of_the_trace_know_their_passes, max_passes_are_of_the_path_and_the_fit_together,
               one_standard_error_is_sparser, discrepancy_takes_the_first_residual_that_is_small,
               validation_files_and_weights, the_model_carries_its_path,
               the_same_bits_for_any_number_of_threads, what_cannot_be_is_said,
               kernels_choose_what_their_linear_form_chooses, every_allocation_may_fail);
}
