/* test_null.c - every pointer of every public function may be NULL by mistake: a status and, where
 * there is a context, a sentence; never a crash. And a success leaves no sentence behind. */
#include "vectors.h"

#include <stdlib.h>
#include <string.h>

/* One of everything. */
typedef struct things {
    mgv_ctx *ctx;
    mgv_settings *settings;
    mgv_data *data;
    mgv_problem *problem;
    mgv_solver *solver;
    mgv_model *model;
    mgv_selection *selection;
    mgv_path *path;
    mgv_triples *triples;
    mgv_completion *completion;
    mgv_image *image, *psf;
    mgv_deblur *deblur;
    double *X, *y;
} things;

enum { ROWS = 30, COLS = 3 };

static int identity(void *user, const double *x, double *y)
{
    (void)user;
    y[0] = x[0];
    return 0;
}
static const mgv_operator op = {
    .size = sizeof op, .rows = 1, .cols = 1, .mul = identity, .mul_t = identity};

static void set_up(things *t)
{
    static const int64_t row[6] = {0, 0, 1, 1, 2, 2}, col[6] = {0, 1, 0, 1, 0, 1};
    static const double value[6] = {1, 2, 2, 4, 3, 6};
    double pixels[64];
    for (int i = 0; i < 64; i++)
        pixels[i] = i % 8 > 3;
    *t = (things){.ctx = mgv_check_ctx()};
    mgv_random_set(3, ROWS, COLS, 0.3, &t->X, &t->y);
    CHECK_OK(t->ctx, mgv_settings_new(t->ctx, &t->settings));
    CHECK_OK(t->ctx, mgv_settings_set(t->ctx, t->settings, "max_iter", "50"));
    CHECK_OK(t->ctx, mgv_data_from_dense(t->ctx, MGV_F64, t->X, ROWS, COLS, COLS, 1, &t->data));
    CHECK_OK(t->ctx, mgv_data_set_labels(t->ctx, t->data, t->y));
    CHECK_OK(t->ctx, mgv_problem_new(t->ctx, t->data, t->settings, &t->problem));
    CHECK_OK(t->ctx, mgv_solver_new(t->ctx, t->problem, t->settings, &t->solver));
    CHECK_OK(t->ctx, mgv_solver_run(t->ctx, t->solver));
    CHECK_OK(t->ctx, mgv_model_new(t->ctx, t->solver, &t->model));
    CHECK_OK(t->ctx, mgv_path_new(t->ctx, t->data, t->settings, &t->path));
    CHECK_OK(t->ctx, mgv_settings_set(t->ctx, t->settings, "select", "holdout:0.3"));
    CHECK_OK(t->ctx, mgv_selection_run(t->ctx, t->data, t->settings, &t->selection));
    CHECK_OK(t->ctx, mgv_triples_new(t->ctx, 6, row, col, value, 0, 0, &t->triples));
    CHECK_OK(t->ctx, mgv_settings_set(t->ctx, t->settings, "select", "last"));
    CHECK_OK(t->ctx, mgv_completion_run(t->ctx, t->triples, t->settings, &t->completion));
    CHECK_OK(t->ctx, mgv_settings_set(t->ctx, t->settings, "select", "none"));
    CHECK_OK(t->ctx, mgv_image_new(t->ctx, 8, 8, 1, pixels, &t->image));
    CHECK_OK(t->ctx, mgv_psf_gaussian(t->ctx, 1, &t->psf));
    CHECK_OK(t->ctx, mgv_deblur_new(t->ctx, t->image, t->psf, NULL, t->settings, &t->deblur));
}

static void tear_down(things *t)
{
    mgv_deblur_free(t->ctx, t->deblur);
    mgv_image_free(t->ctx, t->psf);
    mgv_image_free(t->ctx, t->image);
    mgv_completion_free(t->ctx, t->completion);
    mgv_triples_free(t->ctx, t->triples);
    mgv_path_free(t->ctx, t->path);
    mgv_selection_free(t->ctx, t->selection);
    mgv_model_free(t->ctx, t->model);
    mgv_solver_free(t->ctx, t->solver);
    mgv_problem_free(t->ctx, t->problem);
    mgv_data_free(t->ctx, t->data);
    mgv_settings_free(t->ctx, t->settings);
    mgv_ctx_free(t->ctx);
    free(t->X);
    free(t->y);
}

