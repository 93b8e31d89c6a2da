/* test_gram.c - A' diag(h) A of every view over the matrices that have it. */
#include "samples.h"

#include "op/gram.h"

static void check_gram(mgv_ctx *ctx, int form, mgv_dtype dtype, int parts, bool exact)
{
    sample s = sample_new(90, 7, form == CSR ? 0.4 : 1, form, dtype);
    view_sample v = view_sample_new(&s, parts, 1);
    mgvi_op *base, *op;
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &s.m, 1, &base));
    CHECK_OK(ctx, mgvi_op_view(ctx, base, &v.view, 1, &op));
    const int64_t ld = v.cols + 2;
    double *h = sample_memory((size_t)v.rows, sizeof *h);
    double *G = sample_memory((size_t)(v.cols * ld), sizeof *G);
    mgvi_rng rng = mgvi_rng_seed(9);
    for (int64_t i = 0; i < v.rows; i++)
        h[i] = i % 3 ? mgvi_rng_uniform(&rng) : 0;
    CHECK_OK(ctx, mgvi_op_gram(op, h, exact, G, ld));
    const double tolerance = dtype == MGV_F32 && !exact ? 2e-4 : 1e-10;
    for (int64_t i = 0; i < v.cols; i++)
        for (int64_t j = 0; j < v.cols; j++) {
            double sum = 0;
            for (int64_t r = 0; r < v.rows; r++)
                sum += h[r] * v.ref[r * v.cols + i] * v.ref[r * v.cols + j];
            CHECK_NEAR(G[i * ld + j], sum, tolerance * (1 + fabs(sum)), "%s, parts %d, entry %d %d",
                       form_names[form], parts, (int)i, (int)j);
        }
    mgvi_op_free(op);
    free(h);
    free(G);
    view_sample_free(&v);
    sample_free(&s);
}

TEST(every_view_has_its_gram_matrix)
{
    static const int forms[] = {C_ORDER, C_PADDED, CSR};
    mgv_ctx *ctx = mgv_check_ctx();
    for (int parts = 0; parts < PARTS; parts++)
        for (int f = 0; f < 3; f++)
            for (int dtype = 0; dtype < 2; dtype++)
                for (int exact = 0; exact < 2; exact++)
                    check_gram(ctx, forms[f], (mgv_dtype)dtype, parts, exact);
    mgv_ctx_free(ctx);
}

TEST(columns_are_refused_with_a_sentence)
{
    mgv_ctx *ctx = mgv_check_ctx();
    sample s = sample_new(20, 3, 1, CSC, MGV_F64);
    mgvi_op *op;
    double h[20] = {1}, G[9];
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &s.m, 1, &op));
    CHECK_FAILS(ctx, mgvi_op_gram(op, h, true, G, 3), MGV_E_UNSUPPORTED, "stored by rows");
    mgvi_op_free(op);
    sample_free(&s);
    mgv_ctx_free(ctx);
}

TEST(threads_do_not_change_the_bits)
{
    double first[49];
    for (int threads = 1; threads <= 5; threads += 2) {
        mgv_ctx *ctx = mgv_check_ctx();
        CHECK_OK(ctx, mgv_ctx_set_threads(ctx, threads));
        sample s = sample_new(9000, 7, 0.4, CSR, MGV_F64);
        mgvi_op *op;
        double *h = sample_memory(9000, sizeof *h), G[49];
        for (int i = 0; i < 9000; i++)
            h[i] = i % 5;
        CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &s.m, 1, &op));
        CHECK_OK(ctx, mgvi_op_gram(op, h, true, G, 7));
        if (threads == 1)
            memcpy(first, G, sizeof G);
        assert_memory_equal(first, G, sizeof G);
        mgvi_op_free(op);
        free(h);
        sample_free(&s);
        mgv_ctx_free(ctx);
    }
}

int main(void)
{
    return RUN(every_view_has_its_gram_matrix, columns_are_refused_with_a_sentence,
               threads_do_not_change_the_bits);
}
