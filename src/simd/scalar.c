/* scalar.c - the reference kernels, in plain C. */
#include "simd/simd.h"

#define DENSE(T, S)                                                                                \
    static double dot_##S(const T *a, const double *x, int64_t n)                                  \
    {                                                                                              \
        double sum = 0;                                                                            \
        for (int64_t j = 0; j < n; j++)                                                            \
            sum += (double)a[j] * x[j];                                                            \
        return sum;                                                                                \
    }                                                                                              \
    static void axpy_##S(double alpha, const T *a, double *y, int64_t n)                           \
    {                                                                                              \
        for (int64_t j = 0; j < n; j++)                                                            \
            y[j] += alpha * (double)a[j];                                                          \
    }                                                                                              \
    static double gather_dot_##S(const T *a, const int32_t *index, int64_t n, const double *x)     \
    {                                                                                              \
        double sum = 0;                                                                            \
        for (int64_t t = 0; t < n; t++)                                                            \
            sum += (double)a[t] * x[index[t]];                                                     \
        return sum;                                                                                \
    }                                                                                              \
    static void scatter_axpy_##S(double alpha, const T *a, const int32_t *index, int64_t n,        \
                                 double *y)                                                        \
    {                                                                                              \
        for (int64_t t = 0; t < n; t++)                                                            \
            y[index[t]] += alpha * (double)a[t];                                                   \
    }
DENSE(float, f32)
DENSE(double, f64)

const mgvi_simd mgvi_simd_scalar = {
    .name = "scalar",
    .dot_f32 = dot_f32,
    .dot_f64 = dot_f64,
    .axpy_f32 = axpy_f32,
    .axpy_f64 = axpy_f64,
    .gather_dot_f32 = gather_dot_f32,
    .gather_dot_f64 = gather_dot_f64,
    .scatter_axpy_f32 = scatter_axpy_f32,
    .scatter_axpy_f64 = scatter_axpy_f64,
};
