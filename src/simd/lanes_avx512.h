/* simd/lanes_avx512.h - the k-lane kernels of AVX-512, for the table in avx512.c. */
#ifndef MGVI_SIMD_LANES_AVX512_H
#define MGVI_SIMD_LANES_AVX512_H

#include "simd/simd.h"

#define MGVI_LANES_AVX512(T, S)                                                                    \
    void mgvi_avx512_dense_mul_k_##S(const T *a, int64_t stride, int64_t rows, int64_t cols,       \
                                     int32_t k, const double *x, double *y);                       \
    void mgvi_avx512_dense_mul_t_k_##S(const T *a, int64_t stride, int64_t rows, int64_t cols,     \
                                       int32_t k, const double *u, double *g);                     \
    void mgvi_avx512_csr_mul_k_##S(const T *val, const int32_t *idx, const int64_t *ptr,           \
                                   int64_t rows, int32_t k, const double *x, double *y);           \
    void mgvi_avx512_csr_mul_t_k_##S(const T *val, const int32_t *idx, const int64_t *ptr,         \
                                     int64_t rows, int32_t k, const double *u, double *g);
MGVI_LANES_AVX512(float, f32)
MGVI_LANES_AVX512(double, f64)
#endif
