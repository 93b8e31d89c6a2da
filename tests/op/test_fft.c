/* test_fft.c - transforms of every kind of length against their definition, in long double. */
#include "check.h"

#include "base/memory.h"
#include "base/rng.h"
#include "op/fft.h"
#include "simd/simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 2048 };

static double *vector(int64_t rows)
{
    return aligned_alloc(MGVI_ALIGN, (size_t)rows * MGVI_FFT_ROW * sizeof(double));
}

static double *filled(int64_t n, int64_t rows)
{
    mgvi_rng rng = mgvi_rng_seed((uint64_t)n);
    double *z = vector(rows);
    for (int64_t i = 0; i < n * MGVI_FFT_ROW; i++)
        z[i] = mgvi_rng_normal(&rng);
    return z;
}

/* (1) of lane l at frequency k. */
static void definition(const double *x, int64_t n, int64_t k, int l, bool back, long double out[2])
{
    out[0] = out[1] = 0;
    for (int64_t j = 0; j < n; j++) {
        const long double angle = 2 * acosl(-1) * (long double)(j * k % n) / (long double)n;
        const long double c = cosl(angle), s = back ? sinl(angle) : -sinl(angle);
        const double re = x[j * MGVI_FFT_ROW + l], im = x[j * MGVI_FFT_ROW + MGVI_FFT_LANES + l];
        out[0] += c * re - s * im;
        out[1] += c * im + s * re;
    }
}

static void look(mgv_ctx *ctx, int64_t n, bool back)
{
    mgvi_fft *f;
    CHECK_OK(ctx, mgvi_fft_new(ctx, n, &f));
    const int64_t rows = mgvi_fft_rows(f), step = n > 100 ? n / 40 : 1;
    double *x = filled(n, rows), *z = filled(n, rows), *other = vector(rows);
    const double *made = mgvi_fft_run(f, back, z, other);
    for (int64_t k = 0; k < n; k += step)
        for (int l = 0; l < MGVI_FFT_LANES; l += 3)
            for (int part = 0; part < 2; part++) {
                long double want[2];
                definition(x, n, k, l, back, want);
                CHECK_LE(
                    fabs((double)(made[k * MGVI_FFT_ROW + part * MGVI_FFT_LANES + l] - want[part])),
                    1e-15 * sqrt((double)n) * (4 + log2((double)n)), "length %d, number %d", (int)n,
                    (int)k);
            }
    free(other);
    free(z);
    free(x);
    mgvi_fft_free(f);
}

TEST(transforms_are_what_their_definition_says)
{
    static const int longer[] = {96,  97,  128, 210, 243,  256,  343,
                                 511, 525, 625, 997, 1009, 1024, LONGEST};
    mgv_ctx *ctx = mgv_check_ctx();
    for (int back = 0; back < 2; back++) {
        for (int64_t n = 1; n <= 70; n++)
            look(ctx, n, back);
        for (size_t k = 0; k < sizeof longer / sizeof *longer; k++)
            look(ctx, longer[k], back);
    }
    mgv_ctx_free(ctx);
}

TEST(back_undoes_forward)
{
    mgv_ctx *ctx = mgv_check_ctx();
    for (int64_t n = 1; n <= LONGEST; n += 1 + n / 5) {
        mgvi_fft *f;
        CHECK_OK(ctx, mgvi_fft_new(ctx, n, &f));
        const int64_t rows = mgvi_fft_rows(f);
        double *x = filled(n, rows), *z = filled(n, rows), *other = vector(rows);
        double *there = mgvi_fft_run(f, false, z, other);
        const double *again = mgvi_fft_run(f, true, there, there == z ? other : z);
        for (int64_t i = 0; i < n * MGVI_FFT_ROW; i++)
            CHECK_NEAR(again[i] / (double)n, x[i], 2e-14, "length %d", (int)n);
        free(other);
        free(z);
        free(x);
        mgvi_fft_free(f);
    }
    mgv_ctx_free(ctx);
}

/* The order of the steps is the algorithm's, whatever the vectors. */
TEST(every_instruction_set_has_the_same_bits)
{
    static const int lengths[] = {8, 11, 60, 105, 128};
    mgv_ctx *ctx = mgv_check_ctx();
    const mgvi_simd *own = ctx->simd;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        const int64_t n = lengths[k];
        double *first = NULL;
        for (int t = 0; t < mgvi_simd_count(); t++) {
            mgvi_fft *f;
            ctx->simd = mgvi_simd_at(t);
            CHECK_OK(ctx, mgvi_fft_new(ctx, n, &f));
            double *z = filled(n, mgvi_fft_rows(f)), *other = vector(mgvi_fft_rows(f));
            const double *made = mgvi_fft_run(f, false, z, other);
            const size_t bytes = (size_t)n * MGVI_FFT_ROW * sizeof *made;
            if (first)
                CHECK_THAT(memcmp(first, made, bytes) == 0, "length %d, %s", (int)n,
                           ctx->simd->name);
            else
                first = memcpy(vector(n), made, bytes);
            free(other);
            free(z);
            mgvi_fft_free(f);
        }
        free(first);
    }
    ctx->simd = own;
    mgv_ctx_free(ctx);
}

int main(void)
{
    return RUN(transforms_are_what_their_definition_says, back_undoes_forward,
               every_instruction_set_has_the_same_bits);
}
