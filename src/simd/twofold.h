/* simd/twofold.h - sums in twofold numbers hi + lo (base/twofold.h) over rows of type T, named by
 * NAME; included once per type. Plain loops, which compilers make vectors of; `fma` is one
 * instruction where the file is built for it. Every product and every sum is exact in two numbers;
 * only the small parts are added plainly. */

#ifndef MGVI_SIMD_TWOFOLD_ONCE
#define MGVI_SIMD_TWOFOLD_ONCE
#include "base/twofold.h"

/* Sums side by side; the results do not depend on the instruction set. */
enum { TWO_SUMS = 16 };

static inline void two_gather(const double *hi, const double *lo, double *out_hi, double *out_lo)
{
    *out_hi = hi[0];
    *out_lo = lo[0];
    for (int l = 1; l < TWO_SUMS; l++) {
        mgvi_two_feed(out_hi, out_lo, hi[l], 1);
        *out_lo += lo[l];
    }
}
#endif

static void NAME(dot_two)(const T *a, const double *x, int64_t n, double *hi, double *lo)
{
    double h[TWO_SUMS] = {0}, r[TWO_SUMS] = {0};
    int64_t j = 0;
    for (; j + TWO_SUMS <= n; j += TWO_SUMS)
        for (int l = 0; l < TWO_SUMS; l++)
            mgvi_two_feed(&h[l], &r[l], (double)a[j + l], x[j + l]);
    for (int l = 0; j < n; j++, l++)
        mgvi_two_feed(&h[l], &r[l], (double)a[j], x[j]);
    two_gather(h, r, hi, lo);
}

static void NAME(axpy_two)(double alpha, const T *restrict a, double *restrict hi,
                           double *restrict lo, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        mgvi_two_feed(&hi[j], &lo[j], alpha, (double)a[j]);
}

static void NAME(gather_two)(const T *a, const int32_t *index, int64_t n, const double *x,
                             double *hi, double *lo)
{
    double h[TWO_SUMS] = {0}, r[TWO_SUMS] = {0};
    int64_t t = 0;
    for (; t + TWO_SUMS <= n; t += TWO_SUMS)
        for (int l = 0; l < TWO_SUMS; l++)
            mgvi_two_feed(&h[l], &r[l], (double)a[t + l], x[index[t + l]]);
    for (int l = 0; t < n; t++, l++)
        mgvi_two_feed(&h[l], &r[l], (double)a[t], x[index[t]]);
    two_gather(h, r, hi, lo);
}

static void NAME(scatter_two)(double alpha, const T *a, const int32_t *index, int64_t n, double *hi,
                              double *lo)
{
    for (int64_t t = 0; t < n; t++)
        mgvi_two_feed(&hi[index[t]], &lo[index[t]], alpha, (double)a[t]);
}
