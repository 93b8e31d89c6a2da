/* op/fft_stages.h - the loops of fft.c, ctx->simd->fft. */
#ifndef MGVI_OP_FFT_STAGES_H
#define MGVI_OP_FFT_STAGES_H

#include <stdint.h>

enum { MGVI_FFT_RADIX = 7 }; /* the largest prime with a loop of its own */

/* (2) of fft.c: y of `stride` x radix m rows from x. */
typedef struct mgvi_fft_stage {
    int radix;             /* 2, 3, 4, 5 or 7 */
    int64_t m, stride;     /* n / (radix stride) and what the stages before have multiplied to */
    const double *twiddle; /* m x (radix - 1) complex numbers e^(-2 pi i j p / (radix m)) */
    const double *roots;   /* radix complex numbers e^(+2 pi i j / radix) */
} mgvi_fft_stage;

/* `imaginary`: which half of a row is it, 1 or, for transforms back, 0. */
typedef struct mgvi_fft_loops {
    void (*stage)(const mgvi_fft_stage *s, int imaginary, const double *x, double *y);
    /* x_j *= c_j, j < n: complex numbers for all eight */
    void (*multiply)(double *x, const double *c, int imaginary, int64_t n);
    /* x_j *= h_j, rows both; the conjugates of h where `sign` is -1 */
    void (*filter)(double *x, const double *h, double sign, int64_t n);
} mgvi_fft_loops;
#endif
