/* rows.c - binding the row kernels to an operator, and what is outside the inner loop. */
#include "op/rows.h"

#include "base/limit.h"
#include "base/threads.h"
#include "op/contrast.h"
#include "op/view.h"

#include <string.h>

enum { GRAIN = 1 << 14, BLOCKS = 64 };

/* ---- the matrix by rows --------------------------------------------------------------------- */
/* CSC to CSR: count, sum up, place. Columns are met in order, so indices increase in every row. */
static mgv_status sparse_by_rows(mgvi_arena *arena, const mgvi_matrix *m, mgvi_matrix *out)
{
    if (m->cols > INT32_MAX)
        return MGVI_FAIL(arena->ctx, MGV_E_UNSUPPORTED,
                         "rows of %" PRId64 " columns: indices are 32-bit", m->cols);
    const size_t size = mgvi_dtype_size(m->dtype), count = (size_t)m->nnz;
    int64_t *ptr = mgvi_arena_array(arena, (size_t)m->rows + 2, sizeof *ptr);
    int32_t *idx = mgvi_arena_array(arena, count, sizeof *idx); /* pages in order, with looks */
    char *val = mgvi_arena_array(arena, count, size);
    if (!ptr || !idx || !val)
        return MGV_E_MEMORY;
    /* ptr[i + 2] counts row i, then ptr[i + 1] is where row i grows, at last where it ends. */
    mgv_ctx *ctx = arena->ctx;
    for (int64_t t = 0; t < m->nnz && !mgvi_ctx_cut_entry(ctx, t); t++)
        ptr[m->idx[t] + 2]++;
    MGVI_TRY(mgvi_ctx_whole(ctx));
    for (int64_t i = 2; i <= m->rows; i++)
        ptr[i] += ptr[i - 1];
    for (int64_t j = 0; j < m->cols && !mgvi_ctx_was_cut(ctx); j++)
        for (int64_t t = m->ptr[j]; t < m->ptr[j + 1] && !mgvi_ctx_cut_entry(ctx, t); t++) {
            const int64_t at = ptr[m->idx[t] + 1]++;
            idx[at] = (int32_t)j;
            memcpy(val + (size_t)at * size, (const char *)m->val + (size_t)t * size, size);
        }
    *out = *m;
    out->layout = MGV_CSR;
    out->ptr = ptr;
    out->idx = idx;
    out->val = val;
    return mgvi_ctx_whole(ctx);
}

typedef struct dense_copy {
    const mgvi_matrix *from;
    char *to;
    int64_t blocks;
} dense_copy;

/* Square tiles, so that both sides stay in the cache. */
static void dense_copy_block(void *arg, int64_t block)
{
    enum { TILE = 64 };
    const dense_copy *job = arg;
    const mgvi_matrix *m = job->from;
    const size_t size = mgvi_dtype_size(m->dtype);
    const int64_t begin = mgvi_block_begin(m->rows, job->blocks, block),
                  end = mgvi_block_begin(m->rows, job->blocks, block + 1);
    for (int64_t i0 = begin; i0 < end; i0 += TILE)
        for (int64_t j0 = 0; j0 < m->cols; j0 += TILE)
            for (int64_t i = i0; i < end && i < i0 + TILE; i++)
                for (int64_t j = j0; j < m->cols && j < j0 + TILE; j++)
                    memcpy(job->to + (size_t)(i * m->cols + j) * size,
                           (const char *)m->val +
                               (i * m->row_stride + j * m->col_stride) * (int64_t)size,
                           size);
}

static mgv_status dense_by_rows(mgvi_arena *arena, const mgvi_matrix *m, mgvi_matrix *out)
{
    dense_copy job = {.from = m, .blocks = mgvi_block_count(m->nnz, GRAIN, BLOCKS)};
    job.to = mgvi_arena_scratch(arena, (size_t)m->nnz, mgvi_dtype_size(m->dtype));
    if (!job.to)
        return MGV_E_MEMORY;
    mgvi_ctx_run(arena->ctx, job.blocks, dense_copy_block, &job);
    *out = *m;
    out->val = job.to;
    out->row_stride = m->cols;
    out->col_stride = 1;
    return mgvi_ctx_whole(arena->ctx);
}

