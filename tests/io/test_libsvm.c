/* test_libsvm.c - libsvm text: what it means, how it is refused, the same for any chunks. */
#include "text_reading.h"

static const char sample[] = "+1 1:0.5 3:-2 # a comment with 7:7\r\n"
                             "\n"
                             "  # nothing: here 1:0.1\n"
                             "-1 qid:3 2:1e-3\t4:0 \n"
                             "1.0\n"
                             "-1 1:.5 2:5. 3:+7 4:1E2";

TEST(a_sample_means_what_it_says)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *d;
    CHECK_OK(ctx, read_as(ctx, mgvi_libsvm_read, sample, "features=9", &d));
    CHECK(d->X.layout == MGV_CSR && d->X.dtype == MGV_F64 && d->X.rows == 4 && d->X.cols == 9);
    CHECK(d->X.nnz == 7 && d->stored_zeros == 1 && d->checked && !d->text_labels);
    const double expect[4][4] = {{0.5, 0, -2, 0}, {0, 1e-3, 0, 0}, {0}, {0.5, 5, 7, 100}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            CHECK(value_at(d, i, j) == expect[i][j]);
    CHECK(d->classes == 2 && d->labels[0] == 1 && d->labels[2] == 1 && d->labels[3] == -1);
    assert_string_equal(d->class_text[0], "-1");
    assert_string_equal(d->class_text[1], "+1");
    mgvi_data_free(ctx, d);
    mgv_ctx_free(ctx);
}

TEST(precision_is_the_least_that_is_exact)
{
    static const struct {
        const char *text, *settings;
        mgv_dtype dtype;
        double value;
    } cases[] = {
        {"1 1:0.5 9:3\n", "", MGV_F32, 0.5},
        {"1 1:0.5 9:3 # 9:0.1\n", "", MGV_F32, 0.5}, /* the sample is misled, the result is not */
        {"1 1:0.1 9:3\n", "", MGV_F64, 0.1},
        {"1 1:0.1 9:3\n", "precision=f32", MGV_F32, (double)0.1f},
        {"1 1:0.5 9:3\n", "precision=f64", MGV_F64, 0.5},
        {"1 1:16777217 9:3\n", "", MGV_F64, 16777217},
        /* just above half way between two floats: rounding by way of double would go down */
        {"1 1:1.00000005960464477540000001 9:1\n", "precision=f32", MGV_F32, 1 + 0x1p-23},
    };
    mgv_ctx *ctx = mgv_check_ctx();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mgv_data *d;
        CHECK_OK(ctx, read_as(ctx, mgvi_libsvm_read, cases[i].text, cases[i].settings, &d));
        CHECK_THAT(d->X.dtype == cases[i].dtype && value_at(d, 0, 0) == cases[i].value, "%s: %.17g",
                   cases[i].text, value_at(d, 0, 0));
        mgvi_data_free(ctx, d);
    }
    mgv_ctx_free(ctx);
}

TEST(base_is_found_or_stated)
{
    static const struct {
        const char *text, *settings;
        int64_t cols, first;
    } cases[] = {
        {"1 1:5\n1 9:1\n", "", 9, 0},
        {"1 1:5\n1 0:1 9:1\n", "", 10, 1},
        {"1 1:5\n1 9:1\n", "base=0", 10, 1},
        {"1 1:5\n1 9:1\n", "base=1 features=20", 20, 0},
        {"1 1:5\n1 0:1 9:1\n", "features=12", 12, 1},
        {"1 1:5\n1 9:0\n", "", 9, 0},
    };
    mgv_ctx *ctx = mgv_check_ctx();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mgv_data *d;
        CHECK_OK(ctx, read_as(ctx, mgvi_libsvm_read, cases[i].text, cases[i].settings, &d));
        CHECK_THAT(d->X.cols == cases[i].cols && value_at(d, 0, cases[i].first) == 5, "%s %s",
                   cases[i].text, cases[i].settings);
        mgvi_data_free(ctx, d);
    }
    mgv_ctx_free(ctx);
}

TEST(fuller_tables_become_dense)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *d;
    CHECK_OK(ctx, read_as(ctx, mgvi_libsvm_read, "1 1:1 2:2\n2 3:5\n", "", &d));
    CHECK(d->X.layout == MGV_DENSE && d->X.row_stride == 3 && d->X.col_stride == 1 &&
          d->X.nnz == 6);
    CHECK(value_at(d, 0, 0) == 1 && value_at(d, 0, 1) == 2 && value_at(d, 0, 2) == 0);
    CHECK(value_at(d, 1, 0) == 0 && value_at(d, 1, 2) == 5);
    mgvi_data_free(ctx, d);
    mgv_ctx_free(ctx);
}

