/* simd/pairs.h - the sweeps of pairwise coordinate steps; T and NAME say for which type of matrix,
 * once for each. Vectors of GNU C, as wide as the registers are. */
#ifndef MGVI_SIMD_PAIRS_H
#define MGVI_SIMD_PAIRS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi" /* no vector is passed from one file to another */
#endif

#if defined(__AVX512F__)
enum { GROUP = 8 };
#elif defined(__AVX__)
enum { GROUP = 4 };
#else
enum { GROUP = 2 };
#endif
typedef double group __attribute__((vector_size(GROUP * 8)));
typedef int64_t group_bits __attribute__((vector_size(GROUP * 8)));
typedef float group_f32 __attribute__((vector_size(GROUP * 4)));
#define GROUP_INLINE static inline __attribute__((always_inline))

GROUP_INLINE group group_load_f64(const double *x)
{
    group v;
    memcpy(&v, x, sizeof v);
    return v;
}

GROUP_INLINE group group_load_f32(const float *x)
{
    group_f32 v;
    memcpy(&v, x, sizeof v);
    return __builtin_convertvector(v, group);
}

/* Where the mask is set a, elsewhere b. */
GROUP_INLINE group group_pick(group_bits mask, group a, group b)
{
    return (group)(((group_bits)a & mask) | ((group_bits)b & ~mask));
}

GROUP_INLINE group group_set(double x)
{
    group v;
    for (int l = 0; l < GROUP; l++)
        v[l] = x;
    return v;
}

/* 0, 1, 2, ... */
GROUP_INLINE group group_places(void)
{
    group v;
    for (int l = 0; l < GROUP; l++)
        v[l] = l;
    return v;
}

/* The lane with the largest value, the first place on ties; -1 when every value is -infinity. */
GROUP_INLINE int64_t group_first_largest(group value, group place, double *largest)
{
    double best = -INFINITY;
    int64_t at = -1;
    for (int l = 0; l < GROUP; l++)
        if (value[l] > best || (value[l] == best && at >= 0 && (int64_t)place[l] < at)) {
            best = value[l];
            at = (int64_t)place[l];
        }
    *largest = best;
    return at;
}
#endif

static int64_t NAME(pair_step)(const T *row_i, const T *row_j, double t, double *v,
                               const double *up, const double *down, int64_t n, double *largest,
                               double *least)
{
    const group step = group_set(t);
    group most = group_set(-INFINITY), low = group_set(INFINITY);
    group place = group_set(-1), here = group_places();
    for (int64_t k = 0; k < n; k += GROUP, here += GROUP) {
        group x = group_load_f64(v + k);
        x -= step * (NAME(group_load)(row_i + k) - NAME(group_load)(row_j + k));
        memcpy(v + k, &x, sizeof x);
        const group a = x + group_load_f64(up + k), b = x + group_load_f64(down + k);
        const group_bits larger = a > most;
        most = group_pick(larger, a, most);
        place = group_pick(larger, here, place);
        low = group_pick(b < low, b, low);
    }
    double lowest = INFINITY;
    for (int l = 0; l < GROUP; l++)
        lowest = low[l] < lowest ? low[l] : lowest;
    *least = lowest;
    return group_first_largest(most, place, largest);
}

static int64_t NAME(pair_partner)(const T *row, const double *v, const double *down,
                                  const double *diagonal, double vi, double qi, double floor,
                                  int64_t n)
{
    const group top = group_set(vi), own = group_set(qi), tiny = group_set(floor);
    const group zero = group_set(0);
    group most = group_set(-INFINITY), place = group_set(-1), here = group_places();
    for (int64_t k = 0; k < n; k += GROUP, here += GROUP) {
        const group d = top - (group_load_f64(v + k) + group_load_f64(down + k));
        group q = own + group_load_f64(diagonal + k) - 2 * NAME(group_load)(row + k);
        q = group_pick(q > tiny, q, tiny);
        const group gain = d * d / q;
        const group_bits better = (d > zero) & (gain > most);
        most = group_pick(better, gain, most);
        place = group_pick(better, here, place);
    }
    double largest;
    return group_first_largest(most, place, &largest);
}
