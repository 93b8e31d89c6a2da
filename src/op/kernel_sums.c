/* kernel_sums.c - sums over kernel values that are not kept, and blocks of values between points of
 * few columns. There a value costs about as much to compute as to read from memory: d + 20
 * multiplications in a vector of eight, so that tiles of them are made where they are used. */
#include "op/points.h"

#include "base/limit.h"
#include "base/threads.h"
#include "simd/short_points.h"
#include "simd/simd.h"

#include <math.h>
#include <string.h>

enum {
    WIDTH = 128, /* points q of a tile, which lie by columns */
    MOST_VALUES = 1 << 22,
    COLUMN_BLOCK = 1024,
    PART = 1 << 13 /* points p between two looks, and of a block of values that are kept */
};

/* What becomes of the values: they go to `out`, or times c into `sums`. */
typedef struct short_job {
    mgv_ctx *ctx;
    const mgvi_kernel *kernel;
    const mgvi_point_list *q;
    int64_t d, count; /* columns; points p */
    mgvi_short_form form;
    const double *p;   /* count x d; product: divided by sigma2 */
    const double *own; /* -|p|^2 / (2 sigma2), square: 1 / (2 sigma2), root: 1 / sqrt(sigma2) */
    double *out;
    const double *c; /* outputs x count */
    double *sums;    /* outputs x ld */
    int64_t outputs, ld;
    int64_t parts; /* of the points p, of a tile; sums are over all of them, in order */
} short_job;

bool mgvi_kernel_is_short(const mgvi_kernel *k, const mgvi_points *p, const mgvi_points *q)
{
    return (k->kind == MGVI_KERNEL_RBF || k->kind == MGVI_KERNEL_LAPLACE) && !p->sparse &&
           !q->sparse && p->rows.cols == q->rows.cols && p->rows.cols <= MGVI_SHORT_COLUMNS;
}

double mgvi_point_expand(const mgvi_point_list *list, int64_t t, double *x)
{
    const mgvi_points *points = list->points;
    const mgvi_matrix *m = &points->rows;
    const int64_t i = mgvi_point_at(list, t);
    double square = 0;
    if (m->dtype == MGV_F64)
        memcpy(x, (const double *)m->val + i * m->row_stride, (size_t)m->cols * sizeof *x);
    else
        mgvi_points_expand(points, i, MGV_F64, x);
    for (int64_t j = 0; j < m->cols; j++)
        square += x[j] * x[j];
    return square;
}

/* The points t, ..., t + WIDTH - 1 of q by columns, and -|q|^2 / (2 sigma2); what is beyond the end
 * is 0. */
static int64_t fill_tile(const short_job *job, int64_t t, double *tile, double *b)
{
    const int64_t left = job->q->count - t, width = left < WIDTH ? left : WIDTH;
    double x[MGVI_SHORT_COLUMNS];
    if (width < WIDTH)
        memset(tile, 0, (size_t)(job->d * WIDTH) * sizeof *tile);
    memset(b, 0, WIDTH * sizeof *b);
    for (int64_t l = 0; l < width; l++) {
        const double square = mgvi_point_expand(job->q, t + l, x);
        b[l] = -square / (2 * job->kernel->sigma2);
        for (int64_t j = 0; j < job->d; j++)
            tile[j * WIDTH + l] = x[j];
    }
    return width;
}

static void short_block(void *arg, int64_t block)
{
    const short_job *job = arg;
    const mgvi_simd *simd = job->ctx->simd;
    double tile[MGVI_SHORT_COLUMNS * WIDTH], b[WIDTH], value[WIDTH];
    const int64_t t = block / job->parts * WIDTH, width = fill_tile(job, t, tile, b);
    const int64_t n = (width + MGVI_SHORT_GROUP - 1) / MGVI_SHORT_GROUP * MGVI_SHORT_GROUP;
    const int64_t part = block % job->parts,
                  end = mgvi_block_begin(job->count, job->parts, part + 1);
    for (int64_t s = mgvi_block_begin(job->count, job->parts, part); s < end; s++) {
        if (s % PART == PART - 1 && mgvi_ctx_cut(job->ctx))
            return;
        simd->short_points->values(job->p + s * job->d, job->d, tile, WIDTH, b, job->own[s],
                                   job->form, n, value);
        if (job->out)
            memcpy(job->out + s * job->ld + t, value, (size_t)width * sizeof *value);
        for (int64_t k = 0; k < job->outputs; k++)
            if (job->c[k * job->count + s] != 0)
                simd->axpy_f64(job->c[k * job->count + s], value, job->sums + k * job->ld + t,
                               width);
    }
}

bool mgvi_kernel_short_cancels(const mgvi_kernel *k, const mgvi_points *p, const mgvi_points *q)
{
    return k->kind == MGVI_KERNEL_RBF && p->longest + q->longest <= 2 * k->sigma2 * MGVI_SHORT_FAR;
}

