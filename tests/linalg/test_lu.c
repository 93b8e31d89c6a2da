/* test_lu.c - P A = L U: both solves against products with A, singular matrices, same bits. */
#include "base/rng.h"
#include "check.h"
#include "linalg/gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 200, LD = MOST + 3 };
static double A[MOST * LD], F[MOST * LD];

static void fill(int64_t n, uint64_t seed)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            A[i * LD + j] = mgvi_rng_normal(&rng) * (j % 7 ? 1 : 1e3);
    memcpy(F, A, sizeof F);
}

TEST(both_solves_invert_the_products)
{
    mgv_ctx *ctx = mgv_check_ctx();
    static const int64_t sizes[] = {1, 2, 47, 48, 49, 97, MOST};
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++)
        for (int transposed = 0; transposed < 2; transposed++) {
            const int64_t n = sizes[t];
            int32_t perm[MOST];
            double x[MOST], b[MOST] = {0};
            bool regular;
            fill(n, 3 + t);
            for (int64_t i = 0; i < n; i++)
                x[i] = sin((double)i) + 0.1;
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < n; j++)
                    b[i] += A[transposed ? j * LD + i : i * LD + j] * x[j];
            CHECK_OK(ctx, mgvi_lu(ctx, n, F, LD, perm, &regular));
            CHECK(regular);
            mgvi_lu_solve(ctx, n, F, LD, perm, transposed, b);
            for (int64_t i = 0; i < n; i++)
                CHECK_NEAR(b[i], x[i], 1e-8, "n = %d, transposed %d, entry %d", (int)n, transposed,
                           (int)i);
        }
    mgv_ctx_free(ctx);
}

TEST(a_column_without_a_pivot_is_told)
{
    mgv_ctx *ctx = mgv_check_ctx();
    int32_t perm[MOST];
    bool regular;
    fill(60, 5);
    for (int64_t i = 0; i < 60; i++)
        F[i * LD + 50] = 0;
    CHECK_OK(ctx, mgvi_lu(ctx, 60, F, LD, perm, &regular));
    CHECK(!regular);
    F[0] = NAN;
    CHECK_OK(ctx, mgvi_lu(ctx, 1, F, LD, perm, &regular));
    CHECK(!regular);
    mgv_ctx_free(ctx);
}

TEST(threads_do_not_change_the_bits)
{
    static double first[MOST * LD];
    for (int threads = 1; threads <= 3; threads++) {
        mgv_ctx *ctx = mgv_check_ctx();
        int32_t perm[MOST];
        bool regular;
        CHECK_OK(ctx, mgv_ctx_set_threads(ctx, threads));
        fill(MOST, 9);
        CHECK_OK(ctx, mgvi_lu(ctx, MOST, F, LD, perm, &regular));
        if (threads == 1)
            memcpy(first, F, sizeof F);
        assert_memory_equal(first, F, sizeof F);
        mgv_ctx_free(ctx);
    }
}

int main(void)
{
    return RUN(both_solves_invert_the_products, a_column_without_a_pivot_is_told,
               threads_do_not_change_the_bits);
}
