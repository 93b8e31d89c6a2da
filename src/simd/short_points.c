/* short_points.c - the loops of short_points.h (simd/isa.h). Products and sums may be fused. */
#include "simd/short_points.h"

#include "simd/vector.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { LANES = W, VECS = 4, STEP = VECS * LANES }; /* chains of sums at a time */

/* e^x for x <= 0 as in simd/exp.h, the Taylor sum in pairs of terms: shorter chains. */
INLINE vec exp_below_0(vec x)
{
    const double magic = 0x1.8p52;
    const vec least = (vec){0} - 708.0;
    const vbits low = x < least;
    x = v_pick(low, least, x);
    const vec t = x * 0x1.71547652b82fep0 + magic, k = t - magic;
    const vec r = (x - k * 0x1.62e42fefa38p-1) - k * 0x1.ef35793c7673p-45;
    const vec r2 = r * r, r4 = r2 * r2;
    const vec a = r * (1.0 / 6) + 0.5, b = r * (1.0 / 120) + 1.0 / 24;
    const vec c = r * (1.0 / 5040) + 1.0 / 720, d = r * (1.0 / 362880) + 1.0 / 40320;
    const vec e = r * (1.0 / 39916800) + 1.0 / 3628800;
    const vec f = r * (1.0 / 6227020800.0) + 1.0 / 479001600;
    const vec high = (f * r2 + e) * r4 + (d * r2 + c), most = high * r4 + (b * r2 + a);
    const vec p = most * r2 + r + 1.0;
    const vbits power = ((vbits)t + 1023) << 52;
    return p * (vec)power;
}

INLINE vec root_of(vec x)
{
    for (int l = 0; l < LANES; l++)
        x[l] = sqrt(x[l]);
    return x;
}

/* exp(min(own + b + p.x, 0)) */
INLINE void products(const double *p, int64_t d, const double *q, int64_t ld, const double *b,
                     double own, double *out)
{
    vec s[VECS];
    for (int v = 0; v < VECS; v++)
        s[v] = v_load_f64(b + v * LANES) + own;
    for (int64_t j = 0; j < d; j++)
        for (int v = 0; v < VECS; v++)
            s[v] += p[j] * v_load_f64(q + j * ld + v * LANES);
    for (int v = 0; v < VECS; v++) {
        s[v] = exp_below_0((vec)((vbits)s[v] & (s[v] < 0.0)));
        memcpy(out + v * LANES, &s[v], sizeof s[v]);
    }
}

/* exp(-own |p - x|), exp(-own |p - x|^2) */
INLINE void distances(const double *p, int64_t d, const double *q, int64_t ld, double own,
                      bool root, double *out)
{
    vec s[VECS];
    for (int v = 0; v < VECS; v++)
        s[v] = (vec){0};
    for (int64_t j = 0; j < d; j++)
        for (int v = 0; v < VECS; v++) {
            const vec apart = v_load_f64(q + j * ld + v * LANES) - p[j];
            s[v] += apart * apart;
        }
    for (int v = 0; v < VECS; v++) {
        s[v] = exp_below_0(-own * (root ? root_of(s[v]) : s[v]));
        memcpy(out + v * LANES, &s[v], sizeof s[v]);
    }
}

