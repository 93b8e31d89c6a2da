/* fft.c - mixed radix transforms that sort themselves (Stockham), and chirps for other lengths.
 *
 * With n = r m one stage makes of the sequence r interleaved ones of length m,
 *
 *   y_(r p + j) = e^(-2 pi i j p / n) sum_k x_(p + m k) e^(-2 pi i j k / r),   p < m, j < r     (2)
 *
 * the next stage treats each of them (`stride` of them by then lie side by side), and after the
 * last one everything is in order. A length with a prime factor above 7 is a convolution with a
 * chirp (Bluestein, 1970), jk = (j^2 + k^2 - (k - j)^2)/2,
 *
 *   X_k = c_k sum_j (x_j c_j) conj(c_(k-j)),   c_j = e^(-pi i j^2 / n)                          (3)
 *
 * by transforms of a fast length of at least 2 n - 1. Back is forward with the real and the
 * imaginary parts exchanged. */
#include "op/fft.h"

#include "base/memory.h"
#include "op/fft_stages.h"
#include "simd/simd.h"

#include <math.h>
#include <string.h>

enum { STAGES = 40 };

struct mgvi_fft {
    mgvi_arena arena;
    const mgvi_fft_loops *loops;
    int64_t n, rows;
    int stages; /* of length `rows`, which is n where there is no chirp */
    mgvi_fft_stage stage[STAGES];
    double *chirp, *filter; /* (3): n numbers c_j, and `rows` of the transform of conj(c_j)/rows */
};

static double *numbers(mgvi_fft *f, int64_t count)
{
    return mgvi_arena_array(&f->arena, (size_t)count, sizeof(double));
}

/* e^(-2 pi i k / n), exact where it is a multiple of a quarter turn: the angle is at most an eighth
 * of a turn. */
static void root_of(int64_t k, int64_t n, double *out)
{
    k %= n;
    const int64_t quarter = 4 * k / n;        /* whole quarters, then what is left of them */
    const int64_t rest = 4 * k - quarter * n; /* in 4 n-ths of a turn */
    const bool late = 2 * rest > n;
    const double angle = 2 * acos(-1) * (double)(late ? n - rest : rest) / (4 * (double)n);
    const double c = late ? sin(angle) : cos(angle), s = late ? cos(angle) : sin(angle);
    const double re[4] = {c, -s, -c, s}, im[4] = {s, c, -s, -c};
    out[0] = re[quarter];
    out[1] = -im[quarter];
}

int64_t mgvi_fft_size(int64_t n)
{
    for (;; n++) {
        int64_t rest = n;
        for (int prime = 2; prime <= MGVI_FFT_RADIX; prime++)
            while (rest % prime == 0)
                rest /= prime;
        if (rest == 1)
            return n;
    }
}

/* ---- making it ------------------------------------------------------------------------------ */

static mgv_status add_stage(mgvi_fft *f, int radix, int64_t m, int64_t stride)
{
    double *twiddle = numbers(f, 2 * m * (radix - 1)), *roots = numbers(f, 2 * radix);
    if (!twiddle || !roots)
        return MGV_E_MEMORY;
    for (int64_t p = 0; p < m; p++)
        for (int j = 1; j < radix; j++)
            root_of(j * p, radix * m, twiddle + 2 * (p * (radix - 1) + j - 1));
    for (int j = 0; j < radix; j++) {
        root_of(j, radix, roots + 2 * j);
        roots[2 * j + 1] = -roots[2 * j + 1];
    }
    f->stage[f->stages++] = (mgvi_fft_stage){
        .radix = radix, .m = m, .stride = stride, .twiddle = twiddle, .roots = roots};
    return MGV_OK;
}

static mgv_status plan(mgvi_fft *f)
{
    static const int radices[] = {4, 2, 3, 5, MGVI_FFT_RADIX};
    int64_t left = f->rows;
    for (size_t k = 0; k < sizeof radices / sizeof *radices; k++)
        while (left % radices[k] == 0) {
            left /= radices[k];
            MGVI_TRY(add_stage(f, radices[k], left, f->rows / (left * radices[k])));
        }
    return MGV_OK;
}

