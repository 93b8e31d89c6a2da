/* simd/vec_avx512.h - the vocabulary of the matrix product and k-lane kernels: AVX-512. */
#ifndef MGVI_SIMD_VEC_AVX512_H
#define MGVI_SIMD_VEC_AVX512_H

#include <immintrin.h>
#include <stdint.h>

enum { W = 8 };     /* doubles per vector */
#define LANE_VECS 4 /* 32 lanes at a time; at most 16 registers hold sums */
#define LANE_ROWS(vecs) ((vecs) <= 2 ? 8 : 4)
enum { TILE_ROWS = 8, TILE_VECS = 3 };             /* 24 of the 32 registers hold sums, */
enum { SCORE_CLASSES = 5, GRADIENT_CLASSES = 10 }; /* 20 in passes */
typedef double vec __attribute__((vector_size(64)));
typedef float fvec __attribute__((vector_size(64)));

INLINE vec v_zero(void) { return _mm512_setzero_pd(); }
INLINE vec v_set(double a) { return _mm512_set1_pd(a); }
INLINE vec v_add(vec a, vec b) { return _mm512_add_pd(a, b); }
INLINE vec v_mul(vec a, vec b) { return _mm512_mul_pd(a, b); }
INLINE vec v_fma(vec a, vec b, vec c) { return _mm512_fmadd_pd(a, b, c); }
INLINE void v_store(double *p, vec a) { _mm512_storeu_pd(p, a); }
INLINE vec v_load_f64(const double *p) { return _mm512_loadu_pd(p); }
INLINE vec v_load_f32(const float *p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
/* The first n entries, 0 < n < W, then zeros. */
INLINE vec v_load_part_f64(const double *p, int64_t n)
{
    return _mm512_maskz_loadu_pd((__mmask8)((1u << n) - 1), p);
}

INLINE void v_store_part(double *p, vec a, int64_t n)
{
    _mm512_mask_storeu_pd(p, (__mmask8)((1u << n) - 1), a);
}

INLINE fvec f_zero(void) { return _mm512_setzero_ps(); }
INLINE fvec f_set(float a) { return _mm512_set1_ps(a); }
INLINE fvec f_mul(fvec a, fvec b) { return _mm512_mul_ps(a, b); }
INLINE fvec f_fma(fvec a, fvec b, fvec c) { return _mm512_fmadd_ps(a, b, c); }
INLINE void f_store(float *p, fvec a) { _mm512_storeu_ps(p, a); }
INLINE float f_sum(fvec a) { return _mm512_reduce_add_ps(a); }
INLINE __m256 f_halves(fvec a)
{
    return _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
}
/* The sums of four vectors. */
INLINE void f_sums(fvec a, fvec b, fvec c, fvec d, float out[4])
{
    const __m256 ab = _mm256_hadd_ps(f_halves(a), f_halves(b));
    const __m256 all = _mm256_hadd_ps(ab, _mm256_hadd_ps(f_halves(c), f_halves(d)));
    _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1)));
}
INLINE fvec f_max(fvec a, fvec b) { return _mm512_max_ps(a, b); }
INLINE float f_largest(fvec a) { return _mm512_reduce_max_ps(a); }
INLINE fvec f_load(const float *p) { return _mm512_loadu_ps(p); }
INLINE fvec f_load_part(const float *p, int64_t n)
{
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
}
INLINE vec f_low(fvec a) { return _mm512_cvtps_pd(_mm512_castps512_ps256(a)); }
INLINE vec f_high(fvec a) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1)); }
#endif