/* The call is refused with "NAME is NULL". */
#define REFUSED(call, name) CHECK_FAILS(t.ctx, call, MGV_E_ARG, name " is NULL")
/* Functions without a context, or with NULL for it, have no place for a sentence. */
#define REFUSED_SILENTLY(call) CHECK_THAT((call) == MGV_E_ARG, "%s", #call)

TEST(context_settings_and_files)
{
    things t;
    char text[64];
    mgv_output *output;
    set_up(&t);
    mgv_ctx *c = t.ctx;
    REFUSED_SILENTLY(mgv_ctx_new(NULL, NULL));
    mgv_ctx_free(NULL);
    assert_string_equal(mgv_ctx_error(NULL), "");
    assert_string_equal(mgv_ctx_simd(NULL), "");
    assert_string_equal(mgv_ctx_caches(NULL), "");
    CHECK(mgv_ctx_threads(NULL) == 0);
    REFUSED_SILENTLY(mgv_ctx_set_threads(NULL, 1));
    REFUSED_SILENTLY(mgv_ctx_set_backend(NULL, "cpu"));
    REFUSED(mgv_ctx_set_backend(c, NULL), "name");
    mgv_ctx_interrupt(NULL);
    mgv_ctx_on_event(NULL, NULL, NULL);
    REFUSED_SILENTLY(mgv_ctx_on_iterate(NULL, 1, NULL, NULL));
    mgv_string_free(NULL, NULL);
    mgv_string_free(c, NULL);
    REFUSED_SILENTLY(mgv_settings_new(NULL, &t.settings));
    REFUSED(mgv_settings_new(c, NULL), "out");
    mgv_settings_free(NULL, NULL);
    mgv_settings_free(c, NULL);
    REFUSED_SILENTLY(mgv_settings_set(NULL, t.settings, "tol", "1"));
    REFUSED(mgv_settings_set(c, NULL, "tol", "1"), "settings");
    REFUSED(mgv_settings_set(c, t.settings, NULL, "1"), "name");
    REFUSED(mgv_settings_set(c, t.settings, "tol", NULL), "value");
    REFUSED_SILENTLY(mgv_settings_get(NULL, t.settings, "tol", text, sizeof text));
    REFUSED(mgv_settings_get(c, NULL, "tol", text, sizeof text), "settings");
    REFUSED(mgv_settings_get(c, t.settings, NULL, text, sizeof text), "name");
    REFUSED(mgv_settings_get(c, t.settings, "tol", NULL, 0), "buffer");
    REFUSED_SILENTLY(mgv_setting_at(0, NULL));
    REFUSED_SILENTLY(mgv_registry_at(0, NULL));
    REFUSED_SILENTLY(mgv_output_open(NULL, "x", &output));
    REFUSED(mgv_output_open(c, NULL, &output), "path");
    REFUSED(mgv_output_open(c, "x", NULL), "out");
    REFUSED(mgv_output_write(c, NULL, "x", 1), "output");
    REFUSED(mgv_output_close(c, NULL, 1), "output");
    tear_down(&t);
}

