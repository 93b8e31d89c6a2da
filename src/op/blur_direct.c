/* blur_direct.c - convolution with a PSF that is the product of a column and a row, as Gaussians
 * and boxes are: one pass along the lines, one across them.
 *   y = Y X x,   A'u = X'Y'u
 * X and Y are bands: entry (i, source(i - t)) += tap_t for |t| <= reach. The transposed passes take
 * the same bands the other way, through lists of the positions that a pixel stands for. All lanes
 * of a pixel lie beside each other, so that every loop runs along contiguous numbers. */
#include "op/blur_lines.h"

#include "base/limit.h"
#include "base/memory.h"
#include "base/threads.h"

#include <assert.h>
#include <string.h>

typedef struct band {
    mgvi_line line;
    double *taps; /* 2 reach + 1, the middle is the origin */
} band;

typedef struct blur {
    mgvi_op op;
    band y, x;
    double *between; /* height x width x lanes: after the first pass */
    double *padded;  /* a line of every block, with its continuation, twice */
    int64_t blocks;
} blur;

typedef struct job {
    const blur *b;
    int64_t k;
    double alpha, beta;
    const double *in;
    double *out;
} job;

enum { GRAIN = 1 << 14, MOST_BLOCKS = 32 };

extern const mgvi_op_ops mgvi_operator_blur_direct;

/* out += tap * in */
static inline void add_line(double tap, const double *in, int64_t n, double *restrict out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] += tap * in[i];
}

static int64_t padded_size(const blur *b)
{
    return (b->x.line.size + 2 * b->x.line.reach) * (int64_t)b->op.lanes;
}

/* ---- along the lines --------------------------------------------------------------------------
 */

static void along_block(void *arg, int64_t block)
{
    const job *j = arg;
    const blur *b = j->b;
    const band *x = &b->x;
    const int64_t k = j->k, n = x->line.size * k, reach = x->line.reach;
    double *padded = b->padded + 2 * block * padded_size(b);
    MGVI_FOR_BLOCK (i, b->y.line.size, b->blocks, block) {
        const double *in = j->in + i * n;
        double *out = j->out + i * n;
        for (int64_t p = 0; p < x->line.size + 2 * reach; p++)
            memcpy(padded + p * k, in + x->line.source[p] * k, (size_t)k * sizeof *in);
        memset(out, 0, (size_t)n * sizeof *out);
        for (int64_t t = -reach; t <= reach; t++)
            add_line(x->taps[t + reach], padded + (reach - t) * k, n, out);
    }
}

/* g = alpha X'u + beta g: every position of the continued line gets its sum, then each pixel
 * collects the positions it stands for. */
static void along_t_block(void *arg, int64_t block)
{
    const job *j = arg;
    const blur *b = j->b;
    const band *x = &b->x;
    const int64_t k = j->k, n = x->line.size * k, reach = x->line.reach;
    double *padded = b->padded + 2 * block * padded_size(b), *folded = padded + padded_size(b);
    MGVI_FOR_BLOCK (i, b->y.line.size, b->blocks, block) {
        memset(padded, 0, (size_t)(n + 2 * reach * k) * sizeof *padded);
        for (int64_t t = -reach; t <= reach; t++)
            add_line(x->taps[t + reach], j->in + i * n, n, padded + (reach - t) * k);
        memcpy(folded, padded + reach * k, (size_t)n * sizeof *folded);
        for (int64_t p = 0; p < x->line.size + 2 * reach; p++)
            if (p < reach || p >= reach + x->line.size)
                add_line(1, padded + p * k, k, folded + x->line.source[p] * k);
        double *out = j->out + i * n;
        for (int64_t p = 0; p < n; p++)
            out[p] = j->alpha * folded[p] + (j->beta == 0 ? 0 : j->beta * out[p]);
    }
}

/* ---- across the lines -------------------------------------------------------------------------
 */

static void start_line(const job *j, int64_t n, double *out)
{
    if (j->beta == 0)
        memset(out, 0, (size_t)n * sizeof *out);
    else
        for (int64_t p = 0; p < n; p++)
            out[p] *= j->beta;
}

static void across_block(void *arg, int64_t block)
{
    const job *j = arg;
    const band *y = &j->b->y;
    const int64_t n = j->b->x.line.size * j->k;
    MGVI_FOR_BLOCK (i, j->b->y.line.size, j->b->blocks, block) {
        double *out = j->out + i * n;
        start_line(j, n, out);
        for (int64_t t = -y->line.reach; t <= y->line.reach; t++)
            add_line(j->alpha * y->taps[t + y->line.reach],
                     j->in + y->line.source[i - t + y->line.reach] * n, n, out);
    }
}

