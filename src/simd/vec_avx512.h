/* simd/vec_avx512.h - the vector vocabulary of the kernel templates: AVX-512 F, DQ, BW, VL. */
#ifndef MGVI_SIMD_VEC_AVX512_H
#define MGVI_SIMD_VEC_AVX512_H

#include <immintrin.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))

enum { W = 8 };                        /* doubles per vector */
enum { TILE_ROWS = 8, TILE_VECS = 3 }; /* 24 of the 32 registers hold sums */
typedef __m512d vec;
typedef __m512 fvec;

INLINE __mmask8 first(int64_t n) { return (__mmask8)((1u << n) - 1); }

INLINE vec v_zero(void) { return _mm512_setzero_pd(); }
INLINE vec v_set(double a) { return _mm512_set1_pd(a); }
INLINE vec v_add(vec a, vec b) { return _mm512_add_pd(a, b); }
INLINE vec v_mul(vec a, vec b) { return _mm512_mul_pd(a, b); }
INLINE vec v_fma(vec a, vec b, vec c) { return _mm512_fmadd_pd(a, b, c); }
INLINE double v_sum(vec a) { return _mm512_reduce_add_pd(a); }
INLINE void v_store(double *p, vec a) { _mm512_storeu_pd(p, a); }
INLINE vec v_load_f64(const double *p) { return _mm512_loadu_pd(p); }
INLINE vec v_load_f32(const float *p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }

/* The first n entries, 0 < n < W; the rest are 0 or stay as they are in memory. */
INLINE void v_store_part(double *p, vec a, int64_t n) { _mm512_mask_storeu_pd(p, first(n), a); }
INLINE vec v_load_part_f64(const double *p, int64_t n)
{
    return _mm512_maskz_loadu_pd(first(n), p);
}
INLINE vec v_load_part_f32(const float *p, int64_t n)
{
    return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(first(n), p));
}

/* x[index[0..W)] */
INLINE vec v_gather(const double *x, const int32_t *index)
{
    const __m256d low = _mm256_setr_pd(x[index[0]], x[index[1]], x[index[2]], x[index[3]]);
    const __m256d high = _mm256_setr_pd(x[index[4]], x[index[5]], x[index[6]], x[index[7]]);
    return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1);
}
INLINE vec v_gather_part(const double *x, const int32_t *index, int64_t n)
{
    return _mm512_mask_i32gather_pd(v_zero(), first(n), _mm256_maskz_loadu_epi32(first(n), index),
                                    x, 8);
}

INLINE fvec f_zero(void) { return _mm512_setzero_ps(); }
INLINE fvec f_set(float a) { return _mm512_set1_ps(a); }
INLINE fvec f_mul(fvec a, fvec b) { return _mm512_mul_ps(a, b); }
INLINE fvec f_fma(fvec a, fvec b, fvec c) { return _mm512_fmadd_ps(a, b, c); }
INLINE fvec f_load(const float *p) { return _mm512_loadu_ps(p); }
INLINE fvec f_load_part(const float *p, int64_t n)
{
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
}
INLINE void f_store(float *p, fvec a) { _mm512_storeu_ps(p, a); }
INLINE vec f_low(fvec a) { return _mm512_cvtps_pd(_mm512_castps512_ps256(a)); }
INLINE vec f_high(fvec a) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1)); }
#endif
