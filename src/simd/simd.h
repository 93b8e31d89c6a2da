/* simd/simd.h - the kernels over rows of data, one table per instruction set.
 * Data is float32 or float64, the other operand and every sum are float64. scalar.c is the
 * reference and always complete; avx2.c, avx512.c, neon.c replace entries. */
#ifndef MGVI_SIMD_SIMD_H
#define MGVI_SIMD_SIMD_H

#include <margrave/margrave.h>

typedef struct mgvi_simd {
    const char *name;

    /* sum_j a_j x_j over n contiguous entries */
    double (*dot_f32)(const float *a, const double *x, int64_t n);
    double (*dot_f64)(const double *a, const double *x, int64_t n);
    /* y_j += alpha a_j */
    void (*axpy_f32)(double alpha, const float *a, double *y, int64_t n);
    void (*axpy_f64)(double alpha, const double *a, double *y, int64_t n);
    /* sum_t a_t x[index_t], 0 <= index_t */
    double (*gather_dot_f32)(const float *a, const int32_t *index, int64_t n, const double *x);
    double (*gather_dot_f64)(const double *a, const int32_t *index, int64_t n, const double *x);
    /* y[index_t] += alpha a_t; no index occurs twice */
    void (*scatter_axpy_f32)(double alpha, const float *a, const int32_t *index, int64_t n,
                             double *y);
    void (*scatter_axpy_f64)(double alpha, const double *a, const int32_t *index, int64_t n,
                             double *y);
} mgvi_simd;

extern const mgvi_simd mgvi_simd_scalar;

/* The best table of this machine, or the one named (NULL: best). MGV_E_ARG for an unknown name,
 * MGV_E_UNSUPPORTED when the processor or the build lacks it. */
mgv_status mgvi_simd_choose(const char *name, const mgvi_simd **out);
/* The tables this machine can run, scalar first. */
int mgvi_simd_count(void);
const mgvi_simd *mgvi_simd_at(int index);
#endif