static void across_t_block(void *arg, int64_t block)
{
    const job *j = arg;
    const band *y = &j->b->y;
    const int64_t n = j->b->x.line.size * j->k;
    MGVI_FOR_BLOCK (i, j->b->y.line.size, j->b->blocks, block) {
        double *out = j->out + i * n;
        memset(out, 0, (size_t)n * sizeof *out);
        for (int64_t at = y->line.first[i]; at < y->line.first[i + 1]; at++) {
            const int64_t p =
                y->line.position[at] - y->line.reach; /* row r reads it with tap r - p */
            const int64_t from = p - y->line.reach > 0 ? p - y->line.reach : 0,
                          to = p + y->line.reach < y->line.size - 1 ? p + y->line.reach
                                                                    : y->line.size - 1;
            for (int64_t r = from; r <= to; r++)
                add_line(y->taps[r - p + y->line.reach], j->in + r * n, n, out);
        }
    }
}

/* ---- the operator -----------------------------------------------------------------------------
 */

static void direct_mul(mgvi_op *op, double alpha, const mgvi_vec *x, double beta, mgvi_vec *y)
{
    blur *b = (blur *)op;
    assert(x->k == y->k && x->n == op->cols && y->n == op->rows);
    job first = {.b = b, .k = x->k, .in = x->x, .out = b->between};
    job second = {.b = b, .k = x->k, .alpha = alpha, .beta = beta, .in = b->between, .out = y->x};
    mgvi_ctx_run(op->ctx, b->blocks, along_block, &first);
    mgvi_ctx_run(op->ctx, b->blocks, across_block, &second);
    op->touched += (double)op->nnz;
}

static void direct_mul_t(mgvi_op *op, double alpha, const mgvi_vec *u, double beta, mgvi_vec *g)
{
    blur *b = (blur *)op;
    assert(u->k == g->k && g->n == op->cols && u->n == op->rows);
    job first = {.b = b, .k = u->k, .in = u->x, .out = b->between};
    job second = {.b = b, .k = u->k, .alpha = alpha, .beta = beta, .in = b->between, .out = g->x};
    mgvi_ctx_run(op->ctx, b->blocks, across_t_block, &first);
    mgvi_ctx_run(op->ctx, b->blocks, along_t_block, &second);
    op->touched += (double)op->nnz;
}

static void free_band(mgv_ctx *ctx, band *b)
{
    mgvi_line_free(ctx, &b->line);
    mgvi_release(ctx, b->taps);
}

static void direct_free(mgvi_op *op)
{
    blur *b = (blur *)op;
    mgv_ctx *ctx = op->ctx;
    free_band(ctx, &b->y);
    free_band(ctx, &b->x);
    mgvi_release(ctx, b->between);
    mgvi_release(ctx, b->padded);
    mgvi_release(ctx, b);
}

const mgvi_op_ops mgvi_operator_blur_direct = {
    .name = "blur_direct",
    .summary = "the same for a product of a column and a row, in two passes",
    .can = MGVI_MUL | MGVI_MUL_T,
    .mul = direct_mul,
    .mul_t = direct_mul_t,
    .free = direct_free,
};

static mgv_status make_band(mgv_ctx *ctx, int64_t size, const double *taps, int64_t count,
                            mgvi_edges edges, band *out)
{
    if (!(out->taps = mgvi_dup(ctx, taps, (size_t)count, sizeof *taps)))
        return MGV_E_MEMORY;
    return mgvi_line_new(ctx, size, count / 2, edges, &out->line);
}

mgv_status mgvi_op_blur_direct(mgv_ctx *ctx, int64_t height, int64_t width, const double *column,
                               int64_t psf_height, const double *row, int64_t psf_width,
                               mgvi_edges edges, int32_t lanes, mgvi_op **out)
{
    mgv_status st;
    const int64_t n = height * width;
    blur *b = mgvi_new(ctx, sizeof *b);
    *out = NULL;
    if (!b)
        return MGV_E_MEMORY;
    b->op = (mgvi_op){.ops = &mgvi_operator_blur_direct,
                      .ctx = ctx,
                      .rows = n,
                      .cols = n,
                      .nnz = n,
                      .lanes = lanes};
    MGVI_CHECK(st, fail, make_band(ctx, height, column, psf_height, edges, &b->y));
    MGVI_CHECK(st, fail, make_band(ctx, width, row, psf_width, edges, &b->x));
    b->blocks = mgvi_block_count(n * lanes, GRAIN, MOST_BLOCKS);
    b->blocks = b->blocks < height ? b->blocks : height;
    b->between = mgvi_alloc(ctx, (size_t)n, (size_t)lanes * sizeof *b->between);
    b->padded =
        mgvi_alloc(ctx, (size_t)(2 * b->blocks), (size_t)padded_size(b) * sizeof *b->padded);
    if (b->between && b->padded) {
        *out = &b->op;
        return MGV_OK;
    }
    st = MGV_E_MEMORY;
fail:
    mgvi_op_free(&b->op);
    return st;
}
