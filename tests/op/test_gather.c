/* test_gather.c - chosen columns of every view over every stored form, made dense. */
#include "samples.h"

#include "op/columns.h"

static void check_columns(mgv_ctx *ctx, int form, mgv_dtype dtype, int parts)
{
    sample s = sample_new(13, 11, form >= CSR ? 0.4 : 1, form, dtype);
    view_sample v = view_sample_new(&s, parts, 1);
    mgvi_op *base, *op;
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &s.m, 1, &base));
    CHECK_OK(ctx, mgvi_op_view(ctx, base, &v.view, 1, &op));
    mgvi_arena arena;
    mgvi_arena_init(&arena, ctx);
    mgvi_gather *gather;
    CHECK_OK(ctx, mgvi_gather_new(op, &arena, &gather));
    const int64_t ld = v.rows + 3;
    int32_t cols[40];
    double *out = sample_memory((size_t)(40 * ld), sizeof *out);
    for (int t = 0; t < 40; t++) /* any order, some twice, the intercept among them */
        cols[t] = (int32_t)((7 * t + 5) % v.cols);
    mgvi_gather_columns(gather, cols, 40, out, ld);
    for (int t = 0; t < 40; t++)
        for (int64_t i = 0; i < v.rows; i++)
            CHECK_NEAR(out[t * ld + i], v.ref[i * v.cols + cols[t]], 1e-13, "%s, parts %d, %d %d",
                       form_names[form], parts, (int)i, (int)cols[t]);
    CHECK(op->touched > 0);
    mgvi_arena_free(&arena);
    mgvi_op_free(op);
    free(out);
    view_sample_free(&v);
    sample_free(&s);
}

TEST(every_view_of_every_form_has_its_columns)
{
    mgv_ctx *ctx = mgv_check_ctx();
    for (int parts = 0; parts < PARTS; parts++)
        for (int form = 0; form < FORMS; form++)
            for (int dtype = 0; dtype < 2; dtype++)
                check_columns(ctx, form, (mgv_dtype)dtype, parts);
    mgv_ctx_free(ctx);
}

TEST(signs_that_differ_from_lane_to_lane_are_refused)
{
    mgv_ctx *ctx = mgv_check_ctx();
    sample s = sample_new(2, 3, 1, C_ORDER, MGV_F64);
    const int8_t sign[] = {1, -1, -1, 1};
    const mgvi_view view = {.sign = sign, .sign_lanes = 2};
    mgvi_op *base, *op;
    mgvi_gather *gather;
    mgvi_arena arena;
    mgvi_arena_init(&arena, ctx);
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &s.m, 2, &base));
    CHECK_OK(ctx, mgvi_op_view(ctx, base, &view, 2, &op));
    CHECK_FAILS(ctx, mgvi_gather_new(op, &arena, &gather), MGV_E_UNSUPPORTED, "single columns");
    mgvi_arena_free(&arena);
    mgvi_op_free(op);
    sample_free(&s);
    mgv_ctx_free(ctx);
}

int main(void)
{
    return RUN(every_view_of_every_form_has_its_columns,
               signs_that_differ_from_lane_to_lane_are_refused);
}
