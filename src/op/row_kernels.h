/* op/row_kernels.h - short loops over rows for row_set.c, ctx->simd->row_kernels. */
#ifndef MGVI_OP_ROW_KERNELS_H
#define MGVI_OP_ROW_KERNELS_H

#include <stdint.h>

/* out_j = factor s_j (x_j - c_j), j < n; c and s may be NULL. IN and OUT are float or double. */
#define MGVI_FETCH_ROW(name, IN, OUT)                                                              \
    void (*name)(const IN *x, const double *c, const double *s, double factor, int64_t n, OUT *out)
/* sum_j += a_ij^2 over the rows; q_i = sum_j a_ij^2 x_j */
#define MGVI_SQUARES(S, T)                                                                         \
    void (*add_squares_##S)(const T *a, int64_t stride, int64_t rows, int64_t cols, double *sum);  \
    void (*dot_squares_##S)(const T *a, int64_t stride, int64_t rows, int64_t cols,                \
                            const double *x, double *q)
/* Sparse rows, `ptr` at the first of them. add_pair: sums[2 j] += t_i x_ij, sums[2 j + 1] += t2_i
 * x_ij. add_excess: sum_j += p_i^2 x_ij (x_ij - 2 c_j); dot_excess: q_i = base + sum_j x_ij (x_ij -
 * 2 c_j) weight_j, times p_i^2 and at least 0; p NULL: 1, c NULL: 0. */
#define MGVI_SPARSE_ROWS(S, T)                                                                     \
    void (*add_pair_##S)(const T *val, const int32_t *idx, const int64_t *ptr, int64_t rows,       \
                         const double *t, const double *t2, double *sums);                         \
    void (*add_excess_##S)(const T *val, const int32_t *idx, const int64_t *ptr, int64_t rows,     \
                           const double *p, const double *c, double *sum);                         \
    void (*dot_excess_##S)(const T *val, const int32_t *idx, const int64_t *ptr, int64_t rows,     \
                           const double *p, const double *c, const double *weight, double base,    \
                           double *q)

typedef struct mgvi_row_kernel_table {
    MGVI_FETCH_ROW(f32_to_f32, float, float);
    MGVI_FETCH_ROW(f32_to_f64, float, double);
    MGVI_FETCH_ROW(f64_to_f32, double, float);
    MGVI_FETCH_ROW(f64_to_f64, double, double);
    MGVI_SQUARES(f32, float);
    MGVI_SQUARES(f64, double);
    MGVI_SPARSE_ROWS(f32, float);
    MGVI_SPARSE_ROWS(f64, double);
    /* g_j += sum_i t_i a_ij and g2_j += sum_i t2_i a_ij (t2 and g2 NULL: not wanted), summed in
     * float32 over these few rows */
    void (*rough_mul_t)(const float *a, int64_t stride, int64_t rows, int64_t cols, const double *t,
                        const double *t2, double *g, double *g2);
} mgvi_row_kernel_table;
#endif
