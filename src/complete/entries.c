/* entries.c - the second order of the entries, and products with sparse matrices on them. */
#include "complete/entries.h"

#include "base/limit.h"

#include "simd/simd.h"

enum { GRAIN = 4096, BLOCKS = 128 };

/* Entries by columns, each column's by rows: a counting sort. */
static void index_columns(mgvi_known *e)
{
    for (int64_t t = 0; t < e->count && !mgvi_ctx_cut_row(e->ctx, t); t++)
        e->col_ptr[e->col[t] + 1]++;
    for (int64_t j = 0; j < e->cols; j++)
        e->col_ptr[j + 1] += e->col_ptr[j];
    if (mgvi_ctx_was_cut(e->ctx))
        return;
    for (int64_t i = 0; i < e->rows && !mgvi_ctx_cut_row(e->ctx, i); i++)
        for (int64_t t = e->row_ptr[i]; t < e->row_ptr[i + 1]; t++) {
            const int64_t s = e->col_ptr[e->col[t]]++;
            e->row[s] = (int32_t)i;
            e->place[s] = (int32_t)t;
        }
    for (int64_t j = e->cols; j > 0; j--)
        e->col_ptr[j] = e->col_ptr[j - 1];
    e->col_ptr[0] = 0;
}

mgv_status mgvi_known_init(mgv_ctx *ctx, const mgv_triples *triples, mgvi_arena *arena,
                           mgvi_known *out)
{
    const size_t count = (size_t)triples->count;
    *out = (mgvi_known){.ctx = ctx,
                        .rows = triples->rows,
                        .cols = triples->cols,
                        .count = triples->count,
                        .row_ptr = triples->ptr,
                        .col = triples->col,
                        .value = triples->value,
                        .row_blocks = mgvi_block_count(triples->count, GRAIN, BLOCKS),
                        .col_blocks = mgvi_block_count(triples->count, GRAIN, BLOCKS)};
    if (!(out->col_ptr = mgvi_arena_array(arena, (size_t)out->cols + 1, sizeof *out->col_ptr)) ||
        !(out->row = mgvi_arena_scratch(arena, count, sizeof *out->row)) ||
        !(out->place = mgvi_arena_scratch(arena, count, sizeof *out->place)))
        return MGV_E_MEMORY;
    index_columns(out);
    return MGV_OK;
}

int64_t mgvi_known_cut(const int64_t *ptr, int64_t lines, int64_t blocks, int64_t block)
{
    if (block >= blocks)
        return lines;
    const int64_t wanted = mgvi_block_begin(ptr[lines], blocks, block);
    int64_t low = 0, high = lines; /* the first line that begins at `wanted` or behind it */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (ptr[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- products -------------------------------------------------------------------------------- */

typedef struct product {
    const mgvi_simd *simd;
    const int64_t *ptr;
    const int32_t *idx;
    const double *value, *x;
    int64_t lines, blocks;
    int32_t k;
    double *y;
} product;

static void multiply_block(void *arg, int64_t block)
{
    const product *p = arg;
    const int64_t begin = mgvi_known_cut(p->ptr, p->lines, p->blocks, block);
    const int64_t end = mgvi_known_cut(p->ptr, p->lines, p->blocks, block + 1);
    if (p->k == 1)
        p->simd->csr_mul_f64(p->value, p->idx, p->ptr + begin, end - begin, p->x, p->y + begin);
    else
        p->simd->csr_mul_k_f64(p->value, p->idx, p->ptr + begin, end - begin, p->k, p->x,
                               p->y + begin * p->k);
}

void mgvi_known_mul(const mgvi_known *e, const double *value, int32_t k, const double *x, double *y)
{
    product p = {.simd = e->ctx->simd,
                 .ptr = e->row_ptr,
                 .idx = e->col,
                 .value = value,
                 .x = x,
                 .lines = e->rows,
                 .blocks = e->row_blocks,
                 .k = k,
                 .y = y};
    mgvi_known_count(e, 1);
    mgvi_ctx_run(e->ctx, p.blocks, multiply_block, &p);
}

void mgvi_known_mul_t(const mgvi_known *e, const double *by_col, int32_t k, const double *x,
                      double *y)
{
    product p = {.simd = e->ctx->simd,
                 .ptr = e->col_ptr,
                 .idx = e->row,
                 .value = by_col,
                 .x = x,
                 .lines = e->cols,
                 .blocks = e->col_blocks,
                 .k = k,
                 .y = y};
    mgvi_known_count(e, 1);
    mgvi_ctx_run(e->ctx, p.blocks, multiply_block, &p);
}

typedef struct reorder {
    const mgvi_known *e;
    const double *value;
    double *by_col;
} reorder;

static void reorder_block(void *arg, int64_t block)
{
    const reorder *r = arg;
    const int64_t end = mgvi_block_begin(r->e->count, r->e->col_blocks, block + 1);
    for (int64_t s = mgvi_block_begin(r->e->count, r->e->col_blocks, block); s < end; s++)
        r->by_col[s] = r->value[r->e->place[s]];
}

void mgvi_known_by_col(const mgvi_known *e, const double *value, double *by_col)
{
    reorder r = {.e = e, .value = value, .by_col = by_col};
    mgvi_ctx_run(e->ctx, e->col_blocks, reorder_block, &r);
}
