/* csr.c - compressed sparse rows, and columns. */
#include "op/stored.h"

static void csr_mul(const mgvi_simd *simd, const mgvi_matrix *m, int64_t first, int64_t count,
                    int32_t k, const double *x, double *y)
{
    const int64_t *ptr = m->ptr + first;
    if (m->dtype == MGV_F32 && k == 1)
        simd->csr_mul_f32(m->val, m->idx, ptr, count, x, y);
    else if (m->dtype == MGV_F32)
        simd->csr_mul_k_f32(m->val, m->idx, ptr, count, k, x, y);
    else if (k == 1)
        simd->csr_mul_f64(m->val, m->idx, ptr, count, x, y);
    else
        simd->csr_mul_k_f64(m->val, m->idx, ptr, count, k, x, y);
}

static void csr_mul_t(const mgvi_simd *simd, const mgvi_matrix *m, int64_t first, int64_t count,
                      int32_t k, const double *u, double *g)
{
    const int64_t *ptr = m->ptr + first;
    if (m->dtype == MGV_F32 && k == 1)
        simd->csr_mul_t_f32(m->val, m->idx, ptr, count, u, g);
    else if (m->dtype == MGV_F32)
        simd->csr_mul_t_k_f32(m->val, m->idx, ptr, count, k, u, g);
    else if (k == 1)
        simd->csr_mul_t_f64(m->val, m->idx, ptr, count, u, g);
    else
        simd->csr_mul_t_k_f64(m->val, m->idx, ptr, count, k, u, g);
}

const mgvi_row_kernels mgvi_csr_kernels = {.mul = csr_mul, .mul_t = csr_mul_t};

const mgvi_op_ops mgvi_operator_csr = {
    .name = "csr",
    .summary = "a sparse matrix stored by rows",
    .can = MGVI_MUL | MGVI_MUL_T | MGVI_ROW,
    .mul = mgvi_stored_mul,
    .mul_t = mgvi_stored_mul_t,
    .free = mgvi_stored_free,
};

/* The CSR of the transpose, with the two products exchanged. */
const mgvi_op_ops mgvi_operator_csc = {
    .name = "csc",
    .summary = "a sparse matrix stored by columns",
    .can = MGVI_MUL | MGVI_MUL_T | MGVI_ROW,
    .mul = mgvi_stored_mul,
    .mul_t = mgvi_stored_mul_t,
    .free = mgvi_stored_free,
};
