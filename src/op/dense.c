/* dense.c - dense matrices. C order (col_stride 1) goes to the SIMD kernels as it lies, Fortran
 * order is its transpose; other strides are packed into short contiguous pieces on the way. */
#include "op/stored.h"

static void dense_mul(const mgvi_simd *simd, const mgvi_matrix *m, int64_t first, int64_t count,
                      int32_t k, const double *x, double *y)
{
    const int64_t stride = m->row_stride;
    const float *const f32 = (const float *)m->val + first * stride;
    const double *const f64 = (const double *)m->val + first * stride;
    if (m->dtype == MGV_F32 && k == 1)
        simd->dense_mul_f32(f32, stride, count, m->cols, x, y);
    else if (m->dtype == MGV_F32)
        simd->dense_mul_k_f32(f32, stride, count, m->cols, k, x, y);
    else if (k == 1)
        simd->dense_mul_f64(f64, stride, count, m->cols, x, y);
    else
        simd->dense_mul_k_f64(f64, stride, count, m->cols, k, x, y);
}

static void dense_mul_t(const mgvi_simd *simd, const mgvi_matrix *m, int64_t first, int64_t count,
                        int32_t k, const double *u, double *g)
{
    const int64_t stride = m->row_stride;
    const float *const f32 = (const float *)m->val + first * stride;
    const double *const f64 = (const double *)m->val + first * stride;
    if (m->dtype == MGV_F32 && k == 1)
        simd->dense_mul_t_f32(f32, stride, count, m->cols, u, g);
    else if (m->dtype == MGV_F32)
        simd->dense_mul_t_k_f32(f32, stride, count, m->cols, k, u, g);
    else if (k == 1)
        simd->dense_mul_t_f64(f64, stride, count, m->cols, u, g);
    else
        simd->dense_mul_t_k_f64(f64, stride, count, m->cols, k, u, g);
}

const mgvi_row_kernels mgvi_dense_kernels = {.mul = dense_mul, .mul_t = dense_mul_t};

/* ---- any strides ---------------------------------------------------------------------------- */
/* Copies entries (i, j) ... (i, j + count - 1) side by side. */
static void pack(const mgvi_matrix *m, int64_t i, int64_t j, int64_t count, double *out)
{
    const int64_t from = i * m->row_stride + j * m->col_stride;
    if (m->dtype == MGV_F32)
        for (int64_t t = 0; t < count; t++)
            out[t] = ((const float *)m->val)[from + t * m->col_stride];
    else
        for (int64_t t = 0; t < count; t++)
            out[t] = ((const double *)m->val)[from + t * m->col_stride];
}

static void strided_mul(const mgvi_simd *simd, const mgvi_matrix *m, int64_t first, int64_t count,
                        int32_t k, const double *x, double *y)
{
    double row[MGVI_PIECE];
    for (int64_t i = 0; i < count * k; i++)
        y[i] = 0;
    for (int64_t j = 0; j < m->cols; j += MGVI_PIECE) {
        const int64_t n = m->cols - j < MGVI_PIECE ? m->cols - j : MGVI_PIECE;
        for (int64_t i = 0; i < count; i++) {
            pack(m, first + i, j, n, row);
            if (k == 1)
                y[i] += simd->dot_f64(row, x + j, n);
            else /* y_i += X'row: the lanes are the columns of X */
                simd->dense_mul_t_f64(x + j * k, k, n, k, row, y + i * k);
        }
    }
}

static void strided_mul_t(const mgvi_simd *simd, const mgvi_matrix *m, int64_t first, int64_t count,
                          int32_t k, const double *u, double *g)
{
    double row[MGVI_PIECE];
    for (int64_t j = 0; j < m->cols; j += MGVI_PIECE) {
        const int64_t n = m->cols - j < MGVI_PIECE ? m->cols - j : MGVI_PIECE;
        for (int64_t i = 0; i < count; i++) {
            pack(m, first + i, j, n, row);
            if (k == 1)
                simd->axpy_f64(u[i], row, g + j, n);
            else
                simd->dense_mul_t_k_f64(row, n, 1, n, k, u + i * k, g + j * k);
        }
    }
}

const mgvi_row_kernels mgvi_strided_kernels = {.mul = strided_mul, .mul_t = strided_mul_t};

const mgvi_op_ops mgvi_operator_dense = {
    .name = "dense",
    .summary = "a dense matrix of any strides",
    .can = MGVI_MUL | MGVI_MUL_T | MGVI_ROW,
    .mul = mgvi_stored_mul,
    .mul_t = mgvi_stored_mul_t,
    .free = mgvi_stored_free,
};
