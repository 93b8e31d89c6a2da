/* simd/rough_pairs.h - the sweeps of pairwise coordinate steps (simd/pairs.h) in float32
 * throughout: vectors of GNU C, as wide as the registers are, sixteen places at a time. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
enum { RLANES = 16 };
#elif defined(__AVX__)
enum { RLANES = 8 };
#else
enum { RLANES = 4 };
#endif
enum { RPLACES = 16, CHAINS = RPLACES / RLANES };
typedef float rvec __attribute__((vector_size(RLANES * 4)));
typedef int32_t rbits __attribute__((vector_size(RLANES * 4)));

GROUP_INLINE rvec rough_load(const float *x)
{
    rvec v;
    memcpy(&v, x, sizeof v);
    return v;
}

GROUP_INLINE rvec rough_pick(rbits mask, rvec a, rvec b)
{
    return (rvec)(((rbits)a & mask) | ((rbits)b & ~mask));
}

/* Where the largest value is, the first place on ties; -1 when every value is -infinity. */
GROUP_INLINE int64_t rough_first_largest(const rvec *value, const rbits *place, float *largest)
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

GROUP_INLINE void rough_begin(rvec *value, rbits *place, rbits *here, float least)
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
    rvec most[CHAINS], low[CHAINS];
    rbits place[CHAINS], here[CHAINS];
    rough_begin(low, place, here, INFINITY);
    rough_begin(most, place, here, -INFINITY);
    for (int64_t at = 0; at < n; at += RPLACES)
        for (int k = 0; k < CHAINS; k++) {
            const int64_t j = at + k * RLANES;
            const rvec x = rough_load(v + j) - t * (rough_load(row_i + j) - rough_load(row_j + j));
            memcpy(v + j, &x, sizeof x);
            const rvec a = x + rough_load(up + j), b = x + rough_load(down + j);
            const rbits larger = a > most[k];
            most[k] = rough_pick(larger, a, most[k]);
            place[k] = (place[k] & ~larger) | (here[k] & larger);
            low[k] = rough_pick(b < low[k], b, low[k]);
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
    const rvec tiny = (rvec){0} + floor;
    rvec most[CHAINS];
    rbits place[CHAINS], here[CHAINS];
    rough_begin(most, place, here, -INFINITY);
    for (int64_t at = 0; at < n; at += RPLACES)
        for (int k = 0; k < CHAINS; k++) {
            const int64_t j = at + k * RLANES;
            const rvec d = vi - (rough_load(v + j) + rough_load(down + j));
            rvec q = qi + rough_load(diagonal + j) - 2 * rough_load(row + j);
            q = rough_pick(q > tiny, q, tiny);
            const rvec gain = d * d / q;
            const rbits better = (d > 0) & (gain > most[k]);
            most[k] = rough_pick(better, gain, most[k]);
            place[k] = (place[k] & ~better) | (here[k] & better);
            here[k] += RPLACES;
        }
    float largest;
    return rough_first_largest(most, place, &largest);
}
