/* simd/simd.h - the kernels over rows of data, and all other loops that are compiled once per instruction
 * set (simd/isa.h): one table for each, ctx->simd is the one in use.
 * Data is float32 or float64, the other operand and every sum are float64. `scalar` is the
 * reference.
 * Pointers need no alignment beyond their type's. Counts may be 0. */
#ifndef MGVI_SIMD_SIMD_H
#define MGVI_SIMD_SIMD_H

#include <margrave/margrave.h>

/* The families of loops: struct mgvi_TYPE stands in a header of the room that calls them,
 * mgvi_MEMBER is its table in a file of loops there. */
#define MGVI_SIMD_FAMILIES(X)                                                                      \
    X(gemm_kernels, gemm)            /* simd/gemm_kernels.h */                                     \
    X(pass_kernels, pass)            /* simd/pass_kernels.h */                                     \
    X(short_loops, short_points)     /* simd/short_points.h */                                     \
    X(rough_loops, rough_points)     /* simd/rough_points.h */                                     \
    X(pair_loops, pairs)             /* below */                                                   \
    X(row_kernel_table, row_kernels) /* op/row_kernels.h */                                        \
    X(poly_loops, poly)              /* op/poly_map.h */                                           \
    X(fft_loops, fft)                /* op/fft_stages.h */                                         \
    X(dual_sweeps, dual)             /* solver/coordinate/dual_epoch.h */                          \
    X(lockstep_loops, lockstep)      /* solver/classes/lockstep.h */                               \
    X(lockstep_loops, lockstep_narrow)                                                             \
    X(tall_loops, tall)         /* solver/newton/tall_loops.h */                                   \
    X(lane_loops, lanes)        /* select/lanes.h */                                               \
    X(complete_loops, complete) /* complete/loops.h */

#define MGVI_SIMD_STRUCT(type, member) struct mgvi_##type;
MGVI_SIMD_FAMILIES(MGVI_SIMD_STRUCT)
#undef MGVI_SIMD_STRUCT

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
    void (*exp_root_##S)(T * x, const T *b, T shift, int64_t n);

typedef struct mgvi_simd {
    const char *name; /* for people; decisions look at `bytes` */
    int bytes;        /* of a vector */
#define MGVI_SIMD_MEMBER(type, member) const struct mgvi_##type *member;
    MGVI_SIMD_FAMILIES(MGVI_SIMD_MEMBER)
#undef MGVI_SIMD_MEMBER
    MGVI_SIMD_ENTRIES(float, f32)
    MGVI_SIMD_ENTRIES(double, f64)
} mgvi_simd;

/* The entries `_k` as functions, of lanes.c. */
#define MGVI_SIMD_LANES(T, S, OF_ISA)                                                              \
    void OF_ISA(mgvi_dense_mul_k_##S)(const T *a, int64_t stride, int64_t rows, int64_t cols,      \
                                      int32_t k, const double *x, double *y);                      \
    void OF_ISA(mgvi_dense_mul_t_k_##S)(const T *a, int64_t stride, int64_t rows, int64_t cols,    \
                                        int32_t k, const double *u, double *g);                    \
    void OF_ISA(mgvi_csr_mul_k_##S)(const T *val, const int32_t *idx, const int64_t *ptr,          \
                                    int64_t rows, int32_t k, const double *x, double *y);          \
    void OF_ISA(mgvi_csr_mul_t_k_##S)(const T *val, const int32_t *idx, const int64_t *ptr,        \
                                      int64_t rows, int32_t k, const double *u, double *g);

/* The sweeps of pairwise coordinate steps. n is a multiple of 8, of 16 those of rough_*, which are
 * in float32 throughout. */
#define MGVI_PAIR_ENTRIES(T, S)                                                                      \
    /* v -= t (row_i - row_j). Returns argmax of v + up, the first on ties, with its value; least: \
     * the minimum of v + down. up is 0 or -infinity, down 0 or infinity. -1: every v + up is      \
     * -infinity. */ \
    int64_t (*step_##S)(const T *row_i, const T *row_j, double t, double *v, const double *up,       \
                        const double *down, int64_t n, double *largest, double *least);              \
    /* argmax over d_j = vi - v_j - down_j > 0 of d_j^2 / max(qi + diagonal_j - 2 row_j, floor);   \
     * -1: no d_j is positive. */ \
    int64_t (*partner_##S)(const T *row, const double *v, const double *down,                        \
                           const double *diagonal, double vi, double qi, double floor, int64_t n);

typedef struct mgvi_pair_loops {
    MGVI_PAIR_ENTRIES(float, f32)
    MGVI_PAIR_ENTRIES(double, f64)
    int64_t (*rough_step)(const float *row_i, const float *row_j, float t, float *v,
                          const float *up, const float *down, int64_t n, float *largest,
                          float *least);
    int64_t (*rough_partner)(const float *row, const float *v, const float *down,
                             const float *diagonal, float vi, float qi, float floor, int64_t n);
} mgvi_pair_loops;

extern const mgvi_simd mgvi_simd_scalar, mgvi_simd_avx2, mgvi_simd_avx512, mgvi_simd_neon;

/* The best table of this machine, or the one named (NULL: best). MGV_E_ARG for an unknown name,
 * MGV_E_UNSUPPORTED when the processor or the build lacks it. */
mgv_status mgvi_simd_choose(const char *name, const mgvi_simd **out);
/* The tables this machine can run, scalar first. */
int mgvi_simd_count(void);
const mgvi_simd *mgvi_simd_at(int index);
#endif
