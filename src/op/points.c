/* points.c - scaled rows and their squared lengths. */
#include "op/points.h"

#include "base/limit.h"
#include "base/threads.h"
#include "op/rows.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 1 << 14, BLOCKS = 64 };

static const char *const kernel_names[] = {MGVI_KERNEL_WORDS(MGVI_WORD)};

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

static const char *const origin_names[] = {"none", "zero", "centre"};

bool mgvi_origin_find(const char *name, mgvi_kernel_origin *out)
{
    for (int k = 0; k < (int)(sizeof origin_names / sizeof *origin_names); k++)
        if (strcmp(name, origin_names[k]) == 0) {
            *out = (mgvi_kernel_origin)k;
            return true;
        }
    return false;
}

const char *mgvi_origin_name(mgvi_kernel_origin origin) { return origin_names[origin]; }

/* ---- scaled copies --------------------------------------------------------------------------- */

/* Row i, scaled, as `cols` numbers of the type. */
void mgvi_points_expand(const mgvi_points *p, int64_t i, mgv_dtype dtype, void *out)
{
    const mgvi_matrix *m = p->sparse ? &p->rows : &p->source; /* sparse: stored as scaled */
    const mgvi_span row = mgvi_matrix_span(m, i);
    float *to32 = out;
    double *to64 = out;
    if (p->sparse)
        memset(out, 0, (size_t)p->rows.cols * mgvi_dtype_size(dtype));
    for (int64_t t = 0; t < row.count; t++) {
        const int64_t j = mgvi_span_place(m, &row, t);
        const double value = mgvi_span_value(m, &row, t);
        const double x = p->sparse ? value : mgvi_view_entry(&p->scaling.view, i, j, value);
        if (dtype == MGV_F32)
            to32[j] = (float)x;
        else
            to64[j] = x;
    }
}

void mgvi_points_expand_plain(const mgvi_points *p, int64_t i, double *out)
{
    const mgvi_matrix *m = &p->source;
    const mgvi_span row = mgvi_matrix_span(m, i);
    mgvi_view unmoved = p->scaling.view;
    unmoved.centre = NULL;
    memset(out, 0, (size_t)p->rows.cols * sizeof *out);
    for (int64_t t = 0; t < row.count; t++) {
        const int64_t j = mgvi_span_place(m, &row, t);
        out[j] = mgvi_view_entry(&unmoved, i, j, mgvi_span_value(m, &row, t));
    }
}

/* The entries of point i that are not 0, made from the original in float64, in the order of their
 * columns: next() goes to the first of them, and on. */
typedef struct point_entry {
    const mgvi_points *points;
    int64_t i, at, end, j;
    double x;
} point_entry;

static point_entry begin(const mgvi_points *p, int64_t i)
{
    return (point_entry){.points = p,
                         .i = i,
                         .at = p->sparse ? p->rows.ptr[i] : 0,
                         .end = p->sparse ? p->rows.ptr[i + 1] : p->source.cols};
}

static bool next(point_entry *e)
{
    const mgvi_points *p = e->points;
    const mgvi_matrix *m = p->sparse ? &p->rows : &p->source;
    while (e->at < e->end) {
        const int64_t t = e->at++;
        e->j = p->sparse ? m->idx[t] : t;
        e->x = mgvi_matrix_value(m, p->sparse ? t : e->i * m->row_stride + t * m->col_stride);
        if (!p->sparse)
            e->x = mgvi_view_entry(&p->scaling.view, e->i, e->j, e->x);
        if (e->x != 0)
            return true;
    }
    return false;
}

static bool is_plain(const mgvi_points *p) { return !p->sparse && p->rows.dtype == MGV_F64; }

