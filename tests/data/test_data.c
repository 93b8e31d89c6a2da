/* test_data.c - labels turned into classes, and the memory behind a table. */
#include "check.h"

#include "data/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static mgv_data *new_data(mgv_ctx *ctx, int64_t rows)
{
    mgv_data *d;
    CHECK_OK(ctx, mgvi_data_new(ctx, &d));
    d->X.rows = rows;
    return d;
}

static void spell(const void *user, int64_t row, char *buffer, size_t capacity)
{
    snprintf(buffer, capacity, "%s", ((const char *const *)user)[row]);
}

TEST(numbers_are_classes_by_value_spelled_as_first_met)
{
    static const char *const texts[] = {"+1", "-1", "1.0", "-1e0", "0", "-0", "+1"};
    static const char long_text[] =
        "1.0000000000000000000000000000000000000000000000000000000000000";
    mgv_ctx *ctx = mgv_check_ctx();
    double labels[7];
    for (int i = 0; i < 7; i++)
        labels[i] = strtod(texts[i], NULL);
    mgv_data *d = new_data(ctx, 7);
    CHECK_OK(ctx, mgvi_data_set_labels(ctx, d, labels, spell, texts));
    CHECK(d->classes == 3 && !d->text_labels);
    static const char *const expect[] = {"-1", "0", "+1"};
    for (int k = 0; k < 3; k++) {
        assert_string_equal(d->class_text[k], expect[k]);
        CHECK(d->class_value[k] == k - 1);
    }
    for (int i = 0; i < 7; i++)
        CHECK(d->labels[i] == labels[i]);
    /* a second call replaces the first; no spelling: the shortest */
    labels[6] = 0.1;
    CHECK_OK(ctx, mgvi_data_set_labels(ctx, d, labels, NULL, NULL));
    CHECK(d->classes == 4);
    assert_string_equal(d->class_text[2], "0.1");
    assert_string_equal(d->class_text[3], "1");
    /* a spelling too long to keep */
    d->X.rows = 1;
    CHECK_OK(ctx,
             mgvi_data_set_labels(ctx, d, (double[]){1}, spell, (const char *const[]){long_text}));
    assert_string_equal(d->class_text[0], "1");
    mgvi_data_free(ctx, d);
    mgv_ctx_free(ctx);
}

TEST(too_many_numbers_are_a_target_and_too_many_words_a_fault)
{
    mgv_ctx *ctx = mgv_check_ctx();
    enum { ROWS = 3 * MGVI_CLASSES_MAX };
    static double labels[ROWS];
    static char words[ROWS][16];
    static const char *texts[ROWS];
    mgv_data *d = new_data(ctx, ROWS);
    for (int count = MGVI_CLASSES_MAX; count <= MGVI_CLASSES_MAX + 1; count++) {
        for (int i = 0; i < ROWS; i++) {
            labels[i] = i * 7919 % count - 5;
            snprintf(words[i], sizeof words[i], "w%d", i * 7919 % count);
            texts[i] = words[i];
        }
        const bool fits = count == MGVI_CLASSES_MAX;
        CHECK_OK(ctx, mgvi_data_set_labels(ctx, d, labels, NULL, NULL));
        CHECK(d->classes == (fits ? count : 0) && !d->class_text == !fits &&
              !d->class_value == !fits);
        for (int64_t k = 0; k < d->classes; k++)
            CHECK(d->class_value[k] == (double)k - 5 &&
                  strtod(d->class_text[k], NULL) == (double)k - 5);
        if (fits) {
            CHECK_OK(ctx, mgvi_data_set_text_labels(ctx, d, texts));
            CHECK(d->classes == count && d->text_labels);
            for (int i = 0; i < ROWS; i++)
                assert_string_equal(d->class_text[(int)d->labels[i]], texts[i]);
            for (int64_t k = 1; k < d->classes; k++)
                CHECK(strcmp(d->class_text[k - 1], d->class_text[k]) < 0);
        } else {
            CHECK_FAILS(ctx, mgvi_data_set_text_labels(ctx, d, texts), MGV_E_INPUT,
                        "more than 4096 different ones");
            CHECK(d->labels[1] == labels[1] && !d->text_labels && !d->class_text); /* as before */
        }
    }
    mgvi_data_free(ctx, d);
    mgv_ctx_free(ctx);
}

