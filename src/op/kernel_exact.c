/* kernel_exact.c - float64 sums beside float32 rows, and only where they are needed.
 *
 * A float32 kernel value is off by no more than a factor e^d: with u = 2^-24, the inner product's
 * sums of at most 384 products at a time, pieces of them and the rounding of the data,
 *   |k32 - k| <= 1.01 k32 d,   d = g (|p| + |q|)^2 / (2 sigma2) + 8 u,
 *   g = (min(cols, 384) + cols / 384 + 8) u                                                    (3)
 * (Cauchy for sum |p_j q_j|; the two halves of (|p| + |q|)^2 cover the rounding of |p|^2 and
 * |q|^2). So with weights |c_i|, |c_i| |p_i|, |c_i| |p_i|^2 beside c_i the same pass over the rows
 * bounds the error of every sum,
 *   e_q = 1.01 ((T0 |q|^2 + 2 T1 |q| + T2) g / (2 sigma2) + 8 u T0),   T = sum_i weight_i k32  (4)
 * and only sums below 1 + e_q are computed again in float64. Values below e^-87 are that: sums at
 * least 1 are not made of them. */
#include "op/kernel_impl.h"

#include "base/limit.h"
#include "simd/simd.h"

#include <math.h>
#include <string.h>

enum { LANES = 4, COLUMN_BLOCK = 512, DEPTH = 384, SQUARE_TILE = 512 };
static const double UNIT = 0x1p-24;

/* ---- float64 --------------------------------------------------------------------------------- */

mgv_status mgvi_kernel_exact_sums(mgvi_kernel_op *k, const mgvi_point_list *q, int64_t count,
                                  const double *c, double *sums)
{
    const mgvi_point_list p = {.points = k->points, .index = k->support, .count = count};
    double *own = mgvi_alloc(k->op.ctx, (size_t)count + 1, sizeof *own);
    if (!own)
        return MGV_E_MEMORY;
    for (int64_t s = 0; s < count; s++)
        own[s] = c[k->support[s]];
    const mgv_status st = mgvi_kernel_sums(k->op.ctx, &k->kernel, &p, own, 1, q, sums, q->count);
    k->op.touched += (double)count * (double)q->count;
    mgvi_release(k->op.ctx, own);
    return st;
}

mgv_status mgvi_kernel_exact_add(mgvi_kernel_op *k, const int64_t *rows, int64_t count,
                                 const double *c, double *f)
{
    const mgvi_point_list p = {.points = k->points, .index = rows, .count = count};
    const mgvi_point_list all = {.points = k->points, .count = k->op.rows};
    if (mgvi_kernel_add_kept(k, rows, count, c, f))
        return mgvi_ctx_whole(k->op.ctx);
    k->op.touched += (double)count * (double)k->op.rows;
    MGVI_TRY(mgvi_kernel_sums(k->op.ctx, &k->kernel, &p, c, 1, &all, f, k->op.rows));
    return mgvi_ctx_whole(k->op.ctx);
}

/* c'K c over the upper triangle of the support's block, a tile of columns at a time. */
double mgvi_kernel_exact_square(mgvi_kernel_op *k, const double *c)
{
    mgv_ctx *ctx = k->op.ctx;
    const int64_t count = mgvi_kernel_support(k, c);
    double *values = mgvi_alloc(ctx, (size_t)(count > 0 ? count : 1) * SQUARE_TILE, sizeof *values);
    mgv_status st = values ? MGV_OK : MGV_E_MEMORY;
    double sum = 0;
    for (int64_t t = 0; t < count && st == MGV_OK; t += SQUARE_TILE) {
        const int64_t width = count - t < SQUARE_TILE ? count - t : SQUARE_TILE;
        const mgvi_point_list p = {.points = k->points, .index = k->support, .count = t + width};
        const mgvi_point_list q = {.points = k->points, .index = k->support + t, .count = width};
        st = mgvi_kernel_block(ctx, &k->kernel, &p, &q, MGV_F64, values, width);
        for (int64_t s = 0; s < t + width && st == MGV_OK; s++) {
            double row = 0;
            for (int64_t r = s > t ? s - t : 0; r < width; r++)
                row += (s == t + r ? 1 : 2) * c[k->support[t + r]] * values[s * width + r];
            sum += c[k->support[s]] * row;
        }
    }
    k->op.touched += 0.5 * (double)count * (double)count;
    mgvi_release(ctx, values);
    if (st != MGV_OK)
        k->op.failed = st;
    return st == MGV_OK ? fmax(sum, 0) : NAN;
}

/* ---- float32 with its error ------------------------------------------------------------------ */

typedef struct lane_job {
    const mgvi_kernel_op *k;
    const double *weight; /* per slot, LANES each */
    double *sums;         /* per row, LANES each */
} lane_job;

static void lane_block(void *arg, int64_t block)
{
    const lane_job *job = arg;
    const mgvi_kernel_op *k = job->k;
    const int64_t n = k->op.rows, j = block * COLUMN_BLOCK;
    const int64_t width = n - j < COLUMN_BLOCK ? n - j : COLUMN_BLOCK;
    for (int64_t s = 0; s < k->used; s += k->tile_rows) {
        const int64_t rows = k->used - s < k->tile_rows ? k->used - s : k->tile_rows;
        k->op.ctx->simd->dense_mul_t_k_f32((const float *)mgvi_kernel_slot(k, s) + j, n, rows,
                                           width, LANES, job->weight + s * LANES,
                                           job->sums + j * LANES);
    }
}

