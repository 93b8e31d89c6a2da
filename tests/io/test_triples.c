/* test_triples.c - entries from text and sparse matrices: numbers and names, bases, headers,
 * faults. */
#include "io/triples.h"
#include "text_reading.h"

#include <math.h>

static mgv_status read_entries(mgv_ctx *ctx, const char *text, const char *settings,
                               const mgvi_side *known, size_t chunk, mgv_triples **out)
{
    static mgv_settings s;
    const size_t size = strlen(text);
    set_all(ctx, &s, settings);
    char *bytes = malloc(size ? size : 1);
    memcpy(bytes, text, size);
    mgvi_source source = {.path = "f", .bytes = bytes, .size = size, .settings = &s};
    const mgv_status st = mgvi_triples_from_source(ctx, &source, known, chunk, out);
    free(bytes);
    return st;
}

static mgv_triples *read_lines(mgv_ctx *ctx, const char *text, const char *settings)
{
    mgv_triples *t;
    CHECK_OK(ctx, read_entries(ctx, text, settings, NULL, MGVI_CHUNK, &t));
    return t;
}

TEST(every_spelling_of_the_same_entries)
{
    static const char *const texts[] = {"1 2 3.5\n3 1 -1\n",
                                        "1\t2\t3.5\t881250949\n3\t1\t-1\t881250949\n",
                                        "userId,movieId,rating\n1,2,3.5\n3,1,-1\n",
                                        "# note\n\n1;2;3.5\r\n3;1;-1\r\n",
                                        "1::2::3.5::978300760\n3::1::-1::978302109\n",
                                        "  1   2   35e-1\n 3 1 -1"};
    mgv_ctx *ctx = mgv_check_ctx();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mgv_triples *t = read_lines(ctx, texts[i], "");
        CHECK_THAT(t->rows == 3 && t->cols == 2 && t->count == 2, "%s", texts[i]);
        CHECK(t->row[0] == 0 && t->col[0] == 1 && t->value[0] == 3.5);
        CHECK(t->row[1] == 2 && t->col[1] == 0 && t->value[1] == -1);
        CHECK(t->side[0].base == 1 && !t->side[0].named && !t->side[1].named);
        mgvi_triples_free(t);
    }
    mgv_ctx_free(ctx);
}

TEST(positions_count_from_where_the_file_does)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_triples *t = read_lines(ctx, "1 0 5\n2 3 6\n", "");
    CHECK(t->side[0].base == 0 && t->side[1].base == 0 && t->rows == 3 && t->cols == 4);
    CHECK(t->row[0] == 1 && t->col[0] == 0);
    mgvi_triples_free(t);
    t = read_lines(ctx, "1 1 5\n2 3 6\n", "base=0");
    CHECK(t->rows == 3 && t->cols == 4 && t->row[0] == 1);
    mgvi_triples_free(t);
    CHECK_FAILS(ctx, read_entries(ctx, "0 1 5\n", "base=1", NULL, MGVI_CHUNK, &t), MGV_E_INPUT,
                "base is 1");
    mgv_ctx_free(ctx);
}

TEST(words_and_far_numbers_are_names)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_triples *t = read_lines(
        ctx, "who,what,stars\nann,\"Up, \"\"again\"\"\",4\nbob,900000001,5\nann,7,1\n", "");
    CHECK(t->side[0].named && t->side[1].named && t->rows == 2 && t->cols == 3 && t->count == 3);
    CHECK(strcmp(mgvi_words_at(t->side[0].words, 1), "bob") == 0);
    CHECK(strcmp(mgvi_words_at(t->side[1].words, 0), "Up, \"again\"") == 0);
    CHECK(t->row[2] == 0 && t->col[2] == 2);
    mgvi_triples_free(t);
    t = read_lines(ctx, "4000000000 1 2\n7 2 3\n", ""); /* accounts, not positions */
    CHECK(t->side[0].named && t->rows == 2 && !t->side[1].named && t->cols == 2);
    mgvi_triples_free(t);
    mgv_ctx_free(ctx);
}

TEST(pairs_are_read_in_the_model_s_own_names)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_triples *t = read_lines(ctx, "ann 3 1\nbob 5 2\n", ""), *pairs;
    CHECK_OK(ctx, read_entries(ctx, "bob 5\neve 1\nann 6\n", "", t->side, MGVI_CHUNK, &pairs));
    CHECK(!pairs->value && pairs->count == 3 && pairs->row[0] == 1 && pairs->col[0] == 4);
    CHECK(pairs->row[1] == -1 && pairs->col[1] == 0 && pairs->row[2] == 0 && pairs->col[2] == -1);
    mgvi_triples_free(pairs);
    CHECK_OK(ctx, read_entries(ctx, "bob 5 2.5\n", "", t->side, MGVI_CHUNK, &pairs));
    CHECK(pairs->value && pairs->value[0] == 2.5);
    mgvi_triples_free(pairs);
    CHECK_OK(ctx,
             read_entries(ctx, "who what\nbob 5\n", "header=yes", t->side, MGVI_CHUNK, &pairs));
    CHECK(pairs->count == 1);
    mgvi_triples_free(pairs);
    CHECK_FAILS(ctx, read_entries(ctx, "bob five\n", "", t->side, MGVI_CHUNK, &pairs), MGV_E_INPUT,
                "columns are names");
    mgvi_triples_free(t);
    mgv_ctx_free(ctx);
}