mgv_status mgvi_matrix_rows(mgvi_arena *arena, const mgvi_matrix *m, mgvi_matrix *out)
{
    if (m->layout == MGV_CSC)
        return sparse_by_rows(arena, m, out);
    if (m->layout == MGV_DENSE && m->col_stride != 1)
        return dense_by_rows(arena, m, out);
    *out = *m;
    return MGV_OK;
}

/* ---- scaling and centring ------------------------------------------------------------------- */
typedef struct row_job {
    const mgvi_rows *rows;
    const double *v;
    double *out;
    int64_t blocks;
} row_job;

static void run_rows(const mgvi_rows *rows, mgvi_block_fn fn, const double *v, double *out)
{
    row_job job = {.rows = rows, .v = v, .out = out};
    job.blocks = mgvi_block_count(rows->m.nnz + rows->count, GRAIN, BLOCKS);
    mgvi_ctx_run(rows->ctx, job.blocks, fn, &job);
}

#define FOR_ROWS(job, block, i)                                                                    \
    for (int64_t i = mgvi_block_begin((job)->rows->count, (job)->blocks, block),                   \
                 end = mgvi_block_begin((job)->rows->count, (job)->blocks, (block) + 1);           \
         i < end; i++)

static void row_centre_block(void *arg, int64_t block)
{
    const row_job *job = arg;
    FOR_ROWS(job, block, i)
    {
        job->out[i] = mgvi_rows_raw_dot(job->rows, mgvi_rows_source(job->rows, i), job->v);
    }
}

static double square_scale_at(const mgvi_rows *rows, int64_t j)
{
    return rows->square_scale ? rows->square_scale[j] : 1;
}

static mgv_status bind_columns(mgvi_rows *rows, mgvi_op *op, mgvi_arena *arena)
{
    const int64_t cols = rows->m.cols;
    if (rows->view.scale) {
        rows->square_scale = mgvi_arena_array(arena, (size_t)cols, sizeof(double));
        if (!rows->square_scale)
            return MGV_E_MEMORY;
        for (int64_t j = 0; j < cols; j++)
            rows->square_scale[j] = rows->view.scale[j] * rows->view.scale[j];
    }
    if (!rows->view.centre)
        return MGV_OK;
    double *v = mgvi_arena_array(arena, (size_t)cols, sizeof *v); /* s^2 c */
    rows->row_centre = mgvi_arena_array(arena, (size_t)rows->count, sizeof(double));
    if (!v || !rows->row_centre)
        return MGV_E_MEMORY;
    for (int64_t j = 0; j < cols; j++)
        v[j] = square_scale_at(rows, j) * rows->view.centre[j];
    rows->centre_square = rows->ctx->simd->dot_f64(v, rows->view.centre, cols);
    run_rows(rows, row_centre_block, v, rows->row_centre);
    op->touched += (double)op->nnz;
    return MGV_OK;
}

/* Rows of a kernel operator, which has the signs and the intercept itself. */
static mgv_status kernel_rows(mgvi_op *op, mgvi_arena *arena, mgvi_rows **out)
{
    mgvi_rows *rows = *out = mgvi_arena_array(arena, 1, sizeof *rows);
    if (!rows)
        return MGV_E_MEMORY;
    *rows = (mgvi_rows){.ctx = op->ctx,
                        .count = op->rows,
                        .acc_len = op->cols + op->rows,
                        .view = {.rows = op->rows, .intercept = op->cols > op->rows},
                        .kernel = mgvi_kernel_of(op)};
    rows->view.sign = mgvi_kernel_sign(rows->kernel);
    rows->m.cols = op->rows;
    return MGV_OK;
}

