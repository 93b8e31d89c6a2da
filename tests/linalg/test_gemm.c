/* test_gemm.c - matrix products, A' diag(h) A and Cholesky: every instruction set against loops
 * written out, the same bits for any number of threads, every allocation failing. */
#include "check.h"

#include "base/rng.h"
#include "linalg/gemm.h"
#include "simd/simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *array(size_t count, size_t size)
{
    void *p = malloc(count * size + 1);
    CHECK(p);
    return p;
}

static double *random_f64(mgvi_rng *rng, int64_t count)
{
    double *x = array((size_t)count, sizeof *x);
    for (int64_t i = 0; i < count; i++)
        x[i] = 2 * mgvi_rng_uniform(rng) - 1;
    return x;
}

static float *random_f32(mgvi_rng *rng, int64_t count)
{
    float *x = array((size_t)count, sizeof *x);
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)(2 * mgvi_rng_uniform(rng) - 1);
    return x;
}

/* Runs `body` under each instruction set of this machine. */
typedef void (*level_fn)(mgv_ctx *ctx);
static void each_level(level_fn body)
{
    for (int level = 0; level < mgvi_simd_count(); level++) {
        mgv_ctx *ctx = mgv_check_ctx();
        ctx->simd = mgvi_simd_at(level);
        body(ctx);
        mgv_ctx_free(ctx);
    }
}

/* |got - want| <= tolerance for C = alpha op(A) op(B) + beta C, entries at most 1 in size; what
 * lies between the rows of C is untouched. */
#define GEMM_CASE(T, S, tolerance)                                                                 \
    static void gemm_case_##S(mgv_ctx *ctx, mgvi_rng *rng, int64_t m, int64_t n, int64_t k,        \
                              bool ta, bool tb, T alpha, T beta)                                   \
    {                                                                                              \
        const mgvi_gemm_shape s = {.m = m,                                                         \
                                   .n = n,                                                         \
                                   .k = k,                                                         \
                                   .transpose_a = ta,                                              \
                                   .transpose_b = tb,                                              \
                                   .lda = (ta ? m : k) + mgvi_rng_below(rng, 3),                   \
                                   .ldb = (tb ? k : n) + mgvi_rng_below(rng, 3),                   \
                                   .ldc = n + mgvi_rng_below(rng, 3)};                             \
        T *a = random_##S(rng, (ta ? k : m) * s.lda), *b = random_##S(rng, (tb ? n : k) * s.ldb);  \
        T *c = random_##S(rng, m * s.ldc), *was = array((size_t)(m * s.ldc), sizeof(T));           \
        memcpy(was, c, (size_t)(m * s.ldc) * sizeof(T));                                           \
        if (beta == 0) /* not read */                                                              \
            for (int64_t i = 0; i < m; i++)                                                        \
                for (int64_t j = 0; j < n; j++)                                                    \
                    c[i * s.ldc + j] = (T)NAN;                                                     \
        CHECK_OK(ctx, mgvi_gemm_##S(ctx, &s, alpha, a, b, beta, c));                               \
        for (int64_t i = 0; i < m; i++) {                                                          \
            for (int64_t j = 0; j < n; j++) {                                                      \
                double sum = 0;                                                                    \
                for (int64_t p = 0; p < k; p++)                                                    \
                    sum += (double)a[ta ? p * s.lda + i : i * s.lda + p] *                         \
                           (double)b[tb ? j * s.ldb + p : p * s.ldb + j];                          \
                sum *= (double)alpha;                                                              \
                if (beta != 0)                                                                     \
                    sum += (double)(beta * was[i * s.ldc + j]);                                    \
                CHECK_NEAR((double)c[i * s.ldc + j], sum, (tolerance) * (double)(k + 4),           \
                           "%s gemm_" #S " %d x %d x %d, %d%d, entry %d %d", ctx->simd->name,      \
                           (int)m, (int)n, (int)k, ta, tb, (int)i, (int)j);                        \
            }                                                                                      \
            for (int64_t j = n; j < s.ldc; j++)                                                    \
                CHECK(c[i * s.ldc + j] == was[i * s.ldc + j]);                                     \
        }                                                                                          \
        free(a), free(b), free(c), free(was);                                                      \
    }
GEMM_CASE(float, f32, 3e-7)
GEMM_CASE(double, f64, 3e-16)

static void gemm_level(mgv_ctx *ctx)
{
    static const int64_t sizes[][3] = {{0, 3, 2},   {3, 0, 2},    {2, 3, 0},      {1, 1, 1},
                                       {4, 8, 3},   {5, 7, 9},    {8, 48, 16},    {9, 49, 17},
                                       {33, 25, 1}, {64, 96, 31}, {70, 130, 401}, {263, 50, 20}};
    static const double factors[][2] = {{1, 0}, {-0.5, 1}, {0.7, -0.3}, {0, 2}};
    mgvi_rng rng = mgvi_rng_seed(5);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int flags = 0; flags < 4; flags++)
            for (int f = 0; f < 4; f++) {
                const double alpha = factors[f][0], beta = factors[f][1];
                const int64_t m = sizes[s][0], n = sizes[s][1], k = sizes[s][2];
                gemm_case_f32(ctx, &rng, m, n, k, flags & 1, flags & 2, (float)alpha, (float)beta);
                gemm_case_f64(ctx, &rng, m, n, k, flags & 1, flags & 2, alpha, beta);
            }
}

