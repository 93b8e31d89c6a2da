/* test_known_columns.c - text read for a model: its columns by name and by number, its first index,
 * rows without labels. */
#include "text_reading.h"

#include <math.h>

static char a[] = "a", b[] = "b", c[] = "c \"q\", \xc3\xa9", y[] = "y";

static mgv_status read_for(mgv_ctx *ctx, const char *text, const char *settings,
                           const mgvi_column_names *known, mgv_data **out)
{
    static mgv_settings s;
    const size_t size = strlen(text);
    set_all(ctx, &s, settings);
    char *bytes = malloc(size);
    memcpy(bytes, text, size);
    mgvi_source source = {
        .path = "f", .bytes = bytes, .size = size, .settings = &s, .known = known};
    const mgv_status st = mgvi_read_source(ctx, &source, out);
    free(bytes);
    return st;
}

typedef struct said {
    int notes, warnings;
    char text[256];
} said;

static int hear(void *user, const mgv_event *e)
{
    said *s = user;
    s->notes += e->level == MGV_INFO;
    s->warnings += e->level == MGV_WARNING;
    snprintf(s->text, sizeof s->text, "%s", e->text);
    return 0;
}

/* Every text is the rows (1, 2, 3) and (4, 5, 6), with labels 7 and 8 or without. */
TEST(columns_are_found_by_name_or_by_number)
{
    static const struct {
        const char *text, *settings;
        bool labels, note, warning;
    } cases[] = {{"a,b,\"c \"\"q\"\", \xc3\xa9\",y\n1,2,3,7\n4,5,6,8\n", "", true, false, false},
                 {"a,b,\"c \"\"q\"\", \xc3\xa9\"\n1,2,3\n4,5,6\n", "", false, false, false},
                 {"y,\"c \"\"q\"\", \xc3\xa9\",a,b\n7,3,1,2\n8,6,4,5\n", "", true, true, false},
                 {"b;a;\"c \"\"q\"\", \xc3\xa9\"\n2;1;3\n5;4;6\n", "", false, true, false},
                 {"id,a,b,\"c \"\"q\"\", \xc3\xa9\",y\nx y,1,2,3,7\n\"z,\",4,5,6,8\n", "", true,
                  false, true},
                 {"a,b,\"c \"\"q\"\", \xc3\xa9\",y\n1,2,3,7\n4,5,6,8\n", "label_column=none", false,
                  false, true},
                 {"1,2,3\n4,5,6\n", "", false, false, false},
                 {"1,7,2,3\n4,8,5,6\n", "", true, false, false}, /* where training had the label */
                 {"7 1 2 3\n8 4 5 6\n", "label_column=first", true, false, false}};
    char *names[] = {a, b, c};
    const mgvi_column_names known = {
        .count = 3, .names = names, .label = y, .label_at = 1, .first_index = -1};
    mgv_ctx *ctx = mgv_check_ctx();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        said heard = {0};
        mgv_data *data;
        mgv_ctx_on_event(ctx, hear, &heard);
        CHECK_OK(ctx, read_for(ctx, cases[i].text, cases[i].settings, &known, &data));
        CHECK_THAT(data->X.rows == 2 && data->X.cols == 3, "case %zu", i);
        for (int t = 0; t < 6; t++)
            CHECK_NEAR(value_at(data, t / 3, t % 3), t + 1, 0, "case %zu, entry %d", i, t);
        CHECK_THAT((data->labels != NULL) == cases[i].labels, "case %zu", i);
        CHECK_THAT(!data->labels || (data->labels[0] == 7 && data->labels[1] == 8), "case %zu", i);
        CHECK_THAT(heard.notes == cases[i].note && heard.warnings == cases[i].warning,
                   "case %zu: %s", i, heard.text);
        for (int j = 0; j < 3 && data->names; j++)
            assert_string_equal(data->names[j], names[j]);
        mgvi_data_free(ctx, data);
    }
    mgv_ctx_free(ctx);
}

TEST(names_given_twice_are_taken_in_their_order)
{
    char *names[] = {a, b, a};
    const mgvi_column_names known = {.count = 3, .names = names, .label_at = -1, .first_index = -1};
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *data;
    CHECK_OK(ctx, read_for(ctx, "b,label,a,a\n2,9,1,3\n", "", &known, &data));
    for (int j = 0; j < 3; j++)
        CHECK_NEAR(value_at(data, 0, j), j + 1, 0, "column %d", j);
    CHECK(data->labels && data->labels[0] == 9); /* training had no name: the usual ones */
    mgvi_data_free(ctx, data);
    mgv_ctx_free(ctx);
}

TEST(other_tables_are_refused_with_both_numbers_or_names)
{
    static const struct {
        const char *text, *settings, *sentence;
    } cases[] = {
        {"a,d,y\n1,2,3\n", "", "f: 2 of the model's 3 columns are not there ('b', 'c"},
        {"b,a,y\n1,2,3\n", "", "f: 1 of the model's 3 columns is not there ('c"},
        {"1,2\n3,4\n", "",
         "f: there are 2 columns; the model knows 3 features: 3 columns are expected, or 4 with a "
         "label"},
        {"1,2,3,4,x\n3,4,5,6,z\n", "", "f: there are 5 columns; the model knows 3 features"},
        {"1,2,3\n4,5,6\n", "label_column=last",
         "f: there are 2 columns beside the label; the model knows 3 features"}};
    char *names[] = {a, b, c};
    const mgvi_column_names known = {
        .count = 3, .names = names, .label = y, .label_at = 3, .first_index = -1};
    mgv_ctx *ctx = mgv_check_ctx();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mgv_data *data;
        CHECK_FAILS(ctx, read_for(ctx, cases[i].text, cases[i].settings, &known, &data),
                    MGV_E_INPUT, cases[i].sentence);
        CHECK(!data);
    }
    char d[] = "d", e[] = "e", *five[] = {a, b, d, e, y};
    const mgvi_column_names many = {.count = 5, .names = five, .label_at = -1, .first_index = -1};
    mgv_data *data;
    CHECK_FAILS(ctx, read_for(ctx, "y,z\n1,2\n", "", &many, &data), MGV_E_INPUT,
                "f: 4 of the model's 5 columns are not there ('a', 'b', 'd', ...)");
    mgv_ctx_free(ctx);
}