static mgv_status contrast_rows(mgvi_contrast *c, mgvi_arena *arena, mgvi_rows **out)
{
    mgvi_rows *example;
    MGVI_TRY(mgvi_rows_new(c->base, arena, &example));
    mgvi_rows *rows = *out = mgvi_arena_array(arena, 1, sizeof *rows);
    if (!rows)
        return MGV_E_MEMORY;
    *rows = (mgvi_rows){.ctx = c->op.ctx,
                        .count = c->op.rows,
                        .acc_len = c->k * example->acc_len,
                        .example = example,
                        .own = c->own,
                        .classes = c->k};
    rows->m.cols = c->op.cols;
    return MGV_OK;
}

mgv_status mgvi_rows_bare(mgvi_op *op, mgvi_arena *arena, mgvi_rows **out)
{
    mgv_ctx *ctx = op->ctx;
    const mgvi_view *view = op->view;
    *out = NULL;
    if (!view)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "the operator '%s' has no single rows",
                         mgvi_view_base(op)->ops->name);
    if (view->sign && view->sign_lanes != 1)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "single rows with signs for %" PRId32 " lanes",
                         view->sign_lanes);
    mgvi_rows *rows;
    MGVI_TRY(MGVI_ARRAY(arena, rows, 1));
    *rows = (mgvi_rows){
        .ctx = ctx, .count = op->rows, .acc_len = op->cols + (view->centre ? 2 : 0), .view = *view};
    MGVI_TRY(mgvi_matrix_rows(arena, op->stored, &rows->m));
    *out = rows;
    return MGV_OK;
}

mgv_status mgvi_rows_new(mgvi_op *op, mgvi_arena *arena, mgvi_rows **out)
{
    if (mgvi_contrast_of(op))
        return contrast_rows(mgvi_contrast_of(op), arena, out);
    if (mgvi_kernel_of(op))
        return kernel_rows(op, arena, out);
    MGVI_TRY(mgvi_rows_bare(op, arena, out));
    return bind_columns(*out, op, arena);
}

void mgvi_rows_scaled_axpy(const mgvi_rows *rows, int64_t r, double alpha, double *v)
{
    const mgvi_matrix *m = &rows->m;
    const double *s2 = rows->square_scale;
    if (m->layout == MGV_DENSE) {
        const int64_t first = r * m->row_stride;
        for (int64_t j = 0; j < m->cols; j++)
            v[j] += alpha * s2[j] * mgvi_matrix_value(m, first + j);
        return;
    }
    for (int64_t t = m->ptr[r]; t < m->ptr[r + 1]; t++)
        v[m->idx[t]] += alpha * s2[m->idx[t]] * mgvi_matrix_value(m, t);
}

/* ---- rows as numbers --------------------------------------------------------------------------
 */
/* n stored values from `first` on. */
static void copy_values(const mgvi_matrix *m, int64_t first, int64_t n, double *restrict room)
{
    const float *const v32 = (const float *)m->val + first;
    const double *const v64 = (const double *)m->val + first;
    if (m->dtype == MGV_F32)
        for (int64_t t = 0; t < n; t++)
            room[t] = v32[t];
    else
        memcpy(room, v64, (size_t)n * sizeof *room);
}

static void entries_in_full(const mgvi_rows *rows, int64_t r, double *room)
{
    const mgvi_matrix *m = &rows->m;
    if (m->layout == MGV_DENSE) {
        copy_values(m, r * m->row_stride, m->cols, room);
        return;
    }
    memset(room, 0, (size_t)m->cols * sizeof *room);
    for (int64_t t = m->ptr[r]; t < m->ptr[r + 1]; t++)
        room[m->idx[t]] = mgvi_matrix_value(m, t);
}

