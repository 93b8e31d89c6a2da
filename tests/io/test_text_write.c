/* test_text_write.c - what the text writers write is read back exactly. */
#include "text_reading.h"

#include <unistd.h>

extern const mgvi_writer mgvi_writer_libsvm, mgvi_writer_csv, mgvi_writer_mtx;

static const struct {
    const mgvi_writer *writer;
    text_reader reader;
    const char *path;
    bool labels, words, names;
} formats[] = {
    {&mgvi_writer_libsvm, mgvi_libsvm_read, "test_text.tmp.svm", true, false, false},
    {&mgvi_writer_csv, mgvi_csv_read, "test_text.tmp.csv", true, true, true},
    {&mgvi_writer_csv, mgvi_csv_read, "test_text.tmp.tsv", true, true, true},
    {&mgvi_writer_mtx, mgvi_mtx_read, "test_text.tmp.mtx", false, false, false},
};
enum { FORMATS = sizeof formats / sizeof *formats };

/* Layouts may change on the way, numbers may not. */
static void check_values(const mgv_data *before, const mgv_data *after)
{
    const mgvi_matrix *X = &before->X;
    CHECK(X->rows == after->X.rows && X->cols == after->X.cols && X->dtype == after->X.dtype);
    double dense[TABLE_ROWS][TABLE_COLS] = {{0}};
    for (int64_t i = 0; X->layout == MGV_CSC && i < X->cols; i++)
        for (int64_t t = X->ptr[i]; t < X->ptr[i + 1]; t++)
            dense[X->idx[t]][i] = mgvi_matrix_value(X, t);
    for (int64_t i = 0; i < X->rows; i++)
        for (int64_t j = 0; j < X->cols; j++)
            CHECK(value_at(after, i, j) ==
                  (X->layout == MGV_CSC ? dense[i][j] : value_at(before, i, j)));
}

static void check_labels(const mgv_data *before, const mgv_data *after)
{
    CHECK(before->classes == after->classes && before->text_labels == after->text_labels);
    for (int64_t i = 0; i < before->X.rows; i++)
        CHECK(before->labels[i] == after->labels[i]);
    for (int64_t k = 0; k < before->classes; k++)
        assert_string_equal(before->class_text[k], after->class_text[k]);
}

TEST(tables_come_back_exactly)
{
    mgv_ctx *ctx = mgv_check_ctx();
    static mgv_settings s;
    for (int f = 0; f < FORMATS; f++)
        for (table_form form = 0; form < FORMS; form++)
            for (mgv_dtype dtype = MGV_F32; dtype <= MGV_F64; dtype++)
                for (table_labels labels = 0; labels < LABEL_KINDS; labels++)
                    for (int extras = 0; extras < 2; extras++) {
                        if (labels == LABELS_WORDS && !formats[f].words)
                            continue;
                        mgv_data *before, *after;
                        size_t size;
                        CHECK_OK(ctx, table_new(ctx, form, dtype, labels, extras, &before));
                        mgvi_settings_defaults(&s);
                        CHECK_OK(ctx, formats[f].writer->write(ctx, before, formats[f].path, &s));
                        char *text = load_bytes(formats[f].path, &size);
                        char settings[80];
                        snprintf(settings, sizeof settings,
                                 "precision=%s label_column=%s features=5",
                                 dtype == MGV_F32 ? "f32" : "f64",
                                 labels == LABELS_NONE ? "none" : "last");
                        CHECK_OK(ctx, read_sized(ctx, formats[f].reader, text, size, settings, 50,
                                                 &after));
                        check_values(before, after);
                        if (formats[f].labels && labels != LABELS_NONE)
                            check_labels(before, after);
                        for (int j = 0; extras && formats[f].names && j < TABLE_COLS; j++)
                            assert_string_equal(before->names[j], after->names[j]);
                        mgvi_data_free(ctx, before);
                        mgvi_data_free(ctx, after);
                        free(text);
                        unlink(formats[f].path);
                    }
    mgv_ctx_free(ctx);
}

