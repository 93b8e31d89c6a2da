/* simd/short_points_body.h - mgvi_short_values_fn in vectors of GNU C, as wide as the registers;
 * SHORT_VALUES is the function's name. Products and sums may be fused. */
#include "simd/short_points.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi" /* no vector is passed from one file to another */
#endif

#if defined(__AVX512F__)
enum { LANES = 8 };
#elif defined(__AVX__)
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif
enum { VECS = 4, STEP = VECS * LANES }; /* chains of sums at a time */
typedef double vec __attribute__((vector_size(LANES * 8)));
typedef int64_t ivec __attribute__((vector_size(LANES * 8)));
#define VEC_INLINE static inline __attribute__((always_inline))

VEC_INLINE vec load(const double *x)
{
    vec v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* e^x for x <= 0 as in simd/exp.h, the Taylor sum in pairs of terms: shorter chains. */
VEC_INLINE vec exp_below_0(vec x)
{
    const double magic = 0x1.8p52;
    const vec least = (vec){0} - 708.0;
    const ivec low = x < least;
    x = (vec)(((ivec)x & ~low) | ((ivec)least & low));
    const vec t = x * 0x1.71547652b82fep0 + magic, k = t - magic;
    const vec r = (x - k * 0x1.62e42fefa38p-1) - k * 0x1.ef35793c7673p-45;
    const vec r2 = r * r, r4 = r2 * r2;
    const vec a = r * (1.0 / 6) + 0.5, b = r * (1.0 / 120) + 1.0 / 24;
    const vec c = r * (1.0 / 5040) + 1.0 / 720, d = r * (1.0 / 362880) + 1.0 / 40320;
    const vec e = r * (1.0 / 39916800) + 1.0 / 3628800;
    const vec f = r * (1.0 / 6227020800.0) + 1.0 / 479001600;
    const vec high = (f * r2 + e) * r4 + (d * r2 + c), most = high * r4 + (b * r2 + a);
    const vec p = most * r2 + r + 1.0;
    const ivec power = ((ivec)t + 1023) << 52;
    return p * (vec)power;
}

VEC_INLINE vec root_of(vec x)
{
    for (int l = 0; l < LANES; l++)
        x[l] = sqrt(x[l]);
    return x;
}

/* exp(min(own + b + p.x, 0)) */
VEC_INLINE void products(const double *p, int64_t d, const double *q, int64_t ld, const double *b,
                         double own, double *out)
{
    vec s[VECS];
    for (int v = 0; v < VECS; v++)
        s[v] = load(b + v * LANES) + own;
    for (int64_t j = 0; j < d; j++)
        for (int v = 0; v < VECS; v++)
            s[v] += p[j] * load(q + j * ld + v * LANES);
    for (int v = 0; v < VECS; v++) {
        s[v] = exp_below_0((vec)((ivec)s[v] & (s[v] < 0.0)));
        memcpy(out + v * LANES, &s[v], sizeof s[v]);
    }
}

/* exp(-own |p - x|), exp(-own |p - x|^2) */
VEC_INLINE void distances(const double *p, int64_t d, const double *q, int64_t ld, double own,
                          bool root, double *out)
{
    vec s[VECS];
    for (int v = 0; v < VECS; v++)
        s[v] = (vec){0};
    for (int64_t j = 0; j < d; j++)
        for (int v = 0; v < VECS; v++) {
            const vec apart = load(q + j * ld + v * LANES) - p[j];
            s[v] += apart * apart;
        }
    for (int v = 0; v < VECS; v++) {
        s[v] = exp_below_0(-own * (root ? root_of(s[v]) : s[v]));
        memcpy(out + v * LANES, &s[v], sizeof s[v]);
    }
}

void SHORT_VALUES(const double *p, int64_t d, const double *q, int64_t ld, const double *b,
                  double own, mgvi_short_form form, int64_t n, double *out)
{
    for (int64_t t = 0; t < n; t += STEP)
        if (form == MGVI_SHORT_PRODUCT)
            products(p, d, q + t, ld, b + t, own, out + t);
        else if (form == MGVI_SHORT_SQUARE)
            distances(p, d, q + t, ld, own, false, out + t);
        else
            distances(p, d, q + t, ld, own, true, out + t);
}