static double *pass(const mgvi_fft *f, int imaginary, double *z, double *other)
{
    for (int k = 0; k < f->stages; k++) {
        f->loops->stage(&f->stage[k], imaginary, z, other);
        double *made = other;
        other = z;
        z = made;
    }
    return z;
}

/* c, and the transform of conj(c), which is even. */
static mgv_status make_chirp(mgvi_fft *f)
{
    const int64_t n = f->n, rows = f->rows;
    mgvi_arena work;
    mgvi_arena_init(&work, f->arena.ctx);
    f->chirp = numbers(f, 2 * n);
    f->filter = numbers(f, 2 * rows);
    double *z = mgvi_arena_array(&work, (size_t)(rows * MGVI_FFT_ROW), sizeof *z);
    double *other = mgvi_arena_array(&work, (size_t)(rows * MGVI_FFT_ROW), sizeof *other);
    const bool whole = f->chirp && f->filter && z && other;
    if (whole) {
        for (int64_t j = 0; j < n; j++) {
            double *c = f->chirp + 2 * j;
            root_of(j * j % (2 * n), 2 * n, c);
            z[j * MGVI_FFT_ROW] = z[(rows - j) % rows * MGVI_FFT_ROW] = c[0];
            z[j * MGVI_FFT_ROW + MGVI_FFT_LANES] =
                z[(rows - j) % rows * MGVI_FFT_ROW + MGVI_FFT_LANES] = -c[1];
        }
        const double *made = pass(f, 1, z, other);
        for (int64_t k = 0; k < rows; k++) {
            f->filter[2 * k] = made[k * MGVI_FFT_ROW] / (double)rows;
            f->filter[2 * k + 1] = made[k * MGVI_FFT_ROW + MGVI_FFT_LANES] / (double)rows;
        }
    }
    mgvi_arena_free(&work);
    return whole ? MGV_OK : MGV_E_MEMORY;
}

mgv_status mgvi_fft_new(mgv_ctx *ctx, int64_t n, mgvi_fft **out)
{
    mgvi_fft *f = mgvi_zeros(ctx, 1, sizeof *f);
    *out = NULL;
    if (!f)
        return MGV_E_MEMORY;
    mgvi_arena_init(&f->arena, ctx);
    f->loops = ctx->simd->fft;
    f->n = n;
    f->rows = mgvi_fft_size(n) == n ? n : mgvi_fft_size(2 * n - 1);
    mgv_status st = plan(f);
    if (st == MGV_OK && f->rows != n)
        st = make_chirp(f);
    if (st == MGV_OK)
        *out = f;
    else
        mgvi_fft_free(f);
    return st;
}

void mgvi_fft_free(mgvi_fft *f)
{
    if (!f)
        return;
    mgv_ctx *ctx = f->arena.ctx;
    mgvi_arena_free(&f->arena);
    mgvi_release(ctx, f);
}

/* ---- transforms ------------------------------------------------------------------------------ */

int64_t mgvi_fft_rows(const mgvi_fft *f) { return f->rows; }

/* (3) */
static double *chirped(const mgvi_fft *f, int imaginary, double *z, double *other)
{
    const mgvi_fft_loops *loops = f->loops;
    loops->multiply(z, f->chirp, imaginary, f->n);
    memset(z + f->n * MGVI_FFT_ROW, 0, (size_t)((f->rows - f->n) * MGVI_FFT_ROW) * sizeof *z);
    double *made = pass(f, imaginary, z, other);
    loops->multiply(made, f->filter, imaginary, f->rows);
    made = pass(f, 1 - imaginary, made, made == z ? other : z);
    loops->multiply(made, f->chirp, imaginary, f->n);
    return made;
}

void mgvi_fft_filter(const mgvi_fft *f, double *z, const double *h, bool conjugate)
{
    f->loops->filter(z, h, conjugate ? -1 : 1, f->n);
}

double *mgvi_fft_run(const mgvi_fft *f, bool back, double *z, double *other)
{
    return (f->chirp ? chirped : pass)(f, back ? 0 : 1, z, other);
}
