/* test_csv.c - delimited text: separators, headers, labels, faults, chunks. */
#include "text_reading.h"

static const char iris[] = "\xef\xbb\xbfsepal, \"petal \"\"x\"\"\" ,species\r\n"
                           "5.1,3.5,setosa\r\n"
                           "\r\n"
                           "# a comment\r\n"
                           "7, \"3.25\" ,\"virginica, late\"\r\n"
                           " 6.5 , 3 ,setosa";

TEST(a_sample_means_what_it_says)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *d;
    CHECK_OK(ctx, read_as(ctx, mgvi_csv_read, iris, "", &d));
    CHECK(d->X.layout == MGV_DENSE && d->X.rows == 3 && d->X.cols == 2 && d->X.dtype == MGV_F64);
    const double expect[3][2] = {{5.1, 3.5}, {7, 3.25}, {6.5, 3}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            CHECK(value_at(d, i, j) == expect[i][j]);
    assert_string_equal(d->names[0], "sepal");
    assert_string_equal(d->names[1], "petal \"x\"");
    CHECK(d->text_labels && d->classes == 2);
    assert_string_equal(d->class_text[0], "setosa");
    assert_string_equal(d->class_text[1], "virginica, late");
    CHECK(d->labels[0] == 0 && d->labels[1] == 1 && d->labels[2] == 0);
    mgvi_data_free(ctx, d);
    mgv_ctx_free(ctx);
}

TEST(layouts_are_found_or_stated)
{
    static const struct {
        const char *text, *settings;
        int64_t rows, cols;
        double first;      /* value of the first feature of the first row */
        const char *label; /* class of the first row, NULL: no labels */
        const char *name;  /* of the first feature, NULL: no header */
    } cases[] = {
        {"1,2,3\n4,5,6\n", "", 2, 2, 1, "3", NULL},
        {"1\t2\t3\n", "", 1, 2, 1, "3", NULL},
        {"1;2;3\n", "", 1, 2, 1, "3", NULL},
        {"  1  2 3 \n4 5 6\n", "", 2, 2, 1, "3", NULL},
        {"  1  2\t3 \n4 5 6\n", "separator=space", 2, 2, 1, "3", NULL},
        {"1,2,3\n", "label_column=none", 1, 3, 1, NULL, NULL},
        {"1,2,3\n", "label_column=first", 1, 2, 2, "1", NULL},
        {"1,2,3\n", "label_column=2", 1, 2, 1, "2", NULL},
        {"a,b,c\n1,2,3\n", "", 1, 2, 1, "3", "a"},
        {"a,y,c\n1,2,3\n", "", 1, 2, 1, "2", "a"},
        {"Class,b,c\n1,2,3\n", "", 1, 2, 2, "1", "b"},
        {"y,b,label\n1,2,3\n", "", 1, 2, 1, "3", "y"},
        {"0,1,target\n1,2,3\n", "", 1, 2, 1, "3", "0"}, /* numbers as names */
        {"a,b,c\n1,2,3\n", "label_column=b", 1, 2, 1, "2", "a"},
        {"a,b,c\n1,2,3\n", "label_column=3", 1, 2, 1, "3", "a"},
        {"1,2,3\n4,5,6\n", "header=yes", 1, 2, 4, "6", "1"},
        {"3,2,1\n4,5,6\n", "header=yes label_column=3", 1, 2, 5, "4", "2"},
        {"1,2,cat\n4,5,dog\n", "", 2, 2, 1, "cat", NULL},
        {"1,2,+1\n4,5,-1\n", "", 2, 2, 1, "+1", NULL},
        {"1,2,\"1.0\"\n4,5,2\n", "", 2, 2, 1, "1.0", NULL},
        {"1,2,3\n", "features=2", 1, 2, 1, "3", NULL},
        {"1,5;2;3\n", "separator=comma label_column=first header=no", -1, 0, 0, NULL, NULL},
    };
    mgv_ctx *ctx = mgv_check_ctx();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mgv_data *d;
        const mgv_status st = read_as(ctx, mgvi_csv_read, cases[i].text, cases[i].settings, &d);
        if (cases[i].rows < 0) {
            CHECK(st == MGV_E_INPUT);
            continue;
        }
        CHECK_OK(ctx, st);
        CHECK_THAT(d->X.rows == cases[i].rows && d->X.cols == cases[i].cols &&
                       value_at(d, 0, 0) == cases[i].first,
                   "%s %s", cases[i].text, cases[i].settings);
        CHECK_THAT(!d->labels == !cases[i].label && !d->names == !cases[i].name, "%s",
                   cases[i].text);
        if (d->names)
            assert_string_equal(d->names[0], cases[i].name);
        for (int64_t k = 0; d->labels && k < d->classes; k++)
            if (d->class_value[k] == d->labels[0])
                assert_string_equal(d->class_text[k], cases[i].label);
        mgvi_data_free(ctx, d);
    }
    mgv_ctx_free(ctx);
}