TEST(gemm_agrees_with_loops) { each_level(gemm_level); }

/* More rows and columns than one slab, with a result that is known: A = 1 x', B = z 1'. */
TEST(gemm_crosses_slabs)
{
    mgv_ctx *ctx = mgv_check_ctx();
    const mgvi_gemm_shape s = {.m = 2203, .n = 2131, .k = 2, .lda = 2, .ldb = 2131, .ldc = 2131};
    double *a = array(2203 * 2, 8), *b = array(2131 * 2, 8), *c = array(2203 * 2131, 8);
    for (int i = 0; i < 2203; i++)
        a[2 * i] = i, a[2 * i + 1] = 1;
    for (int j = 0; j < 2131; j++)
        b[j] = 1, b[2131 + j] = 10000.0 * j;
    CHECK_OK(ctx, mgvi_gemm_f64(ctx, &s, 1, a, b, 0, c));
    for (int i = 0; i < 2203; i++)
        for (int j = 0; j < 2131; j++)
            CHECK(c[i * 2131 + j] == i + 10000.0 * j);
    free(a), free(b), free(c);
    mgv_ctx_free(ctx);
}

static double *random_weights(mgvi_rng *rng, int64_t n, double zeros)
{
    double *h = random_f64(rng, n);
    for (int64_t i = 0; i < n; i++)
        h[i] = mgvi_rng_uniform(rng) < zeros ? 0 : h[i] * h[i];
    return h;
}

