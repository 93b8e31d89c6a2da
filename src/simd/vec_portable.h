/* simd/vec_portable.h - the vocabulary of the matrix product kernels in plain GNU C: 128-bit
 * vectors, which every 64-bit processor has. */
#ifndef MGVI_SIMD_VEC_PORTABLE_H
#define MGVI_SIMD_VEC_PORTABLE_H

#include <stdint.h>
#include <string.h>

enum { W = 2, TILE_ROWS = 4, TILE_VECS = 2 };
enum { SCORE_CLASSES = 3, GRADIENT_CLASSES = 5 }; /* of at least 16 registers */
typedef double vec __attribute__((vector_size(16)));
typedef float fvec __attribute__((vector_size(16)));

INLINE vec v_set(double a) { return (vec){a, a}; }
INLINE vec v_zero(void) { return v_set(0); }
INLINE vec v_add(vec a, vec b) { return a + b; }
INLINE vec v_mul(vec a, vec b) { return a * b; }
INLINE vec v_fma(vec a, vec b, vec c) { return a * b + c; }
INLINE void v_store(double *p, vec a) { memcpy(p, &a, sizeof a); }
INLINE vec v_load_f64(const double *p)
{
    vec a;
    memcpy(&a, p, sizeof a);
    return a;
}
INLINE vec v_load_f32(const float *p) { return (vec){p[0], p[1]}; }
INLINE vec v_load_part_f64(const double *p, int64_t n) { return (vec){p[0], n > 1 ? p[1] : 0}; }

INLINE fvec f_set(float a) { return (fvec){a, a, a, a}; }
INLINE fvec f_zero(void) { return f_set(0); }
INLINE fvec f_mul(fvec a, fvec b) { return a * b; }
INLINE fvec f_fma(fvec a, fvec b, fvec c) { return a * b + c; }
INLINE void f_store(float *p, fvec a) { memcpy(p, &a, sizeof a); }
INLINE float f_sum(fvec a) { return (a[0] + a[2]) + (a[1] + a[3]); }
/* The sums of four vectors. */
INLINE void f_sums(fvec a, fvec b, fvec c, fvec d, float out[4])
{
    out[0] = f_sum(a);
    out[1] = f_sum(b);
    out[2] = f_sum(c);
    out[3] = f_sum(d);
}
INLINE fvec f_max(fvec a, fvec b)
{
    for (int l = 0; l < 4; l++)
        a[l] = a[l] > b[l] ? a[l] : b[l];
    return a;
}
INLINE float f_largest(fvec a)
{
    const float even = a[0] > a[2] ? a[0] : a[2], odd = a[1] > a[3] ? a[1] : a[3];
    return even > odd ? even : odd;
}
INLINE fvec f_load(const float *p)
{
    fvec a;
    memcpy(&a, p, sizeof a);
    return a;
}
INLINE fvec f_load_part(const float *p, int64_t n)
{
    return (fvec){p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, 0};
}
INLINE vec f_low(fvec a) { return (vec){a[0], a[1]}; }
INLINE vec f_high(fvec a) { return (vec){a[2], a[3]}; }
#endif
