/* test_check.c - the data doctor: the same findings for every layout, and no leak without memory.
 */
#include "check.h"
#include "report/report.h"
#include "report/scan.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 6, COLS = 5 };

/* Row 3 repeats row 0 with another label, row 4 is empty; column 2 is empty. */
static const double dense[ROWS][COLS] = {{1, 2, 0, 1, 0}, {0, -3, 0, 1, 4}, {5, 0, 0, 1, 0},
                                         {1, 2, 0, 1, 0}, {0, 0, 0, 0, 0},  {0, 0, 0, 1, 7}};
static const double labels[ROWS] = {1, 1, -1, -1, 1, -1};

/* The table above stored in one of four ways. */
typedef struct stored {
    double val[ROWS * COLS];
    float val32[ROWS * COLS];
    int64_t ptr[ROWS + COLS];
    int32_t idx[ROWS * COLS];
} stored;
enum { C_ORDER, FORTRAN_ORDER, CSR, CSC, WAYS };

static mgv_status store(mgv_ctx *ctx, int way, stored *s, mgv_data **out)
{
    const bool by_rows = way != CSC;
    int64_t t = 0;
    if (way == C_ORDER)
        return mgv_data_from_dense(ctx, MGV_F64, dense, ROWS, COLS, COLS, 1, out);
    if (way == FORTRAN_ORDER) {
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLS; j++)
                s->val32[j * ROWS + i] = (float)dense[i][j];
        return mgv_data_from_dense(ctx, MGV_F32, s->val32, ROWS, COLS, 1, ROWS, out);
    }
    for (int k = 0; k < (by_rows ? ROWS : COLS); k++) {
        s->ptr[k] = t;
        for (int l = 0; l < (by_rows ? COLS : ROWS); l++) {
            const double v = by_rows ? dense[k][l] : dense[l][k];
            if (v == 0)
                continue;
            s->val[t] = v;
            s->idx[t++] = l;
        }
    }
    s->ptr[by_rows ? ROWS : COLS] = t;
    return mgv_data_from_sparse(ctx, by_rows ? MGV_CSR : MGV_CSC, MGV_F64, s->val, s->ptr, s->idx,
                                ROWS, COLS, out);
}

TEST(scan_does_not_depend_on_the_layout)
{
    mgv_ctx *ctx = mgv_check_ctx();
    uint64_t hash[ROWS];
    for (int way = 0; way < WAYS; way++) {
        stored s;
        mgv_data *data;
        mgvi_scan scan;
        mgvi_arena arena;
        mgvi_arena_init(&arena, ctx);
        CHECK_OK(ctx, store(ctx, way, &s, &data));
        CHECK_OK(ctx, mgv_data_set_labels(ctx, data, labels));
        CHECK_OK(ctx, mgvi_scan_data(&arena, data, &scan));
        for (int i = 0; i < ROWS; i++) {
            if (way == 0)
                hash[i] = scan.row[i].hash;
            CHECK_THAT(hash[i] == scan.row[i].hash, "way %d, row %d", way, i);
        }
        assert_int_equal(scan.entries, 13);
        assert_int_equal(scan.empty_rows, 1);
        assert_int_equal(scan.repeated_rows, 1);
        assert_int_equal(scan.contradictions, 1);
        assert_int_equal(scan.label_runs, 4);
        CHECK(!scan.labels_rise && !scan.labels_fall);
        assert_int_equal(scan.column[2].count, 0);
        assert_int_equal(scan.column[1].count, 3);
        CHECK(scan.column[1].least == -3 && scan.column[1].most == 2);
        mgvi_arena_free(&arena);
        mgv_data_free(ctx, data);
    }
    mgv_ctx_free(ctx);
}

/* The report of a table stored in one way; the caller frees *text. */
static mgv_status report(mgv_ctx *ctx, int way, bool json, char **text)
{
    stored s;
    mgv_data *data = NULL;
    mgv_settings *settings = NULL;
    *text = NULL;
    mgv_status st = mgv_settings_new(ctx, &settings);
    if (st == MGV_OK)
        st = store(ctx, way, &s, &data);
    if (st == MGV_OK)
        st = mgv_data_set_labels(ctx, data, labels);
    if (st == MGV_OK)
        st = json ? mgv_data_check(ctx, data, "table", settings, text)
                  : mgv_data_check_text(ctx, data, NULL, settings, text);
    mgv_data_free(ctx, data);
    mgv_settings_free(ctx, settings);
    return st;
}

TEST(text_and_json_say_the_same)
{
    mgv_ctx *ctx = mgv_check_ctx();
    for (int way = 0; way < WAYS; way++) {
        char *text, *json_text;
        CHECK_OK(ctx, report(ctx, way, false, &text));
        CHECK_OK(ctx, report(ctx, way, true, &json_text));
        json_t *json = json_loads(json_text, JSON_REJECT_DUPLICATES, NULL);
        CHECK(json_is_object(json));
        const json_t *findings = json_object_get(json, "findings");
        CHECK(json_array_size(findings) > 5);
        for (size_t i = 0; i < json_array_size(findings); i++) {
            const json_t *f = json_array_get(findings, i);
            CHECK(strstr(text, json_string_value(json_object_get(f, "text"))));
        }
        CHECK(strstr(text, "groups of equal rows with different labels: 1"));
        json_decref(json);
        mgv_string_free(ctx, text);
        mgv_string_free(ctx, json_text);
    }
    mgv_ctx_free(ctx);
}

TEST(every_allocation_may_fail)
{
    for (int json = 0; json < 2; json++) {
        mgv_status st = MGV_E_MEMORY;
        long k = 0;
        while (st != MGV_OK) {
            mgv_check_allocator a;
            mgv_ctx *ctx;
            char *text = NULL;
            mgv_check_allocator_init(&a, ++k);
            st = mgv_ctx_new(&a.hooks, &ctx);
            if (st == MGV_OK)
                st = report(ctx, CSR, json, &text);
            CHECK_THAT(st == MGV_OK || st == MGV_E_MEMORY, "allocation %ld: status %d", k, st);
            CHECK((text != NULL) == (st == MGV_OK));
            if (ctx)
                mgv_string_free(ctx, text);
            mgv_ctx_free(ctx);
            assert_int_equal(atomic_load(&a.live), 0);
        }
        CHECK(k > 10);
    }
}

int main(void)
{
    return RUN(scan_does_not_depend_on_the_layout, text_and_json_say_the_same,
               every_allocation_may_fail);
}