double mgvi_point_distance(const mgvi_points *p, int64_t i, const mgvi_points *q, int64_t j)
{
    double sum = 0;
    if (is_plain(p) && is_plain(q) && p->rows.cols == q->rows.cols) {
        const double *a = (const double *)p->rows.val + i * p->rows.row_stride;
        const double *b = (const double *)q->rows.val + j * q->rows.row_stride;
        for (int64_t t = 0; t < p->rows.cols; t++)
            sum += (a[t] - b[t]) * (a[t] - b[t]);
        return sum;
    }
    point_entry a = begin(p, i), b = begin(q, j);
    bool more_a = next(&a), more_b = next(&b);
    while (more_a || more_b) {
        const bool left = more_a && (!more_b || a.j <= b.j);
        const bool right = more_b && (!more_a || b.j <= a.j);
        const double apart = (left ? a.x : 0) - (right ? b.x : 0);
        sum += apart * apart;
        more_a = left ? next(&a) : more_a;
        more_b = right ? next(&b) : more_b;
    }
    return sum;
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
    MGVI_FOR_BLOCK (i, p->rows.rows, job->blocks, block)
        mgvi_points_expand(p, i, p->rows.dtype, job->to + (size_t)i * row);
}

static bool is_scaled(const mgvi_points *p)
{
    return p->scaling.view.centre || p->scaling.view.scale || p->scaling.view.row_scale;
}

static mgv_status bind_dense(mgvi_points *p, mgv_dtype dtype)
{
    mgvi_matrix *r = &p->rows;
    *r = p->source;
    if (!is_scaled(p) && r->dtype == dtype && r->col_stride == 1)
        return MGV_OK;
    copy_job job = {.points = p, .blocks = mgvi_block_count(r->nnz, GRAIN, BLOCKS)};
    job.to = mgvi_arena_scratch(&p->arena, (size_t)r->nnz, mgvi_dtype_size(dtype));
    if (!job.to)
        return MGV_E_MEMORY;
    r->dtype = dtype;
    r->val = job.to;
    r->row_stride = r->cols;
    r->col_stride = 1;
    mgvi_ctx_run(p->ctx, job.blocks, dense_block, &job);
    return mgvi_ctx_whole(p->ctx);
}

/* Row i with an entry in every column that has a centre, to the place `at`; returns the place
 * behind it. NULL for `val`: counts. */
static int64_t centred_row(const mgvi_points *p, int64_t i, const int32_t *centred, int64_t count,
                           int64_t at, int32_t *idx, double *val)
{
    const mgvi_matrix *m = &p->source;
    int64_t t = m->ptr[i], c = 0;
    const int64_t end = m->ptr[i + 1];
    for (; t < end || c < count; at++) {
        const bool stored = t < end && (c == count || m->idx[t] <= centred[c]);
        const int32_t j = stored ? m->idx[t] : centred[c];
        if (val) {
            idx[at] = j;
            val[at] = mgvi_view_entry(&p->scaling.view, i, j, stored ? mgvi_matrix_value(m, t) : 0);
        }
        c += c < count && centred[c] == j;
        t += stored;
    }
    return at;
}

static mgv_status bind_sparse(mgvi_points *p)
{
    mgvi_matrix *r = &p->rows;
    *r = p->source;
    if (!is_scaled(p))
        return MGV_OK;
    int64_t count = 0, *ptr = mgvi_arena_array(&p->arena, (size_t)r->rows + 1, sizeof *ptr);
    int32_t *centred = mgvi_arena_array(&p->arena, (size_t)r->cols + 1, sizeof *centred);
    if (!ptr || !centred)
        return MGV_E_MEMORY;
    for (int64_t j = 0; p->scaling.view.centre && j < r->cols; j++)
        if (p->scaling.view.centre[j] != 0)
            centred[count++] = (int32_t)j;
    for (int64_t i = 0; i < r->rows && !mgvi_ctx_cut_row(p->ctx, i); i++)
        ptr[i + 1] = centred_row(p, i, centred, count, ptr[i], NULL, NULL);
    MGVI_TRY(mgvi_ctx_whole(p->ctx));
    r->nnz = ptr[r->rows];
    r->dtype = MGV_F64;
    int32_t *idx = mgvi_arena_array(&p->arena, (size_t)r->nnz + 1, sizeof *idx);
    double *val = mgvi_arena_array(&p->arena, (size_t)r->nnz + 1, sizeof *val);
    if (!idx || !val)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < r->rows && !mgvi_ctx_cut_row(p->ctx, i); i++)
        centred_row(p, i, centred, count, ptr[i], idx, val);
    r->val = val;
    r->idx = idx;
    r->ptr = ptr;
    return mgvi_ctx_whole(p->ctx);
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
    MGVI_FOR_BLOCK (i, p->rows.rows, job->blocks, block)
        p->square[i] = square_of(&p->rows, i);
}

