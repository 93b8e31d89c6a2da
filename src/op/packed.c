/* packed.c - counts the entries of every column, then places them row by row. */
#include "op/packed.h"

#include <string.h>

typedef struct placing {
    mgvi_packed *out;
    const double *factor, *scale;
    const int32_t *number;
    int64_t first;   /* rows of the matrices before this one */
    int64_t *cursor; /* sparse: where the next entry of a column goes */
} placing;

static void place(const placing *job, int64_t row, int64_t col, double value)
{
    const int64_t i = job->first + row, to = job->number ? job->number[i] : i;
    int64_t at = job->out->ptr[col] + to;
    if (!job->out->dense) {
        at = job->cursor[col]++;
        job->out->idx[at] = (int32_t)to;
    }
    if (job->factor)
        value *= job->factor[i];
    if (job->scale)
        value *= job->scale[col];
    if (job->out->f32)
        job->out->f32[at] = (float)value;
    else
        job->out->f64[at] = value;
}

static void place_matrix(const placing *job, const mgvi_matrix *m)
{
    if (m->layout == MGV_DENSE) {
        for (int64_t i = 0; i < m->rows; i++)
            for (int64_t j = 0; j < m->cols; j++)
                place(job, i, j, mgvi_matrix_value(m, i * m->row_stride + j * m->col_stride));
        return;
    }
    const bool by_rows = m->layout == MGV_CSR;
    const int64_t lines = by_rows ? m->rows : m->cols;
    for (int64_t l = 0; l < lines; l++)
        for (int64_t t = m->ptr[l]; t < m->ptr[l + 1]; t++)
            place(job, by_rows ? l : m->idx[t], by_rows ? m->idx[t] : l, mgvi_matrix_value(m, t));
}

/* Adds the entries of every column j to ptr[j + 1]. */
static void count_entries(const mgvi_matrix *m, bool dense, int64_t *ptr)
{
    for (int64_t j = 0; j < m->cols; j++) {
        if (dense || m->layout == MGV_DENSE)
            ptr[j + 1] += m->rows;
        else if (m->layout == MGV_CSC)
            ptr[j + 1] += m->ptr[j + 1] - m->ptr[j];
    }
    if (!dense && m->layout == MGV_CSR)
        for (int64_t t = 0; t < m->nnz; t++)
            ptr[m->idx[t] + 1]++;
}

static mgv_status allocate(mgvi_arena *arena, mgv_dtype dtype, mgvi_packed *out)
{
    const size_t entries = (size_t)out->ptr[out->cols];
    if (dtype == MGV_F32)
        out->f32 = mgvi_arena_array(arena, entries, sizeof *out->f32);
    else
        out->f64 = mgvi_arena_array(arena, entries, sizeof *out->f64);
    if (!out->dense)
        out->idx = mgvi_arena_array(arena, entries, sizeof *out->idx);
    return (out->f32 || out->f64) && (out->dense || out->idx) ? MGV_OK : MGV_E_MEMORY;
}

mgv_status mgvi_packed_new(mgvi_arena *arena, const mgvi_matrix *const *stack, int count,
                           const double *factor, const double *scale, const int32_t *number,
                           mgv_dtype dtype, mgvi_packed *out)
{
    *out = (mgvi_packed){.cols = stack[0]->cols, .dense = stack[0]->layout == MGV_DENSE};
    for (int k = 0; k < count; k++)
        out->rows += stack[k]->rows;
    if (out->rows > INT32_MAX)
        return MGVI_FAIL(arena->ctx, MGV_E_UNSUPPORTED,
                         "a copy by columns takes at most 2^31 rows; there are %" PRId64,
                         out->rows);
    out->ptr = mgvi_arena_array(arena, (size_t)out->cols + 1, sizeof *out->ptr);
    if (!out->ptr)
        return MGV_E_MEMORY;
    for (int k = 0; k < count; k++)
        count_entries(stack[k], out->dense, out->ptr);
    for (int64_t j = 0; j < out->cols; j++)
        out->ptr[j + 1] += out->ptr[j];
    MGVI_TRY(allocate(arena, dtype, out));
    placing job = {.out = out, .factor = factor, .scale = scale, .number = number};
    job.cursor = mgvi_dup(arena->ctx, out->ptr, (size_t)out->cols + 1, sizeof *job.cursor);
    if (!job.cursor)
        return MGV_E_MEMORY;
    for (int k = 0; k < count; k++) {
        place_matrix(&job, stack[k]);
        job.first += stack[k]->rows;
    }
    mgvi_release(arena->ctx, job.cursor);
    return MGV_OK;
}

double mgvi_packed_bytes(const mgvi_matrix *m, mgv_dtype dtype)
{
    const double entry = (double)mgvi_dtype_size(dtype) + (m->layout == MGV_DENSE ? 0 : 4);
    return (double)m->nnz * entry + 8.0 * (double)m->cols;
}