#define GRAM_CASE(T, S, tolerance)                                                                 \
    static void gram_case_##S(mgv_ctx *ctx, mgvi_rng *rng, int64_t n, int64_t d, double zeros)     \
    {                                                                                              \
        const int64_t stride = d + mgvi_rng_below(rng, 3), ldg = d + mgvi_rng_below(rng, 3);       \
        T *a = random_##S(rng, n * stride);                                                        \
        double *h = zeros >= 0 ? random_weights(rng, n, zeros) : NULL,                             \
               *g = random_f64(rng, d * ldg);                                                      \
        for (int64_t i = 0; h && i < n; i++)                                                       \
            if (h[i] == 0) /* must not be read */                                                  \
                a[i * stride] = (T)NAN;                                                            \
        double *want = calloc((size_t)(d * d + 1), sizeof *want);                                  \
        CHECK(want);                                                                               \
        for (int64_t i = 0; i < n; i++)                                                            \
            for (int64_t p = 0; p < d && !(h && h[i] == 0); p++)                                   \
                for (int64_t q = 0; q < d; q++)                                                    \
                    want[p * d + q] +=                                                             \
                        (h ? h[i] : 1) * (double)a[i * stride + p] * (double)a[i * stride + q];    \
        CHECK_OK(ctx, mgvi_gram_##S(ctx, n, d, a, stride, h, g, ldg));                             \
        for (int64_t p = 0; p < d; p++)                                                            \
            for (int64_t q = 0; q < d; q++) {                                                      \
                CHECK_NEAR(g[p * ldg + q], want[p * d + q], (tolerance) * (double)(n + 4),         \
                           "%s gram_" #S " %d x %d, entry %d %d", ctx->simd->name, (int)n, (int)d, \
                           (int)p, (int)q);                                                        \
                CHECK(g[p * ldg + q] == g[q * ldg + p]);                                           \
            }                                                                                      \
        free(a), free(h), free(g), free(want);                                                     \
    }
GRAM_CASE(float, f32, 5e-7)
GRAM_CASE(double, f64, 1e-14)

static void gram_level(mgv_ctx *ctx)
{
    /* few columns with one and with several parts; many columns with several slabs */
    static const int64_t sizes[][2] = {{0, 5},    {1, 1},     {7, 3},     {40, 8},
                                       {100, 54}, {61, 64},   {2100, 9},  {3000, 54},
                                       {30, 97},  {5200, 13}, {600, 130}, {40, 401}};
    mgvi_rng rng = mgvi_rng_seed(6);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        static const double zeros[] = {-1, 0, 0.6, 1}; /* -1: no weights at all */
        for (int z = 0; z < 4; z++) {
            gram_case_f32(ctx, &rng, sizes[s][0], sizes[s][1], zeros[z]);
            gram_case_f64(ctx, &rng, sizes[s][0], sizes[s][1], zeros[z]);
        }
    }
}

TEST(gram_agrees_with_loops) { each_level(gram_level); }

TEST(gram_of_many_columns_and_rows_crosses_slabs)
{
    mgv_ctx *ctx = mgv_check_ctx();
    const int64_t n = 2600, d = 1100; /* 8 MiB hold fewer than n rows of float64 */
    double *a = array((size_t)(n * d), 8), *g = array((size_t)(d * d), 8);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++)
            a[i * d + j] = i % 7 == j % 7; /* G_pq counts the rows i = p = q modulo 7 */
    CHECK_OK(ctx, mgvi_gram_f64(ctx, n, d, a, d, NULL, g, d));
    for (int64_t p = 0; p < d; p++)
        for (int64_t q = 0; q < d; q++)
            CHECK(g[p * d + q] == (p % 7 == q % 7 ? (double)((n - p % 7 + 6) / 7) : 0));
    free(a), free(g);
    mgv_ctx_free(ctx);
}

static double *random_positive_definite(mgvi_rng *rng, int64_t n)
{
    double *a = random_f64(rng, n * n);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++)
            a[i * n + j] = a[j * n + i];
        a[i * n + i] += 2 * sqrt((double)n) + 1; /* beyond the spectral norm of the rest */
    }
    return a;
}

static void cholesky_level(mgv_ctx *ctx)
{
    static const int64_t sizes[] = {0, 1, 2, 5, 33, 95, 96, 97, 200, 301};
    mgvi_rng rng = mgvi_rng_seed(8);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int32_t k = 1; k <= 5; k += 2) {
            const int64_t n = sizes[s];
            int64_t pivot = 77;
            double *a = random_positive_definite(&rng, n), *u = array((size_t)(n * n), 8);
            double *x = random_f64(&rng, n * k), *b = calloc((size_t)(n * k) + 1, 8);
            CHECK(b);
            memcpy(u, a, (size_t)(n * n) * 8);
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < n; j++)
                    for (int32_t c = 0; c < k; c++)
                        b[i * k + c] += a[i * n + j] * x[j * k + c];
            CHECK_OK(ctx, mgvi_cholesky(ctx, n, u, n, &pivot));
            assert_int_equal(pivot, -1);
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = i; j < n; j++) {
                    double sum = 0;
                    for (int64_t l = 0; l <= i; l++)
                        sum += u[l * n + i] * u[l * n + j];
                    CHECK_NEAR(sum, a[i * n + j], 1e-14 * (double)n, "%s n = %d", ctx->simd->name,
                               (int)n);
                }
            CHECK_OK(ctx, mgvi_cholesky_solve(ctx, n, u, n, k, b));
            for (int64_t i = 0; i < n * k; i++)
                CHECK_NEAR(b[i], x[i], 1e-11, "%s solve n = %d", ctx->simd->name, (int)n);
            free(a), free(u), free(x), free(b);
        }
}

