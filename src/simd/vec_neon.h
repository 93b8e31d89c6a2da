/* simd/vec_neon.h - the vector vocabulary of the kernel templates: NEON of 64-bit ARM. */
#ifndef MGVI_SIMD_VEC_NEON_H
#define MGVI_SIMD_VEC_NEON_H

#include <arm_neon.h>
#include <stdint.h>

enum { W = 2 }; /* doubles per vector */
#define LANE_VECS 2
#define LANE_ROWS(vecs) 4
enum { TILE_ROWS = 4, TILE_VECS = 4 };             /* 16 of the 32 registers hold sums, */
enum { SCORE_CLASSES = 5, GRADIENT_CLASSES = 10 }; /* 20 in passes */
typedef float64x2_t vec;
typedef float32x4_t fvec;

INLINE vec v_zero(void) { return vdupq_n_f64(0); }
INLINE vec v_set(double a) { return vdupq_n_f64(a); }
INLINE vec v_add(vec a, vec b) { return vaddq_f64(a, b); }
INLINE vec v_mul(vec a, vec b) { return vmulq_f64(a, b); }
INLINE vec v_fma(vec a, vec b, vec c) { return vfmaq_f64(c, a, b); }
INLINE double v_sum(vec a) { return vaddvq_f64(a); }
INLINE void v_store(double *p, vec a) { vst1q_f64(p, a); }
INLINE vec v_load_f64(const double *p) { return vld1q_f64(p); }
INLINE vec v_load_f32(const float *p) { return vcvt_f64_f32(vld1_f32(p)); }

/* A part of a vector is its first entry; the other is 0 or stays as it is in memory. */
INLINE void v_store_part(double *p, vec a, int64_t n)
{
    (void)n;
    vst1q_lane_f64(p, a, 0);
}
INLINE vec v_load_part_f64(const double *p, int64_t n)
{
    (void)n;
    return vld1q_lane_f64(p, v_zero(), 0);
}
INLINE vec v_load_part_f32(const float *p, int64_t n)
{
    (void)n;
    return vsetq_lane_f64((double)*p, v_zero(), 0);
}

/* x[index[0..W)] */
INLINE vec v_gather(const double *x, const int32_t *index)
{
    return vld1q_lane_f64(x + index[1], vld1q_dup_f64(x + index[0]), 1);
}
INLINE vec v_gather_part(const double *x, const int32_t *index, int64_t n)
{
    return v_load_part_f64(x + index[0], n);
}
/* y[index[v]] += a_v, indices all different. */
INLINE void v_scatter_add(double *y, const int32_t *index, vec a)
{
    y[index[0]] += vgetq_lane_f64(a, 0);
    y[index[1]] += vgetq_lane_f64(a, 1);
}

INLINE fvec f_zero(void) { return vdupq_n_f32(0); }
INLINE fvec f_set(float a) { return vdupq_n_f32(a); }
INLINE fvec f_mul(fvec a, fvec b) { return vmulq_f32(a, b); }
INLINE fvec f_fma(fvec a, fvec b, fvec c) { return vfmaq_f32(c, a, b); }
INLINE void f_store(float *p, fvec a) { vst1q_f32(p, a); }
INLINE float f_sum(fvec a) { return vaddvq_f32(a); }
/* The sums of four vectors. */
INLINE void f_sums(fvec a, fvec b, fvec c, fvec d, float out[4])
{
    vst1q_f32(out, vpaddq_f32(vpaddq_f32(a, b), vpaddq_f32(c, d)));
}
INLINE fvec f_max(fvec a, fvec b) { return vmaxq_f32(a, b); }
INLINE float f_largest(fvec a) { return vmaxvq_f32(a); }
INLINE fvec f_load(const float *p) { return vld1q_f32(p); }
INLINE fvec f_load_part(const float *p, int64_t n)
{
    const float part[4] = {p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, 0};
    return f_load(part);
}
INLINE vec f_low(fvec a) { return vcvt_f64_f32(vget_low_f32(a)); }
INLINE vec f_high(fvec a) { return vcvt_high_f64_f32(a); }
#endif