mgvi_entries mgvi_rows_entries(const mgvi_rows *rows, int64_t i, bool centred, double *room)
{
    const mgvi_matrix *m = &rows->m;
    const int64_t r = mgvi_rows_source(rows, i);
    const bool full = m->layout == MGV_DENSE || (centred && rows->view.centre);
    mgvi_entries e = {.val = room, .idx = full ? NULL : m->idx + m->ptr[r], .n = m->cols};
    if (full) {
        entries_in_full(rows, r, room);
    } else {
        e.n = m->ptr[r + 1] - m->ptr[r];
        copy_values(m, m->ptr[r], e.n, room);
    }
    if (centred && rows->view.centre)
        for (int64_t j = 0; j < e.n; j++)
            room[j] -= rows->view.centre[j];
    if (rows->view.scale)
        for (int64_t t = 0; t < e.n; t++)
            room[t] *= rows->view.scale[e.idx ? e.idx[t] : t];
    const double factor = mgvi_view_sign(&rows->view, i) * mgvi_view_row_scale(&rows->view, i);
    for (int64_t t = 0; t < e.n && factor != 1; t++)
        room[t] *= factor;
    return e;
}

void mgvi_rows_kernel_axpy(const mgvi_rows *rows, int64_t i, double d, double *acc)
{
    acc[i] += d;
    rows->ctx->simd->axpy_f64(d, mgvi_kernel_row(rows->kernel, i), acc + rows->count, rows->count);
}

double mgvi_rows_contrast_dot(const mgvi_rows *rows, int64_t i, const double *acc)
{
    const mgvi_rows *e = rows->example;
    const int64_t example = i / rows->classes, rival = i % rows->classes, own = rows->own[example];
    if (rival == own)
        return 0;
    return mgvi_rows_dot(e, example, acc + own * e->acc_len) -
           mgvi_rows_dot(e, example, acc + rival * e->acc_len);
}

void mgvi_rows_contrast_axpy(const mgvi_rows *rows, int64_t i, double delta, double *acc)
{
    const mgvi_rows *e = rows->example;
    const int64_t example = i / rows->classes, rival = i % rows->classes, own = rows->own[example];
    if (rival == own)
        return;
    mgvi_rows_axpy(e, example, delta, acc + own * e->acc_len);
    mgvi_rows_axpy(e, example, -delta, acc + rival * e->acc_len);
}

/* ---- between acc and w ---------------------------------------------------------------------- */
/* The weights of one class go to every `step`-th place. */
static void spread_weights(const mgvi_rows *rows, const double *acc, int64_t step, double *w)
{
    const int64_t cols = rows->m.cols;
    for (int64_t j = 0; j < cols; j++) {
        const double s = mgvi_view_scale(&rows->view, j);
        w[j * step] = acc[j] / s - (rows->view.centre ? s * rows->view.centre[j] * acc[cols] : 0);
    }
    if (rows->view.intercept)
        w[cols * step] = acc[rows->acc_len - 1];
}

void mgvi_rows_weights(const mgvi_rows *rows, const double *acc, double *w)
{
    if (!rows->example)
        spread_weights(rows, acc, 1, w);
    for (int32_t c = 0; c < rows->classes; c++)
        spread_weights(rows->example, acc + c * rows->example->acc_len, rows->classes, w + c);
}

/* The inverse for one class, whose weights stand at every `step`-th place. */
static void gather_weights(const mgvi_rows *rows, const double *w, int64_t step, double *acc)
{
    const int64_t cols = rows->m.cols;
    for (int64_t j = 0; j < cols; j++)
        acc[j] = rows->view.scale ? rows->view.scale[j] * w[j * step] : w[j * step];
    if (rows->view.centre) {
        acc[cols] = 0;
        acc[cols + 1] = rows->ctx->simd->dot_f64(rows->view.centre, acc, cols);
    }
    if (rows->kernel)
        mgvi_kernel_combine(rows->kernel, acc, acc + cols);
    if (rows->view.intercept)
        acc[rows->acc_len - 1] = w[cols * step];
}

void mgvi_rows_load(const mgvi_rows *rows, const double *w, double *acc)
{
    if (!rows->example)
        gather_weights(rows, w, 1, acc);
    for (int32_t c = 0; c < rows->classes; c++)
        gather_weights(rows->example, w + c, rows->classes, acc + c * rows->example->acc_len);
}

