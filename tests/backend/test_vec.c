/* test_vec.c - block vectors: every function against plain loops, lane by lane. */
#include "check.h"

#include "backend/vec.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int32_t lane_counts[] = {1, 2, 3, 4, 7, 8, 13, 64, 65, 150};
enum { LANE_COUNTS = sizeof lane_counts / sizeof *lane_counts, MOST_LANES = 150 };

static mgvi_vec random_vec(mgvi_arena *arena, int64_t n, int32_t k, uint64_t seed)
{
    mgvi_vec x;
    CHECK_OK(arena->ctx, mgvi_vec_new(arena, MGVI_ROWS, n, k, &x));
    mgvi_rng rng = mgvi_rng_seed(seed);
    for (int64_t i = 0; i < n * k; i++)
        x.x[i] = mgvi_rng_normal(&rng);
    return x;
}

TEST(reductions_match_plain_loops)
{
    static const int64_t lengths[] = {0, 1, 5, 8, 1003, 40000};
    mgv_ctx *ctx = mgv_check_ctx();
    for (int at = 0; at < 6; at++)
        for (int l = 0; l < LANE_COUNTS; l++) {
            const int32_t k = lane_counts[l];
            const int64_t n = k > 13 && lengths[at] > 3000 ? 3000 : lengths[at];
            mgvi_arena arena;
            mgvi_arena_init(&arena, ctx);
            const mgvi_vec x = random_vec(&arena, n, k, 1), y = random_vec(&arena, n, k, 2);
            double dot[MOST_LANES], sum[MOST_LANES], min[MOST_LANES], norm[MOST_LANES],
                largest[MOST_LANES];
            mgvi_vec_dot(ctx, &x, &y, dot);
            mgvi_vec_sum(ctx, &x, sum);
            mgvi_vec_min(ctx, &x, min);
            mgvi_vec_norm2(ctx, &x, norm);
            mgvi_vec_abs_max(ctx, &x, largest);
            for (int32_t c = 0; c < k; c++) {
                double want[5] = {0, 0, INFINITY, 0, 0};
                for (int64_t i = 0; i < n; i++) {
                    const double a = x.x[i * k + c];
                    want[0] += a * y.x[i * k + c];
                    want[1] += a;
                    want[2] = fmin(want[2], a);
                    want[3] += a * a;
                    want[4] = fmax(want[4], fabs(a));
                }
                const double tol = 1e-14 * (double)(n + 1);
                CHECK_NEAR(dot[c], want[0], tol, "dot, n = %d, k = %d", (int)n, (int)k);
                CHECK_NEAR(sum[c], want[1], tol, "sum, n = %d, k = %d", (int)n, (int)k);
                CHECK_NEAR(norm[c], sqrt(want[3]), tol, "norm, n = %d, k = %d", (int)n, (int)k);
                CHECK(min[c] == want[2] && largest[c] == want[4]);
            }
            mgvi_arena_free(&arena);
        }
    mgv_ctx_free(ctx);
}

TEST(norms_neither_overflow_nor_vanish)
{
    mgv_ctx *ctx = mgv_check_ctx();
    double tiny = 1, x[6];
    for (int i = 0; i < 1074; i++)
        tiny /= 2; /* the smallest number */
    const double sizes[] = {1e300, 1e-300, 1e-160, 1e154, tiny, 1};
    for (int s = 0; s < 6; s++) {
        for (int lane = 0; lane < 2; lane++) { /* two lanes: (3, 0, 4) of this size, (0, 1, 0) */
            x[lane] = lane ? 0 : 3 * sizes[s];
            x[2 + lane] = lane ? 1 : 0;
            x[4 + lane] = lane ? 0 : -4 * sizes[s];
        }
        const mgvi_vec v = {.x = x, .n = 3, .k = 2};
        double norm[2];
        mgvi_vec_norm2(ctx, &v, norm);
        CHECK_NEAR(norm[0] / sizes[s], 5, 1e-14, "size %g", sizes[s]);
        CHECK(norm[1] == 1);
    }
    mgv_ctx_free(ctx);
}

TEST(nan_and_infinity_are_not_lost)
{
    mgv_ctx *ctx = mgv_check_ctx();
    for (int at = 0; at < 20; at++) {
        double x[20], out;
        for (int i = 0; i < 20; i++)
            x[i] = i == at ? NAN : i % 7 ? i : INFINITY;
        const mgvi_vec v = mgvi_vec_wrap(x, 20, MGVI_COLS);
        mgvi_vec_abs_max(ctx, &v, &out);
        CHECK(isnan(out));
        mgvi_vec_min(ctx, &v, &out);
        CHECK(isnan(out));
        mgvi_vec_norm2(ctx, &v, &out);
        CHECK(isnan(out));
        x[at] = 1;
        x[3] = -INFINITY;
        mgvi_vec_norm2(ctx, &v, &out);
        CHECK(out == INFINITY);
        mgvi_vec_min(ctx, &v, &out);
        CHECK(out == -INFINITY);
    }
    mgv_ctx_free(ctx);
}

