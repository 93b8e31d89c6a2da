/* points.c - scaled rows and their squared lengths. */
#include "op/points.h"

#include "base/threads.h"
#include "op/rows.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 1 << 14, BLOCKS = 64 };

static const char *const kernel_names[] = {"linear", "rbf", "laplace", "poly", "precomputed"};

bool mgvi_kernel_find(const char *name, mgvi_kernel_kind *out)
{
    for (int k = 0; k < (int)(sizeof kernel_names / sizeof *kernel_names); k++)
        if (strcmp(name, kernel_names[k]) == 0) {
            *out = (mgvi_kernel_kind)k;
            return true;
        }
    return false;
}

const char *mgvi_kernel_name(mgvi_kernel_kind kind) { return kernel_names[kind]; }

/* ---- scaled copies --------------------------------------------------------------------------- */

static double scaled(const mgvi_points *p, int64_t i, int64_t j, double x)
{
    const mgvi_point_scaling *s = &p->scaling;
    x -= s->centre ? s->centre[j] : 0;
    x *= s->scale ? s->scale[j] : 1;
    return s->row_scale ? s->row_scale[i] * x : x;
}

/* Row i of the source, scaled, as `cols` numbers of the type. */
void mgvi_points_expand(const mgvi_points *p, int64_t i, mgv_dtype dtype, void *out)
{
    const mgvi_matrix *m = &p->source;
    float *to32 = out;
    double *to64 = out;
    const bool sparse = m->layout != MGV_DENSE;
    const int64_t first = sparse ? m->ptr[i] : i * m->row_stride;
    const int64_t count = sparse ? m->ptr[i + 1] - first : m->cols;
    if (sparse)
        memset(out, 0, (size_t)m->cols * mgvi_dtype_size(dtype));
    for (int64_t t = 0; t < count; t++) {
        const int64_t j = sparse ? m->idx[first + t] : t;
        const int64_t at = sparse ? first + t : first + t * m->col_stride;
        const double x = scaled(p, i, j, mgvi_matrix_value(m, at));
        if (dtype == MGV_F32)
            to32[j] = (float)x;
        else
            to64[j] = x;
    }
}

mgvi_point_entry mgvi_point_begin(const mgvi_points *p, int64_t i)
{
    const bool sparse = p->source.layout != MGV_DENSE;
    return (mgvi_point_entry){.points = p,
                              .i = i,
                              .at = sparse ? p->source.ptr[i] : 0,
                              .end = sparse ? p->source.ptr[i + 1] : p->source.cols};
}

bool mgvi_point_next(mgvi_point_entry *e)
{
    const mgvi_matrix *m = &e->points->source;
    const bool sparse = m->layout != MGV_DENSE;
    while (e->at < e->end) {
        const int64_t t = e->at++;
        e->j = sparse ? m->idx[t] : t;
        const double x =
            mgvi_matrix_value(m, sparse ? t : e->i * m->row_stride + t * m->col_stride);
        e->x = scaled(e->points, e->i, e->j, x);
        if (e->x != 0)
            return true;
    }
    return false;
}

typedef struct copy_job {
    mgvi_points *points;
    char *to;
    int64_t blocks;
} copy_job;

static void dense_block(void *arg, int64_t block)
{
    const copy_job *job = arg;
    const mgvi_points *p = job->points;
    const size_t row = (size_t)p->rows.cols * mgvi_dtype_size(p->rows.dtype);
    const int64_t end = mgvi_block_begin(p->rows.rows, job->blocks, block + 1);
    for (int64_t i = mgvi_block_begin(p->rows.rows, job->blocks, block); i < end; i++)
        mgvi_points_expand(p, i, p->rows.dtype, job->to + (size_t)i * row);
}

static bool is_scaled(const mgvi_points *p)
{
    return p->scaling.centre || p->scaling.scale || p->scaling.row_scale;
}

static mgv_status bind_dense(mgvi_points *p, mgv_dtype dtype)
{
    mgvi_matrix *r = &p->rows;
    *r = p->source;
    if (!is_scaled(p) && r->dtype == dtype && r->col_stride == 1)
        return MGV_OK;
    copy_job job = {.points = p, .blocks = mgvi_block_count(r->nnz, GRAIN, BLOCKS)};
    job.to = mgvi_arena_array(&p->arena, (size_t)r->nnz, mgvi_dtype_size(dtype));
    if (!job.to)
        return MGV_E_MEMORY;
    r->dtype = dtype;
    r->val = job.to;
    r->row_stride = r->cols;
    r->col_stride = 1;
    mgvi_pool_run(p->ctx->pool, job.blocks, dense_block, &job);
    return MGV_OK;
}