void mgvi_rows_scale_intercepts(const mgvi_rows *rows, double factor, double *acc)
{
    const mgvi_rows *each = rows->example ? rows->example : rows;
    for (int64_t end = each->acc_len; each->view.intercept && end <= rows->acc_len;
         end += each->acc_len)
        acc[end - 1] *= factor;
}

/* ---- norms ---------------------------------------------------------------------------------- */
/* The sum of squares of n stored values, in lanes that the compiler can keep in vectors. */
#define SUM_OF_SQUARES(T, S)                                                                       \
    static double sum_of_squares_##S(const T *x, int64_t n)                                        \
    {                                                                                              \
        enum { LANES = 8 };                                                                        \
        double sum[LANES] = {0};                                                                   \
        int64_t t = 0;                                                                             \
        for (; t + LANES <= n; t += LANES)                                                         \
            for (int k = 0; k < LANES; k++)                                                        \
                sum[k] += (double)x[t + k] * (double)x[t + k];                                     \
        for (; t < n; t++)                                                                         \
            sum[0] += (double)x[t] * (double)x[t];                                                 \
        return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));  \
    }
SUM_OF_SQUARES(float, f32)
SUM_OF_SQUARES(double, f64)

/* |s (x_r - c)|^2. A sparse row leaves out its zeros, which contribute c . s^2 c less what the
 * stored columns would: sum s^2 (x^2 - 2 c x) + c . s^2 c. */
static double square_norm(const mgvi_rows *rows, int64_t r)
{
    const mgvi_matrix *m = &rows->m;
    const bool sparse = m->layout != MGV_DENSE;
    const int64_t first = sparse ? m->ptr[r] : r * m->row_stride;
    const int64_t n = sparse ? m->ptr[r + 1] - first : m->cols;
    double sum = 0;
    if (!rows->view.centre && !rows->view.scale)
        return m->dtype == MGV_F32 ? sum_of_squares_f32((const float *)m->val + first, n)
                                   : sum_of_squares_f64((const double *)m->val + first, n);
    for (int64_t t = 0; t < n; t++) {
        const int64_t j = sparse ? m->idx[first + t] : t;
        const double x = mgvi_matrix_value(m, first + t), c = mgvi_view_centre(&rows->view, j);
        sum += square_scale_at(rows, j) * (sparse ? x * (x - 2 * c) : (x - c) * (x - c));
    }
    if (sparse)
        sum += rows->centre_square;
    return sum > 0 ? sum : 0;
}

double mgvi_rows_square_norm(const mgvi_rows *rows, int64_t i)
{
    if (rows->example) {
        const int64_t example = i / rows->classes;
        return i % rows->classes == rows->own[example]
                   ? 0
                   : 2 * mgvi_rows_square_norm(rows->example, example);
    }
    if (rows->kernel)
        return mgvi_kernel_diagonal(rows->kernel)[i];
    const double p = mgvi_view_row_scale(&rows->view, i);
    return p * p * square_norm(rows, mgvi_rows_source(rows, i));
}

static void square_norms_block(void *arg, int64_t block)
{
    const row_job *job = arg;
    FOR_ROWS(job, block, i) { job->out[i] = mgvi_rows_square_norm(job->rows, i); }
}

/* From the examples' norms, spread from behind so that they may stand in `out` itself. */
static void contrast_norms(const mgvi_rows *rows, double *out)
{
    const int64_t k = rows->classes;
    mgvi_rows_square_norms(rows->example, out);
    for (int64_t i = rows->example->count - 1; i >= 0; i--) {
        const double square = out[i];
        for (int64_t j = k - 1; j >= 0; j--)
            out[i * k + j] = j == rows->own[i] ? 0 : 2 * square;
    }
}

void mgvi_rows_square_norms(const mgvi_rows *rows, double *out)
{
    if (rows->example) {
        contrast_norms(rows, out);
        return;
    }
    if (rows->kernel) {
        memcpy(out, mgvi_kernel_diagonal(rows->kernel), (size_t)rows->count * sizeof *out);
        return;
    }
    run_rows(rows, square_norms_block, NULL, out);
}