TEST(elementwise_loops_match)
{
    mgv_ctx *ctx = mgv_check_ctx();
    for (int64_t n = 0; n <= 90000; n = n ? n * 300 : 1) {
        mgvi_arena arena;
        mgvi_arena_init(&arena, ctx);
        mgvi_vec x = random_vec(&arena, n, 2, 3), y = random_vec(&arena, n, 2, 4),
                 z = random_vec(&arena, n, 2, 4);
        mgvi_vec_axpby(ctx, 2, &x, -0.5, &y);
        for (int64_t i = 0; i < 2 * n; i++)
            CHECK(y.x[i] == 2 * x.x[i] + -0.5 * z.x[i]);
        mgvi_vec_copy(ctx, &z, &y);
        mgvi_vec_scale(ctx, 3, &y);
        for (int64_t i = 0; i < 2 * n; i++)
            CHECK(y.x[i] == 3 * z.x[i]);
        mgvi_vec_add(ctx, 2, &x, -0.5, &z, &y);
        for (int64_t i = 0; i < 2 * n; i++)
            CHECK(y.x[i] == 2 * x.x[i] + -0.5 * z.x[i]);
        mgvi_vec_add(ctx, 1, &y, 3, &x, &y); /* in place */
        for (int64_t i = 0; i < 2 * n; i++)
            CHECK(y.x[i] == 2 * x.x[i] + -0.5 * z.x[i] + 3 * x.x[i]);
        mgvi_vec_copy(ctx, &z, &y);
        mgvi_vec_clip(ctx, -INFINITY, 0.5, &y);
        mgvi_vec_clip(ctx, -0.25, INFINITY, &y);
        for (int64_t i = 0; i < 2 * n; i++)
            CHECK(y.x[i] == fmax(-0.25, fmin(z.x[i], 0.5)));
        mgvi_vec_fill(ctx, &y, NAN);
        mgvi_vec_clip(ctx, 0, 1, &y);
        for (int64_t i = 0; i < 2 * n; i++)
            CHECK(isnan(y.x[i]));
        mgvi_vec_axpby(ctx, 2, &x, 0, &y); /* y is not read */
        const double *before = x.x;
        mgvi_vec_swap(&x, &y);
        CHECK(y.x == before);
        for (int64_t i = 0; i < 2 * n; i++)
            CHECK(x.x[i] == 2 * y.x[i]);
        mgvi_arena_free(&arena);
    }
    mgv_ctx_free(ctx);
}

TEST(the_number_of_threads_changes_no_bit)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_arena arena;
    mgvi_arena_init(&arena, ctx);
    for (int l = 0; l < LANE_COUNTS; l++) {
        const int32_t k = lane_counts[l];
        const int64_t n = 200000 / k + 1; /* several blocks */
        const mgvi_vec x = random_vec(&arena, n, k, 5), y = random_vec(&arena, n, k, 6);
        double first[2 * MOST_LANES], out[2 * MOST_LANES];
        for (int t = 0; t < 3; t++) {
            CHECK_OK(ctx, mgv_ctx_set_threads(ctx, (int[]){1, 2, 5}[t]));
            mgvi_vec_dot(ctx, &x, &y, out);
            mgvi_vec_norm2(ctx, &x, out + k);
            if (t == 0)
                memcpy(first, out, (size_t)(2 * k) * sizeof *out);
            CHECK(memcmp(first, out, (size_t)(2 * k) * sizeof *out) == 0);
        }
        mgvi_arena_free(&arena);
    }
    mgv_ctx_free(ctx);
}

TEST(impossible_vectors_are_refused)
{
    mgv_check_allocator a;
    mgv_check_allocator_init(&a, 0);
    mgv_ctx *ctx;
    CHECK(mgv_ctx_new(&a.hooks, &ctx) == MGV_OK);
    mgvi_arena arena;
    mgvi_arena_init(&arena, ctx);
    mgvi_vec x;
    CHECK_FAILS(ctx, mgvi_vec_new(&arena, MGVI_ROWS, INT64_MAX / 2, 4, &x), MGV_E_MEMORY, "x 4");
    CHECK_FAILS(ctx, mgvi_vec_new(&arena, MGVI_ROWS, INT64_MAX / 4, 3, &x), MGV_E_MEMORY, "bytes");
    CHECK_FAILS(ctx, mgvi_vec_new(&arena, MGVI_ROWS, -1, 1, &x), MGV_E_MEMORY, "-1 x 1");
    a.fail_at = atomic_load(&a.calls) + 1;
    CHECK_FAILS(ctx, mgvi_vec_new(&arena, MGVI_ROWS, 10, 1, &x), MGV_E_MEMORY, "out of memory");
    CHECK_OK(ctx, mgvi_vec_new(&arena, MGVI_COLS, 10, 3, &x));
    CHECK(x.n == 10 && x.k == 3 && x.space == MGVI_COLS && x.x[29] == 0);
    mgvi_arena_free(&arena);
    mgv_ctx_free(ctx);
    CHECK(atomic_load(&a.live) == 0);
}

int main(void)
{
    return RUN(reductions_match_plain_loops, norms_neither_overflow_nor_vanish,
               nan_and_infinity_are_not_lost, elementwise_loops_match,
               the_number_of_threads_changes_no_bit, impossible_vectors_are_refused);
}
