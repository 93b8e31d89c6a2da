/* simd/simd.h - the kernels over rows of data, one table per instruction set.
 * Data is float32 or float64, the other operand and every sum are float64. scalar.c is the
 * reference; avx2.c, avx512.c and neon.c are complete tables of their own.
 * Pointers need no alignment beyond their type's. Counts may be 0. */
#ifndef MGVI_SIMD_SIMD_H
#define MGVI_SIMD_SIMD_H

#include "simd/rough_points.h"
#include "simd/short_points.h"

#include <margrave/margrave.h>

struct mgvi_gemm_kernels;
struct mgvi_pass_kernels;

/* The entries for one type of data T. Single rows for coordinate methods, runs of rows for products
 * with the whole matrix: those load the vector once for several rows.
 * `_k`: k >= 1 lanes, interleaved, element (j, c) of x is x[j*k + c], likewise y, u and g.
 * Dense: a[i*stride + j], i < rows, j < cols. CSR: row i holds val[t], idx[t] for
 * ptr[i] <= t < ptr[i+1]; ptr has rows + 1 absolute offsets, no index occurs twice in a row. */
#define MGVI_SIMD_ENTRIES(T, S)                                                                    \
    /* sum_j a_j x_j over n contiguous entries */                                                  \
    double (*dot_##S)(const T *a, const double *x, int64_t n);                                     \
    /* y_j += alpha a_j */                                                                         \
    void (*axpy_##S)(double alpha, const T *a, double *y, int64_t n);                              \
    /* sum_t a_t x[index_t] */                                                                     \
    double (*gather_dot_##S)(const T *a, const int32_t *index, int64_t n, const double *x);        \
    /* y[index_t] += alpha a_t; no index occurs twice */                                           \
    void (*scatter_axpy_##S)(double alpha, const T *a, const int32_t *index, int64_t n,            \
                             double *y);                                                           \
    /* the same four in twofold numbers hi + lo (base/twofold.h) */                                \
    void (*dot_two_##S)(const T *a, const double *x, int64_t n, double *hi, double *lo);           \
    void (*axpy_two_##S)(double alpha, const T *a, double *hi, double *lo, int64_t n);             \
    void (*gather_two_##S)(const T *a, const int32_t *index, int64_t n, const double *x,           \
                           double *hi, double *lo);                                                \
    void (*scatter_two_##S)(double alpha, const T *a, const int32_t *index, int64_t n, double *hi, \
                            double *lo);                                                           \
    /* y_i = sum_j a_ij x_j */                                                                     \
    void (*dense_mul_##S)(const T *a, int64_t stride, int64_t rows, int64_t cols, const double *x, \
                          double *y);                                                              \
    void (*dense_mul_k_##S)(const T *a, int64_t stride, int64_t rows, int64_t cols, int32_t k,     \
                            const double *x, double *y);                                           \
    /* g_j += sum_i u_i a_ij; k = 1: no row with u_i = 0 is read */                                \
    void (*dense_mul_t_##S)(const T *a, int64_t stride, int64_t rows, int64_t cols,                \
                            const double *u, double *g);                                           \
    void (*dense_mul_t_k_##S)(const T *a, int64_t stride, int64_t rows, int64_t cols, int32_t k,   \
                              const double *u, double *g);                                         \
    /* y_i = sum_t val_t x[idx_t] */                                                               \
    void (*csr_mul_##S)(const T *val, const int32_t *idx, const int64_t *ptr, int64_t rows,        \
                        const double *x, double *y);                                               \
    void (*csr_mul_k_##S)(const T *val, const int32_t *idx, const int64_t *ptr, int64_t rows,      \
                          int32_t k, const double *x, double *y);                                  \
    /* g[idx_t] += u_i val_t; k = 1: no row with u_i = 0 is read */                                \
    void (*csr_mul_t_##S)(const T *val, const int32_t *idx, const int64_t *ptr, int64_t rows,      \
                          const double *u, double *g);                                             \
    void (*csr_mul_t_k_##S)(const T *val, const int32_t *idx, const int64_t *ptr, int64_t rows,    \
                            int32_t k, const double *u, double *g);                                \
    /* With s_j = min(x_j + shift + b_j, 0): x_j = exp(s_j), and x_j = exp(-sqrt(-2 s_j)) */       \
    void (*exp_shift_##S)(T * x, const T *b, T shift, int64_t n);                                  \
    void (*exp_root_##S)(T * x, const T *b, T shift, int64_t n);                                   \
    /* v -= t (row_i - row_j). Returns argmax of v + up, the first on ties, with its value; *least \
     * is the minimum of v + down. n is a multiple of 8; up is 0 or -infinity, down 0 or infinity. \
     * -1: every v + up is -infinity. */                                                           \
    int64_t (*pair_step_##S)(const T *row_i, const T *row_j, double t, double *v,                  \
                             const double *up, const double *down, int64_t n, double *largest,     \
                             double *least);                                                       \
    /* argmax over d_j = vi - v_j - down_j > 0 of d_j^2 / max(qi + diagonal_j - 2 row_j, floor);   \
     * -1: no d_j is positive. n is a multiple of 8. */                                            \
    int64_t (*pair_partner_##S)(const T *row, const double *v, const double *down,                 \
                                const double *diagonal, double vi, double qi, double floor,        \
                                int64_t n);

typedef struct mgvi_simd {
    const char *name;                     /* for people; decisions look at `bytes` */
    int bytes;                            /* of a vector */
    const struct mgvi_gemm_kernels *gemm; /* gemm_kernels.h */
    const struct mgvi_pass_kernels *pass; /* pass_kernels.h */
    mgvi_short_values_fn *short_values;   /* short_points.h */
    mgvi_short_sums_fn *short_sums;
    mgvi_rough_sums_fn *rough_sums; /* rough_points.h */
    mgvi_rough_both_fn *rough_both;
    mgvi_rough_values_fn *rough_values;
    mgvi_rough_lanes_fn *rough_lanes;
    /* pair_step and pair_partner in float32 throughout; n is a multiple of 16 */
    int64_t (*rough_step)(const float *row_i, const float *row_j, float t, float *v,
                          const float *up, const float *down, int64_t n, float *largest,
                          float *least);
    int64_t (*rough_partner)(const float *row, const float *v, const float *down,
                             const float *diagonal, float vi, float qi, float floor, int64_t n);
    MGVI_SIMD_ENTRIES(float, f32)
    MGVI_SIMD_ENTRIES(double, f64)
} mgvi_simd;

/* The same entries as initialisers, from file-local functions of the same names. */
#define MGVI_SIMD_ROW_TABLE(S)                                                                     \
    .dot_##S = dot_##S, .axpy_##S = axpy_##S, .gather_dot_##S = gather_dot_##S,                    \
    .scatter_axpy_##S = scatter_axpy_##S, .dense_mul_##S = dense_mul_##S,                          \
    .dense_mul_t_##S = dense_mul_t_##S, .csr_mul_##S = csr_mul_##S,                                \
    .csr_mul_t_##S = csr_mul_t_##S, .dot_two_##S = dot_two_##S, .axpy_two_##S = axpy_two_##S,      \
    .gather_two_##S = gather_two_##S, .scatter_two_##S = scatter_two_##S,                          \
    .exp_shift_##S = exp_shift_##S, .exp_root_##S = exp_root_##S, .pair_step_##S = pair_step_##S,  \
    .pair_partner_##S = pair_partner_##S
#define MGVI_SIMD_TABLE(S)                                                                         \
    MGVI_SIMD_ROW_TABLE(S), .dense_mul_k_##S = dense_mul_k_##S,                                    \
                            .dense_mul_t_k_##S = dense_mul_t_k_##S,                                \
                            .csr_mul_k_##S = csr_mul_k_##S, .csr_mul_t_k_##S = csr_mul_t_k_##S

extern const mgvi_simd mgvi_simd_scalar;
#if defined(__x86_64__)
extern const mgvi_simd mgvi_simd_avx2, mgvi_simd_avx512;
#elif defined(__aarch64__)
extern const mgvi_simd mgvi_simd_neon;
#endif

/* Of X_scalar, X_avx2 and X_avx512 the one for the context's vectors. */
#if defined(__x86_64__)
#define MGVI_SIMD_PICK(ctx, X)                                                                     \
    ((ctx)->simd->bytes == 64 ? X##_avx512 : (ctx)->simd->bytes == 32 ? X##_avx2 : X##_scalar)
#else
#define MGVI_SIMD_PICK(ctx, X) ((void)(ctx), X##_scalar)
#endif

/* The best table of this machine, or the one named (NULL: best). MGV_E_ARG for an unknown name,
 * MGV_E_UNSUPPORTED when the processor or the build lacks it. */
mgv_status mgvi_simd_choose(const char *name, const mgvi_simd **out);
/* The tables this machine can run, scalar first. */
int mgvi_simd_count(void);
const mgvi_simd *mgvi_simd_at(int index);
#endif
