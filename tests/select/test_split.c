/* test_split.c - the setting `select`, folds, held-out parts. */
#include "check.h"

#include "select/split.h"

#include <math.h>
#include <string.h>

static mgv_status parse(mgv_ctx *ctx, const char *text, bool one_se, mgvi_rule *rule)
{
    mgv_settings settings;
    mgvi_settings_defaults(&settings);
    settings.select = text;
    settings.one_se = one_se;
    return mgvi_rule_parse(ctx, &settings, rule);
}

TEST(rules_are_understood_or_refused)
{
    static const char *const wrong[] = {"",          "cv",          "cv:1",  "cv:16",
                                        "cv:x",      "holdout:0",   "val:",  "holdout:1",
                                        "sometimes", "discrepancy", "cv:4 ", "discrepancy:-1"};
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_rule r;
    CHECK(parse(ctx, "none", false, &r) == MGV_OK && r.kind == MGVI_RULE_NONE);
    CHECK(parse(ctx, "last", false, &r) == MGV_OK && r.kind == MGVI_RULE_LAST);
    CHECK(parse(ctx, "cv:7", true, &r) == MGV_OK && r.kind == MGVI_RULE_CV && r.folds == 7);
    CHECK(parse(ctx, "holdout:.25", false, &r) == MGV_OK && r.fraction == .25);
    CHECK(parse(ctx, "discrepancy:3", false, &r) == MGV_OK && r.delta == 3);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        CHECK_FAILS(ctx, parse(ctx, wrong[k], false, &r), MGV_E_ARG, "cv:K");
    CHECK_FAILS(ctx, parse(ctx, "holdout:.5", true, &r), MGV_E_ARG, "one_se");
    mgv_ctx_free(ctx);
}

TEST(folds_are_even_stratified_and_seeded)
{
    enum { N = 103, K = 5 };
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_arena arena;
    mgvi_arena_init(&arena, ctx);
    int32_t group[N];
    for (int i = 0; i < N; i++)
        group[i] = i % 10 == 0; /* 11 rows of the second class */
    const mgvi_rule rule = {.kind = MGVI_RULE_CV, .folds = K};
    mgvi_split a, b, c;
    CHECK_OK(ctx,
             mgvi_split_new(&arena, &rule, &(mgvi_deal){.own = N, .group = group, .seed = 1}, &a));
    CHECK_OK(ctx,
             mgvi_split_new(&arena, &rule, &(mgvi_deal){.own = N, .group = group, .seed = 1}, &b));
    CHECK_OK(ctx,
             mgvi_split_new(&arena, &rule, &(mgvi_deal){.own = N, .group = group, .seed = 2}, &c));
    assert_memory_equal(a.code, b.code, N);
    CHECK(memcmp(a.code, c.code, N) != 0);
    CHECK(a.lanes == K + 1 && a.codes == K);
    int count[2][K] = {{0}};
    for (int i = 0; i < N; i++) {
        count[group[i]][a.code[i]]++;
        CHECK(mgvi_split_trains(&a, i, K)); /* the full fit has every row */
        for (int l = 0; l < K; l++)
            CHECK(mgvi_split_trains(&a, i, l) == (l != a.code[i]));
    }
    for (int f = 0; f < K; f++) {
        CHECK(count[0][f] + count[1][f] >= N / K && count[0][f] + count[1][f] <= N / K + 1);
        CHECK(count[1][f] >= 2 && count[1][f] <= 3);
        CHECK(mgvi_split_judged(&a, f));
    }
    CHECK(!mgvi_split_judged(&a, K));
    mgvi_arena_free(&arena);
    mgv_ctx_free(ctx);
}