TEST(faults_name_line_column_and_value)
{
    static const text_fault faults[] = {
        {"", "", "f: the file is empty"},
        {"# only\n\n", "", "f: there is no row in this file"},
        {"1 1:1\nspam 1:1\n", "", "f:2:1: the label 'spam' is not a number"},
        {"1 1:1\n1x 1:1\n", "", "f:2:1: the label '1x' is not a number"},
        {"1 1:1\n 1,3 1:1\n", "", "f:2:2: several labels '1,3': a row has one label here"},
        {"1 1:1\n3:1 4:1\n", "",
         "f:2:1: the row starts with '3:1' where its label should be: only predict takes rows "
         "without labels"},
        {"nan 1:1\n", "", "f:1:1: the label 'nan' is not a finite number"},
        {"1 1:1 2:nan\n", "", "f:1:9: the value of index 2 'nan' is not a finite number"},
        {"1 1:1 2:-inf 3:1\n", "", "f:1:9: the value of index 2 '-inf' is not a finite number"},
        {"1 1:1 2:1e999\n", "", "f:1:9: the value of index 2 '1e999' is too large for a float64"},
        {"1 1:1 2:0x1p3\n", "", "f:1:9: the value of index 2 '0x1p3' is not a decimal number"},
        {"1 1:1 2:1.2.3 4:4\n", "", "f:1:9: the value of index 2 '1.2.3' is not a number"},
        {"1 1:1 2:\n", "", "f:1:9: the value of index 2 is missing"},
        {"1 1:1 2: 3\n", "", "f:1:9: the value of index 2 is missing"},
        {"1 1:1 2:", "",
         "f:1:9: the file ends where the value of index 2 should be: it may be "
         "truncated"},
        {"1 1:1 23", "", "f:1:7: the file ends within '23': it may be truncated"},
        {"1 1:1 23 4:4\n", "", "f:1:7: '23' where INDEX:VALUE should be"},
        {"1 1:1 -2:4\n", "", "f:1:7: '-2:4' where INDEX:VALUE should be"},
        {"1 1:1 \001\002:4\n", "", "f:1:7: '\\x01\\x02:4' where INDEX:VALUE should be"},
        {"1 1:1 2147483648:4\n", "",
         "f:1:7: index 2147483648 is beyond 2147483647, the largest there can be"},
        {"1 1:1 99999999999999999999:4\n", "",
         "f:1:7: index 99999999999999999999 is beyond 2147483647, the largest there can be"},
        {"1 1:1\n1 3:1 3:2\n", "", "f:2:7: index 3 occurs twice in this row"},
        {"1 1:1\n1 3:1 2:2\n", "",
         "f:2:7: index 2 follows index 3: the indices of a row must increase"},
        {"1 1:1\n1 0:1 2:2\n", "base=1",
         "f:2:3: index 0, but the indices were said to start at 1: say base 0 if the first feature "
         "is 0"},
        {"1 1:1\n1 8:1\n", "features=7", "f:2:3: index 8 is beyond 7 features counted from 1"},
        {"1 1:1\n1 7:1\n", "base=0 features=7",
         "f:2:3: index 7 is beyond 7 features counted from 0"},
        {"1 7:1\n1 0:1\n", "features=7",
         "f:1:3: index 7 is beyond 7 features counted from 0, and index 0 occurs in this file: say "
         "base 0 or 1, or more features"},
        {"1 1:1\n2 1:1e39\n", "precision=f32",
         "f:2:5: the value 1e+39 is too large for float32: ask for precision f64"},
        /* the first of several, whoever finds it */
        {"1 1:1\n1 1:x\n1 1:1\n1 1:y\n1 1:1\nz\n", "",
         "f:2:5: the value of index 1 'x' is not a number"},
        {"1 1:1 2:1\r3:1\n", "", "f:1:9: the value of index 2 '1' is not a number"},
    };
    check_faults(mgvi_libsvm_read, faults, sizeof faults / sizeof *faults);
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *d;
    CHECK_FAILS(ctx, read_sized(ctx, mgvi_libsvm_read, "1 1:1\n1 \0:1\n", 12, "", 99, &d),
                MGV_E_INPUT, "f:2:3: a zero byte: this is not libsvm text");
    CHECK_FAILS(ctx, read_sized(ctx, mgvi_libsvm_read, "1 1:1\n\0\0", 8, "", 99, &d), MGV_E_INPUT,
                "f:2:1: a zero byte: this is not libsvm text");
    mgv_ctx_free(ctx);
}

