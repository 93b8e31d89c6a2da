/* test_model_columns.c - what a model remembers of the columns it was trained on, in its file and
 * towards data with other columns. */
#include "vectors.h"

#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 40, D = 3 };
static const char *const names[D] = {"height, \"m\"", "\xc3\xa9t\xc3\xa9", ""};

static const char *file_name(const char *ending)
{
    static char name[64];
    snprintf(name, sizeof name, "test_model_columns.%d%s", (int)getpid(), ending);
    return name;
}

static mgv_model *fit_named(mgv_fit *fit, const char *options)
{
    double *X, *y;
    mgv_model *m;
    mgv_random_set(17, N, D, 0.3, &X, &y);
    mgv_fit_start(fit, X, y, N, D, options);
    CHECK_OK(fit->ctx, mgv_data_set_names(fit->ctx, fit->data, names));
    mgv_fit_solve(fit);
    CHECK_OK(fit->ctx, mgv_model_new(fit->ctx, fit->solver, &m));
    free(X);
    free(y);
    return m;
}

TEST(names_and_labels_survive_the_file)
{
    mgv_fit fit;
    mgv_model *m = fit_named(&fit, "loss=logistic C=1"), *loaded;
    m->columns.label = (char[]){"la\tbel"};
    m->columns.label_at = 2;
    m->columns.first_index = 0;
    CHECK_OK(fit.ctx, mgv_model_save(fit.ctx, m, file_name(".mgm")));
    CHECK_OK(fit.ctx, mgv_model_load(fit.ctx, file_name(".mgm"), &loaded));
    mgv_model_info info = {.size = sizeof info};
    mgv_model_describe(loaded, &info);
    for (int j = 0; j < D; j++) {
        assert_string_equal(mgv_data_name(fit.data, j), names[j]);
        assert_string_equal(mgv_model_name(loaded, j), names[j]);
    }
    CHECK(!mgv_model_name(loaded, D) && !mgv_model_name(loaded, -1));
    assert_string_equal(info.label_name, "la\tbel");
    assert_string_equal(info.format, "memory");
    CHECK(info.first_index == 0 && loaded->columns.label_at == 2 && info.p == 2);
    mgv_model_free(fit.ctx, loaded);
    mgv_model_free(fit.ctx, m);
    mgv_fit_free(&fit);
    remove(file_name(".mgm"));
}

/* The bytes of a small linear model with the arrays and metadata given beside what it needs. */
static mgv_status parse(mgv_ctx *ctx, const mgvi_tensor *more, int count, const char *key,
                        const char *value, mgv_model **out)
{
    const double coef[D] = {1, 2, 3}, intercept[1] = {0};
    mgvi_tensor tensors[4] = {{"coef", MGVI_T_F64, 2, {1, D}, coef},
                              {"intercept", MGVI_T_F64, 1, {1}, intercept}};
    for (int k = 0; k < count; k++)
        tensors[2 + k] = more[k];
    const mgvi_meta meta[] = {
        {"format", "margrave model"}, {"format_version", "1"}, {"task", "regress"}, {key, value}};
    void *bytes;
    size_t size;
    CHECK_OK(ctx, mgvi_tensors_pack(ctx, tensors, 2 + count, meta, key ? 4 : 3, &bytes, &size));
    const mgv_status st = mgvi_model_parse(ctx, "f", bytes, size, out);
    mgvi_release(ctx, bytes);
    return st;
}

TEST(older_files_load_and_false_ones_are_refused)
{
    static const struct {
        const char *array, *bytes;
        int64_t size;
        const char *sentence;
    } arrays[] = {{"names", "a\0b\0c", 5, "does not hold 3 texts"}, /* the last is open */
                  {"names", "a\0b\0", 4, "does not hold 3 texts"},
                  {"names", "a\0b\0c\0d\0", 8, "does not hold 3 texts"},
                  {"names", "", 0, "does not hold 3 texts"},
                  {"label_name", "a\0b\0", 4, "does not hold 1 texts"},
                  {"label_name", "a", 1, "does not hold 1 texts"}};
    static const char *const metas[][2] = {{"label_at", "4"},
                                           {"label_at", "-2"},
                                           {"label_at", "x"},
                                           {"first_index", "2"},
                                           {"first_index", ""}};
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_model *m;
    CHECK_OK(ctx, parse(ctx, NULL, 0, NULL, NULL, &m));
    mgv_model_info info = {.size = sizeof info};
    mgv_model_describe(m, &info);
    CHECK(!mgv_model_name(m, 0) && !info.label_name && info.first_index == -1);
    assert_string_equal(info.format, "");
    mgv_model_free(ctx, m);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        mgvi_tensor t = {"", MGVI_T_U8, 1, {arrays[i].size}, arrays[i].bytes};
        strcpy(t.name, arrays[i].array);
        CHECK_FAILS(ctx, parse(ctx, &t, 1, NULL, NULL, &m), MGV_E_INPUT, arrays[i].sentence);
        CHECK(!m);
    }
    for (size_t i = 0; i < sizeof metas / sizeof *metas; i++)
        CHECK_FAILS(ctx, parse(ctx, NULL, 0, metas[i][0], metas[i][1], &m), MGV_E_INPUT,
                    metas[i][0]);
    mgv_ctx_free(ctx);
}