/* float32: the factor's square is the matrix, but for a rounding of its diagonal a row. */
static void cholesky_f32_level(mgv_ctx *ctx)
{
    static const int64_t sizes[] = {0, 1, 5, 95, 96, 97, 301};
    mgvi_rng rng = mgvi_rng_seed(8);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int64_t n = sizes[s];
        int64_t pivot = 77;
        double *a = random_positive_definite(&rng, n), *x = random_f64(&rng, n);
        double *b = calloc((size_t)n + 1, 8);
        float *u = array((size_t)(n * n), 4);
        CHECK(b);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                u[i * n + j] = (float)a[i * n + j];
                b[i] += a[i * n + j] * x[j];
            }
        CHECK_OK(ctx, mgvi_cholesky_f32(ctx, n, u, n, &pivot));
        assert_int_equal(pivot, -1);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i; j < n; j++) {
                double sum = 0;
                for (int64_t l = 0; l <= i; l++)
                    sum += (double)u[l * n + i] * (double)u[l * n + j];
                CHECK_NEAR(sum, a[i * n + j], 6e-8 * sqrt(a[i * n + i] * a[j * n + j]) * 20,
                           "%s n = %d", ctx->simd->name, (int)n);
            }
        CHECK_OK(ctx, mgvi_cholesky_f32_solve(ctx, n, u, n, b));
        for (int64_t i = 0; i < n; i++)
            CHECK_NEAR(b[i], x[i], 1e-4, "%s solve n = %d", ctx->simd->name, (int)n);
        if (n > 0) {
            u[n * n - 1] = -1;
            for (int64_t i = 0; i + 1 < n; i++)
                u[i * n + n - 1] = 0;
            for (int64_t i = 0; i + 1 < n; i++)
                for (int64_t j = i; j + 1 < n; j++)
                    u[i * n + j] = (float)a[i * n + j];
            CHECK_OK(ctx, mgvi_cholesky_f32(ctx, n, u, n, &pivot));
            assert_int_equal(pivot, n - 1);
        }
        free(a), free(u), free(x), free(b);
    }
}

TEST(cholesky_factors_and_solves_in_float32) { each_level(cholesky_f32_level); }

TEST(cholesky_factors_and_solves) { each_level(cholesky_level); }

TEST(cholesky_names_the_first_bad_pivot)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_rng rng = mgvi_rng_seed(9);
    static const int64_t bad[] = {0, 1, 95, 96, 150, 219};
    for (size_t t = 0; t < sizeof bad / sizeof *bad; t++)
        for (int kind = 0; kind < 3; kind++) {
            const double values[] = {-1, 0, NAN};
            double *a = random_positive_definite(&rng, 220);
            int64_t pivot;
            for (int64_t j = 0; j < 220; j++)
                a[j * 220 + bad[t]] = a[bad[t] * 220 + j] = 0;
            a[bad[t] * 220 + bad[t]] = values[kind];
            CHECK_OK(ctx, mgvi_cholesky(ctx, 220, a, 220, &pivot));
            assert_int_equal(pivot, bad[t]);
            free(a);
        }
    mgv_ctx_free(ctx);
}

/* Everything above once, into one array. */
enum {
    GEMM_N = 310,
    GRAM_ROWS = 5000,
    WIDE = 1100,
    RESULTS = GEMM_N * GEMM_N + 60 * 60 + WIDE * WIDE
};

typedef struct inputs {
    double *square, *tall, *wide, *weights;
    float *tall_f32;
} inputs;