TEST(words_are_sorted_by_bytes)
{
    static const char *const texts[] = {"b", "B", "\xc3\xa9", "", "b", "bb"};
    static const char *const expect[] = {"", "B", "b", "bb", "\xc3\xa9"};
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *d = new_data(ctx, 6);
    CHECK_OK(ctx, mgvi_data_set_text_labels(ctx, d, texts));
    CHECK(d->classes == 5);
    for (int k = 0; k < 5; k++) {
        assert_string_equal(d->class_text[k], expect[k]);
        CHECK(d->class_value[k] == k);
    }
    CHECK(d->labels[0] == 2 && d->labels[1] == 1 && d->labels[3] == 0 && d->labels[4] == 2);
    mgvi_data_free(ctx, d);
    mgv_ctx_free(ctx);
}

TEST(labels_that_are_not_finite_are_refused)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *d = new_data(ctx, 3);
    CHECK_FAILS(ctx, mgvi_data_set_labels(ctx, d, (double[]){1, NAN, 2}, NULL, NULL), MGV_E_INPUT,
                "the label of row 2 must be finite (got nan)");
    CHECK_FAILS(ctx, mgvi_data_set_labels(ctx, d, (double[]){1, 2, -INFINITY}, NULL, NULL),
                MGV_E_INPUT, "the label of row 3 must be finite (got -inf)");
    CHECK(!d->labels && d->classes == 0);
    mgvi_data_free(ctx, d);
    mgv_ctx_free(ctx);
}

static mgv_status use_everything(mgv_ctx *ctx)
{
    static const char *const texts[] = {"a", "b", "a"};
    mgv_data *d = NULL;
    mgv_status st;
    MGVI_CHECK(st, done, mgvi_data_new(ctx, &d));
    d->X.rows = 3;
    MGVI_CHECK(st, done, mgvi_data_set_labels(ctx, d, (double[]){1, 2, 1}, NULL, NULL));
    MGVI_CHECK(st, done, mgvi_data_set_text_labels(ctx, d, texts));
    MGVI_CHECK(st, done, mgvi_data_set_labels(ctx, d, (double[]){1, 2, 1}, NULL, NULL));
    void *array = mgvi_data_array(ctx, d, 10, 10);
    if (!array)
        st = MGV_E_MEMORY;
    else
        mgvi_data_disown(ctx, d, array);
    mgvi_data_disown(ctx, d, &st); /* not ours: left alone */
done:
    mgvi_data_free(ctx, d);
    return st;
}

TEST(failing_allocations_leave_nothing)
{
    for (long k = 1;; k++) {
        mgv_check_allocator a;
        mgv_check_allocator_init(&a, 0);
        mgv_ctx *ctx;
        assert_int_equal(mgv_ctx_new(&a.hooks, &ctx), MGV_OK);
        const long before = a.live;
        a.fail_at = a.calls + k;
        const mgv_status st = use_everything(ctx);
        CHECK(a.live == before);
        mgv_ctx_free(ctx);
        if (st == MGV_OK) {
            CHECK(k > 8);
            break;
        }
        assert_int_equal(st, MGV_E_MEMORY);
    }
}

int main(void)
{
    return RUN(numbers_are_classes_by_value_spelled_as_first_met,
               too_many_numbers_are_a_target_and_too_many_words_a_fault, words_are_sorted_by_bytes,
               labels_that_are_not_finite_are_refused, failing_allocations_leave_nothing);
}
