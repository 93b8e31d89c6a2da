/* test_kept_rows.c - rows of some classes and flipped labels, of every layout, in place and of a file. */
#include "check.h"

#include "base/rng.h"
#include "data/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 60, D = 7 };

typedef struct sample {
    double X[N * D], y[N], weight[N];
} sample;

static void fill(sample *s)
{
    mgvi_rng rng = mgvi_rng_seed(11);
    for (int t = 0; t < N * D; t++)
        s->X[t] = mgvi_rng_uniform(&rng) < 0.4 ? 0 : mgvi_rng_normal(&rng);
    for (int i = 0; i < N; i++) {
        s->y[i] = 2 + mgvi_rng_below(&rng, 4);
        s->weight[i] = 1 + i;
    }
}

typedef enum form { ROWS, COLUMNS, SPARSE, SPARSE_COLUMNS, FORMS } form;

/* The sample as a table that owns its arrays, or borrows them as if they were a file's. */
static mgv_data *table(mgv_ctx *ctx, const sample *s, form f, bool own)
{
    mgv_data *data;
    CHECK_OK(ctx, mgvi_data_new(ctx, &data));
    double *val = calloc(N * D, sizeof *val);
    int32_t *idx = calloc(N * D, sizeof *idx);
    int64_t *ptr = calloc(N + D + 2, sizeof *ptr), nnz = 0;
    const int64_t lines = f == COLUMNS || f == SPARSE_COLUMNS ? D : N, across = N + D - lines;
    const bool dense = f == ROWS || f == COLUMNS;
    for (int64_t a = 0; a < lines; a++) {
        for (int64_t b = 0; b < across; b++) {
            const double x = s->X[lines == N ? a * D + b : b * D + a];
            if (!dense && x == 0)
                continue;
            idx[nnz] = (int32_t)b;
            val[nnz++] = x;
        }
        ptr[a + 1] = nnz;
    }
    void *owned[3] = {val, idx, ptr};
    const size_t sizes[3] = {(size_t)nnz * sizeof *val, (size_t)nnz * sizeof *idx,
                             (size_t)(lines + 1) * sizeof *ptr};
    for (int k = 0; k < 3 && own; k++) {
        void *mine = mgvi_data_array(ctx, data, sizes[k] + 1, 1);
        memcpy(mine, owned[k], sizes[k]);
        free(owned[k]);
        owned[k] = mine;
    }
    data->X = (mgvi_matrix){.layout = dense        ? MGV_DENSE
                                      : lines == N ? MGV_CSR
                                                   : MGV_CSC,
                            .dtype = MGV_F64,
                            .rows = N,
                            .cols = D,
                            .nnz = nnz,
                            .val = owned[0],
                            .row_stride = lines == N ? D : 1,
                            .col_stride = lines == N ? 1 : N,
                            .idx = owned[1],
                            .ptr = owned[2]};
    CHECK_OK(ctx, mgv_data_set_labels(ctx, data, s->y));
    CHECK_OK(ctx, mgv_data_set_weights(ctx, data, s->weight));
    return data;
}

static double entry(const mgvi_matrix *X, int64_t i, int64_t j)
{
    if (X->layout == MGV_DENSE)
        return mgvi_matrix_value(X, i * X->row_stride + j * X->col_stride);
    const int64_t line = X->layout == MGV_CSR ? i : j, place = X->layout == MGV_CSR ? j : i;
    for (int64_t t = X->ptr[line]; t < X->ptr[line + 1]; t++)
        if (X->idx[t] == place)
            return mgvi_matrix_value(X, t);
    return 0;
}

TEST(rows_of_the_classes_stay_in_every_layout)
{
    static sample s;
    fill(&s);
    for (int f = 0; f < FORMS; f++)
        for (int own = 0; own < 2; own++) {
            mgv_ctx *ctx = mgv_check_ctx();
            mgv_data *data = table(ctx, &s, (form)f, own);
            const void *before[3] = {data->X.val, data->X.idx, data->X.ptr};
            CHECK_OK(ctx, mgvi_data_keep_classes(ctx, data, "5,3.0"));
            CHECK_OK(ctx, mgvi_data_check_once(ctx, data));
            CHECK(data->classes == 2 && strcmp(data->class_text[0], "3") == 0 &&
                  strcmp(data->class_text[1], "5") == 0);
            CHECK(data->X.cols == D && data->kept_of == N);
            CHECK(own == (data->X.val == before[0])); /* in its own memory, never in a file's */
            int64_t t = 0;
            for (int i = 0; i < N; i++) {
                if (s.y[i] != 3 && s.y[i] != 5)
                    continue;
                CHECK(data->labels[t] == s.y[i] && data->weights[t] == s.weight[i]);
                CHECK(data->kept[t] == i);
                for (int j = 0; j < D; j++)
                    CHECK(entry(&data->X, t, j) == s.X[i * D + j]);
                t++;
            }
            CHECK(t == data->X.rows && t > 10);
            mgv_data_free(ctx, data);
            for (int k = 0; k < 3 && !own; k++)
                free((void *)(uintptr_t)before[k]);
            mgv_ctx_free(ctx);
        }
}