TEST(columns_of_other_names_are_refused)
{
    mgv_fit fit;
    double scores[N];
    mgv_model *m = fit_named(&fit, "loss=hinge C=1");
    const char *const swapped[D] = {names[1], names[0], names[2]};
    CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, m, fit.data, scores));
    CHECK_OK(fit.ctx, mgv_data_set_names(fit.ctx, fit.data, swapped));
    CHECK_FAILS(fit.ctx, mgv_model_scores(fit.ctx, m, fit.data, scores), MGV_E_INPUT,
                "column 1 of the data is '\xc3\xa9t\xc3\xa9' where the model knows 'height");
    mgv_metrics metrics = {.size = sizeof metrics};
    CHECK_FAILS(fit.ctx, mgv_model_evaluate(fit.ctx, m, fit.data, NULL, &metrics), MGV_E_INPUT,
                "column 1 of the data");
    CHECK_OK(fit.ctx, mgv_data_set_names(fit.ctx, fit.data, NULL)); /* nobody knows better */
    CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, m, fit.data, scores));
    mgv_model_free(fit.ctx, m);
    mgv_fit_free(&fit);
}

static int hear(void *user, const mgv_event *e)
{
    if (e->kind == MGV_EVENT_LOG && e->level == MGV_WARNING)
        snprintf(user, 128, "%s", e->text);
    return 0;
}

/* Sparse rows with features 3 and 5 beyond a model of three: as if they had not been there, also
 * under kernels and where rows are divided by their length. */
TEST(unknown_features_are_left_out_and_counted)
{
    static const char *const options[] = {"loss=hinge C=1", "loss=hinge C=1 scale=rownorm",
                                          "kernel=rbf scale=std", "kernel=rbf scale=rownorm"};
    const double values[] = {1, 2, 9, -1, .5, 7, 8};
    const int64_t by_row[] = {0, 3, 4, 7};
    const int32_t cols[] = {0, 2, 5, 1, 2, 3, 5};
    const double by_col_values[] = {1, -1, 2, .5, 7, 9, 8};
    const int64_t by_col[] = {0, 1, 2, 4, 5, 5, 7};
    const int32_t rows[] = {0, 1, 0, 2, 2, 0, 2};
    const double known[] = {1, 0, 2, 0, -1, 0, 0, 0, .5},
                 wide[] = {1, 0, 2, 0, 0, 9, 0, -1, 0, 0, 0, 0, 0, 0, .5, 7, 0, 8};
    for (int k = 0; k < 4; k++) {
        mgv_fit fit;
        mgv_model *m = fit_named(&fit, options[k]);
        mgv_data *data[4];
        double want[3], got[3];
        CHECK_OK(fit.ctx, mgv_data_from_dense(fit.ctx, MGV_F64, known, 3, 3, 3, 1, &data[0]));
        CHECK_OK(fit.ctx, mgv_data_from_sparse(fit.ctx, MGV_CSR, MGV_F64, values, by_row, cols, 3,
                                               6, &data[1]));
        CHECK_OK(fit.ctx, mgv_data_from_sparse(fit.ctx, MGV_CSC, MGV_F64, by_col_values, by_col,
                                               rows, 3, 6, &data[2]));
        CHECK_OK(fit.ctx, mgv_data_from_dense(fit.ctx, MGV_F64, wide, 3, 6, 6, 1, &data[3]));
        CHECK_FAILS(fit.ctx, mgv_model_scores(fit.ctx, m, data[3], got), MGV_E_INPUT,
                    "the data has 6 features, the model knows 3");
        data[3]->was_sparse = true; /* a file that leaves zeros out, kept dense */
        CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, m, data[0], want));
        for (int d = 1; d < 4; d++) {
            char warning[128] = "";
            mgv_ctx_on_event(fit.ctx, hear, warning);
            CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, m, data[d], got));
            mgv_ctx_on_event(fit.ctx, NULL, NULL);
            assert_string_equal(warning, "3 entries of 2 unknown features are ignored");
            for (int i = 0; i < 3; i++)
                CHECK_NEAR(got[i], want[i], 1e-12, "%s, data %d, row %d", options[k], d, i);
        }
        for (int d = 0; d < 4; d++)
            mgv_data_free(fit.ctx, data[d]);
        mgv_model_free(fit.ctx, m);
        mgv_fit_free(&fit);
    }
}

TEST(a_cache_keeps_what_it_knows_of_its_columns)
{
    mgv_fit fit;
    mgv_data *cached;
    mgv_model *m = fit_named(&fit, "loss=hinge C=1");
    fit.data->label_name = (char[]){"class"};
    fit.data->label_at = 1;
    fit.data->first_index = 0;
    fit.data->was_sparse = true;
    CHECK_OK(fit.ctx, mgv_data_write(fit.ctx, fit.data, file_name(".mgd"), fit.settings));
    CHECK_OK(fit.ctx, mgv_data_read(fit.ctx, file_name(".mgd"), fit.settings, &cached));
    CHECK(cached->label_at == 1 && cached->first_index == 0 && cached->was_sparse);
    assert_string_equal(cached->label_name, "class");
    assert_string_equal(mgv_data_name(cached, 0), names[0]);
    mgv_data_info info = {.size = sizeof info};
    mgv_data_describe(cached, &info);
    CHECK(info.first_index == 0);
    mgv_data_free(fit.ctx, cached);
    mgv_model_free(fit.ctx, m);
    mgv_fit_free(&fit);
    remove(file_name(".mgd"));
}

int main(void)
{
    return RUN(names_and_labels_survive_the_file, older_files_load_and_false_ones_are_refused,
               columns_of_other_names_are_refused, unknown_features_are_left_out_and_counted,
               a_cache_keeps_what_it_knows_of_its_columns);
}