static void values(const double *p, int64_t d, const double *q, int64_t ld, const double *b,
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

/* ---- sums ------------------------------------------------------------------------------------ */

enum { FOUR = MGVI_SHORT_FOUR, GROUP = MGVI_SHORT_GROUP, PAIR = 2, WIDE = PAIR * LANES };

/* 2^y for y <= 0, to 2e-17 of itself but for rounding: (2^r - 1)/r by its interpolation of degree
 * 10 at Chebyshev's points. Beyond -1021 it is 2^-1021. The exponent stands in the last bits of t.
 */
INLINE vec power_below_0(vec y)
{
    const double magic = 0x1.8p52 + 1023, least = -1021;
    for (int l = 0; l < LANES; l++)
        y[l] = y[l] > least ? y[l] : least;
    const vec t = y + magic, r = y - (t - magic);
    const vec r2 = r * r, r4 = r2 * r2;
    const vec a = r * 0x1.ebfbdff82c598p-3 + 0x1.62e42fefa39efp-1;
    const vec b = r * 0x1.3b2ab6fba1ddap-7 + 0x1.c6b08d704a0c2p-5;
    const vec c = r * 0x1.430913096fd9fp-13 + 0x1.5d87fe78a5276p-10;
    const vec d = r * 0x1.62bfd47773353p-20 + 0x1.ffcbfc670dcd4p-17;
    const vec e = r * 0x1.e6063f7217bc6p-28 + 0x1.b524fae627834p-24;
    const vec f = r2 * 0x1.e9d3fe3952179p-32 + e;
    const vec high = f * r4 + (d * r2 + c), most = high * r4 + (b * r2 + a);
    const vbits power = (vbits)t << 52;
    return (most * r + 1.0) * (vec)power;
}

/* The values of four points with WIDE others, from l on. */
INLINE void four_values(const mgvi_short_points *x, int64_t s, int l, mgvi_short_form form,
                        vec y[FOUR][PAIR])
{
    const double *p = x->p + s * x->d * FOUR, *q = x->q + l;
    for (int k = 0; k < FOUR; k++)
        for (int v = 0; v < PAIR; v++)
            y[k][v] = form == MGVI_SHORT_PRODUCT ? v_add(v_load_f64(x->own_q + l + v * LANES),
                                                         v_set(x->own_p[s * FOUR + k]))
                                                 : v_zero();
    for (int64_t j = 0; j < x->d; j++)
        for (int v = 0; v < PAIR; v++) {
            const vec z = v_load_f64(q + j * GROUP + v * LANES);
            for (int k = 0; k < FOUR; k++) {
                const vec apart = z - p[j * FOUR + k];
                y[k][v] += form == MGVI_SHORT_PRODUCT ? z * p[j * FOUR + k] : apart * apart;
            }
        }
    for (int k = 0; k < FOUR; k++)
        for (int v = 0; v < PAIR; v++) {
            vec e = y[k][v];
            if (form == MGVI_SHORT_PRODUCT)
                for (int t = 0; t < LANES; t++)
                    e[t] = e[t] < 0 ? e[t] : 0;
            else
                e = -x->scale * (form == MGVI_SHORT_ROOT ? root_of(e) : e);
            y[k][v] = power_below_0(e);
        }
}

/* total_i += x_i, exactly but for the small parts. */
INLINE void feed(const double *x, int n, double *hi, double *lo)
{
    for (int i = 0; i < n; i++) {
        const double s = hi[i] + x[i], t = s - hi[i];
        lo[i] += (hi[i] - (s - t)) + (x[i] - t);
        hi[i] = s;
    }
}

INLINE void feed_lanes(const vec across[FOUR], double *hi, double *lo)
{
    double x[FOUR];
    for (int k = 0; k < FOUR; k++) {
        double half[LANES / 2];
        for (int l = 0; l < LANES / 2; l++)
            half[l] = across[k][l] + across[k][l + LANES / 2];
        for (int w = LANES / 4; w > 0; w /= 2)
            for (int l = 0; l < w; l++)
                half[l] += half[l + w];
        x[k] = half[0];
    }
    feed(x, FOUR, hi, lo);
}

INLINE void sums_of(const mgvi_short_points *x, const double *c, const double *c_q,
                    mgvi_short_form form, mgvi_short_totals total, mgvi_short_totals total_p)
{
    double part[GROUP] = {0};
    for (int64_t s = 0; s < x->fours; s++) {
        vec across[FOUR] = {{0}};
        for (int l = 0; l < GROUP; l += WIDE) {
            vec e[FOUR][PAIR];
            four_values(x, s, l, form, e);
            for (int v = 0; v < PAIR; v++) {
                vec sum = v_load_f64(part + l + v * LANES);
                sum += (e[0][v] * c[s * FOUR] + e[1][v] * c[s * FOUR + 1]) +
                       (e[2][v] * c[s * FOUR + 2] + e[3][v] * c[s * FOUR + 3]);
                memcpy(part + l + v * LANES, &sum, sizeof sum);
            }
            for (int k = 0; total_p.hi && k < FOUR; k++)
                across[k] += e[k][0] * v_load_f64(c_q + l) + e[k][1] * v_load_f64(c_q + l + LANES);
        }
        if (total_p.hi)
            feed_lanes(across, total_p.hi + s * FOUR, total_p.lo + s * FOUR);
        if (s % MGVI_SHORT_RUN == MGVI_SHORT_RUN - 1 || s == x->fours - 1) {
            feed(part, GROUP, total.hi, total.lo);
            memset(part, 0, sizeof part);
        }
    }
}

static void sums(const mgvi_short_points *x, const double *c, const double *c_q,
                 mgvi_short_totals total, mgvi_short_totals total_p)
{
    if (x->form == MGVI_SHORT_PRODUCT)
        sums_of(x, c, c_q, MGVI_SHORT_PRODUCT, total, total_p);
    else if (x->form == MGVI_SHORT_SQUARE)
        sums_of(x, c, c_q, MGVI_SHORT_SQUARE, total, total_p);
    else
        sums_of(x, c, c_q, MGVI_SHORT_ROOT, total, total_p);
}

const mgvi_short_loops MGVI_OF_ISA(mgvi_short_points) = {.values = values, .sums = sums};
