/* packed_rows.c - packing rows, and products with the copy. */
#include "solver/shared/packed_rows.h"

#include "base/limit.h"
#include "base/memory.h"
#include "base/threads.h"
#include "op/rowwise.h"

#include <string.h>

enum { GRAIN = 1 << 13, BLOCKS = 16 };

/* While rows are packed. */
typedef struct packing {
    mgvi_packed_rows *to;
    int64_t *ptr, *col_ptr;
    int32_t *idx, *col_idx;
    double *val, *col_val;
    int32_t *number; /* per column: its number in the packed matrix, or -1 */
    int64_t cols;
} packing;

/* The number of column j in the packed matrix, a new one at its first appearance. */
static int32_t number_of(packing *f, int64_t j)
{
    if (f->number[j] < 0) {
        f->number[j] = (int32_t)f->cols;
        f->to->column[f->cols] = j;
        f->col_ptr[f->cols + 2] = 0;
        f->cols++;
    }
    return f->number[j];
}

static void pack_row(packing *f, int64_t k)
{
    mgvi_packed_rows *to = f->to;
    const mgvi_rows *rows = to->rows;
    const mgvi_matrix *m = &rows->m;
    const int64_t i = to->member[k], r = mgvi_rows_source(rows, i);
    const bool dense = m->layout == MGV_DENSE;
    const int64_t first = dense ? r * m->row_stride : m->ptr[r], count = mgvi_rows_nnz(rows, i);
    int64_t at = f->ptr[k];
    to->pull[k] = mgvi_view_sign(&rows->view, i) * mgvi_view_row_scale(&rows->view, i);
    for (int64_t t = 0; t < count; t++) {
        const int64_t j = dense ? t : m->idx[first + t];
        const double x = mgvi_matrix_value(m, first + t);
        if (x == 0)
            continue;
        f->idx[at] = number_of(f, j);
        f->val[at] = to->pull[k] * x * mgvi_view_scale(&rows->view, j);
        f->col_ptr[f->idx[at] + 2]++;
        at++;
    }
    f->ptr[k + 1] = at;
    to->touched += (double)count;
}

/* col_ptr[j + 2] counts column j, then col_ptr[j + 1] is where it grows, at last where it ends. */
static void transpose(packing *f)
{
    for (int64_t j = 0; j < f->cols; j++)
        f->col_ptr[j + 2] += f->col_ptr[j + 1];
    for (int64_t k = 0; k < f->to->count; k++)
        for (int64_t t = f->ptr[k]; t < f->ptr[k + 1]; t++) {
            const int64_t at = f->col_ptr[f->idx[t] + 1]++;
            f->col_idx[at] = (int32_t)k;
            f->col_val[at] = f->val[t];
        }
}

static mgv_status make_room(packing *f, mgvi_arena *arena)
{
    mgvi_packed_rows *to = f->to;
    const size_t n = (size_t)to->count, d = (size_t)to->rows->m.cols, lanes = (size_t)to->lanes;
    size_t room = 1;
    for (int64_t k = 0; k < to->count; k++)
        room += (size_t)mgvi_rows_nnz(to->rows, to->member[k]);
    MGVI_TRY(MGVI_ARRAY(arena, f->ptr, n + 1));
    MGVI_TRY(MGVI_ARRAY(arena, f->col_ptr, d + 2));
    MGVI_TRY(MGVI_ARRAY(arena, f->number, d));
    MGVI_TRY(MGVI_ARRAY(arena, f->idx, room));
    MGVI_TRY(MGVI_ARRAY(arena, f->val, room));
    MGVI_TRY(MGVI_ARRAY(arena, f->col_idx, room));
    MGVI_TRY(MGVI_ARRAY(arena, f->col_val, room));
    MGVI_TRY(MGVI_ARRAY(arena, to->column, d));
    MGVI_TRY(MGVI_ARRAY(arena, to->pull, n));
    MGVI_TRY(MGVI_ARRAY(arena, to->centre, d));
    MGVI_TRY(MGVI_ARRAY(arena, to->sums, lanes));
    MGVI_TRY(MGVI_ARRAY(arena, to->products, lanes));
    to->v = mgvi_arena_array(arena, d, lanes * sizeof *to->v);
    if (!to->v)
        return MGV_E_MEMORY;
    memset(f->number, -1, d * sizeof *f->number);
    return MGV_OK;
}

