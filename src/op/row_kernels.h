/* op/row_kernels.h - short loops over dense rows for row_set.c, one table per instruction set. */
#ifndef MGVI_OP_ROW_KERNELS_H
#define MGVI_OP_ROW_KERNELS_H

#include "base/context.h"

/* out_j = factor s_j (x_j - c_j), j < n; c and s may be NULL. IN and OUT are float or double. */
#define MGVI_FETCH_ROW(name, IN, OUT)                                                              \
    void (*name)(const IN *x, const double *c, const double *s, double factor, int64_t n, OUT *out)
/* sum_j += a_ij^2 over the rows; q_i = sum_j a_ij^2 x_j */
#define MGVI_SQUARES(S, T)                                                                         \
    void (*add_squares_##S)(const T *a, int64_t stride, int64_t rows, int64_t cols, double *sum);  \
    void (*dot_squares_##S)(const T *a, int64_t stride, int64_t rows, int64_t cols,                \
                            const double *x, double *q)

typedef struct mgvi_row_kernel_table {
    MGVI_FETCH_ROW(f32_to_f32, float, float);
    MGVI_FETCH_ROW(f32_to_f64, float, double);
    MGVI_FETCH_ROW(f64_to_f32, double, float);
    MGVI_FETCH_ROW(f64_to_f64, double, double);
    MGVI_SQUARES(f32, float);
    MGVI_SQUARES(f64, double);
    /* g_j += sum_i t_i a_ij and g2_j += sum_i t2_i a_ij (t2 and g2 NULL: not wanted), summed in
     * float32 over these few rows */
    void (*rough_mul_t)(const float *a, int64_t stride, int64_t rows, int64_t cols, const double *t,
                        const double *t2, double *g, double *g2);
} mgvi_row_kernel_table;

/* The table of the context's instruction set. */
const mgvi_row_kernel_table *mgvi_row_kernels_for(const mgv_ctx *ctx);
extern const mgvi_row_kernel_table mgvi_row_kernels_scalar, mgvi_row_kernels_avx2,
    mgvi_row_kernels_avx512;
#endif
