/* kernel_block.c - blocks of kernel values: inner products of all pairs, then the kernel's map.
 * With g = p.q / sigma2,
 *   rbf, laplace:  s = g - |p|^2 / (2 sigma2) - |q|^2 / (2 sigma2) = -|p - q|^2 / (2 sigma2)      (2)
 *                  exp(s), exp(-sqrt(-2 s))
 *   poly:          (g + offset)^degree
 * Dense points go through a matrix product; where a side is sparse, or p has few points, some of
 * them are laid side by side as columns and the rows of q run over them. */
#include "op/kernel_origin.h"
#include "op/points.h"
#include "op/poly_map.h"

#include "base/limit.h"
#include "base/threads.h"
#include "linalg/gemm.h"
#include "simd/simd.h"

#include <math.h>
#include <string.h>

enum {
    MAP_GRAIN = 1 << 14, /* values a task maps */
    MAP_AT_ONCE = 512,
    POLY_AT_ONCE = 64,
    MOST_TASKS = 64,
    TILE_BYTES = 1 << 22, /* of points laid side by side */
    MOST_LANES = 64,
    ROWS_AT_ONCE = 64, /* of q */
    NARROW = 512,
    FEW = 3 /* points of p for which a matrix product is not worth its preparations */
};

typedef struct block_job {
    mgv_ctx *ctx;
    const mgvi_kernel *kernel;
    const mgvi_point_list *p, *q;
    mgv_dtype dtype;
    char *out;
    int64_t ld, tasks;
    void *shift;               /* -|q|^2 / (2 sigma2), of the type; NULL: not needed */
    double *along;             /* o.q / sigma2, from an origin; NULL: not needed */
    bool apart;                /* (2) may cancel: see map_apart */
    const double *p_square;    /* |p|^2 */
    const double *tile;        /* sparse: cols x lanes */
    int64_t cols, lanes, from; /* of p, in this tile */
    void *gathered;            /* rows being collected */
    const mgvi_point_list *gathering;
    double *square;
} block_job;

static size_t type_size(const block_job *job) { return mgvi_dtype_size(job->dtype); }

static bool uses_distance(const mgvi_kernel *k) { return mgvi_kernel_of_differences(k->kind); }

/* What inner products are multiplied by before the map. */
static double product_scale(const mgvi_kernel *k)
{
    return k->kind == MGVI_KERNEL_LINEAR ? 1 : 1 / k->sigma2;
}

static double power_of(double x, int degree)
{
    double y = 1;
    for (; degree > 0; degree >>= 1, x *= x)
        if (degree & 1)
            y *= x;
    return y;
}

double mgvi_kernel_self(const mgvi_kernel *k, const mgvi_points *points, int64_t i)
{
    if (uses_distance(k))
        return 1;
    if (k->kind == MGVI_KERNEL_PRECOMPUTED)
        return mgvi_matrix_value(&points->rows, i * points->rows.row_stride + i);
    const double g = points->square[i] * product_scale(k);
    if (k->origin != MGVI_ORIGIN_NONE) {
        const double along = mgvi_point_along(k, points, i);
        return mgvi_poly_from_origin(k->degree, mgvi_points_origin(k, points), along, along, g);
    }
    return k->kind == MGVI_KERNEL_POLY ? power_of(g + k->offset, k->degree) : g;
}

double mgvi_kernel_size(const mgvi_kernel *k, const mgvi_points *points, int64_t i, double self)
{
    if (k->origin == MGVI_ORIGIN_NONE)
        return sqrt(fmax(self, 0));
    const double g = sqrt(mgvi_points_origin(k, points)), a = sqrt(points->square[i] / k->sigma2);
    double power = 1, h = 0;
    for (int m = 0; m < k->degree; m++) {
        h = (g + a) * h + a * power;
        power *= g;
    }
    return h;
}

/* ---- the map --------------------------------------------------------------------------------- */

/* (24) of p_s and `count` points of q from t on, whose inner products `s` holds. */
static void poly_from_origin(const block_job *job, int64_t row, int64_t t, int64_t count, double *s)
{
    const mgvi_points *points = job->p->points;
    const double p = mgvi_point_along(job->kernel, points, mgvi_point_at(job->p, row));
    job->ctx->simd->poly->map(job->kernel->degree, mgvi_points_origin(job->kernel, points), p,
                              job->along + t, s, count);
}

