/* simd/vec_avx2.h - the vector vocabulary of the kernel templates: AVX2 with FMA. */
#ifndef MGVI_SIMD_VEC_AVX2_H
#define MGVI_SIMD_VEC_AVX2_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

enum { W = 4 }; /* doubles per vector */
#define LANE_VECS 2
#define LANE_ROWS(vecs) 4
enum { TILE_ROWS = 4, TILE_VECS = 3 };            /* 12 of the 16 registers hold sums, in */
enum { SCORE_CLASSES = 3, GRADIENT_CLASSES = 6 }; /* passes, too */
typedef double vec __attribute__((vector_size(32)));
typedef float fvec __attribute__((vector_size(32)));

/* All bits set in the first n entries. */
INLINE __m256i first(int64_t n)
{
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}
INLINE __m128i first_32(int64_t n)
{
    return _mm_cmpgt_epi32(_mm_set1_epi32((int32_t)n), _mm_setr_epi32(0, 1, 2, 3));
}

INLINE vec v_zero(void) { return _mm256_setzero_pd(); }
INLINE vec v_set(double a) { return _mm256_set1_pd(a); }
INLINE vec v_add(vec a, vec b) { return _mm256_add_pd(a, b); }
INLINE vec v_mul(vec a, vec b) { return _mm256_mul_pd(a, b); }
INLINE vec v_fma(vec a, vec b, vec c) { return _mm256_fmadd_pd(a, b, c); }
INLINE double v_sum(vec a)
{
    const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}
INLINE void v_store(double *p, vec a) { _mm256_storeu_pd(p, a); }
INLINE vec v_load_f64(const double *p) { return _mm256_loadu_pd(p); }
INLINE vec v_load_f32(const float *p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }

/* The first n entries, 0 < n < W; the rest are 0 or stay as they are in memory. */
INLINE void v_store_part(double *p, vec a, int64_t n) { _mm256_maskstore_pd(p, first(n), a); }
INLINE vec v_load_part_f64(const double *p, int64_t n) { return _mm256_maskload_pd(p, first(n)); }
INLINE vec v_load_part_f32(const float *p, int64_t n)
{
    return _mm256_cvtps_pd(_mm_maskload_ps(p, first_32(n)));
}

/* x[index[0..W)], indices not negative. Two indices per load and four loads of x: on Zen the gather
 * instruction is slower, and on many Intel processors since its microcode was mended. */
INLINE vec v_gather(const double *x, const int32_t *index)
{
    uint64_t low, high;
    memcpy(&low, index, sizeof low);
    memcpy(&high, index + 2, sizeof high);
    return _mm256_setr_pd(x[(uint32_t)low], x[low >> 32], x[(uint32_t)high], x[high >> 32]);
}
/* y[index[v]] += a_v, indices all different. */
INLINE void v_scatter_add(double *y, const int32_t *index, vec a)
{
    uint64_t low, high;
    memcpy(&low, index, sizeof low);
    memcpy(&high, index + 2, sizeof high);
    double *y0 = y + (uint32_t)low, *y1 = y + (low >> 32);
    double *y2 = y + (uint32_t)high, *y3 = y + (high >> 32);
    const __m128d p = _mm_add_pd(_mm_loadh_pd(_mm_load_sd(y0), y1), _mm256_castpd256_pd128(a));
    const __m128d q = _mm_add_pd(_mm_loadh_pd(_mm_load_sd(y2), y3), _mm256_extractf128_pd(a, 1));
    _mm_storel_pd(y0, p);
    _mm_storeh_pd(y1, p);
    _mm_storel_pd(y2, q);
    _mm_storeh_pd(y3, q);
}
INLINE vec v_gather_part(const double *x, const int32_t *index, int64_t n)
{
    return _mm256_setr_pd(x[index[0]], n > 1 ? x[index[1]] : 0, n > 2 ? x[index[2]] : 0, 0);
}

INLINE fvec f_zero(void) { return _mm256_setzero_ps(); }
INLINE fvec f_set(float a) { return _mm256_set1_ps(a); }
INLINE fvec f_mul(fvec a, fvec b) { return _mm256_mul_ps(a, b); }
INLINE fvec f_fma(fvec a, fvec b, fvec c) { return _mm256_fmadd_ps(a, b, c); }
INLINE fvec f_max(fvec a, fvec b) { return _mm256_max_ps(a, b); }
INLINE float f_largest(fvec a)
{
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}
INLINE fvec f_load(const float *p) { return _mm256_loadu_ps(p); }
INLINE fvec f_load_part(const float *p, int64_t n)
{
    const __m256i place = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_maskload_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)n), place));
}
INLINE void f_store(float *p, fvec a) { _mm256_storeu_ps(p, a); }
INLINE float f_sum(fvec a)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
/* The sums of four vectors. */
INLINE void f_sums(fvec a, fvec b, fvec c, fvec d, float out[4])
{
    const fvec all = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
    _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1)));
}
INLINE vec f_low(fvec a) { return _mm256_cvtps_pd(_mm256_castps256_ps128(a)); }
INLINE vec f_high(fvec a) { return _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1)); }
#endif
