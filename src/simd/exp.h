/* simd/exp.h - e^x for x <= 0, log x for x >= 1, in plain C that compilers turn into vectors:
 *   e^x = 2^k e^r,  k = round(x / ln 2),  |r| <= ln 2 / 2,  e^r by its Taylor sum;
 *   log x = k ln 2 + 2 atanh(t),  x = 2^k m,  t = (m - 1)/(m + 1),  |t| <= 0.172. */
#ifndef MGVI_SIMD_EXP_H
#define MGVI_SIMD_EXP_H

#include <stdint.h>
#include <string.h>

/* x <= 0. Adding 1.5 * 2^52 leaves round(x / ln 2) in the last bits. Below -708 the result is
 * e^-708, 3e-308: never subnormal. Terms up to r^13: 4e-18. */
static inline double exp_below_0_f64(double x)
{
    const double magic = 0x1.8p52;
    x = x < -708 ? -708 : x;
    const double t = x * 0x1.71547652b82fep0 + magic, k = t - magic;
    const double r = (x - k * 0x1.62e42fefa38p-1) - k * 0x1.ef35793c7673p-45;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r * r + r + 1.0;
    uint64_t bits;
    memcpy(&bits, &t, sizeof bits);
    bits = (bits + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

/* The same below -87; terms up to r^7: 5e-9. */
static inline float exp_below_0_f32(float x)
{
    const float magic = 0x1.8p23f;
    x = x < -87 ? -87 : x;
    const float t = x * 0x1.715476p0f + magic, k = t - magic;
    const float r = (x - k * 0x1.62e4p-1f) - k * 0x1.7f7d1cp-20f;
    float p = 1.0f / 5040.0f;
    p = p * r + 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r * r + r + 1.0f;
    uint32_t bits;
    memcpy(&bits, &t, sizeof bits);
    bits = (bits + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

/* 1 <= x, finite. Terms up to t^15: 1e-14. */
static inline double log_from_1(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    /* m between sqrt(1/2) and sqrt(2): the bits of sqrt(1/2) begin a new k */
    const uint64_t shifted = bits - 0x3fe6a09e667f3bcdull;
    const uint64_t power = shifted >> 52 << 52; /* k */
    const uint64_t k_bits = (shifted >> 52) | 0x4330000000000000ull;
    double m, k;
    bits -= power;
    memcpy(&m, &bits, sizeof m);
    memcpy(&k, &k_bits, sizeof k);
    const double t = (m - 1) / (m + 1), q = t * t;
    double p = 1.0 / 15;
    p = p * q + 1.0 / 13;
    p = p * q + 1.0 / 11;
    p = p * q + 1.0 / 9;
    p = p * q + 1.0 / 7;
    p = p * q + 1.0 / 5;
    p = p * q + 1.0 / 3;
    return (k - 0x1p52) * 0x1.62e42fefa39efp-1 + 2 * (t + t * q * p);
}
#endif
