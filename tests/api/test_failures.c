/* test_failures.c - the k-th allocation fails, k = 1, 2, ..., in every public call: the status is
 * MGV_E_MEMORY, outputs are NULL, nothing leaks. */
#include "vectors.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct everything {
    mgv_settings *settings;
    mgv_data *data;
    mgv_problem *problem;
    mgv_solver *solver;
    mgv_model *model, *loaded;
    char *report, *checked, *shown;
} everything;

static const char *path(const char *suffix)
{
    static char name[64];
    snprintf(name, sizeof name, "test_failures.%d%s", (int)getpid(), suffix);
    return name;
}

typedef struct fit_case {
    const char *scale, *loss, *kernel, *multiclass;
} fit_case;

static mgv_status use_everything(mgv_ctx *ctx, everything *e, const double *X, const double *y,
                                 int64_t n, int64_t d, const fit_case *c)
{
    double scores[256];
    mgv_metrics metrics = {.size = sizeof metrics};
    MGVI_TRY(mgv_settings_new(ctx, &e->settings));
    MGVI_TRY(mgv_settings_set(ctx, e->settings, "max_iter", "7"));
    MGVI_TRY(mgv_settings_set(ctx, e->settings, "tol", "1e-14"));
    MGVI_TRY(mgv_settings_set(ctx, e->settings, "scale", c->scale));
    MGVI_TRY(mgv_settings_set(ctx, e->settings, "loss", c->loss));
    MGVI_TRY(mgv_settings_set(ctx, e->settings, "kernel", c->kernel));
    MGVI_TRY(mgv_settings_set(ctx, e->settings, "multiclass", c->multiclass));
    MGVI_TRY(mgv_data_from_dense(ctx, MGV_F64, X, n, d, d, 1, &e->data));
    MGVI_TRY(mgv_data_set_labels(ctx, e->data, y));
    MGVI_TRY(mgv_data_set_weights(ctx, e->data, X == NULL ? NULL : (double[256]){[0 ... 255] = 1}));
    MGVI_TRY(mgv_data_check(ctx, e->data, "memory", e->settings, &e->checked));
    MGVI_TRY(mgv_problem_new(ctx, e->data, e->settings, &e->problem));
    MGVI_TRY(mgv_solver_new(ctx, e->problem, e->settings, &e->solver));
    MGVI_TRY(mgv_solver_run(ctx, e->solver));
    mgv_run_info run = {.size = sizeof run};
    MGVI_TRY(mgv_solver_describe(e->solver, &run, NULL));
    if (run.runs == 1) {
        MGVI_TRY(mgv_solver_checkpoint(ctx, e->solver, path(".state")));
        MGVI_TRY(mgv_solver_resume(ctx, e->solver, path(".state")));
    }
    MGVI_TRY(mgv_model_new(ctx, e->solver, &e->model));
    MGVI_TRY(mgv_model_save(ctx, e->model, path(".mgm")));
    MGVI_TRY(mgv_model_load(ctx, path(".mgm"), &e->loaded));
    MGVI_TRY(mgv_model_scores(ctx, e->loaded, e->data, scores));
    MGVI_TRY(mgv_model_evaluate(ctx, e->loaded, e->data, scores, &metrics));
    MGVI_TRY(mgv_data_write(ctx, e->data, path(".mgd"), e->settings));
    int64_t feature[3], found;
    MGVI_TRY(mgv_model_largest(ctx, e->loaded, 0, 3, feature, &found));
    MGVI_TRY(mgv_report_model(ctx, e->loaded, "model", 3, &e->shown));
    return mgv_report_fit(ctx, e->solver, e->model, "data", "model", &e->report);
}

static void free_everything(mgv_ctx *ctx, everything *e)
{
    mgv_string_free(ctx, e->report);
    mgv_string_free(ctx, e->checked);
    mgv_string_free(ctx, e->shown);
    mgv_model_free(ctx, e->loaded);
    mgv_model_free(ctx, e->model);
    mgv_solver_free(ctx, e->solver);
    mgv_problem_free(ctx, e->problem);
    mgv_data_free(ctx, e->data);
    mgv_settings_free(ctx, e->settings);
}

