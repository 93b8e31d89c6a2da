/* rough_points.c - the loops of rough_points.h (simd/isa.h). Products and sums may be fused. */
#include "simd/rough_points.h"

#include "simd/vector.h"

#include <math.h>
#include <string.h>

enum { LANES = 2 * W, FOUR = MGVI_ROUGH_FOUR, GROUP = MGVI_ROUGH_GROUP };
enum { VECS = 2, STEP = VECS * LANES };

/* 2^-s for s >= 0, to 2e-9 of itself but for rounding: 2^r by the best polynomial of degree 6 with
 * 2^0 = 1. Beyond 126 it is 2^-126, never subnormal. */
INLINE fvec power_below_0(fvec s)
{
    const float magic = 0x1.8p23f;
    const fvec most = (fvec){0} + 126.0f;
    const fbits low = s < most;
    s = f_pick(low, s, most);
    const fvec t = magic - s, r = (magic - t) - s;
    const fvec r2 = r * r;
    const fvec a = r * 0x1.ebfbdcp-3f + 0x1.62e43p-1f, b = r * 0x1.3b2d4cp-7f + 0x1.c6aee8p-5f;
    const fvec c = r * 0x1.41fbbcp-13f + 0x1.5f3e54p-10f;
    const fvec p = ((c * r2 + b) * r2 + a) * r + 1.0f;
    const fbits power = ((fbits)t + 127) << 23;
    return p * (fvec)power;
}

INLINE fvec root_of(fvec x)
{
    for (int l = 0; l < LANES; l++)
        x[l] = sqrtf(x[l]);
    return x;
}

/* The values of four points with STEP others. */
INLINE void values(const float *p, const float *q, int64_t d, bool root, fvec s[FOUR][VECS])
{
    for (int k = 0; k < FOUR; k++)
        for (int v = 0; v < VECS; v++)
            s[k][v] = (fvec){0};
    for (int64_t j = 0; j < d; j++)
        for (int v = 0; v < VECS; v++) {
            const fvec x = f_load(q + j * GROUP + v * LANES);
            for (int k = 0; k < FOUR; k++) {
                const fvec apart = x - p[j * FOUR + k];
                s[k][v] += apart * apart;
            }
        }
    for (int k = 0; k < FOUR; k++)
        for (int v = 0; v < VECS; v++)
            s[k][v] = power_below_0(root ? root_of(s[k][v]) : s[k][v]);
}

static void store_values(const mgvi_rough_points *x, float *out, int64_t ld)
{
    for (int l = 0; l < GROUP; l += STEP)
        for (int64_t s = 0; s < x->fours; s++) {
            fvec e[FOUR][VECS];
            if (x->root)
                values(x->p + s * x->d * FOUR, x->q + l, x->d, true, e);
            else
                values(x->p + s * x->d * FOUR, x->q + l, x->d, false, e);
            for (int k = 0; k < FOUR; k++)
                for (int v = 0; v < VECS; v++)
                    memcpy(out + (s * FOUR + k) * ld + l + v * LANES, &e[k][v], sizeof e[k][v]);
        }
}

/* Sums of the lanes of four vectors. */
INLINE void add_lanes(const fvec t[FOUR], double *sums)
{
    for (int k = 0; k < FOUR; k++) {
        float half[LANES / 2];
        for (int l = 0; l < LANES / 2; l++)
            half[l] = t[k][l] + t[k][l + LANES / 2];
        for (int w = LANES / 4; w > 0; w /= 2)
            for (int l = 0; l < w; l++)
                half[l] += half[l + w];
        sums[k] += (double)half[0];
    }
}

/* c_q NULL: the sums of the points alone. */
INLINE void both_of(const mgvi_rough_points *x, const float *c, const float *c_q, bool root,
                    double *sums, double *sums_p)
{
    float part[STEP];
    for (int l = 0; l < GROUP; l += STEP)
        for (int64_t s = 0; s < x->fours; s++) {
            fvec e[FOUR][VECS], across[FOUR];
            values(x->p + s * x->d * FOUR, x->q + l, x->d, root, e);
            for (int v = 0; v < VECS; v++) {
                const fvec four = (e[0][v] * c[s * FOUR] + e[1][v] * c[s * FOUR + 1]) +
                                  (e[2][v] * c[s * FOUR + 2] + e[3][v] * c[s * FOUR + 3]);
                memcpy(part + v * LANES, &four, sizeof four);
            }
            for (int t = 0; t < STEP; t++)
                sums[l + t] += (double)part[t];
            if (!c_q)
                continue;
            for (int k = 0; k < FOUR; k++)
                across[k] = e[k][0] * f_load(c_q + l) + e[k][1] * f_load(c_q + l + LANES);
            add_lanes(across, sums_p + s * FOUR);
        }
}

static void all_sums(const mgvi_rough_points *points, const float *c, double *sums)
{
    if (points->root)
        both_of(points, c, NULL, true, sums, NULL);
    else
        both_of(points, c, NULL, false, sums, NULL);
}

static void both(const mgvi_rough_points *points, const float *c, const float *c_q, double *sums,
                 double *sums_p)
{
    if (points->root)
        both_of(points, c, c_q, true, sums, sums_p);
    else
        both_of(points, c, c_q, false, sums, sums_p);
}

/* to[r*width + ...] += sum_t v[r*rise + t*run] c[t*width + ...] for FOUR r and WIDTH columns. */
INLINE void add_four(const float *v, int64_t rise, int64_t run, int64_t terms, const float *c,
                     int64_t width, float *to)
{
    enum { VECTORS = MGVI_ROUGH_WIDTH / LANES };
    fvec sum[FOUR][VECTORS];
    for (int r = 0; r < FOUR; r++)
        for (int k = 0; k < VECTORS; k++)
            sum[r][k] = f_load(to + r * width + k * LANES);
    for (int64_t t = 0; t < terms; t++)
        for (int k = 0; k < VECTORS; k++) {
            const fvec x = f_load(c + t * width + k * LANES);
            for (int r = 0; r < FOUR; r++)
                sum[r][k] += x * v[r * rise + t * run];
        }
    for (int r = 0; r < FOUR; r++)
        for (int k = 0; k < VECTORS; k++)
            memcpy(to + r * width + k * LANES, &sum[r][k], sizeof sum[r][k]);
}

static void lanes(const mgvi_rough_lanes *x, float *sums, float *sums_p)
{
    for (int64_t k = 0; k < x->width; k += MGVI_ROUGH_WIDTH) {
        for (int64_t l = 0; l < GROUP; l += FOUR)
            add_four(x->v + l, 1, GROUP, x->count, x->c_p + k, x->width, sums + l * x->width + k);
        for (int64_t s = 0; sums_p && s < x->count; s += FOUR)
            add_four(x->v + s * GROUP, GROUP, 1, GROUP, x->c_q + k, x->width,
                     sums_p + s * x->width + k);
    }
}

const mgvi_rough_loops MGVI_OF_ISA(mgvi_rough_points) = {
    .sums = all_sums, .both = both, .values = store_values, .lanes = lanes};
