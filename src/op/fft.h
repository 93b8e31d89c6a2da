/* op/fft.h - discrete Fourier transforms of any length, eight at a time, in float64.
 *   forward   X_k = sum_j x_j e^(-2 pi i j k / n)
 *   back      x_j = sum_k X_k e^(+2 pi i j k / n)      (not divided by n)                     (1)
 * Eight sequences lie side by side, so that every step of the algorithm is one of whole vectors:
 * number j is a row of eight real parts and then eight imaginary ones, 16 float64 in a cache line
 * or two. The same bits on every instruction set. */
#ifndef MGVI_OP_FFT_H
#define MGVI_OP_FFT_H

#include "base/context.h"

#include <stdbool.h>

enum { MGVI_FFT_LANES = 8, MGVI_FFT_ROW = 2 * MGVI_FFT_LANES };

typedef struct mgvi_fft mgvi_fft;

/* For length n, 1 <= n < 2^30. MGV_E_MEMORY. */
mgv_status mgvi_fft_new(mgv_ctx *ctx, int64_t n, mgvi_fft **out);
void mgvi_fft_free(mgvi_fft *f); /* NULL: nothing */

/* Rows of MGVI_FFT_ROW numbers that each of the two vectors below must have: n, or more. */
int64_t mgvi_fft_rows(const mgvi_fft *f);

/* Transforms the first n rows of z. Both vectors, aligned to MGVI_ALIGN, are written; the one that
 * holds the result is returned. Threads may share f. */
double *mgvi_fft_run(const mgvi_fft *f, bool back, double *z, double *other);

/* z_j *= h_j for n rows, or the conjugate of h_j. */
void mgvi_fft_filter(const mgvi_fft *f, double *z, const double *h, bool conjugate);

/* The next number without prime factors above 7: the fast lengths. */
int64_t mgvi_fft_size(int64_t n);
#endif