TEST(faults_name_line_column_and_text)
{
    static const text_fault faults[] = {
        {"", "", "f: the file is empty"},
        {"\n  \n# x\n", "", "f: there is no row in this file"},
        {"a,b\n", "", "f: there is no row below the header"},
        {"1\n2\n", "",
         "f: there is one column, and it is the label: say label_column none if it is "
         "a feature"},
        {"1,2,3\n4,5\n", "", "f:2:1: this row has 2 cells where 3 are expected"},
        {"1,2,3\n4,5,6,\n", "", "f:2:1: this row has 4 cells where 3 are expected"},
        {"1 2 3\n4 5\n", "", "f:2:1: this row has 2 cells where 3 are expected"},
        {"1,2,3\n4,x5,6\n", "",
         "f:2:3: 'x5' in column 2 is not a number: make it the label_column, or turn it into "
         "numbers "
         "before"},
        {"a,age,y\n4,old,6\n", "",
         "f:2:3: 'old' in column 2 ('age') is not a number: make it the label_column, or turn it "
         "into numbers before"},
        {"a,age,y\n4,,6\n", "",
         "f:2:3: column 2 ('age') is empty: missing values must be filled in before"},
        {"1,2,3\n4,5,\n", "", "f:2:5: column 3 is empty: missing values must be filled in before"},
        {",2,3\n4,5,6\n", "", "f:1:1: column 1 is empty: missing values must be filled in before"},
        {"1,NaN,3\n", "", "f:1:3: 'NaN' in column 2 is not a finite number"},
        {"1,1e999,3\n", "", "f:1:3: '1e999' in column 2 is not a finite number"},
        {"1,2,nan\n", "", "f:1:5: 'nan' in column 3 is not a finite number"},
        {"1,2,3\n4,\"5,6\n", "", "f:2:3: a quote is opened here and not closed on this line"},
        {"1,2,3\n4,\"5\"5,6\n", "", "f:2:6: '5,6' behind the closing quote"},
        {"1,b,3\n1,2,3\n", "",
         "f:1:1: the first line has 1 words and 1 numbers beside the label: say whether it is a "
         "header (header yes or no)"},
        {"1,2,3\n", "features=7", "f: there are 2 columns of features where 7 were asked for"},
        {"1,2,3\n", "label_column=size",
         "f: label_column is 'size', which is neither a column's name nor a number from 1 to 3"},
        {"1,2,3\n", "label_column=4",
         "f: label_column is '4', which is neither a column's name nor a number from 1 to 3"},
        {"1,2,3\n", "separator=pipe",
         "separator is 'pipe'; allowed: auto, comma, tab, semicolon, space"},
        {"1,2,3\n1,1e39,3\n", "precision=f32",
         "f:2:3: the value 1e+39 is too large for float32: ask for precision f64"},
    };
    check_faults(mgvi_csv_read, faults, sizeof faults / sizeof *faults);
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *d;
    CHECK_FAILS(ctx, read_sized(ctx, mgvi_csv_read, "1,2,3\n4,\0,3\n", 12, "", 99, &d), MGV_E_INPUT,
                "f:2:3: a zero byte in column 2: this is not text");
    mgv_ctx_free(ctx);
}

TEST(chunks_and_threads_leave_the_bytes_alone)
{
    mgvi_rng rng = mgvi_rng_seed(3);
    for (int words = 0; words < 2; words++) {
        char *text = malloc(200000), *p = text + sprintf(text, "alpha,beta,gamma,delta\n");
        for (int i = 0; i < 200; i++) {
            p += sprintf(p, "%.3f,%g,%.17g,", mgvi_rng_normal(&rng), mgvi_rng_normal(&rng),
                         mgvi_rng_normal(&rng));
            p += sprintf(p, words && i % 3 ? "w%d\n" : "%d\n", (int)(mgvi_rng_u32(&rng) % 7));
            if (mgvi_rng_u32(&rng) % 9 == 0)
                p += sprintf(p, "\n#\n");
        }
        check_chunks(mgvi_csv_read, text, (size_t)(p - text), "");
        check_chunks(mgvi_csv_read, text, (size_t)(p - text) - 1, "precision=f32");
        free(text);
    }
    check_chunks(mgvi_csv_read, iris, sizeof iris - 1, "");
}

TEST(labels_do_not_decide_the_precision)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *d;
    CHECK_OK(ctx, read_as(ctx, mgvi_csv_read, "1,2,0.1\n4,5,0.2\n", "", &d));
    CHECK(d->X.dtype == MGV_F32 && d->labels[0] == 0.1 && value_at(d, 1, 1) == 5);
    mgvi_data_free(ctx, d);
    mgv_ctx_free(ctx);
}

TEST(failing_allocations_and_hostile_texts_leave_nothing)
{
    check_failing_allocations(mgvi_csv_read, iris, "");
    check_failing_allocations(mgvi_csv_read, "1,2,0.1\n4,5,0.2\n", "");
    check_hostile(mgvi_csv_read, iris, "");
    check_hostile(mgvi_csv_read, "1 2 3\n4 5.5 6\n", "precision=f32");
    /* many columns and many blank lines do not multiply */
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *d;
    enum { HALF = 1 << 19 };
    char *text = malloc(2 * HALF);
    memset(text, ',', HALF);
    memset(text + HALF, '\n', HALF);
    CHECK(read_sized(ctx, mgvi_csv_read, text, 2 * HALF, "header=yes", MGVI_CHUNK, &d) ==
          MGV_E_INPUT);
    free(text);
    mgv_ctx_free(ctx);
}

int main(void)
{
    return RUN(a_sample_means_what_it_says, layouts_are_found_or_stated,
               faults_name_line_column_and_text, chunks_and_threads_leave_the_bytes_alone,
               labels_do_not_decide_the_precision,
               failing_allocations_and_hostile_texts_leave_nothing);
}