TEST(data_and_operators)
{
    things t;
    mgv_data *data;
    char *text;
    set_up(&t);
    mgv_ctx *c = t.ctx;
    REFUSED_SILENTLY(mgv_data_read(NULL, "x", t.settings, &data));
    REFUSED(mgv_data_read(c, NULL, t.settings, &data), "path");
    REFUSED(mgv_data_read(c, "x", NULL, &data), "settings");
    REFUSED(mgv_data_read(c, "x", t.settings, NULL), "out");
    REFUSED(mgv_data_write(c, NULL, "x", t.settings), "data");
    REFUSED(mgv_data_write(c, t.data, NULL, t.settings), "path");
    REFUSED(mgv_data_write(c, t.data, "x", NULL), "settings");
    REFUSED(mgv_data_from_dense(c, MGV_F64, NULL, 1, 1, 1, 1, &data), "values");
    REFUSED(mgv_data_from_dense(c, MGV_F64, t.X, 1, 1, 1, 1, NULL), "out");
    REFUSED(mgv_data_from_sparse(c, MGV_CSR, MGV_F64, t.X, NULL, NULL, 1, 1, &data), "pointers");
    REFUSED(mgv_data_from_sparse(c, MGV_CSR, MGV_F64, NULL, (int64_t[]){0, 1}, (int32_t[]){0}, 1, 1,
                                 &data),
            "values");
    REFUSED(mgv_data_from_sparse(c, MGV_CSR, MGV_F64, t.X, (int64_t[]){0, 1}, NULL, 1, 1, &data),
            "indices");
    REFUSED(mgv_data_from_sparse(c, MGV_CSR, MGV_F64, t.X, (int64_t[]){0, 1}, (int32_t[]){0}, 1, 1,
                                 NULL),
            "out");
    REFUSED(mgv_data_set_labels(c, NULL, t.y), "data");
    REFUSED(mgv_data_set_weights(c, NULL, t.y), "data");
    REFUSED(mgv_data_set_groups(c, NULL, NULL), "data");
    REFUSED(mgv_data_set_penalty_weights(c, NULL, t.y), "data");
    mgv_data_free(c, NULL);
    REFUSED_SILENTLY(mgv_data_describe(NULL, &(mgv_data_info){.size = sizeof(mgv_data_info)}));
    REFUSED_SILENTLY(mgv_data_describe(t.data, NULL));
    CHECK(mgv_data_class(NULL, 0) == NULL);
    REFUSED(mgv_data_check(c, NULL, "x", t.settings, &text), "data");
    REFUSED(mgv_data_check(c, t.data, "x", NULL, &text), "settings");
    REFUSED(mgv_data_check(c, t.data, "x", t.settings, NULL), "json");
    REFUSED(mgv_data_check_text(c, NULL, "x", t.settings, &text), "data");
    REFUSED(mgv_data_check_text(c, t.data, "x", NULL, &text), "settings");
    REFUSED(mgv_data_check_text(c, t.data, "x", t.settings, NULL), "text");
    REFUSED(mgv_operator_check(c, NULL), "operator");
    REFUSED_SILENTLY(mgv_operator_check(NULL, &op));
    tear_down(&t);
}

