/* dense.c - finds the order of a dense matrix, and closes the gaps of odd strides. */
#include "io/dense.h"

#include <string.h>

/* Element (i, j) at i * outer_step + j * inner_step, with nothing in between. */
static bool packed(int64_t outer, int64_t inner, int64_t outer_step, int64_t inner_step)
{
    return (inner <= 1 || inner_step == 1) && (outer <= 1 || outer_step == inner);
}

static void copy_rows(const mgvi_matrix *X, char *out)
{
    const size_t size = mgvi_dtype_size(X->dtype);
    for (int64_t i = 0; i < X->rows; i++)
        for (int64_t j = 0; j < X->cols; j++, out += size)
            memcpy(out,
                   (const char *)X->val + (ptrdiff_t)size * (i * X->row_stride + j * X->col_stride),
                   size);
}

mgv_status mgvi_dense_open(mgv_ctx *ctx, const mgvi_matrix *X, mgvi_dense *out)
{
    *out = (mgvi_dense){.val = X->val, .bytes = (size_t)X->nnz * mgvi_dtype_size(X->dtype)};
    if (packed(X->rows, X->cols, X->row_stride, X->col_stride))
        return MGV_OK;
    out->fortran = packed(X->cols, X->rows, X->col_stride, X->row_stride);
    if (out->fortran)
        return MGV_OK;
    out->copy = mgvi_alloc(ctx, (size_t)X->nnz, mgvi_dtype_size(X->dtype));
    if (!out->copy)
        return MGV_E_MEMORY;
    copy_rows(X, out->copy);
    out->val = out->copy;
    return MGV_OK;
}

void mgvi_dense_close(mgv_ctx *ctx, mgvi_dense *dense)
{
    mgvi_release(ctx, dense->copy);
    *dense = (mgvi_dense){0};
}