TEST(held_out_parts_and_files)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_arena arena;
    mgvi_arena_init(&arena, ctx);
    const mgvi_rule part = {.kind = MGVI_RULE_HOLDOUT, .fraction = .2};
    const mgvi_rule file = {.kind = MGVI_RULE_FILE}, folds = {.kind = MGVI_RULE_CV, .folds = 5};
    mgvi_split s;
    CHECK_OK(ctx, mgvi_split_new(&arena, &part, &(mgvi_deal){.own = 50, .seed = 3}, &s));
    int held = 0;
    for (int i = 0; i < 50; i++) {
        held += !mgvi_split_trains(&s, i, 0);
        CHECK(mgvi_split_trains(&s, i, 1));
    }
    CHECK(held == 10 && s.lanes == 2);
    CHECK_OK(ctx, mgvi_split_new(&arena, &file, &(mgvi_deal){.own = 7, .other = 3, .seed = 3}, &s));
    CHECK(s.lanes == 1 && s.rows == 10 && mgvi_split_judged(&s, 0));
    for (int i = 0; i < 10; i++)
        CHECK(mgvi_split_trains(&s, i, 0) == (i < 7));
    CHECK_FAILS(ctx, mgvi_split_new(&arena, &folds, &(mgvi_deal){.own = 9}, &s), MGV_E_ARG,
                "10 rows");
    CHECK_FAILS(ctx, mgvi_split_new(&arena, &part, &(mgvi_deal){.own = 2}, &s), MGV_E_ARG, "empty");
    mgvi_arena_free(&arena);
    mgv_ctx_free(ctx);
}

/* Clusters of 1 to 7 rows, of two classes: never torn, and every part has its share of both. */
TEST(rows_of_a_group_are_dealt_out_together)
{
    enum { ROWS = 400, PARTS = 5 };
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_arena arena;
    int32_t group[ROWS];
    int64_t together[ROWS];
    mgvi_arena_init(&arena, ctx);
    for (int i = 0; i < ROWS; i++) {
        group[i] = i % 3 == 0;
        together[i] = 1000 - (i * 7 % ROWS) / (1 + i % 7);
    }
    const mgvi_rule folds = {.kind = MGVI_RULE_CV, .folds = PARTS},
                    part = {.kind = MGVI_RULE_HOLDOUT, .fraction = 0.25};
    const mgvi_deal deal = {.own = ROWS, .group = group, .together = together, .seed = 3};
    mgvi_deal again = deal;
    mgvi_split s, t, other;
    CHECK_OK(ctx, mgvi_split_new(&arena, &folds, &deal, &s));
    CHECK_OK(ctx, mgvi_split_new(&arena, &part, &deal, &t));
    again.seed = 4;
    CHECK_OK(ctx, mgvi_split_new(&arena, &folds, &again, &other));
    CHECK(memcmp(s.code, other.code, ROWS) != 0);
    int count[PARTS][2] = {{0}}, held = 0;
    for (int i = 0; i < ROWS; i++) {
        count[s.code[i]][group[i]]++;
        held += t.code[i];
        for (int j = 0; j < i; j++)
            CHECK(together[i] != together[j] || (s.code[i] == s.code[j] && t.code[i] == t.code[j]));
    }
    for (int k = 0; k < PARTS; k++) {
        CHECK_NEAR(count[k][0], 266 / 5.0, 12, "the first class in part %d", k);
        CHECK_NEAR(count[k][1], 134 / 5.0, 8, "the second class in part %d", k);
    }
    CHECK_NEAR(held, ROWS / 4.0, 8, "rows held out");
    for (int i = 0; i < ROWS; i++)
        together[i] = i % 4;
    CHECK_FAILS(ctx, mgvi_split_new(&arena, &folds, &deal, &s), MGV_E_ARG,
                "row_groups has fewer groups than there are folds (got 4, for 5 folds)");
    mgvi_arena_free(&arena);
    mgv_ctx_free(ctx);
}

int main(void)
{
    return RUN(rules_are_understood_or_refused, folds_are_even_stratified_and_seeded,
               held_out_parts_and_files, rows_of_a_group_are_dealt_out_together);
}