TEST(problems_and_solvers)
{
    things t;
    mgv_problem *problem;
    mgv_solver *solver;
    const double *values;
    int64_t count;
    set_up(&t);
    mgv_ctx *c = t.ctx;
    REFUSED_SILENTLY(mgv_problem_new(NULL, t.data, t.settings, &problem));
    REFUSED(mgv_problem_new(c, NULL, t.settings, &problem), "data");
    REFUSED(mgv_problem_new(c, t.data, NULL, &problem), "settings");
    REFUSED(mgv_problem_new(c, t.data, t.settings, NULL), "out");
    REFUSED(mgv_problem_from_operator(c, NULL, t.y, NULL, t.settings, &problem), "op");
    REFUSED(mgv_problem_from_operator(c, &op, NULL, NULL, t.settings, &problem), "target");
    REFUSED(mgv_problem_from_operator(c, &op, t.y, NULL, NULL, &problem), "settings");
    REFUSED(mgv_problem_from_operator(c, &op, t.y, NULL, t.settings, NULL), "out");
    REFUSED(mgv_problem_set_smooth(c, NULL, NULL), "problem");
    mgv_problem_free(c, NULL);
    assert_string_equal(mgv_problem_formula(NULL), "");
    REFUSED(mgv_solver_new(c, NULL, t.settings, &solver), "problem");
    REFUSED(mgv_solver_new(c, t.problem, NULL, &solver), "settings");
    REFUSED(mgv_solver_new(c, t.problem, t.settings, NULL), "out");
    REFUSED(mgv_solver_run(c, NULL), "solver");
    REFUSED_SILENTLY(mgv_solver_run(NULL, t.solver));
    REFUSED_SILENTLY(mgv_solver_describe(NULL, NULL, NULL));
    CHECK_OK(c, mgv_solver_describe(t.solver, NULL, NULL));
    REFUSED(mgv_solver_checkpoint(c, NULL, "x"), "solver");
    REFUSED(mgv_solver_checkpoint(c, t.solver, NULL), "path");
    REFUSED(mgv_solver_resume(c, NULL, "x"), "solver");
    REFUSED(mgv_solver_resume(c, t.solver, NULL), "path");
    REFUSED_SILENTLY(mgv_solver_dual(NULL, &values, &count));
    REFUSED_SILENTLY(mgv_solver_dual(t.solver, NULL, &count));
    REFUSED_SILENTLY(mgv_solver_dual(t.solver, &values, NULL));
    REFUSED_SILENTLY(mgv_solver_weights(NULL, &values, &count));
    REFUSED_SILENTLY(mgv_solver_weights(t.solver, NULL, &count));
    REFUSED_SILENTLY(mgv_solver_weights(t.solver, &values, NULL));
    mgv_solver_free(c, NULL);
    tear_down(&t);
}

TEST(selections_and_paths)
{
    things t;
    mgv_selection *selection;
    mgv_path *path;
    const char *method;
    double seconds;
    char *json;
    mgv_path_point point = {.size = sizeof point};
    mgv_path_result result = {.size = sizeof result};
    set_up(&t);
    mgv_ctx *c = t.ctx;
    REFUSED(mgv_selection_run(c, NULL, t.settings, &selection), "data");
    REFUSED(mgv_selection_run(c, t.data, NULL, &selection), "settings");
    REFUSED(mgv_selection_run(c, t.data, t.settings, NULL), "out");
    mgv_selection_free(c, NULL);
    CHECK(!mgv_selection_problem(NULL) && !mgv_selection_solver(NULL));
    REFUSED_SILENTLY(mgv_selection_describe(NULL, NULL));
    REFUSED_SILENTLY(mgv_selection_describe(t.selection, NULL));
    REFUSED_SILENTLY(mgv_selection_point(NULL, 0, &point));
    REFUSED_SILENTLY(mgv_selection_point(t.selection, 0, NULL));
    REFUSED_SILENTLY(mgv_selection_compared(NULL, 0, &method, &point, &seconds));
    REFUSED_SILENTLY(mgv_selection_compared(t.selection, 0, NULL, &point, &seconds));
    REFUSED_SILENTLY(mgv_selection_compared(t.selection, 0, &method, NULL, &seconds));
    REFUSED_SILENTLY(mgv_selection_compared(t.selection, 0, &method, &point, NULL));
    REFUSED(mgv_selection_feature(c, NULL, 0, &(mgv_feature){.size = sizeof(mgv_feature)}),
            "selection");
    REFUSED(mgv_selection_feature(c, t.selection, 0, NULL), "out");
    REFUSED(mgv_path_new(c, NULL, t.settings, &path), "data");
    REFUSED(mgv_path_new(c, t.data, NULL, &path), "settings");
    REFUSED(mgv_path_new(c, t.data, t.settings, NULL), "out");
    REFUSED(mgv_path_next(c, NULL, NULL), "solver");
    REFUSED(mgv_path_next(c, t.path, NULL), "solver");
    mgv_path_free(c, NULL);
    REFUSED_SILENTLY(mgv_path_describe(NULL, NULL));
    REFUSED_SILENTLY(mgv_path_describe(t.path, NULL));
    REFUSED_SILENTLY(mgv_path_at(NULL, 0, &result));
    REFUSED_SILENTLY(mgv_path_at(t.path, 0, NULL));
    REFUSED(mgv_report_path(c, NULL, NULL, NULL, &json), "path");
    REFUSED(mgv_report_path(c, t.path, NULL, NULL, NULL), "json");
    tear_down(&t);
}