TEST(texts_are_exactly_these)
{
    static const struct {
        int format;
        const char *settings, *in, *out;
    } cases[] = {
        {0, "", "+1 1:0.5 20000:-1e-300\n-1.50\n+1.0 2:3\n",
         "+1 1:0.5 20000:-1e-300\n-1.50\n+1 2:3\n"},
        {0, "base=0", "1 0:1 90:2\n", "1 0:1 90:2\n"},
        {1, "", "1 1:1 5:123456.789\n2 2:0.1\n", "1,0,0,0,123456.789,1\n0,0.1,0,0,0,2\n"},
        {2, "separator=semicolon", "1 1:1 9:2\n", "1;0;0;0;0;0;0;0;2;1\n"},
        {3, "", "1 1:1 9:2\n7 2:0.25\n",
         "%%MatrixMarket matrix coordinate real general\n2 9 3\n1 1 1\n1 9 2\n2 2 0.25\n"},
        {3, "", "1 1:1 2:2\n7 2:0.25\n",
         "%%MatrixMarket matrix array real general\n2 2\n1\n0\n2\n0.25\n"},
    };
    mgv_ctx *ctx = mgv_check_ctx();
    static mgv_settings s;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mgv_data *d;
        size_t size;
        const char *path = formats[cases[i].format].path;
        CHECK_OK(ctx, read_as(ctx, mgvi_libsvm_read, cases[i].in, "", &d));
        set_all(ctx, &s, cases[i].settings);
        CHECK_OK(ctx, formats[cases[i].format].writer->write(ctx, d, path, &s));
        char *text = load_bytes(path, &size);
        text[size] = 0;
        assert_string_equal(text, cases[i].out);
        free(text);
        mgvi_data_free(ctx, d);
        unlink(path);
    }
    mgv_ctx_free(ctx);
}

/* Enough rows for several rounds of blocks. */
TEST(threads_leave_the_bytes_alone)
{
    mgv_ctx *ctx = mgv_check_ctx();
    static mgv_settings s;
    mgvi_settings_defaults(&s);
    enum { ROWS = 30000, COLS = 8 };
    char *first = NULL;
    size_t first_size = 0;
    mgv_data *d;
    CHECK_OK(ctx, mgvi_data_new(ctx, &d));
    double *val = mgvi_data_array(ctx, d, ROWS * COLS, sizeof *val);
    mgvi_rng rng = mgvi_rng_seed(1);
    for (int i = 0; i < ROWS * COLS; i++)
        val[i] = (double)(int32_t)mgvi_rng_u32(&rng) / 65536;
    d->X = (mgvi_matrix){.dtype = MGV_F64,
                         .rows = ROWS,
                         .cols = COLS,
                         .nnz = ROWS * COLS,
                         .val = val,
                         .row_stride = COLS,
                         .col_stride = 1};
    for (int threads = 1; threads <= 5; threads += 2) {
        size_t size;
        CHECK_OK(ctx, mgv_ctx_set_threads(ctx, threads));
        CHECK_OK(ctx, mgvi_writer_csv.write(ctx, d, formats[1].path, &s));
        char *text = load_bytes(formats[1].path, &size);
        if (first) {
            assert_int_equal(size, first_size);
            CHECK(memcmp(first, text, size) == 0);
            free(text);
        } else {
            first = text;
            first_size = size;
        }
    }
    free(first);
    unlink(formats[1].path);
    mgvi_data_free(ctx, d);
    mgv_ctx_free(ctx);
}

TEST(words_and_failures_are_refused)
{
    mgv_ctx *ctx = mgv_check_ctx();
    static mgv_settings s;
    mgv_data *d;
    mgvi_settings_defaults(&s);
    CHECK_OK(ctx, table_new(ctx, FORM_CSC, MGV_F64, LABELS_WORDS, true, &d));
    CHECK_FAILS(ctx, mgvi_writer_libsvm.write(ctx, d, "x.svm", &s), MGV_E_UNSUPPORTED, "are words");
    CHECK_FAILS(ctx, mgvi_writer_csv.write(ctx, d, "no/such/folder/x.csv", &s), MGV_E_IO,
                "no/such/folder");
    mgvi_data_free(ctx, d);
    mgv_ctx_free(ctx);
    for (int f = 0; f < FORMATS; f++)
        for (long k = 1;; k++) {
            mgv_check_allocator a;
            mgv_check_allocator_init(&a, 0);
            assert_int_equal(mgv_ctx_new(&a.hooks, &ctx), MGV_OK);
            CHECK_OK(ctx, table_new(ctx, FORM_CSC, MGV_F64, LABELS_NUMBERS, true, &d));
            const long before = a.live;
            a.fail_at = a.calls + k;
            const mgv_status st = formats[f].writer->write(ctx, d, formats[f].path, &s);
            CHECK(a.live == before && (st == MGV_OK || st == MGV_E_MEMORY));
            CHECK((access(formats[f].path, F_OK) == 0) == (st == MGV_OK));
            unlink(formats[f].path);
            mgvi_data_free(ctx, d);
            mgv_ctx_free(ctx);
            if (st == MGV_OK)
                break;
        }
}

int main(void)
{
    return RUN(tables_come_back_exactly, texts_are_exactly_these, threads_leave_the_bytes_alone,
               words_and_failures_are_refused);
}