static inputs make_inputs(void)
{
    mgvi_rng rng = mgvi_rng_seed(10);
    return (inputs){.square = random_positive_definite(&rng, GEMM_N),
                    .tall = random_f64(&rng, GRAM_ROWS * 60),
                    .wide = random_f64(&rng, 40 * WIDE),
                    .weights = random_weights(&rng, GRAM_ROWS, 0.3),
                    .tall_f32 = random_f32(&rng, GRAM_ROWS * 60)};
}

static void free_inputs(inputs *in)
{
    free(in->square), free(in->tall), free(in->wide), free(in->weights), free(in->tall_f32);
}

static mgv_status all_results(mgv_ctx *ctx, const inputs *in, double *out)
{
    const mgvi_gemm_shape s = {
        .m = GEMM_N, .n = GEMM_N, .k = GEMM_N, .lda = GEMM_N, .ldb = GEMM_N, .ldc = GEMM_N};
    double *gram = out + GEMM_N * GEMM_N, *wide = gram + 60 * 60;
    int64_t pivot;
    MGVI_TRY(mgvi_gemm_f64(ctx, &s, 1, in->square, in->square, 0, out));
    MGVI_TRY(mgvi_gram_f64(ctx, 40, WIDE, in->wide, WIDE, NULL, wide, WIDE));
    MGVI_TRY(mgvi_gram_f32(ctx, GRAM_ROWS, 60, in->tall_f32, 60, in->weights, gram, 60));
    MGVI_TRY(mgvi_cholesky(ctx, GEMM_N, out, GEMM_N, &pivot));
    return mgvi_cholesky_solve(ctx, 60, gram, 60, 2, wide);
}

TEST(any_number_of_threads_gives_the_same_bits)
{
    inputs in = make_inputs();
    double *want = array(RESULTS, sizeof *want), *got = array(RESULTS, sizeof *got);
    for (int level = 0; level < mgvi_simd_count(); level++)
        for (int threads = 1; threads <= 5; threads += threads == 1 ? 1 : 3) {
            mgv_ctx *ctx = mgv_check_ctx();
            ctx->simd = mgvi_simd_at(level);
            CHECK_OK(ctx, mgv_ctx_set_threads(ctx, threads));
            CHECK_OK(ctx, all_results(ctx, &in, threads == 1 ? want : got));
            CHECK_THAT(threads == 1 || memcmp(want, got, RESULTS * sizeof *want) == 0,
                       "%s, %d threads", ctx->simd->name, threads);
            mgv_ctx_free(ctx);
        }
    free(want), free(got);
    free_inputs(&in);
}

TEST(every_failing_allocation_is_reported_and_leaks_nothing)
{
    inputs in = make_inputs();
    double *out = array(RESULTS, sizeof *out);
    bool finished = false;
    for (long k = 1; !finished; k++) {
        mgv_check_allocator a;
        mgv_ctx *ctx;
        mgv_check_allocator_init(&a, 0);
        assert_int_equal(mgv_ctx_new(&a.hooks, &ctx), MGV_OK);
        const long before = a.live;
        a.fail_at = a.calls + k;
        const mgv_status st = all_results(ctx, &in, out);
        finished = st == MGV_OK;
        CHECK(finished || (st == MGV_E_MEMORY && strstr(mgv_ctx_error(ctx), "out of memory")));
        assert_int_equal(a.live, before);
        mgv_ctx_free(ctx);
        assert_int_equal(a.live, 0);
        CHECK(k < 100);
    }
    free(out);
    free_inputs(&in);
}

int main(void)
{
    return RUN(gemm_agrees_with_loops, gemm_crosses_slabs, gram_agrees_with_loops,
               gram_of_many_columns_and_rows_crosses_slabs, cholesky_factors_and_solves,
               cholesky_factors_and_solves_in_float32, cholesky_names_the_first_bad_pivot,
               any_number_of_threads_gives_the_same_bits,
               every_failing_allocation_is_reported_and_leaks_nothing);
}
