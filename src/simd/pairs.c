/* pairs.c - the sweeps of pairwise coordinate steps (simd/isa.h). */
#include "simd/simd.h"

#include "simd/vector.h"

#include <math.h>

/* ---- sums in float64 ------------------------------------------------------------------------- */

/* 0, 1, 2, ... */
INLINE vec first_places(void)
{
    vec v;
    for (int l = 0; l < W; l++)
        v[l] = l;
    return v;
}

/* The lane with the largest value, the first place on ties; -1 when every value is -infinity. */
INLINE int64_t first_largest(vec value, vec place, double *largest)
{
    double best = -INFINITY;
    int64_t at = -1;
    for (int l = 0; l < W; l++)
        if (value[l] > best || (value[l] == best && at >= 0 && (int64_t)place[l] < at)) {
            best = value[l];
            at = (int64_t)place[l];
        }
    *largest = best;
    return at;
}

#define T float
#define NAME(name) name##_f32
#include "simd/pair_steps.h"
#undef T
#undef NAME
#define T double
#define NAME(name) name##_f64
#include "simd/pair_steps.h"

/* ---- float32 throughout, sixteen places at a time -------------------------------------------- */

enum { RLANES = 2 * W, RPLACES = 16, CHAINS = RPLACES / RLANES };

/* Where the largest value is, the first place on ties; -1 when every value is -infinity. */
INLINE int64_t rough_first_largest(const fvec *value, const fbits *place, float *largest)
{
    float best = -INFINITY;
    int64_t at = -1;
    for (int k = 0; k < CHAINS; k++)
        for (int l = 0; l < RLANES; l++)
            if (value[k][l] > best || (value[k][l] == best && at >= 0 && place[k][l] < at)) {
                best = value[k][l];
                at = place[k][l];
            }
    *largest = best;
    return at;
}

INLINE void rough_begin(fvec *value, fbits *place, fbits *here, float least)
{
    for (int k = 0; k < CHAINS; k++)
        for (int l = 0; l < RLANES; l++) {
            value[k][l] = least;
            place[k][l] = -1;
            here[k][l] = k * RLANES + l;
        }
}

static int64_t rough_step(const float *row_i, const float *row_j, float t, float *v,
                          const float *up, const float *down, int64_t n, float *largest,
                          float *least)
{
    fvec most[CHAINS], low[CHAINS];
    fbits place[CHAINS], here[CHAINS];
    rough_begin(low, place, here, INFINITY);
    rough_begin(most, place, here, -INFINITY);
    for (int64_t at = 0; at < n; at += RPLACES)
        for (int k = 0; k < CHAINS; k++) {
            const int64_t j = at + k * RLANES;
            const fvec x = f_load(v + j) - t * (f_load(row_i + j) - f_load(row_j + j));
            memcpy(v + j, &x, sizeof x);
            const fvec a = x + f_load(up + j), b = x + f_load(down + j);
            const fbits larger = a > most[k];
            most[k] = f_pick(larger, a, most[k]);
            place[k] = (place[k] & ~larger) | (here[k] & larger);
            low[k] = f_pick(b < low[k], b, low[k]);
            here[k] += RPLACES;
        }
    float lowest = INFINITY;
    for (int k = 0; k < CHAINS; k++)
        for (int l = 0; l < RLANES; l++)
            lowest = low[k][l] < lowest ? low[k][l] : lowest;
    *least = lowest;
    return rough_first_largest(most, place, largest);
}

static int64_t rough_partner(const float *row, const float *v, const float *down,
                             const float *diagonal, float vi, float qi, float floor, int64_t n)
{
    const fvec tiny = (fvec){0} + floor;
    fvec most[CHAINS];
    fbits place[CHAINS], here[CHAINS];
    rough_begin(most, place, here, -INFINITY);
    for (int64_t at = 0; at < n; at += RPLACES)
        for (int k = 0; k < CHAINS; k++) {
            const int64_t j = at + k * RLANES;
            const fvec d = vi - (f_load(v + j) + f_load(down + j));
            fvec q = qi + f_load(diagonal + j) - 2 * f_load(row + j);
            q = f_pick(q > tiny, q, tiny);
            const fvec gain = d * d / q;
            const fbits better = (d > 0) & (gain > most[k]);
            most[k] = f_pick(better, gain, most[k]);
            place[k] = (place[k] & ~better) | (here[k] & better);
            here[k] += RPLACES;
        }
    float largest;
    return rough_first_largest(most, place, &largest);
}

const mgvi_pair_loops MGVI_OF_ISA(mgvi_pairs) = {
    .step_f32 = pair_step_f32,
    .step_f64 = pair_step_f64,
    .partner_f32 = pair_partner_f32,
    .partner_f64 = pair_partner_f64,
    .rough_step = rough_step,
    .rough_partner = rough_partner,
};
