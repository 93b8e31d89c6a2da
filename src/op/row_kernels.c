/* row_kernels.c - the loops of row_kernels.h (simd/isa.h). */
#include "op/row_kernels.h"

#include "simd/isa.h"

#include <stdbool.h>

enum { LANES = 8 };

#define FETCH(NAME, IN, OUT)                                                                       \
    static void NAME(const IN *restrict x, const double *restrict c, const double *restrict s,     \
                     double factor, int64_t n, OUT *restrict out)                                  \
    {                                                                                              \
        if (c && s)                                                                                \
            for (int64_t j = 0; j < n; j++)                                                        \
                out[j] = (OUT)(factor * s[j] * ((double)x[j] - c[j]));                             \
        else if (c)                                                                                \
            for (int64_t j = 0; j < n; j++)                                                        \
                out[j] = (OUT)(factor * ((double)x[j] - c[j]));                                    \
        else if (s)                                                                                \
            for (int64_t j = 0; j < n; j++)                                                        \
                out[j] = (OUT)(factor * s[j] * (double)x[j]);                                      \
        else                                                                                       \
            for (int64_t j = 0; j < n; j++)                                                        \
                out[j] = (OUT)(factor * (double)x[j]);                                             \
    }
FETCH(f32_to_f32, float, float)
FETCH(f32_to_f64, float, double)
FETCH(f64_to_f32, double, float)
FETCH(f64_to_f64, double, double)

#define SQUARES(S, T)                                                                              \
    static void add_squares_##S(const T *restrict a, int64_t stride, int64_t rows, int64_t cols,   \
                                double *restrict sum)                                              \
    {                                                                                              \
        for (int64_t i = 0; i < rows; i++)                                                         \
            for (int64_t j = 0; j < cols; j++)                                                     \
                sum[j] += (double)a[i * stride + j] * (double)a[i * stride + j];                   \
    }                                                                                              \
    static void dot_squares_##S(const T *restrict a, int64_t stride, int64_t rows, int64_t cols,   \
                                const double *restrict x, double *restrict q)                      \
    {                                                                                              \
        for (int64_t i = 0; i < rows; i++) {                                                       \
            const T *row = a + i * stride;                                                         \
            double part[LANES] = {0}, rest = 0;                                                    \
            int64_t j = 0;                                                                         \
            for (; j + LANES <= cols; j += LANES)                                                  \
                for (int l = 0; l < LANES; l++)                                                    \
                    part[l] += (double)row[j + l] * (double)row[j + l] * x[j + l];                 \
            for (; j < cols; j++)                                                                  \
                rest += (double)row[j] * (double)row[j] * x[j];                                    \
            for (int l = 0; l < LANES; l++)                                                        \
                rest += part[l];                                                                   \
            q[i] = rest;                                                                           \
        }                                                                                          \
    }
SQUARES(f32, float)
SQUARES(f64, double)

/* Two sums side by side, for one load and one store. */
typedef double pair __attribute__((vector_size(2 * sizeof(double)), aligned(sizeof(double))));