TEST(far_numbers_are_unknown_to_a_model_of_numbers)
{
    static const char *const far[] = {"4", "9999", "2147483646", "2147483647", "98765432109876"};
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_triples *t = read_lines(ctx, "1 1 5\n3 2 6\n", ""), *pairs;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        char text[64];
        snprintf(text, sizeof text, "1 1\n%s 2\n", far[i]);
        CHECK_OK(ctx, read_entries(ctx, text, "", t->side, MGVI_CHUNK, &pairs));
        CHECK_THAT(pairs->row[0] == 0 && pairs->row[1] == -1 && pairs->col[1] == 1, "%s", far[i]);
        mgvi_triples_free(pairs);
    }
    CHECK_FAILS(ctx, read_entries(ctx, "1 1\nx 2\n", "", t->side, MGVI_CHUNK, &pairs), MGV_E_INPUT,
                "the rows are names; the model knows them by number from 1 on");
    mgvi_triples_free(t);
    mgv_ctx_free(ctx);
}

TEST(sparse_matrices_keep_their_zeros)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_triples *t = read_lines(ctx,
                                "%%MatrixMarket matrix coordinate real general\n2 3 4\n"
                                "1 1 0\n1 2 5\n2 3 1\n2 1 2\n",
                                "");
    CHECK(t->count == 4 && t->rows == 2 && t->cols == 3 && t->side[0].base == 1);
    CHECK(t->value[0] == 0 && t->value[1] == 5);
    mgvi_triples_free(t);
    CHECK_FAILS(ctx,
                read_entries(ctx, "%%MatrixMarket matrix array real general\n1 2\n1\n2\n", "", NULL,
                             MGVI_CHUNK, &t),
                MGV_E_INPUT, "full table");
    CHECK(t == NULL);
    mgv_ctx_free(ctx);
}

TEST(faults_name_line_and_column)
{
    static const struct {
        const char *text, *part;
    } cases[] = {{"", "empty"},
                 {"\n\n", "no entry"},
                 {"a b c\n", "no entry below the header"},
                 {"1 2\n", "the value is missing"},
                 {"1\n", "only one field"},
                 {"1 2 3\n1 2\n", "f:2:4: the value is missing"},
                 {"1 2 3\n1\n", "f:2:2: the column is missing"},
                 {"1 2 3\n1 2 x\n", "f:2:5: the value 'x' is not a number"},
                 {"1 2 3\n1 2 nan\n", "f:2:5: the value 'nan' is not a finite number"},
                 {"1 2 3\n1 2 3x\n", "f:2:5: the value '3x'"},
                 {"1,2,3\n1,,3\n", "f:2:3: the column is missing"},
                 {"1,2,3\n\"1,2,3\n", "f:2:1: a quote is opened"}};
    mgv_ctx *ctx = mgv_check_ctx();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mgv_triples *t;
        CHECK_FAILS(ctx, read_entries(ctx, cases[i].text, "", NULL, MGVI_CHUNK, &t), MGV_E_INPUT,
                    cases[i].part);
        CHECK(t == NULL);
    }
    mgv_ctx_free(ctx);
}

TEST(chunks_and_threads_change_nothing)
{
    mgv_ctx *ctx = mgv_check_ctx();
    char text[20000], *to = text;
    for (int k = 0; k < 700; k++)
        to += sprintf(to, k % 11 ? "%s%d i%d %d.25\n" : "\n# c\n%s%d i%d %d.25\n",
                      k % 2 ? "u" : "v", k * 37 % 50, k * 53 % 41, k);
    mgv_triples *whole = read_lines(ctx, text, "");
    for (size_t chunk = 16; chunk < 4000; chunk *= 3)
        for (int threads = 1; threads < 4; threads += 2) {
            mgv_triples *t;
            CHECK_OK(ctx, mgv_ctx_set_threads(ctx, threads));
            CHECK_OK(ctx, read_entries(ctx, text, "", NULL, chunk, &t));
            CHECK(t->count == 700 && t->rows == whole->rows && t->cols == whole->cols);
            for (int k = 0; k < 700; k++)
                CHECK(t->row[k] == whole->row[k] && t->col[k] == whole->col[k] &&
                      t->value[k] == whole->value[k]);
            mgvi_triples_free(t);
        }
    mgvi_triples_free(whole);
    mgv_ctx_free(ctx);
}

TEST(sorting_averages_what_is_given_twice)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_triples *t = read_lines(ctx, "3 1 4\n1 2 1\n3 1 5\n1 1 2\n1 2 3\n3 1 6\n", "");
    CHECK_OK(ctx, mgvi_triples_sort(t));
    CHECK(t->count == 3 && t->given == 6);
    CHECK(t->ptr[0] == 0 && t->ptr[1] == 2 && t->ptr[2] == 2 && t->ptr[3] == 3);
    CHECK(t->col[0] == 0 && t->value[0] == 2 && t->col[1] == 1 && t->value[1] == 2);
    CHECK(t->col[2] == 0 && t->value[2] == 5);
    CHECK_OK(ctx, mgvi_triples_sort(t));
    CHECK(t->count == 3);
    mgvi_triples_free(t);
    mgv_ctx_free(ctx);
}

int main(void)
{
    return RUN(every_spelling_of_the_same_entries, positions_count_from_where_the_file_does,
               words_and_far_numbers_are_names, pairs_are_read_in_the_model_s_own_names,
               far_numbers_are_unknown_to_a_model_of_numbers, sparse_matrices_keep_their_zeros,
               faults_name_line_and_column, chunks_and_threads_change_nothing,
               sorting_averages_what_is_given_twice);
}