/* A random table as text, with every habit of writers; freed by the caller. */
static char *random_text(uint64_t seed, int rows, int base, size_t *size)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    char *text = malloc((size_t)rows * 4000 + 1), *p = text;
    for (int i = 0; i < rows; i++) {
        const uint32_t habit = mgvi_rng_u32(&rng) % 16;
        if (habit == 0)
            p += sprintf(p, "\n# %u:0.3\n", mgvi_rng_u32(&rng) % 100);
        p += sprintf(p, "%s%d", habit == 1 ? " " : "", (int)(mgvi_rng_u32(&rng) % 5));
        if (habit == 2)
            p += sprintf(p, " qid:%d", i);
        int index = base;
        for (int k = (int)(mgvi_rng_u32(&rng) % 30); k > 0; k--, index++) {
            index += (int)(mgvi_rng_u32(&rng) % (1u << mgvi_rng_u32(&rng) % 20));
            static const char *const formats[] = {"%.0f", "%.1f",  "%.3f",  "%.6f",
                                                  "%g",   "%.12f", "%.17g", "%.2e"};
            p += sprintf(p, " %d:", index);
            p += sprintf(p, formats[mgvi_rng_u32(&rng) % 8], 3 * mgvi_rng_normal(&rng));
        }
        p += sprintf(p, "%s",
                     habit == 3   ? " \n"
                     : habit == 4 ? "\r\n"
                     : habit == 5 ? " # x\n"
                                  : "\n");
    }
    *size = (size_t)(p - text);
    return text;
}

TEST(chunks_and_threads_leave_the_bytes_alone)
{
    for (int base = 0; base < 2; base++) {
        size_t size;
        char *text = random_text(5, 60, base, &size);
        check_chunks(mgvi_libsvm_read, text, size, "");
        check_chunks(mgvi_libsvm_read, text, size - 1, "precision=f32");
        free(text);
    }
    check_chunks(mgvi_libsvm_read, sample, sizeof sample - 1, "");
}

/* A plain reader of one number after the other, by strtod, is the judge. */
TEST(values_are_those_of_strtod)
{
    mgv_ctx *ctx = mgv_check_ctx();
    size_t size;
    char *text = random_text(6, 2000, 1, &size);
    mgv_data *d;
    text[size] = 0;
    CHECK_OK(ctx, read_sized(ctx, mgvi_libsvm_read, text, size, "", 5000, &d));
    int64_t row = 0, t = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        line[strcspn(line, "#")] = 0;
        char *p = line + strspn(line, " \r");
        if (!*p)
            continue;
        CHECK(d->labels[row] == strtod(p, &p));
        CHECK(d->X.ptr[row] == t);
        for (char *colon; (colon = strchr(p, ':')); p = colon) {
            char *word = p + strspn(p, " ");
            const int64_t index = strtoll(word, NULL, 10);
            const double value = strtod(colon + 1, &colon);
            if (*word == 'q' || value == 0)
                continue;
            CHECK(d->X.idx[t] == index - 1 && mgvi_matrix_value(&d->X, t) == value);
            t++;
        }
        row++;
    }
    CHECK(row == d->X.rows && t == d->X.nnz);
    mgvi_data_free(ctx, d);
    free(text);
    mgv_ctx_free(ctx);
}

TEST(failing_allocations_and_hostile_texts_leave_nothing)
{
    check_failing_allocations(mgvi_libsvm_read, sample, "");
    check_failing_allocations(mgvi_libsvm_read, "1 1:1 2:1\n2 1:4 2:5\n", "");
    check_hostile(mgvi_libsvm_read, sample, "");
    check_hostile(mgvi_libsvm_read, sample, "precision=f32 features=4");
}

extern const mgvi_reader mgvi_reader_libsvm, mgvi_reader_csv;

TEST(the_content_tells_libsvm_from_csv)
{
    static const struct {
        const char *text;
        bool libsvm;
    } cases[] = {{"1 2:3\n", true},   {"# c\n\n-1\n-1 2:3\n", true},
                 {"1,2\n", false},    {"a,b\n1,2\n", false},
                 {"1 2 3\n", false},  {"+1 qid:4 2:3\n", true},
                 {"12:30,1\n", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const mgvi_source s = {.path = "f", .bytes = cases[i].text, .size = strlen(cases[i].text)};
        CHECK_THAT((mgvi_reader_libsvm.probe(&s) > mgvi_reader_csv.probe(&s)) == cases[i].libsvm,
                   "%s", cases[i].text);
    }
}

int main(void)
{
    return RUN(a_sample_means_what_it_says, precision_is_the_least_that_is_exact,
               base_is_found_or_stated, fuller_tables_become_dense,
               faults_name_line_column_and_value, chunks_and_threads_leave_the_bytes_alone,
               values_are_those_of_strtod, failing_allocations_and_hostile_texts_leave_nothing,
               the_content_tells_libsvm_from_csv);
}