TEST(models)
{
    things t;
    mgv_model *model;
    char *json;
    double scores[ROWS];
    int64_t counts[4];
    mgv_metrics metrics = {.size = sizeof metrics};
    set_up(&t);
    mgv_ctx *c = t.ctx;
    REFUSED(mgv_model_new(c, NULL, &model), "solver");
    REFUSED(mgv_model_new(c, t.solver, NULL), "out");
    REFUSED(mgv_model_keep_pair(c, NULL, t.solver), "model");
    REFUSED(mgv_model_keep_pair(c, t.model, NULL), "solver");
    REFUSED(mgv_model_save(c, NULL, "x"), "model");
    REFUSED(mgv_model_save(c, t.model, NULL), "path");
    REFUSED(mgv_model_load(c, NULL, &model), "path");
    REFUSED(mgv_model_load(c, "x", NULL), "out");
    REFUSED_SILENTLY(mgv_model_load(NULL, "x", &model));
    mgv_model_free(c, NULL);
    REFUSED_SILENTLY(mgv_model_describe(NULL, NULL));
    REFUSED_SILENTLY(mgv_model_describe(t.model, NULL));
    CHECK(mgv_model_class(NULL, 0) == NULL);
    mgv_model_origin origin = {.size = sizeof origin};
    mgv_path_point point = {.size = sizeof point};
    int64_t feature[2], found;
    REFUSED_SILENTLY(mgv_model_made_by(NULL, &origin));
    REFUSED_SILENTLY(mgv_model_made_by(t.model, NULL));
    REFUSED_SILENTLY(mgv_model_point(NULL, 0, &point));
    REFUSED_SILENTLY(mgv_model_point(t.model, 0, NULL));
    REFUSED(mgv_model_largest(c, NULL, 0, 2, feature, &found), "model");
    REFUSED(mgv_model_largest(c, t.model, 0, 2, NULL, &found), "features");
    REFUSED(mgv_model_largest(c, t.model, 0, 2, feature, NULL), "found");
    REFUSED(mgv_report_model(c, NULL, NULL, 2, &json), "model");
    REFUSED(mgv_report_model(c, t.model, NULL, 2, NULL), "json");
    REFUSED(mgv_model_scores(c, NULL, t.data, scores), "model");
    REFUSED(mgv_model_scores(c, t.model, NULL, scores), "data");
    REFUSED(mgv_model_scores(c, t.model, t.data, NULL), "scores");
    CHECK(mgv_model_decide(NULL, scores) == -1 && mgv_model_decide(t.model, NULL) == -1);
    REFUSED(mgv_model_probabilities(c, NULL, 1, scores, scores), "model");
    REFUSED(mgv_model_probabilities(c, t.model, 1, NULL, scores), "scores");
    REFUSED(mgv_model_probabilities(c, t.model, 1, scores, NULL), "probabilities");
    REFUSED(mgv_model_confusion(c, NULL, t.data, scores, counts), "model");
    REFUSED(mgv_model_confusion(c, t.model, NULL, scores, counts), "data");
    REFUSED(mgv_model_confusion(c, t.model, t.data, NULL, counts), "scores");
    REFUSED(mgv_model_confusion(c, t.model, t.data, scores, NULL), "counts");
    REFUSED(mgv_model_evaluate(c, NULL, t.data, NULL, &metrics), "model");
    REFUSED(mgv_model_evaluate(c, t.model, NULL, NULL, &metrics), "data");
    REFUSED(mgv_model_evaluate(c, t.model, t.data, NULL, NULL), "out");
    REFUSED(mgv_report_fit(c, NULL, NULL, NULL, NULL, &json), "solver");
    REFUSED(mgv_report_fit(c, t.solver, NULL, NULL, NULL, NULL), "json");
    tear_down(&t);
}