#define DEFINE_MAP(T, S)                                                                           \
    static void map_row_##S(const block_job *job, int64_t s, T *row)                               \
    {                                                                                              \
        const mgvi_kernel *k = job->kernel;                                                        \
        const int64_t n = job->q->count;                                                           \
        const mgvi_simd *simd = job->ctx->simd;                                                    \
        if (uses_distance(k)) {                                                                    \
            const T own = (T)(-job->p_square[s] / (2 * k->sigma2));                                \
            (k->kind == MGVI_KERNEL_RBF ? simd->exp_shift_##S                                      \
                                        : simd->exp_root_##S)(row, job->shift, own, n);            \
        } else if (k->kind == MGVI_KERNEL_POLY && k->origin == MGVI_ORIGIN_NONE) {                 \
            for (int64_t t = 0; t < n; t++)                                                        \
                row[t] = (T)power_of((double)row[t] + k->offset, k->degree);                       \
        } else if (k->kind == MGVI_KERNEL_POLY) {                                                  \
            for (int64_t t = 0; t < n; t += POLY_AT_ONCE) {                                        \
                const int64_t count = n - t < POLY_AT_ONCE ? n - t : POLY_AT_ONCE;                 \
                double x[POLY_AT_ONCE] = {0};                                                      \
                for (int64_t l = 0; l < count; l++)                                                \
                    x[l] = (double)row[t + l];                                                     \
                poly_from_origin(job, s, t, count, x);                                             \
                for (int64_t l = 0; l < count; l++)                                                \
                    row[t + l] = (T)x[l];                                                          \
            }                                                                                      \
        }                                                                                          \
    }
DEFINE_MAP(float, f32)
DEFINE_MAP(double, f64)

/* Of `width` values of p_s from t on, those whose (2) has lost too much in cancellation: s = x +
 * own
 * + b with |own + b| large, or s near 0 under a root. exp(-40) is a thirtieth of 2^-53. */
static int64_t find_near(const block_job *job, double own, int64_t t, int64_t width,
                         const double *x, int64_t *near)
{
    const double *b = (const double *)job->shift + t;
    const bool root = job->kernel->kind == MGVI_KERNEL_LAPLACE;
    int64_t count = 0;
    for (int64_t l = 0; l < width; l++) {
        const double size = -(own + b[l]), s = x[l] - size;
        near[count] = t + l;
        count += root ? s > -MGVI_KERNEL_NEAR * size
                      : size > MGVI_KERNEL_FAR && s > -40 - 0x1p-20 * size;
    }
    return count;
}

/* The map, then those values again from differences of entries. */
static void map_apart(const block_job *job, int64_t s, double *row)
{
    const mgvi_kernel *k = job->kernel;
    const mgvi_simd *simd = job->ctx->simd;
    const bool root = k->kind == MGVI_KERNEL_LAPLACE;
    const double own = -job->p_square[s] / (2 * k->sigma2), *b = job->shift;
    int64_t near[MAP_AT_ONCE];
    for (int64_t t = 0; t < job->q->count; t += MAP_AT_ONCE) {
        const int64_t left = job->q->count - t, width = left < MAP_AT_ONCE ? left : MAP_AT_ONCE;
        const int64_t count = find_near(job, own, t, width, row + t, near);
        (root ? simd->exp_root_f64 : simd->exp_shift_f64)(row + t, b + t, own, width);
        for (int64_t c = 0; c < count; c++) {
            const double square =
                mgvi_point_distance(job->p->points, mgvi_point_at(job->p, s), job->q->points,
                                    mgvi_point_at(job->q, near[c])) /
                k->sigma2;
            row[near[c]] = exp(root ? -sqrt(square) : -square / 2);
        }
    }
}

/* float32 values have an error that is measured where it matters (kernel_exact.c). */
static bool may_cancel(const block_job *job)
{
    const double size = job->p->points->longest + job->q->points->longest;
    return job->dtype == MGV_F64 && uses_distance(job->kernel) &&
           (job->kernel->kind == MGVI_KERNEL_LAPLACE ||
            size > 2 * job->kernel->sigma2 * MGVI_KERNEL_FAR);
}

static void map_task(void *arg, int64_t task)
{
    const block_job *job = arg;
    MGVI_FOR_BLOCK (s, job->p->count, job->tasks, task) {
        char *row = job->out + (size_t)(s * job->ld) * type_size(job);
        if (job->dtype == MGV_F32)
            map_row_f32(job, s, (float *)row);
        else if (job->apart)
            map_apart(job, s, (double *)row);
        else
            map_row_f64(job, s, (double *)row);
    }
}

static void map_values(block_job *job)
{
    job->tasks = mgvi_block_count(job->p->count * job->q->count, MAP_GRAIN, MOST_TASKS);
    job->apart = may_cancel(job);
    mgvi_ctx_run(job->ctx, job->tasks, map_task, job);
}

/* ---- dense points ---------------------------------------------------------------------------- */

static void gather_task(void *arg, int64_t task)
{
    const block_job *job = arg;
    const mgvi_point_list *list = job->gathering;
    const mgvi_matrix *m = &list->points->rows;
    const size_t row = (size_t)job->cols * type_size(job);
    MGVI_FOR_BLOCK (t, list->count, job->tasks, task) {
        char *to = (char *)job->gathered + (size_t)t * row;
        const int64_t i = mgvi_point_at(list, t);
        if (m->dtype == job->dtype)
            memcpy(to, (const char *)m->val + (size_t)(i * m->row_stride) * type_size(job), row);
        else
            mgvi_points_expand(list->points, i, job->dtype, to);
        if (m->dtype == job->dtype) {
            job->square[t] = list->points->square[i];
            continue;
        }
        double sum = 0;
        for (int64_t j = 0; j < job->cols; j++) {
            const double x = job->dtype == MGV_F32 ? (double)((float *)to)[j] : ((double *)to)[j];
            sum += x * x;
        }
        job->square[t] = sum;
    }
}

/* The list's rows side by side; *rows is where they lie, *owned what to free. */
static mgv_status gather(block_job *job, const mgvi_point_list *list, double *square,
                         const void **rows, int64_t *stride, void **owned)
{
    const mgvi_points *points = list->points;
    *owned = NULL;
    if (!list->index && points->rows.dtype == job->dtype) {
        *rows = (const char *)points->rows.val +
                (size_t)(list->first * points->rows.row_stride) * type_size(job);
        *stride = points->rows.row_stride;
        memcpy(square, points->square + list->first, (size_t)list->count * sizeof *square);
        return MGV_OK;
    }
    job->gathered = *owned =
        mgvi_alloc(job->ctx, (size_t)(list->count * job->cols), type_size(job));
    if (!*owned)
        return MGV_E_MEMORY;
    job->gathering = list;
    job->square = square;
    job->tasks = mgvi_block_count(list->count * job->cols, MAP_GRAIN, MOST_TASKS);
    mgvi_ctx_run(job->ctx, job->tasks, gather_task, job);
    *rows = *owned;
    *stride = job->cols;
    return MGV_OK;
}

static mgv_status multiply_dense(block_job *job, double *p_square, double *q_square)
{
    const void *a, *b;
    void *own_a = NULL, *own_b = NULL;
    mgvi_gemm_shape shape = {.m = job->p->count,
                             .n = job->q->count,
                             .k = job->cols,
                             .transpose_b = true,
                             .ldc = job->ld};
    mgv_status st = gather(job, job->p, p_square, &a, &shape.lda, &own_a);
    if (st == MGV_OK)
        st = gather(job, job->q, q_square, &b, &shape.ldb, &own_b);
    const double scale = product_scale(job->kernel);
    if (st == MGV_OK && job->dtype == MGV_F32)
        st = mgvi_gemm_f32(job->ctx, &shape, (float)scale, a, b, 0, (float *)job->out);
    else if (st == MGV_OK)
        st = mgvi_gemm_f64(job->ctx, &shape, scale, a, b, 0, (double *)job->out);
    mgvi_release(job->ctx, own_b);
    mgvi_release(job->ctx, own_a);
    return st;
}

/* ---- where a side is sparse or short --------------------------------------------------------- */

/* y = rows i.. of m (count of them) times the tile. */
static void rows_times_tile(const block_job *job, const mgvi_matrix *m, int64_t i, int64_t count,
                            double *y)
{
    const mgvi_simd *simd = job->ctx->simd;
    const int32_t k = (int32_t)job->lanes;
    const float *v32 = m->val;
    const double *v64 = m->val;
    if (m->layout != MGV_DENSE && m->dtype == MGV_F32)
        simd->csr_mul_k_f32(v32, m->idx, m->ptr + i, count, k, job->tile, y);
    else if (m->layout != MGV_DENSE)
        simd->csr_mul_k_f64(v64, m->idx, m->ptr + i, count, k, job->tile, y);
    else if (m->dtype == MGV_F32)
        simd->dense_mul_k_f32(v32 + i * m->row_stride, m->row_stride, count, job->cols, k,
                              job->tile, y);
    else
        simd->dense_mul_k_f64(v64 + i * m->row_stride, m->row_stride, count, job->cols, k,
                              job->tile, y);
}

static void tile_task(void *arg, int64_t task)
{
    const block_job *job = arg;
    const mgvi_point_list *q = job->q;
    const double scale = product_scale(job->kernel);
    double y[ROWS_AT_ONCE * MOST_LANES];
    const int64_t end = mgvi_block_begin(q->count, job->tasks, task + 1);
    for (int64_t t = mgvi_block_begin(q->count, job->tasks, task); t < end;) {
        int64_t count = end - t < ROWS_AT_ONCE ? end - t : ROWS_AT_ONCE;
        count = q->index ? 1 : count;
        rows_times_tile(job, &q->points->rows, mgvi_point_at(q, t), count, y);
        for (int64_t l = 0; l < job->lanes; l++) {
            char *row = job->out + (size_t)((job->from + l) * job->ld + t) * type_size(job);
            for (int64_t r = 0; r < count; r++) {
                const double g = scale * y[r * job->lanes + l];
                if (job->dtype == MGV_F32)
                    ((float *)row)[r] = (float)g;
                else
                    ((double *)row)[r] = g;
            }
        }
        t += count;
    }
}

/* tile[j*lanes + l] = entry j of p's point from + l */
static void fill_tile(const block_job *job, double *tile)
{
    const mgvi_matrix *m = &job->p->points->rows;
    memset(tile, 0, (size_t)(job->cols * job->lanes) * sizeof *tile);
    for (int64_t l = 0; l < job->lanes; l++) {
        const int64_t i = mgvi_point_at(job->p, job->from + l);
        const bool sparse = m->layout != MGV_DENSE;
        const int64_t first = sparse ? m->ptr[i] : i * m->row_stride;
        const int64_t count = sparse ? m->ptr[i + 1] - first : m->cols;
        for (int64_t t = 0; t < count; t++) {
            const int64_t j = sparse ? m->idx[first + t] : t;
            if (j < job->cols)
                tile[j * job->lanes + l] = mgvi_matrix_value(m, first + t);
        }
    }
}

static void list_squares(const block_job *job, double *p_square, double *q_square)
{
    for (int64_t s = 0; s < job->p->count; s++)
        p_square[s] = job->p->points->square[mgvi_point_at(job->p, s)];
    for (int64_t t = 0; t < job->q->count; t++)
        q_square[t] = job->q->points->square[mgvi_point_at(job->q, t)];
}

/* The tile is as wide as q, whose rows run over it; p may be narrower or wider. */
static mgv_status multiply_lanes(block_job *job, double *p_square, double *q_square)
{
    const int64_t width = job->cols = job->q->points->rows.cols;
    int64_t lanes = TILE_BYTES / (8 * (width > 0 ? width : 1));
    lanes = lanes < 4 ? 4 : lanes > MOST_LANES ? MOST_LANES : lanes;
    double *tile = mgvi_alloc(job->ctx, (size_t)(width * lanes) + 1, sizeof *tile);
    if (!tile)
        return MGV_E_MEMORY;
    list_squares(job, p_square, q_square);
    job->tile = tile;
    for (job->from = 0; job->from < job->p->count; job->from += job->lanes) {
        job->lanes = job->p->count - job->from < lanes ? job->p->count - job->from : lanes;
        fill_tile(job, tile);
        job->tasks = mgvi_block_count(job->q->count * job->lanes, MAP_GRAIN / 16, MOST_TASKS);
        mgvi_ctx_run(job->ctx, job->tasks, tile_task, job);
    }
    mgvi_release(job->ctx, tile);
    return MGV_OK;
}

/* Sparse points of so many columns that a tile of them would leave the second cache. */
static bool is_wide(const block_job *job)
{
    return job->p->points->sparse && job->q->points->sparse && job->cols > NARROW;
}

static mgv_status multiply_sparse(block_job *job, double *p_square, double *q_square)
{
    list_squares(job, p_square, q_square);
    return mgvi_sparse_products(job->ctx, job->p, job->q, product_scale(job->kernel), job->dtype,
                                job->out, job->ld);
}

/* ---- a block --------------------------------------------------------------------------------- */

/* The matrix of the points is the kernel itself. */
static void copy_precomputed(const block_job *job)
{
    const mgvi_matrix *m = &job->p->points->rows;
    for (int64_t s = 0; s < job->p->count; s++)
        for (int64_t t = 0; t < job->q->count; t++) {
            const double x = mgvi_matrix_value(m, mgvi_point_at(job->p, s) * m->row_stride +
                                                      mgvi_point_at(job->q, t) * m->col_stride);
            if (job->dtype == MGV_F32)
                ((float *)job->out)[s * job->ld + t] = (float)x;
            else
                ((double *)job->out)[s * job->ld + t] = x;
        }
}

static mgv_status set_along(block_job *job)
{
    job->along = mgvi_alloc(job->ctx, (size_t)job->q->count, sizeof *job->along);
    if (!job->along)
        return MGV_E_MEMORY;
    for (int64_t t = 0; t < job->q->count; t++)
        job->along[t] = mgvi_point_along(job->kernel, job->q->points, mgvi_point_at(job->q, t));
    return MGV_OK;
}

static mgv_status set_shift(block_job *job, const double *q_square)
{
    const double factor = -1 / (2 * job->kernel->sigma2);
    if (job->kernel->origin != MGVI_ORIGIN_NONE)
        return set_along(job);
    if (!uses_distance(job->kernel))
        return MGV_OK;
    job->shift = mgvi_alloc(job->ctx, (size_t)job->q->count, type_size(job));
    if (!job->shift)
        return MGV_E_MEMORY;
    for (int64_t t = 0; t < job->q->count; t++) {
        if (job->dtype == MGV_F32)
            ((float *)job->shift)[t] = (float)(factor * q_square[t]);
        else
            ((double *)job->shift)[t] = factor * q_square[t];
    }
    return MGV_OK;
}

mgv_status mgvi_kernel_block(mgv_ctx *ctx, const mgvi_kernel *kernel, const mgvi_point_list *p,
                             const mgvi_point_list *q, mgv_dtype dtype, void *out, int64_t ld)
{
    const int64_t p_cols = p->points->rows.cols, q_cols = q->points->rows.cols;
    block_job job = {.ctx = ctx,
                     .kernel = kernel,
                     .p = p,
                     .q = q,
                     .dtype = dtype,
                     .out = out,
                     .ld = ld,
                     .cols = p_cols < q_cols ? p_cols : q_cols};
    if (p->count == 0 || q->count == 0)
        return MGV_OK;
    if (kernel->kind == MGVI_KERNEL_PRECOMPUTED) {
        copy_precomputed(&job);
        return MGV_OK;
    }
    if (dtype == MGV_F64 && mgvi_kernel_is_short(kernel, p->points, q->points))
        return mgvi_kernel_short_block(ctx, kernel, p, q, out, ld);
    double *square = mgvi_alloc(ctx, (size_t)(p->count + q->count), sizeof *square);
    if (!square)
        return MGV_E_MEMORY;
    double *q_square = square + p->count;
    const bool few = p->count <= FEW && p->points->rows.dtype == dtype;
    const bool lanes = p->points->sparse || q->points->sparse || p_cols != q_cols || few;
    mgv_status st = is_wide(&job) ? multiply_sparse(&job, square, q_square)
                    : lanes       ? multiply_lanes(&job, square, q_square)
                                  : multiply_dense(&job, square, q_square);
    if (st == MGV_OK)
        st = set_shift(&job, q_square);
    job.p_square = square;
    if (st == MGV_OK)
        map_values(&job);
    mgvi_release(ctx, job.shift);
    mgvi_release(ctx, job.along);
    mgvi_release(ctx, square);
    return st;
}