static mgv_status run_short(short_job *job, const mgvi_point_list *p)
{
    const double sigma2 = job->kernel->sigma2;
    job->form = mgvi_kernel_short_cancels(job->kernel, p->points, job->q->points)
                    ? MGVI_SHORT_PRODUCT
                : job->kernel->kind == MGVI_KERNEL_RBF ? MGVI_SHORT_SQUARE
                                                       : MGVI_SHORT_ROOT;
    job->d = p->points->rows.cols;
    job->count = p->count;
    const size_t numbers = (size_t)(p->count * (job->d + 1));
    double *rows = mgvi_alloc(job->ctx, numbers, sizeof *rows);
    if (!rows)
        return MGV_E_MEMORY;
    double *own = rows + p->count * job->d;
    for (int64_t s = 0; s < p->count; s++) {
        double *x = rows + s * job->d;
        own[s] = -mgvi_point_expand(p, s, x) / (2 * sigma2);
        if (job->form != MGVI_SHORT_PRODUCT)
            own[s] = job->form == MGVI_SHORT_SQUARE ? 1 / (2 * sigma2) : 1 / sqrt(sigma2);
        for (int64_t j = 0; j < job->d && job->form == MGVI_SHORT_PRODUCT; j++)
            x[j] /= sigma2;
    }
    job->p = rows;
    job->own = own;
    job->parts = job->out ? (p->count + PART - 1) / PART : 1;
    mgvi_ctx_run(job->ctx, (job->q->count + WIDTH - 1) / WIDTH * job->parts, short_block, job);
    mgvi_release(job->ctx, rows);
    return MGV_OK;
}

mgv_status mgvi_kernel_short_block(mgv_ctx *ctx, const mgvi_kernel *kernel,
                                   const mgvi_point_list *p, const mgvi_point_list *q, double *out,
                                   int64_t ld)
{
    short_job job = {.ctx = ctx, .kernel = kernel, .q = q, .out = out, .ld = ld};
    return run_short(&job, p);
}

/* ---- other points: some values at a time ----------------------------------------------------- */

typedef struct add_job {
    const mgvi_simd *simd;
    const double *values, *c; /* count x width; outputs x count */
    double *sums;             /* outputs x ld */
    int64_t count, width, outputs, ld;
} add_job;

static void add_block(void *arg, int64_t block)
{
    const add_job *job = arg;
    const int64_t t = block * COLUMN_BLOCK;
    const int64_t width = job->width - t < COLUMN_BLOCK ? job->width - t : COLUMN_BLOCK;
    for (int64_t k = 0; k < job->outputs; k++)
        job->simd->dense_mul_t_f64(job->values + t, job->width, job->count, width,
                                   job->c + k * job->count, job->sums + k * job->ld + t);
}

mgv_status mgvi_kernel_sums(mgv_ctx *ctx, const mgvi_kernel *kernel, const mgvi_point_list *p,
                            const double *c, int64_t outputs, const mgvi_point_list *q,
                            double *sums, int64_t ld)
{
    mgv_status st = MGV_OK;
    if (p->count == 0 || q->count == 0)
        return MGV_OK;
    if (outputs == 1 && mgvi_kernel_is_short(kernel, p->points, q->points))
        return mgvi_kernel_short_sums(ctx, kernel, p, c, q, sums);
    if (mgvi_kernel_is_short(kernel, p->points, q->points)) {
        short_job job = {.ctx = ctx,
                         .kernel = kernel,
                         .q = q,
                         .c = c,
                         .sums = sums,
                         .outputs = outputs,
                         .ld = ld};
        return run_short(&job, p);
    }
    int64_t chunk = MOST_VALUES / p->count;
    chunk = chunk < 64 ? 64 : chunk > q->count ? q->count : chunk;
    double *values = mgvi_alloc(ctx, (size_t)(p->count * chunk), sizeof *values);
    if (!values)
        return MGV_E_MEMORY;
    for (int64_t t = 0; t < q->count && st == MGV_OK; t += chunk) {
        mgvi_point_list part = *q;
        part.index = q->index ? q->index + t : NULL;
        part.first = q->first + t;
        part.count = q->count - t < chunk ? q->count - t : chunk;
        st = mgvi_kernel_block(ctx, kernel, p, &part, MGV_F64, values, part.count);
        add_job job = {.simd = ctx->simd,
                       .values = values,
                       .c = c,
                       .sums = sums + t,
                       .count = p->count,
                       .width = part.count,
                       .outputs = outputs,
                       .ld = ld};
        if (st == MGV_OK)
            mgvi_ctx_run(ctx, (part.count + COLUMN_BLOCK - 1) / COLUMN_BLOCK, add_block, &job);
    }
    mgvi_release(ctx, values);
    return st;
}