TEST(completions)
{
    things t;
    mgv_triples *triples;
    mgv_completion *completion;
    char *json;
    const int64_t index[1] = {0};
    double values[6];
    set_up(&t);
    mgv_ctx *c = t.ctx;
    REFUSED(mgv_triples_read(c, NULL, t.settings, &triples), "path");
    REFUSED(mgv_triples_read(c, "x", NULL, &triples), "settings");
    REFUSED(mgv_triples_read(c, "x", t.settings, NULL), "out");
    REFUSED(mgv_triples_new(c, 1, index, index, NULL, 0, 0, NULL), "out");
    REFUSED(mgv_triples_new(c, 1, NULL, index, NULL, 0, 0, &triples), "row or col");
    mgv_triples_free(c, NULL);
    REFUSED_SILENTLY(mgv_triples_describe(NULL, NULL));
    REFUSED_SILENTLY(mgv_triples_describe(t.triples, NULL));
    CHECK(mgv_triples_values(NULL) == NULL);
    REFUSED(mgv_completion_run(c, NULL, t.settings, &completion), "triples");
    REFUSED(mgv_completion_run(c, t.triples, NULL, &completion), "settings");
    REFUSED(mgv_completion_run(c, t.triples, t.settings, NULL), "out");
    mgv_completion_free(c, NULL);
    REFUSED_SILENTLY(mgv_completion_describe(NULL, NULL));
    REFUSED_SILENTLY(mgv_completion_describe(t.completion, NULL));
    REFUSED(mgv_completion_save(c, NULL, "x"), "completion");
    REFUSED(mgv_completion_save(c, t.completion, NULL), "path");
    REFUSED(mgv_completion_load(c, NULL, &completion), "path");
    REFUSED(mgv_completion_load(c, "x", NULL), "out");
    CHECK(!mgv_completion_is(NULL, "x") && !mgv_completion_is(c, NULL));
    REFUSED(mgv_completion_read_pairs(c, NULL, "x", t.settings, &triples), "completion");
    REFUSED(mgv_completion_read_pairs(c, t.completion, NULL, t.settings, &triples), "path");
    REFUSED(mgv_completion_read_pairs(c, t.completion, "x", NULL, &triples), "settings");
    REFUSED(mgv_completion_read_pairs(c, t.completion, "x", t.settings, NULL), "out");
    REFUSED(mgv_completion_predict(c, NULL, t.triples, 0, values), "completion");
    REFUSED(mgv_completion_predict(c, t.completion, NULL, 0, values), "pairs");
    REFUSED(mgv_completion_predict(c, t.completion, t.triples, 0, NULL), "values");
    REFUSED(mgv_report_completion(c, NULL, NULL, NULL, &json), "completion");
    REFUSED(mgv_report_completion(c, t.completion, NULL, NULL, NULL), "json");
    tear_down(&t);
}

