/* fft_loops.c - the butterflies of fft.c over rows of eight, a register at a time (simd/isa.h). */
#include "op/fft.h"
#include "op/fft_stages.h"
#include "simd/vector.h"

enum { PARTS = MGVI_FFT_LANES / W }; /* of half a row: registers */
typedef double row __attribute__((vector_size(sizeof(vec)), may_alias));

/* Part t of the two halves of row i. */
#define RE(x, i) ((x)[(2 * (i) + 1 - imaginary) * PARTS + t])
#define IM(x, i) ((x)[(2 * (i) + imaginary) * PARTS + t])
#define FOR_EACH_PART(q, end)                                                                      \
    for (int64_t q = 0; q < (end); q++)                                                            \
        for (int t = 0; t < PARTS; t++)

/* y_i = (r + i s) (a + i b) */
#define STORE(i, r, s, a, b)                                                                       \
    do {                                                                                           \
        RE(y, i) = (r) * (a) - (s) * (b);                                                          \
        IM(y, i) = (r) * (b) + (s) * (a);                                                          \
    } while (0)

static void stage_2(const mgvi_fft_stage *s, int imaginary, const row *restrict x, row *restrict y)
{
    for (int64_t p = 0; p < s->m; p++) {
        const double *w = s->twiddle + 2 * p;
        FOR_EACH_PART(q, s->stride)
        {
            const int64_t i = q + s->stride * p, j = i + s->stride * s->m;
            const int64_t at = q + s->stride * 2 * p;
            const row re = RE(x, i) - RE(x, j), im = IM(x, i) - IM(x, j);
            RE(y, at) = RE(x, i) + RE(x, j);
            IM(y, at) = IM(x, i) + IM(x, j);
            STORE(at + s->stride, w[0], w[1], re, im);
        }
    }
}

static void stage_4(const mgvi_fft_stage *s, int imaginary, const row *restrict x, row *restrict y)
{
    const int64_t step = s->stride * s->m;
    for (int64_t p = 0; p < s->m; p++) {
        const double *w = s->twiddle + 6 * p;
        FOR_EACH_PART(q, s->stride)
        {
            const int64_t i = q + s->stride * p, at = q + s->stride * 4 * p;
            const row sum_re = RE(x, i) + RE(x, i + 2 * step),
                      sum_im = IM(x, i) + IM(x, i + 2 * step);
            const row dif_re = RE(x, i) - RE(x, i + 2 * step),
                      dif_im = IM(x, i) - IM(x, i + 2 * step);
            const row odd_re = RE(x, i + step) + RE(x, i + 3 * step),
                      odd_im = IM(x, i + step) + IM(x, i + 3 * step);
            /* -i (x_1 - x_3) */
            const row turn_re = IM(x, i + step) - IM(x, i + 3 * step),
                      turn_im = RE(x, i + 3 * step) - RE(x, i + step);
            RE(y, at) = sum_re + odd_re;
            IM(y, at) = sum_im + odd_im;
            STORE(at + s->stride, w[0], w[1], dif_re + turn_re, dif_im + turn_im);
            STORE(at + 2 * s->stride, w[2], w[3], sum_re - odd_re, sum_im - odd_im);
            STORE(at + 3 * s->stride, w[4], w[5], dif_re - turn_re, dif_im - turn_im);
        }
    }
}

/* Radix r = 2 h + 1: with x_k + x_(r-k) and x_k - x_(r-k) the cosines and sines of a pair of
 * outputs are summed once. */
INLINE void stage_odd(const int r, const mgvi_fft_stage *s, int imaginary, const row *restrict x,
                      row *restrict y)
{
    enum { MOST = MGVI_FFT_RADIX / 2 + 1 };
    const int64_t step = s->stride * s->m;
    const int h = r / 2;
    for (int64_t p = 0; p < s->m; p++) {
        const double *w = s->twiddle + 2 * (r - 1) * p;
        FOR_EACH_PART(q, s->stride)
        {
            const int64_t i = q + s->stride * p, at = q + s->stride * r * p;
            row sum_re[MOST], sum_im[MOST], dif_re[MOST], dif_im[MOST];
            row all_re = RE(x, i), all_im = IM(x, i);
            for (int k = 1; k <= h; k++) {
                sum_re[k] = RE(x, i + k * step) + RE(x, i + (r - k) * step);
                sum_im[k] = IM(x, i + k * step) + IM(x, i + (r - k) * step);
                dif_re[k] = RE(x, i + k * step) - RE(x, i + (r - k) * step);
                dif_im[k] = IM(x, i + k * step) - IM(x, i + (r - k) * step);
                all_re += sum_re[k];
                all_im += sum_im[k];
            }
            for (int j = 1; j <= h; j++) {
                row c_re = RE(x, i), c_im = IM(x, i), d_re = c_re - c_re, d_im = d_re;
                for (int k = 1; k <= h; k++) {
                    const double *root = s->roots + 2 * (j * k % r);
                    c_re += root[0] * sum_re[k];
                    c_im += root[0] * sum_im[k];
                    d_re += root[1] * dif_re[k];
                    d_im += root[1] * dif_im[k];
                }
                const double *v = w + 2 * (j - 1), *u = w + 2 * (r - j - 1);
                STORE(at + j * s->stride, v[0], v[1], c_re + d_im, c_im - d_re);
                STORE(at + (r - j) * s->stride, u[0], u[1], c_re - d_im, c_im + d_re);
            }
            RE(y, at) = all_re;
            IM(y, at) = all_im;
        }
    }
}

static void stage(const mgvi_fft_stage *s, int imaginary, const double *x, double *y)
{
    const row *in = (const row *)x;
    row *out = (row *)y;
    switch (s->radix) {
    case 2:
        stage_2(s, imaginary, in, out);
        break;
    case 3:
        stage_odd(3, s, imaginary, in, out);
        break;
    case 4:
        stage_4(s, imaginary, in, out);
        break;
    case 5:
        stage_odd(5, s, imaginary, in, out);
        break;
    default:
        stage_odd(MGVI_FFT_RADIX, s, imaginary, in, out);
        break;
    }
}

static void multiply(double *x, const double *c, int imaginary, int64_t n)
{
    row *y = (row *)x;
    FOR_EACH_PART(i, n)
    {
        const row re = RE(y, i), im = IM(y, i);
        STORE(i, c[2 * i], c[2 * i + 1], re, im);
    }
}

static void filter(double *x, const double *h, double sign, int64_t n)
{
    enum { imaginary = 1 };
    row *y = (row *)x;
    const row *c = (const row *)h;
    FOR_EACH_PART(i, n)
    {
        const row re = RE(y, i), im = IM(y, i), s = sign * IM(c, i);
        STORE(i, RE(c, i), s, re, im);
    }
}

const mgvi_fft_loops MGVI_OF_ISA(mgvi_fft) = {
    .stage = stage, .multiply = multiply, .filter = filter};