TEST(every_allocation_may_fail)
{
    enum { TWO = 8 }; /* cases of two classes; the others have three */
    static const fit_case cases[] = {
        {"none", "hinge", "linear", "auto"},       {"std", "hinge", "linear", "auto"},
        {"maxabs", "hinge", "linear", "auto"},     {"rownorm", "hinge", "linear", "auto"},
        {"none", "margin", "linear", "auto"},      {"std", "margin", "linear", "auto"},
        {"none", "hinge", "rbf", "auto"},          {"std", "squared_hinge", "poly", "auto"},
        {"std", "hinge", "linear", "auto"},        {"std", "margin", "poly", "auto"},
        {"none", "softmax", "rbf", "auto"},        {"std", "crammer_singer", "linear", "auto"},
        {"none", "crammer_singer", "rbf", "auto"}, {"none", "margin", "linear", "joint"},
        {"none", "margin", "rbf", "joint"},        {"none", "logistic", "rbf", "auto"}};
    double *X, *y;
    mgv_random_set(31, 30, 4, 0.5, &X, &y);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (int i = 0; k == TWO && i < 10; i++)
            y[i] = 7; /* a third class */
        for (long fail_at = 1;; fail_at++) {
            mgv_check_allocator a;
            mgv_check_allocator_init(&a, 0);
            mgv_ctx *ctx;
            everything e = {0};
            assert_int_equal(mgv_ctx_new(&a.hooks, &ctx), MGV_OK);
            const long before = a.live;
            a.fail_at = a.calls + fail_at;
            const mgv_status st = use_everything(ctx, &e, X, y, 30, 4, &cases[k]);
            free_everything(ctx, &e);
            CHECK_THAT(a.live == before, "%s: allocation %ld leaks %ld", cases[k].loss, fail_at,
                       a.live - before);
            if (st != MGV_OK)
                CHECK_THAT(st == MGV_E_MEMORY && mgv_ctx_error(ctx)[0], "allocation %ld: %s: %s",
                           fail_at, mgv_status_name(st), mgv_ctx_error(ctx));
            mgv_ctx_free(ctx);
            assert_int_equal(a.live, 0);
            if (st == MGV_OK) {
                CHECK(fail_at > 10);
                break;
            }
        }
    }
    remove(path(".state"));
    remove(path(".mgm"));
    remove(path(".mgd"));
    free(X);
    free(y);
}

TEST(wrong_arguments_get_a_sentence)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_settings *s;
    mgv_data *data;
    const double X[] = {1, 2, 3, 4}, nan[] = {1, 2, 0.0 / 0.0, 4};
    const int64_t ptr[] = {0, 1, 2};
    const int32_t good[] = {0, 1}, bad[] = {0, 2};
    CHECK_OK(ctx, mgv_settings_new(ctx, &s));
    CHECK_FAILS(ctx, mgv_data_read(ctx, NULL, s, &data), MGV_E_ARG, "path");
    CHECK_FAILS(ctx, mgv_data_from_dense(ctx, MGV_F64, X, -1, 2, 2, 1, &data), MGV_E_ARG, "-1 x 2");
    CHECK_FAILS(ctx, mgv_data_from_dense(ctx, MGV_F64, NULL, 2, 2, 2, 1, &data), MGV_E_ARG,
                "values is NULL");
    CHECK_FAILS(ctx, mgv_data_from_dense(ctx, MGV_F64, nan, 2, 2, 2, 1, &data), MGV_E_INPUT, "nan");
    CHECK_FAILS(ctx, mgv_data_from_sparse(ctx, MGV_CSR, MGV_F64, X, ptr, bad, 2, 2, &data),
                MGV_E_INPUT, "2");
    CHECK(data == NULL);
    CHECK_OK(ctx, mgv_data_from_sparse(ctx, MGV_CSR, MGV_F64, X, ptr, good, 2, 2, &data));
    CHECK_FAILS(ctx, mgv_data_set_weights(ctx, data, (double[]){1, -1}), MGV_E_INPUT,
                "row 2 must be finite and at least 0 (got -1)");
    CHECK_FAILS(ctx, mgv_data_set_labels(ctx, data, (double[]){1, 1.0 / 0.0}), MGV_E_INPUT, "inf");
    CHECK_FAILS(ctx, mgv_ctx_set_backend(ctx, "cuda:0"), MGV_E_UNSUPPORTED, "cuda:0");
    mgv_data_free(ctx, data);
    mgv_settings_free(ctx, s);
    mgv_ctx_free(ctx);
}

TEST(the_registry_lists_every_kind)
{
    static const char *const kinds[] = {"loss",     "penalty", "solver", "stop",
                                        "operator", "reader",  "writer"};
    int seen[7] = {0};
    for (size_t i = 0; i < mgv_registry_count(); i++) {
        mgv_entry entry = {.size = sizeof entry};
        CHECK(mgv_registry_at(i, &entry) == MGV_OK && entry.name[0] && entry.summary[0]);
        for (int k = 0; k < 7; k++)
            seen[k] += strcmp(entry.kind, kinds[k]) == 0;
    }
    for (int k = 0; k < 7; k++)
        CHECK_THAT(seen[k] > 0, "no %s", kinds[k]);
    mgv_entry entry = {.size = sizeof entry};
    CHECK(mgv_registry_at(mgv_registry_count(), &entry) == MGV_E_ARG);
}

int main(void)
{
    return RUN(every_allocation_may_fail, wrong_arguments_get_a_sentence,
               the_registry_lists_every_kind);
}