/* c, |c|, |c| |p|, |c| |p|^2 of every row kept */
static void fill_weights(const mgvi_kernel_op *k, const double *c, double *weight)
{
    for (int64_t s = 0; s < k->used; s++) {
        const int64_t i = k->owner[s];
        const double size = fabs(c[i]), square = k->points->square[i];
        weight[s * LANES] = c[i];
        weight[s * LANES + 1] = size;
        weight[s * LANES + 2] = size * sqrt(square);
        weight[s * LANES + 3] = size * square;
    }
}

/* g of (3) */
static double growth(const mgvi_kernel_op *k)
{
    const double cols = (double)k->points->rows.cols;
    return (fmin(cols, DEPTH) + ceil(cols / DEPTH) + 8) * UNIT;
}

/* (4) */
static double error_of(const mgvi_kernel_op *k, int64_t i, const double *sum)
{
    const double square = k->points->square[i];
    const double spread = sum[1] * square + 2 * sum[2] * sqrt(square) + sum[3];
    return 1.01 * (spread * growth(k) / (2 * k->kernel.sigma2) + 8 * UNIT * sum[1]);
}

/* y = the lower ends; the rows below 1 are listed in `near`. */
static int64_t lower_ends(const mgvi_kernel_op *k, double b, const double *sums, double *y,
                          int64_t *near)
{
    int64_t count = 0;
    for (int64_t i = 0; i < k->op.rows; i++) {
        const double sign = mgvi_view_sign(&k->view, i);
        y[i] = sign * (sums[i * LANES] + b) - error_of(k, i, sums + i * LANES);
        if (!(y[i] >= 1))
            near[count++] = i;
    }
    return count;
}

/* The rows in `near` again in float64. */
static mgv_status sharpen(mgvi_kernel_op *k, const mgvi_vec *x, int64_t support,
                          const int64_t *near, int64_t count, double *y)
{
    const double b = k->view.intercept ? x->x[k->op.rows] : 0;
    double *exact = mgvi_zeros(k->op.ctx, (size_t)count + 1, sizeof *exact);
    if (!exact)
        return MGV_E_MEMORY;
    const mgvi_point_list q = {.points = k->points, .index = near, .count = count};
    const mgv_status st = mgvi_kernel_exact_sums(k, &q, support, x->x, exact);
    for (int64_t t = 0; t < count; t++) {
        const int64_t i = near[t];
        k->work[i] = exact[t];
        y[i] = mgvi_view_sign(&k->view, i) * (exact[t] + b);
    }
    mgvi_release(k->op.ctx, exact);
    return st;
}

/* What a float64 product would have left behind, where the support's sums are all exact. */
static void remember_support(mgvi_kernel_op *k, const double *c, const double *sums)
{
    for (int64_t i = 0; i < k->op.rows; i++)
        if (isnan(k->work[i])) {
            if (c[i] != 0)
                return;
            k->work[i] = sums[i * LANES];
        }
    mgvi_kernel_remember(k, c, 1, k->work);
}

static mgv_status low_product(mgvi_kernel_op *k, const mgvi_vec *x, int64_t support, mgvi_vec *y)
{
    mgv_ctx *ctx = k->op.ctx;
    const int64_t n = k->op.rows;
    const double b = k->view.intercept ? x->x[n] : 0;
    double *sums = mgvi_zeros(ctx, (size_t)n, LANES * sizeof *sums);
    double *weight = mgvi_alloc(ctx, (size_t)k->used + 1, LANES * sizeof *weight);
    int64_t *near = mgvi_alloc(ctx, (size_t)n, sizeof *near);
    mgv_status st = sums && weight && near ? MGV_OK : MGV_E_MEMORY;
    if (st == MGV_OK) {
        lane_job job = {.k = k, .weight = weight, .sums = sums};
        fill_weights(k, x->x, weight);
        mgvi_ctx_run(ctx, (n + COLUMN_BLOCK - 1) / COLUMN_BLOCK, lane_block, &job);
        k->op.touched += (double)support * (double)n;
        for (int64_t i = 0; i < n; i++)
            k->work[i] = NAN;
        const int64_t count = lower_ends(k, b, sums, y->x, near);
        st = sharpen(k, x, support, near, count, y->x);
    }
    if (st == MGV_OK)
        remember_support(k, x->x, sums);
    mgvi_release(ctx, near);
    mgvi_release(ctx, weight);
    mgvi_release(ctx, sums);
    return st;
}

/* (3) holds for d <= 0.02, of which e^d - 1 is at most 1.01 d. */
static bool is_bounded(const mgvi_kernel_op *k)
{
    return k->fast == MGV_F32 && k->kernel.kind == MGVI_KERNEL_RBF &&
           growth(k) * 4 * k->points->longest / (2 * k->kernel.sigma2) + 8 * UNIT <= 0.02;
}

void mgvi_kernel_mul_low(mgvi_op *op, const mgvi_vec *x, mgvi_vec *y)
{
    mgvi_kernel_op *k = (mgvi_kernel_op *)op;
    const bool bounded = is_bounded(k);
    const int64_t support = bounded ? mgvi_kernel_support(k, x->x) : 0;
    if (!bounded || !mgvi_kernel_fetch(k, k->support, support)) {
        mgvi_op_mul(op, 1, x, 0, y);
        return;
    }
    if (low_product(k, x, support, y) != MGV_OK) {
        op->failed = MGV_E_MEMORY;
        for (int64_t i = 0; i < op->rows; i++)
            y->x[i] = NAN;
    }
}