/* The packed columns' own, and the squares of those that are not there. */
static void take_centre(mgvi_packed_rows *p)
{
    const mgvi_rows *rows = p->rows;
    p->centre_beyond = 0;
    if (!rows->view.centre)
        return;
    for (int64_t j = 0; j < rows->m.cols; j++) {
        const double c = mgvi_view_shift(&rows->view, j);
        p->centre_beyond += c * c;
    }
    for (int64_t j = 0; j < p->by_row.cols; j++) {
        p->centre[j] = mgvi_view_shift(&rows->view, p->column[j]);
        p->centre_beyond -= p->centre[j] * p->centre[j];
    }
}

mgv_status mgvi_packed_rows_new(mgvi_arena *arena, const mgvi_rows *rows, int32_t *member,
                                int64_t count, int32_t lanes, mgvi_packed_rows *out)
{
    packing f = {.to = out};
    *out = (mgvi_packed_rows){.rows = rows, .lanes = lanes, .count = count, .member = member};
    MGVI_TRY(make_room(&f, arena));
    f.col_ptr[0] = f.col_ptr[1] = f.ptr[0] = 0;
    for (int64_t k = 0; k < count; k++)
        pack_row(&f, k);
    transpose(&f);
    out->by_row = (mgvi_matrix){.layout = MGV_CSR,
                                .dtype = MGV_F64,
                                .rows = count,
                                .cols = f.cols,
                                .nnz = f.ptr[count],
                                .val = f.val,
                                .ptr = f.ptr,
                                .idx = f.idx};
    out->by_column = (mgvi_matrix){.layout = MGV_CSR,
                                   .dtype = MGV_F64,
                                   .rows = f.cols,
                                   .cols = count,
                                   .nnz = f.ptr[count],
                                   .val = f.col_val,
                                   .ptr = f.col_ptr,
                                   .idx = f.col_idx};
    take_centre(out);
    return MGV_OK;
}

/* ---- products -------------------------------------------------------------------------------- */

typedef struct gather_job {
    const mgvi_packed_rows *p;
    const mgvi_matrix *m;
    const double *x;
    double *y;
    int64_t blocks;
} gather_job;

static void gather_block(void *arg, int64_t block)
{
    const gather_job *job = arg;
    const int64_t first = mgvi_matrix_cut(job->m, job->blocks, block);
    const int64_t rows = mgvi_matrix_cut(job->m, job->blocks, block + 1) - first;
    mgvi_csr_kernels.mul(job->p->rows->ctx->simd, job->m, first, rows, job->p->lanes, job->x,
                         job->y + first * job->p->lanes);
}

/* y = m x */
static void gather(const mgvi_packed_rows *p, const mgvi_matrix *m, const double *x, double *y)
{
    gather_job job = {.p = p, .m = m, .x = x, .y = y};
    job.blocks = mgvi_block_count(m->nnz * p->lanes, GRAIN, BLOCKS);
    mgvi_ctx_run(p->rows->ctx, job.blocks, gather_block, &job);
}

/* sum += weight_k x_k of every lane. */
static void add_lanes(int64_t count, int32_t lanes, const double *weight, const double *x,
                      double *sum)
{
    for (int64_t k = 0; k < count; k++)
        for (int32_t l = 0; l < lanes; l++)
            sum[l] += weight[k] * x[k * lanes + l];
}

/* x_k -= weight_k sum of every lane. */
static void subtract_lanes(int64_t count, int32_t lanes, const double *weight, const double *sum,
                           double *x)
{
    for (int64_t k = 0; k < count; k++)
        for (int32_t l = 0; l < lanes; l++)
            x[k * lanes + l] -= weight[k] * sum[l];
}

/* With v = A'x on the packed columns; on the others it is -c s sum_k y p x. */
void mgvi_packed_rows_square(mgvi_packed_rows *p, const double *x, double *y)
{
    const int32_t lanes = p->lanes;
    const int64_t cols = p->by_row.cols;
    p->touched += 2 * (double)p->by_row.nnz;
    gather(p, &p->by_column, x, p->v);
    if (!p->rows->view.centre) {
        gather(p, &p->by_row, p->v, y);
        return;
    }
    memset(p->sums, 0, (size_t)lanes * sizeof *p->sums);
    add_lanes(p->count, lanes, p->pull, x, p->sums);
    subtract_lanes(cols, lanes, p->centre, p->sums, p->v);
    gather(p, &p->by_row, p->v, y);
    for (int32_t l = 0; l < lanes; l++)
        p->products[l] = -p->sums[l] * p->centre_beyond;
    add_lanes(cols, lanes, p->centre, p->v, p->products);
    subtract_lanes(p->count, lanes, p->pull, p->products, y);
}
