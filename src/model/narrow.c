/* narrow.c - the first columns of a matrix, and what lies beyond them: features that occur in the
 * data and not in the training data. They are left out, as if they had never been there, also where
 * rows are divided by their length. */
#include "model/narrow.h"

#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Different numbers; sorts them. */
static int64_t count_different(int32_t *numbers, int64_t count)
{
    int64_t different = 0;
    qsort(numbers, (size_t)count, sizeof *numbers, by_number);
    for (int64_t t = 0; t < count; t++)
        different += t == 0 || numbers[t] != numbers[t - 1];
    return different;
}

static void narrow_dense(const mgvi_matrix *X, int64_t cols, mgvi_narrow *out)
{
    for (int64_t j = cols; j < X->cols; j++) {
        int64_t entries = 0;
        for (int64_t i = 0; i < X->rows; i++)
            entries += mgvi_matrix_value(X, i * X->row_stride + j * X->col_stride) != 0;
        out->entries += entries;
        out->features += entries > 0;
    }
    out->X.nnz = X->rows * cols;
}

static void narrow_csc(const mgvi_matrix *X, int64_t cols, mgvi_narrow *out)
{
    for (int64_t j = cols; j < X->cols; j++)
        out->features += X->ptr[j + 1] > X->ptr[j];
    out->X.nnz = X->ptr[cols];
    out->entries = X->nnz - out->X.nnz;
}

/* Copies the entries that stay. */
static mgv_status narrow_csr(mgvi_arena *arena, const mgvi_matrix *X, int64_t cols,
                             mgvi_narrow *out)
{
    const size_t size = mgvi_dtype_size(X->dtype);
    int64_t kept = 0, beyond = 0;
    for (int64_t t = 0; t < X->nnz; t++)
        kept += X->idx[t] < cols;
    int64_t *ptr = mgvi_arena_array(arena, (size_t)X->rows + 1, sizeof *ptr);
    int32_t *idx = mgvi_arena_array(arena, (size_t)kept + 1, sizeof *idx);
    int32_t *left = mgvi_arena_array(arena, (size_t)(X->nnz - kept) + 1, sizeof *left);
    char *val = mgvi_arena_array(arena, (size_t)kept + 1, size);
    if (!ptr || !idx || !left || !val)
        return MGV_E_MEMORY;
    kept = 0;
    for (int64_t i = 0; i < X->rows; i++) {
        for (int64_t t = X->ptr[i]; t < X->ptr[i + 1]; t++) {
            if (X->idx[t] >= cols) {
                left[beyond++] = X->idx[t];
                continue;
            }
            memcpy(val + (size_t)kept * size, (const char *)X->val + (size_t)t * size, size);
            idx[kept++] = X->idx[t];
        }
        ptr[i + 1] = kept;
    }
    out->entries = beyond;
    out->features = count_different(left, beyond);
    out->X.nnz = kept;
    out->X.ptr = ptr;
    out->X.idx = idx;
    out->X.val = val;
    return MGV_OK;
}

mgv_status mgvi_narrow_to(mgvi_arena *arena, const mgvi_matrix *X, int64_t cols, mgvi_narrow *out)
{
    *out = (mgvi_narrow){.X = *X};
    if (X->cols <= cols)
        return MGV_OK;
    out->X.cols = cols;
    out->X.size = NULL; /* of other columns */
    if (X->layout == MGV_CSR)
        return narrow_csr(arena, X, cols, out);
    (X->layout == MGV_CSC ? narrow_csc : narrow_dense)(X, cols, out);
    return MGV_OK;
}