TEST(libsvm_text_counts_as_the_training_data_did)
{
    const mgvi_column_names zero = {.count = 4, .label_at = -1, .first_index = 0};
    const mgvi_column_names one = {.count = 4, .label_at = -1, .first_index = 1};
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *data;
    said heard = {0};
    mgv_ctx_on_event(ctx, hear, &heard);
    CHECK_OK(ctx, read_for(ctx, "1 2:5\n", "", &zero, &data));
    CHECK(value_at(data, 0, 2) == 5 && data->first_index == 0 && heard.notes == 1);
    mgvi_data_free(ctx, data);
    CHECK_OK(ctx, read_for(ctx, "1 0:3 2:5\n", "", &zero, &data));
    CHECK(value_at(data, 0, 2) == 5 && heard.notes == 1);
    mgvi_data_free(ctx, data);
    CHECK_OK(ctx, read_for(ctx, "1 2:5\n", "base=1", &zero, &data));
    CHECK(value_at(data, 0, 1) == 5);
    mgvi_data_free(ctx, data);
    CHECK_FAILS(ctx, read_for(ctx, "1 0:3 2:5\n", "", &one, &data), MGV_E_INPUT,
                "f:1:3: index 0, but the data the model was trained on counts from 1");
    mgv_ctx_free(ctx);
}

TEST(rows_for_a_model_need_no_labels)
{
    const mgvi_column_names known = {.count = 4, .label_at = -1, .first_index = 1};
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *data;
    CHECK_OK(ctx, read_for(ctx, "1:1 2:2\n3:3\n? 4:4\nqid:2 1:5\n", "", &known, &data));
    CHECK(data->X.rows == 4 && !data->labels && value_at(data, 2, 3) == 4 &&
          value_at(data, 3, 0) == 5 && value_at(data, 1, 2) == 3);
    mgvi_data_free(ctx, data);
    CHECK_OK(ctx, read_for(ctx, "? 1:1 2:2\n-1 3:3\n+1 4:4\n1:5\n", "", &known, &data));
    CHECK(data->gaps && data->classes == 2 && isnan(data->labels[0]) && data->labels[1] == -1 &&
          data->labels[2] == 1 && isnan(data->labels[3]));
    assert_string_equal(data->class_text[1], "+1");
    CHECK_OK(ctx, mgvi_data_verify(ctx, data, NULL, NULL));
    mgvi_data_free(ctx, data);
    CHECK_FAILS(ctx, read_for(ctx, "? 1:1 2:2\n", "", NULL, &data), MGV_E_INPUT, "f:1:1: ");
    mgv_ctx_free(ctx);
}

TEST(pairs_between_commas_are_no_table)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *data;
    static const char *const texts[] = {"1,1:1,2:2\n2,1:2,2:4\n", "1,1:1\n2,1:2\n1,1:3\n",
                                        "1;1:1;2:.5\n"};
    for (int i = 0; i < 3; i++)
        CHECK_FAILS(ctx, read_for(ctx, texts[i], "", NULL, &data), MGV_E_INPUT,
                    "f:1:3: '1:1' looks like INDEX:VALUE of libsvm text");
    CHECK_OK(ctx, read_for(ctx, "1,1:1\n2,1:2\n1,1:3\n", "label_column=last", NULL, &data));
    CHECK(data->classes == 3);
    mgvi_data_free(ctx, data);
    CHECK_FAILS(ctx, read_for(ctx, "1,2,7:30\n", "header=no label_column=1", NULL, &data),
                MGV_E_INPUT, "f:1:5: '7:30' looks like");
    mgv_ctx_free(ctx);
}

TEST(failing_allocations_leave_nothing)
{
    static const char *const texts[] = {"y,b,a,z\n1,2,3,4\n", "? 1:1\n2 2:2\n"};
    char *names[] = {a, b};
    const mgvi_column_names known = {
        .count = 2, .names = names, .label = y, .label_at = 0, .first_index = 1};
    for (int i = 0; i < 2; i++) {
        mgv_status st = MGV_E_MEMORY;
        for (long k = 1; st != MGV_OK; k++) {
            mgv_check_allocator alloc;
            mgv_check_allocator_init(&alloc, 0);
            mgv_ctx *ctx;
            mgv_data *data;
            assert_int_equal(mgv_ctx_new(&alloc.hooks, &ctx), MGV_OK);
            const long before = alloc.live;
            alloc.fail_at = alloc.calls + k;
            st = read_for(ctx, texts[i], "", &known, &data);
            mgvi_data_free(ctx, data);
            CHECK(alloc.live == before && (st == MGV_OK || st == MGV_E_MEMORY));
            mgv_ctx_free(ctx);
        }
    }
}

int main(void)
{
    return RUN(columns_are_found_by_name_or_by_number, names_given_twice_are_taken_in_their_order,
               other_tables_are_refused_with_both_numbers_or_names,
               libsvm_text_counts_as_the_training_data_did, rows_for_a_model_need_no_labels,
               pairs_between_commas_are_no_table, failing_allocations_leave_nothing);
}