#define SPARSE_ROWS(S, T)                                                                          \
    static void add_pair_##S(const T *restrict val, const int32_t *restrict idx,                   \
                             const int64_t *ptr, int64_t rows, const double *t, const double *t2,  \
                             double *restrict sums)                                                \
    {                                                                                              \
        for (int64_t i = 0; i < rows; i++) {                                                       \
            const pair factor = {t[i], t2[i]};                                                     \
            for (int64_t k = ptr[i]; k < ptr[i + 1]; k++)                                          \
                *(pair *)(void *)(sums + 2 * (int64_t)idx[k]) += factor * (double)val[k];          \
        }                                                                                          \
    }                                                                                              \
    static void add_excess_##S(const T *restrict val, const int32_t *restrict idx,                 \
                               const int64_t *ptr, int64_t rows, const double *p, const double *c, \
                               double *restrict sum)                                               \
    {                                                                                              \
        for (int64_t i = 0; i < rows; i++) {                                                       \
            const double factor = p ? p[i] * p[i] : 1;                                             \
            for (int64_t k = ptr[i]; k < ptr[i + 1]; k++) {                                        \
                const double x = (double)val[k];                                                   \
                sum[idx[k]] += factor * x * (c ? x - 2 * c[idx[k]] : x);                           \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void dot_excess_##S(const T *restrict val, const int32_t *restrict idx,                 \
                               const int64_t *ptr, int64_t rows, const double *p, const double *c, \
                               const double *weight, double base, double *restrict q)              \
    {                                                                                              \
        for (int64_t i = 0; i < rows; i++) {                                                       \
            double sum = base;                                                                     \
            for (int64_t k = ptr[i]; k < ptr[i + 1]; k++) {                                        \
                const double x = (double)val[k];                                                   \
                sum += x * (c ? x - 2 * c[idx[k]] : x) * weight[idx[k]];                           \
            }                                                                                      \
            q[i] = sum > 0 ? (p ? p[i] * p[i] : 1) * sum : 0;                                      \
        }                                                                                          \
    }
SPARSE_ROWS(f32, float)
SPARSE_ROWS(f64, double)

#if MGVI_ISA_BYTES > 8
#define MULTIPLY_ADD(a, b, c) __builtin_fmaf(a, b, c)
#else
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif

enum { STRIP = 32, PIECE = 8 }; /* columns whose sums stay in registers; a vector's */

/* Sums of `wide` columns (a constant, at most STRIP), of which the first `skip` are not wanted. */
static inline __attribute__((always_inline)) void
rough_strip(const float *restrict a, int64_t stride, int64_t rows, int wide, int skip, bool both,
            const double *restrict t, const double *restrict t2, double *restrict g,
            double *restrict g2)
{
    float s[STRIP] = {0}, s2[STRIP] = {0};
    for (int64_t i = 0; i < rows; i++) {
        const float *row = a + i * stride;
        const float ti = (float)t[i], t2i = both ? (float)t2[i] : 0;
        for (int j = 0; j < wide; j++)
            s[j] = MULTIPLY_ADD(ti, row[j], s[j]);
        for (int j = 0; both && j < wide; j++)
            s2[j] = MULTIPLY_ADD(t2i, row[j], s2[j]);
    }
    for (int j = skip; j < wide; j++)
        g[j] += (double)s[j];
    for (int j = skip; both && j < wide; j++)
        g2[j] += (double)s2[j];
}

/* Strips of constant width; the last one overlaps the one before where columns are left over. */
static inline __attribute__((always_inline)) void
rough_strips(const float *a, int64_t stride, int64_t rows, int64_t cols, bool both, const double *t,
             const double *t2, double *g, double *g2)
{
    int64_t j = 0;
#define STRIPS(wide)                                                                               \
    for (; j + (wide) <= cols; j += (wide))                                                        \
    rough_strip(a + j, stride, rows, wide, 0, both, t, t2, g + j, g2 + j)
    STRIPS(STRIP);
    STRIPS(2 * PIECE);
    STRIPS(PIECE);
#undef STRIPS
    const int left = (int)(cols - j);
    if (left > 0 && cols >= PIECE)
        rough_strip(a + cols - PIECE, stride, rows, PIECE, PIECE - left, both, t, t2,
                    g + cols - PIECE, g2 + cols - PIECE);
    else if (left > 0)
        rough_strip(a, stride, rows, left, 0, both, t, t2, g, g2);
}

static void rough_mul_t(const float *a, int64_t stride, int64_t rows, int64_t cols, const double *t,
                        const double *t2, double *g, double *g2)
{
    if (t2)
        rough_strips(a, stride, rows, cols, true, t, t2, g, g2);
    else
        rough_strips(a, stride, rows, cols, false, t, t, g, g);
}

const mgvi_row_kernel_table MGVI_OF_ISA(mgvi_row_kernels) = {
    .f32_to_f32 = f32_to_f32,
    .f32_to_f64 = f32_to_f64,
    .f64_to_f32 = f64_to_f32,
    .f64_to_f64 = f64_to_f64,
    .add_squares_f32 = add_squares_f32,
    .add_squares_f64 = add_squares_f64,
    .dot_squares_f32 = dot_squares_f32,
    .dot_squares_f64 = dot_squares_f64,
    .add_pair_f32 = add_pair_f32,
    .add_pair_f64 = add_pair_f64,
    .add_excess_f32 = add_excess_f32,
    .add_excess_f64 = add_excess_f64,
    .dot_excess_f32 = dot_excess_f32,
    .dot_excess_f64 = dot_excess_f64,
    .rough_mul_t = rough_mul_t,
};