TEST(images)
{
    things t;
    mgv_image *image;
    mgv_deblur *deblur;
    char *json;
    double psnr, pixel = 0;
    set_up(&t);
    mgv_ctx *c = t.ctx;
    REFUSED(mgv_image_new(c, 1, 1, 1, NULL, &image), "pixels");
    REFUSED(mgv_image_new(c, 1, 1, 1, &pixel, NULL), "out");
    REFUSED(mgv_image_read(c, NULL, &image), "path");
    REFUSED(mgv_image_read(c, "x", NULL), "out");
    REFUSED(mgv_image_write(c, NULL, "x"), "image");
    REFUSED(mgv_image_write(c, t.image, NULL), "path");
    mgv_image_free(c, NULL);
    REFUSED_SILENTLY(mgv_image_describe(NULL, NULL));
    REFUSED_SILENTLY(mgv_image_describe(t.image, NULL));
    REFUSED(mgv_image_psnr(c, NULL, t.image, &psnr), "image");
    REFUSED(mgv_image_psnr(c, t.image, NULL, &psnr), "truth");
    REFUSED(mgv_image_psnr(c, t.image, t.image, NULL), "out");
    REFUSED(mgv_psf_read(c, NULL, &image), "path");
    REFUSED(mgv_psf_read(c, "x", NULL), "out");
    REFUSED(mgv_psf_gaussian(c, 1, NULL), "out");
    REFUSED(mgv_deblur_new(c, NULL, t.psf, NULL, t.settings, &deblur), "image");
    REFUSED(mgv_deblur_new(c, t.image, NULL, NULL, t.settings, &deblur), "psf");
    REFUSED(mgv_deblur_new(c, t.image, t.psf, NULL, NULL, &deblur), "settings");
    REFUSED(mgv_deblur_new(c, t.image, t.psf, NULL, t.settings, NULL), "out");
    REFUSED(mgv_deblur_run(c, NULL), "deblur");
    REFUSED(mgv_deblur_image(c, NULL, &image), "deblur");
    REFUSED(mgv_deblur_image(c, t.deblur, NULL), "out");
    mgv_deblur_free(c, NULL);
    REFUSED_SILENTLY(mgv_deblur_describe(NULL, NULL));
    REFUSED_SILENTLY(mgv_deblur_describe(t.deblur, NULL));
    REFUSED(mgv_report_deblur(c, NULL, NULL, NULL, NULL, &json), "deblur");
    REFUSED(mgv_report_deblur(c, t.deblur, NULL, NULL, NULL, NULL), "json");
    tear_down(&t);
}

/* Solver auto asks solvers that refuse; their sentences are not the caller's. */
TEST(a_success_leaves_no_sentence)
{
    static const char *const options[][3] = {
        {"hinge", "rbf", "auto"}, {"logistic", "linear", "auto"}, {"squared", "linear", "auto"}};
    things t;
    set_up(&t);
    assert_string_equal(mgv_ctx_error(t.ctx), "");
    for (int k = 0; k < 3; k++) {
        mgv_problem *problem;
        mgv_solver *solver;
        CHECK(mgv_settings_set(t.ctx, t.settings, "tol", "no number") == MGV_E_ARG);
        CHECK_OK(t.ctx, mgv_settings_set(t.ctx, t.settings, "loss", options[k][0]));
        assert_string_equal(mgv_ctx_error(t.ctx), "");
        CHECK_OK(t.ctx, mgv_settings_set(t.ctx, t.settings, "kernel", options[k][1]));
        CHECK_OK(t.ctx, mgv_problem_new(t.ctx, t.data, t.settings, &problem));
        CHECK_OK(t.ctx, mgv_solver_new(t.ctx, problem, t.settings, &solver));
        CHECK_OK(t.ctx, mgv_solver_run(t.ctx, solver));
        CHECK_THAT(!*mgv_ctx_error(t.ctx), "%s: %s", options[k][0], mgv_ctx_error(t.ctx));
        mgv_solver_free(t.ctx, solver);
        mgv_problem_free(t.ctx, problem);
    }
    tear_down(&t);
}

TEST(labels_that_are_refused_leave_the_old_ones)
{
    things t;
    set_up(&t);
    double bad[ROWS];
    mgv_data_info before = {.size = sizeof before}, after = {.size = sizeof after};
    memcpy(bad, t.y, sizeof bad);
    bad[7] = 0.0 / 0.0;
    mgv_data_describe(t.data, &before);
    CHECK_FAILS(t.ctx, mgv_data_set_labels(t.ctx, t.data, bad), MGV_E_INPUT, "row 8");
    mgv_data_describe(t.data, &after);
    CHECK(after.has_labels && after.classes == 2 && before.bytes == after.bytes);
    assert_string_equal(mgv_data_class(t.data, 1), "1");
    CHECK_OK(t.ctx, mgv_data_set_labels(t.ctx, t.data, t.y));
    tear_down(&t);
}

int main(void)
{
    return RUN(context_settings_and_files, data_and_operators, problems_and_solvers,
               selections_and_paths, models, completions, images, a_success_leaves_no_sentence,
               labels_that_are_refused_leave_the_old_ones);
}