/* o.x of every row, o = centre * scale. */
static mgv_status measure_along(mgvi_points *p)
{
    const mgvi_point_scaling *s = &p->scaling;
    const mgvi_matrix *m = &p->rows;
    MGVI_TRY(MGVI_ARRAY(&p->arena, p->along, m->rows));
    for (int64_t j = 0; j < m->cols; j++) {
        const double o = mgvi_view_shift(&s->view, j);
        p->origin_square += o * o;
    }
    for (int64_t i = 0; i < m->rows && !mgvi_ctx_cut_row(p->ctx, i); i++) {
        const mgvi_span row = mgvi_matrix_span(m, i);
        double sum = 0;
        for (int64_t t = 0; t < row.count; t++) {
            const int64_t j = mgvi_span_place(m, &row, t);
            sum += mgvi_view_shift(&s->view, j) * mgvi_span_value(m, &row, t);
        }
        p->along[i] = sum;
    }
    return mgvi_ctx_whole(p->ctx);
}

static mgv_status measure(mgvi_points *p)
{
    copy_job job = {.points = p, .blocks = mgvi_block_count(p->rows.nnz, GRAIN, BLOCKS)};
    MGVI_TRY(MGVI_ARRAY(&p->arena, p->square, p->rows.rows));
    mgvi_ctx_run(p->ctx, job.blocks, square_block, &job);
    MGVI_TRY(mgvi_ctx_whole(p->ctx));
    for (int64_t i = 0; i < p->rows.rows; i++)
        if (!isfinite(p->square[i]))
            return MGVI_FAIL(p->ctx, MGV_E_INPUT,
                             "row %" PRId64
                             " is too large: |x|^2 overflows; divide the data by a power of ten",
                             i + 1);
    for (int64_t i = 0; i < p->rows.rows; i++) {
        const int64_t entries = p->sparse ? p->rows.ptr[i + 1] - p->rows.ptr[i] : p->rows.cols;
        p->longest = fmax(p->longest, p->square[i]);
        p->entries = entries > p->entries ? entries : p->entries;
    }
    return p->scaling.origin ? measure_along(p) : MGV_OK;
}

static mgv_status bind(mgvi_points *p, const mgvi_matrix *m, mgv_dtype dtype, bool few_centres)
{
    if (m->layout != MGV_DENSE && p->scaling.view.centre && !few_centres)
        return MGVI_FAIL(p->ctx, MGV_E_UNSUPPORTED,
                         "this kernel needs centred points, and centring would make sparse data "
                         "dense: scale by maxabs, or take the kernel rbf");
    if (m->layout == MGV_CSC)
        MGVI_TRY(mgvi_matrix_rows(&p->arena, m, &p->source));
    else
        p->source = *m;
    p->sparse = m->layout != MGV_DENSE;
    MGVI_TRY(p->sparse ? bind_sparse(p) : bind_dense(p, dtype));
    return measure(p);
}

mgv_status mgvi_points_new(mgv_ctx *ctx, const mgvi_matrix *m, const mgvi_point_scaling *scaling,
                           mgv_dtype dtype, bool few_centres, mgvi_points **out)
{
    *out = NULL;
    mgvi_points *p = mgvi_new(ctx, sizeof *p);
    if (!p)
        return MGV_E_MEMORY;
    p->ctx = ctx;
    p->scaling = *scaling;
    mgvi_arena_init(&p->arena, ctx);
    const mgv_status st = bind(p, m, dtype, few_centres);
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
