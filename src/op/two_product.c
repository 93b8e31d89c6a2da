/* two_product.c - products with a stored matrix in twofold numbers. */
#include "op/two_product.h"

#include "base/limit.h"
#include "base/threads.h"
#include "base/twofold.h"
#include "simd/simd.h"

#include <string.h>

enum { BLOCKS = 8, GRAIN = 1 << 14 };

mgvi_two_product mgvi_two_product_over(mgv_ctx *ctx, const mgvi_matrix *X, int32_t k)
{
    mgvi_two_product out = {.ctx = ctx, .by_columns = mgvi_matrix_by_columns(X), .k = k};
    out.m = out.by_columns ? mgvi_matrix_transpose(X) : *X;
    out.numbers = out.m.cols * k;
    return out;
}

/* The entries of a line lie side by side, and there is one factor for each. */
static bool is_plain(const mgvi_two_product *w)
{
    return w->k == 1 && (w->m.layout != MGV_DENSE || w->m.col_stride == 1);
}

static void gather_line(const mgvi_two_product *w, const mgvi_span *l, double *hi, double *lo)
{
    const mgvi_matrix *m = &w->m;
    const mgvi_simd *simd = w->ctx->simd;
    const float *a32 = m->dtype == MGV_F32 ? (const float *)m->val + l->first : NULL;
    const double *a64 = a32 ? NULL : (const double *)m->val + l->first;
    if (m->layout == MGV_DENSE)
        a32 ? simd->dot_two_f32(a32, w->factor, l->count, hi, lo)
            : simd->dot_two_f64(a64, w->factor, l->count, hi, lo);
    else
        a32 ? simd->gather_two_f32(a32, m->idx + l->first, l->count, w->factor, hi, lo)
            : simd->gather_two_f64(a64, m->idx + l->first, l->count, w->factor, hi, lo);
}

static void scatter_line(const mgvi_two_product *w, const mgvi_span *l, double y, double *hi,
                         double *lo)
{
    const mgvi_matrix *m = &w->m;
    const mgvi_simd *simd = w->ctx->simd;
    const float *a32 = m->dtype == MGV_F32 ? (const float *)m->val + l->first : NULL;
    const double *a64 = a32 ? NULL : (const double *)m->val + l->first;
    if (m->layout == MGV_DENSE)
        a32 ? simd->axpy_two_f32(y, a32, hi, lo, l->count)
            : simd->axpy_two_f64(y, a64, hi, lo, l->count);
    else
        a32 ? simd->scatter_two_f32(y, a32, m->idx + l->first, l->count, hi, lo)
            : simd->scatter_two_f64(y, a64, m->idx + l->first, l->count, hi, lo);
}

/* Every line's own sums: hi, lo [line k + c] = sum over its entries of x factor[place k + c]. */
static void gather_block(void *arg, int64_t block)
{
    const mgvi_two_product *w = arg;
    MGVI_FOR_BLOCK (i, w->m.rows, w->blocks, block) {
        const mgvi_span l = mgvi_matrix_span(&w->m, i);
        double *hi = w->hi + i * w->k, *lo = w->lo + i * w->k;
        if (is_plain(w)) {
            gather_line(w, &l, hi, lo);
            continue;
        }
        memset(hi, 0, (size_t)w->k * sizeof *hi);
        memset(lo, 0, (size_t)w->k * sizeof *lo);
        for (int64_t t = 0; t < l.count; t++) {
            const double x = mgvi_span_value(&w->m, &l, t);
            const double *y = w->factor + mgvi_span_place(&w->m, &l, t) * w->k;
            for (int32_t c = 0; c < w->k; c++)
                mgvi_two_feed(&hi[c], &lo[c], x, y[c]);
        }
    }
}

/* Sums of the places: hi, lo [place k + c] += x factor[line k + c], for every block its own. */
static void scatter_block(void *arg, int64_t block)
{
    const mgvi_two_product *w = arg;
    double *hi = w->hi + block * w->numbers, *lo = w->lo + block * w->numbers;
    memset(hi, 0, (size_t)w->numbers * sizeof *hi);
    memset(lo, 0, (size_t)w->numbers * sizeof *lo);
    MGVI_FOR_BLOCK (i, w->m.rows, w->blocks, block) {
        const mgvi_span l = mgvi_matrix_span(&w->m, i);
        const double *y = w->factor + i * w->k;
        if (is_plain(w)) {
            if (*y != 0)
                scatter_line(w, &l, *y, hi, lo);
            continue;
        }
        for (int64_t t = 0; t < l.count; t++) {
            const double x = mgvi_span_value(&w->m, &l, t);
            const int64_t at = mgvi_span_place(&w->m, &l, t) * w->k;
            for (int32_t c = 0; c < w->k; c++)
                mgvi_two_feed(&hi[at + c], &lo[at + c], x, y[c]);
        }
    }
}

/* How many blocks of lines have sums of their own: those of wide data share one. */
static int64_t block_count(const mgvi_two_product *w)
{
    const int64_t wanted = mgvi_block_count(w->m.nnz, GRAIN, BLOCKS);
    return w->numbers * wanted <= w->m.nnz + GRAIN ? wanted : 1;
}

static void scatter(mgvi_two_product *w)
{
    w->blocks = block_count(w);
    mgvi_ctx_run(w->ctx, w->blocks, scatter_block, w);
    for (int64_t b = 1; b < w->blocks; b++)
        for (int64_t i = 0; i < w->numbers; i++) {
            const mgvi_two s = mgvi_two_sum(w->hi[i], w->hi[b * w->numbers + i]);
            w->hi[i] = s.hi;
            w->lo[i] += s.lo + w->lo[b * w->numbers + i];
        }
}

static void gather(mgvi_two_product *w)
{
    w->blocks = mgvi_block_count(w->m.nnz, GRAIN, BLOCKS);
    mgvi_ctx_run(w->ctx, w->blocks, gather_block, w);
}

int64_t mgvi_two_product_room(const mgvi_two_product *w)
{
    const int64_t sums = block_count(w) * w->numbers, lines = w->m.rows * w->k;
    return sums > lines ? sums : lines;
}

void mgvi_two_product_mul(mgvi_two_product *w) { w->by_columns ? scatter(w) : gather(w); }

void mgvi_two_product_mul_t(mgvi_two_product *w) { w->by_columns ? gather(w) : scatter(w); }