TEST(words_are_numbered_anew)
{
    static const char *const words[4] = {"pear", "fig", "plum", "fig"};
    static double X[4] = {1, 2, 3, 4};
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *data;
    CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F64, X, 4, 1, 1, 1, &data));
    CHECK_OK(ctx, mgvi_data_set_text_labels(ctx, data, words));
    CHECK_FAILS(ctx, mgvi_data_keep_classes(ctx, data, "pear,apple"), MGV_E_ARG,
                "the data has no class 'apple'; it has fig, pear, plum");
    CHECK_OK(ctx, mgvi_data_keep_classes(ctx, data, "plum,pear"));
    CHECK(data->X.rows == 2 && data->labels[0] == 0 && data->labels[1] == 1);
    CHECK(strcmp(data->class_text[0], "pear") == 0 && strcmp(data->class_text[1], "plum") == 0);
    mgv_data_free(ctx, data);
    CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F64, X, 4, 1, 1, 1, &data));
    CHECK_FAILS(ctx, mgvi_data_keep_classes(ctx, data, "1"), MGV_E_ARG, "has no labels");
    CHECK_FAILS(ctx, mgvi_data_flip_labels(ctx, data, 0.5, 1), MGV_E_ARG, "has no labels");
    CHECK_OK(ctx, mgv_data_set_labels(ctx, data, (double[]){1, 1, 1, 1}));
    CHECK_FAILS(ctx, mgvi_data_flip_labels(ctx, data, 0.5, 1), MGV_E_ARG, "no two classes");
    mgv_data_free(ctx, data);
    mgv_ctx_free(ctx);
}

TEST(labels_are_flipped_by_the_seed_alone)
{
    static sample s;
    fill(&s);
    int times[N] = {0}, to[4][4] = {{0}};
    for (uint64_t seed = 0; seed < 400; seed++) {
        mgv_ctx *ctx = mgv_check_ctx();
        mgv_data *data = table(ctx, &s, ROWS, true);
        CHECK_OK(ctx, mgvi_data_flip_labels(ctx, data, 0.25, seed));
        int flipped = 0;
        for (int i = 0; i < N; i++) {
            flipped += data->labels[i] != s.y[i];
            times[i] += data->labels[i] != s.y[i];
            to[(int)s.y[i] - 2][(int)data->labels[i] - 2]++;
        }
        CHECK(flipped == 15 && data->classes == 4);
        mgv_data_free(ctx, data);
        mgv_ctx_free(ctx);
    }
    for (int i = 0; i < N; i++) /* 100 times each, by chance */
        CHECK_NEAR(times[i], 100, 45, "row %d", i);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            CHECK(to[a][b] > 300);
}

static void write_text(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* Weights beside the data are those of the file's rows. */
TEST(files_beside_the_data_have_a_line_for_every_row_of_it)
{
    char place[] = "rows.XXXXXX";
    CHECK(mkdtemp(place) && chdir(place) == 0);
    write_text("data.csv", "1,a\n2,b\n3,c\n4,b\n5,a\n");
    write_text("weights", "1\n10\n100\n1000\n10000\n");
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_settings *settings;
    mgv_data *data;
    mgv_problem *problem;
    CHECK_OK(ctx, mgv_settings_new(ctx, &settings));
    CHECK_OK(ctx, mgv_settings_set(ctx, settings, "classes", "a,b"));
    CHECK_OK(ctx, mgv_settings_set(ctx, settings, "sample_weight", "weights"));
    CHECK_OK(ctx, mgv_data_read(ctx, "data.csv", settings, &data));
    CHECK_OK(ctx, mgv_problem_new(ctx, data, settings, &problem));
    static const double want[4] = {1, 10, 1000, 10000};
    CHECK(data->X.rows == 4);
    for (int i = 0; i < 4; i++)
        CHECK(data->weights[i] == want[i]);
    mgv_problem_free(ctx, problem);
    mgv_data_free(ctx, data);
    CHECK_OK(ctx, mgv_settings_set(ctx, settings, "kernel", "precomputed"));
    CHECK_FAILS(ctx, mgv_data_read(ctx, "data.csv", settings, &data), MGV_E_UNSUPPORTED,
                "make the table of those examples alone");
    mgv_settings_free(ctx, settings);
    mgv_ctx_free(ctx);
    CHECK(remove("data.csv") == 0 && remove("weights") == 0 && chdir("..") == 0 &&
          rmdir(place) == 0);
}

int main(void)
{
    return RUN(rows_of_the_classes_stay_in_every_layout, words_are_numbered_anew,
               labels_are_flipped_by_the_seed_alone,
               files_beside_the_data_have_a_line_for_every_row_of_it);
}