static mgv_status bind_sparse(mgvi_points *p)
{
    mgvi_matrix *r = &p->rows;
    *r = p->source;
    if (!is_scaled(p))
        return MGV_OK;
    double *val = mgvi_arena_array(&p->arena, (size_t)r->nnz, sizeof *val);
    if (!val)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < r->rows; i++)
        for (int64_t t = r->ptr[i]; t < r->ptr[i + 1]; t++)
            val[t] = scaled(p, i, r->idx[t], mgvi_matrix_value(&p->source, t));
    r->val = val;
    r->dtype = MGV_F64;
    return MGV_OK;
}

/* ---- squared lengths ------------------------------------------------------------------------- */

static double square_of(const mgvi_matrix *m, int64_t i)
{
    const bool sparse = m->layout != MGV_DENSE;
    const int64_t first = sparse ? m->ptr[i] : i * m->row_stride;
    const int64_t count = sparse ? m->ptr[i + 1] - first : m->cols;
    double sum[4] = {0, 0, 0, 0};
    for (int64_t t = 0; t < count; t++) {
        const double x = mgvi_matrix_value(m, first + t);
        sum[t & 3] += x * x;
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void square_block(void *arg, int64_t block)
{
    const copy_job *job = arg;
    mgvi_points *p = job->points;
    const int64_t end = mgvi_block_begin(p->rows.rows, job->blocks, block + 1);
    for (int64_t i = mgvi_block_begin(p->rows.rows, job->blocks, block); i < end; i++)
        p->square[i] = square_of(&p->rows, i);
}

static mgv_status measure(mgvi_points *p)
{
    copy_job job = {.points = p, .blocks = mgvi_block_count(p->rows.nnz, GRAIN, BLOCKS)};
    p->square = mgvi_arena_array(&p->arena, (size_t)p->rows.rows, sizeof *p->square);
    if (!p->square)
        return MGV_E_MEMORY;
    mgvi_pool_run(p->ctx->pool, job.blocks, square_block, &job);
    for (int64_t i = 0; i < p->rows.rows; i++)
        if (!isfinite(p->square[i]))
            return MGVI_FAIL(p->ctx, MGV_E_INPUT,
                             "row %" PRId64
                             " is too large: |x|^2 overflows; divide the data by a power of ten",
                             i + 1);
    return MGV_OK;
}

static mgv_status bind(mgvi_points *p, const mgvi_matrix *m, mgv_dtype dtype, bool drop_centre)
{
    if (m->layout != MGV_DENSE && p->scaling.centre && !drop_centre)
        return MGVI_FAIL(p->ctx, MGV_E_UNSUPPORTED,
                         "this kernel needs centred points, and centring would make sparse data "
                         "dense: scale by maxabs, or take the kernel rbf");
    if (m->layout != MGV_DENSE)
        p->scaling.centre = NULL;
    if (m->layout == MGV_CSC)
        MGVI_TRY(mgvi_matrix_rows(&p->arena, m, &p->source));
    else
        p->source = *m;
    p->sparse = m->layout != MGV_DENSE;
    MGVI_TRY(p->sparse ? bind_sparse(p) : bind_dense(p, dtype));
    return measure(p);
}

mgv_status mgvi_points_new(mgv_ctx *ctx, const mgvi_matrix *m, const mgvi_point_scaling *scaling,
                           mgv_dtype dtype, bool drop_centre, mgvi_points **out)
{
    *out = NULL;
    mgvi_points *p = mgvi_new(ctx, sizeof *p);
    if (!p)
        return MGV_E_MEMORY;
    p->ctx = ctx;
    p->scaling = *scaling;
    mgvi_arena_init(&p->arena, ctx);
    const mgv_status st = bind(p, m, dtype, drop_centre);
    if (st == MGV_OK)
        *out = p;
    else
        mgvi_points_free(p);
    return st;
}

void mgvi_points_free(mgvi_points *points)
{
    if (!points)
        return;
    mgvi_arena_free(&points->arena);
    mgvi_release(points->ctx, points);
}
