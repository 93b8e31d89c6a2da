/* columns.c - columns of a view. Products: with S the chosen columns of a view's A (op/matrix.h):
 *   A w     = sign (row_scale (X_S (scale w)_S - centre_S . (scale w)_S) + b) (1)
 *   (A'u)_S = scale_S (X_S'v - centre_S sum v),   v = row_scale sign u              (2)
 * X by columns is X' by rows, so that (1) and (2) are products with chosen rows of X', which
 * op/rowwise.c has: in vectors, on all threads, the same bits for any number of them. */
#include "op/columns.h"

#include "base/limit.h"
#include "base/threads.h"
#include "op/rows.h"
#include "op/view.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct mgvi_columns {
    mgvi_op *op;
    mgvi_view view;  /* without chosen rows */
    mgvi_rowwise xt; /* X' by rows */
    double *chosen;  /* cols x lanes: (scale w)_S, or X_S'v */
    double *mapped;  /* rows x lanes: v */
};

static mgv_status bind_transpose(mgvi_columns *c, mgvi_arena *arena, const mgvi_stored *stored)
{
    if (stored->transposed) { /* stored by columns: its own work space serves */
        c->xt = stored->by_rows;
        return MGV_OK;
    }
    const mgvi_matrix t = mgvi_matrix_transpose(&stored->matrix);
    mgvi_matrix by_rows;
    MGVI_TRY(mgvi_matrix_rows(arena, &t, &by_rows));
    return mgvi_rowwise_init(arena->ctx, arena, &by_rows, c->op->lanes, &c->xt);
}

mgv_status mgvi_columns_new(mgvi_op *op, mgvi_arena *arena, mgvi_columns **out)
{
    *out = NULL;
    if (!op->view || op->lanes_fixed || op->view->row || op->view->sign_lanes > 1)
        return MGV_OK;
    mgvi_columns *c;
    MGVI_TRY(MGVI_ARRAY(arena, c, 1));
    c->op = op;
    c->view = *op->view;
    MGVI_TRY(bind_transpose(c, arena, mgvi_stored_of(mgvi_view_base(op))));
    const size_t wide = (size_t)op->lanes * sizeof(double);
    c->chosen = mgvi_arena_array(arena, (size_t)op->stored->cols, wide);
    c->mapped = mgvi_arena_array(arena, (size_t)op->rows, wide);
    if (!c->chosen || !c->mapped)
        return MGV_E_MEMORY;
    *out = c;
    return MGV_OK;
}

int64_t mgvi_columns_count(const mgvi_columns *c) { return c->xt.m.rows; }

/* The rows of X' that are wanted; all of them in order need no list. */
static mgvi_view rows_of(const mgvi_columns *c, const int64_t *list, int64_t count)
{
    return (mgvi_view){.row = count < c->xt.m.rows ? list : NULL, .rows = count};
}

static void count_touched(mgvi_columns *c, const int64_t *list, int64_t count)
{
    const mgvi_matrix *m = &c->xt.m;
    int64_t entries = 0;
    if (count == m->rows)
        entries = m->nnz;
    else if (m->layout == MGV_DENSE)
        entries = count * m->cols;
    else
        for (int64_t t = 0; t < count; t++)
            entries += m->ptr[list[t] + 1] - m->ptr[list[t]];
    c->op->touched += (double)entries;
}

void mgvi_columns_mul(mgvi_columns *c, const int64_t *list, int64_t count, const mgvi_vec *w,
                      mgvi_vec *y)
{
    const int32_t k = w->k;
    double shift[MGVI_LANES_MAX];
    assert(k == y->k && k <= c->op->lanes && w->n == c->op->cols && y->n == c->op->rows);
    memset(shift, 0, (size_t)k * sizeof *shift);
    for (int64_t t = 0; t < count; t++) {
        const double scale = mgvi_view_scale(&c->view, list[t]);
        const double centre = mgvi_view_centre(&c->view, list[t]);
        for (int32_t lane = 0; lane < k; lane++) {
            const double value = scale * w->x[list[t] * k + lane];
            c->chosen[t * k + lane] = value;
            shift[lane] += centre * value;
        }
    }
    const mgvi_view rows = rows_of(c, list, count);
    mgvi_rowwise_mul_t(&c->xt, &rows, k, 1, c->chosen, 0, y->x, NULL);
    const mgvi_lane_shift shifts = {
        .centre = c->view.centre ? shift : NULL,
        .intercept = c->view.intercept ? w->x + mgvi_columns_count(c) * k : NULL};
    if (mgvi_view_has_rows(&c->view) || shifts.centre || shifts.intercept)
        mgvi_map_rows(&c->view, shifts, 0, y->n, k, y->x);
    count_touched(c, list, count);
}

void mgvi_columns_mul_t(mgvi_columns *c, const int64_t *list, int64_t count, const mgvi_vec *u,
                        mgvi_vec *g)
{
    const int32_t k = u->k;
    double sums[2][MGVI_LANES_MAX];
    assert(k == g->k && k <= c->op->lanes && g->n == c->op->cols && u->n == c->op->rows);
    memset(sums[0], 0, (size_t)k * sizeof *sums[0]);
    memset(sums[1], 0, (size_t)k * sizeof *sums[1]);
    mgvi_map_rows_t(&c->view, 0, u->n, k, 1, u->x, c->mapped,
                    (mgvi_lane_sums){.intercept = c->view.intercept ? sums[0] : NULL,
                                     .centre = c->view.centre ? sums[1] : NULL});
    const mgvi_view rows = rows_of(c, list, count);
    mgvi_rowwise_mul(&c->xt, &rows, (mgvi_lane_shift){0}, k, 1, c->mapped, 0, c->chosen);
    for (int64_t t = 0; t < count; t++) {
        const double scale = mgvi_view_scale(&c->view, list[t]);
        const double centre = mgvi_view_centre(&c->view, list[t]);
        for (int32_t lane = 0; lane < k; lane++)
            g->x[list[t] * k + lane] = scale * (c->chosen[t * k + lane] - centre * sums[1][lane]);
    }
    if (c->view.intercept)
        memcpy(g->x + mgvi_columns_count(c) * k, sums[0], (size_t)k * sizeof *g->x);
    count_touched(c, list, count);
}

void mgvi_columns_row_counts(const mgvi_columns *c, double *out)
{
    const mgvi_matrix *m = &c->xt.m;
    memset(out, 0, (size_t)m->cols * sizeof *out);
    for (int64_t j = 0; j < m->rows; j++) {
        const mgvi_span line = mgvi_matrix_span(m, j);
        const bool centred = mgvi_view_centre(&c->view, j) != 0;
        for (int64_t i = 0; centred && i < m->cols; i++)
            out[i]++;
        for (int64_t t = 0; !centred && t < line.count; t++)
            out[mgvi_span_place(m, &line, t)] += mgvi_span_value(m, &line, t) != 0;
    }
}

/* |A_j|^2 = scale^2 sum_i p_i^2 (x_ij - centre)^2, p the row scale: a sum over the stored entries,
 * and over the zeros centre^2 times what is left of sum p^2. */
void mgvi_columns_square_norms(const mgvi_columns *c, double *out)
{
    const mgvi_matrix *m = &c->xt.m;
    double total = 0;
    for (int64_t i = 0; i < m->cols; i++)
        total += mgvi_view_row_scale(&c->view, i) * mgvi_view_row_scale(&c->view, i);
    for (int64_t j = 0; j < m->rows; j++) {
        const bool sparse = m->layout == MGV_CSR;
        const int64_t first = sparse ? m->ptr[j] : j * m->row_stride;
        const int64_t count = sparse ? m->ptr[j + 1] - first : m->cols;
        const double centre = mgvi_view_centre(&c->view, j), scale = mgvi_view_scale(&c->view, j);
        double sum = 0, seen = 0;
        for (int64_t t = 0; t < count; t++) {
            const int64_t i = sparse ? m->idx[first + t] : t;
            const double p = mgvi_view_row_scale(&c->view, i);
            const double x = p * (mgvi_matrix_value(m, first + t) - centre);
            sum += x * x;
            seen += p * p;
        }
        out[j] = scale * scale * (sum + centre * centre * fmax(0, total - seen));
    }
    c->op->touched += (double)m->nnz;
}

/* ---- as numbers: the raw entries first, then what the view lays over --------------------------- */

enum {
    TOGETHER = 8, /* columns fetched at once: neighbours share the cache lines of a row */
    BLOCKS = 8,
    GRAIN = 1 << 13 /* entries of a block */
};

struct mgvi_gather {
    mgvi_op *op;
    mgvi_matrix m; /* dense, or CSC */
    mgvi_view view;
    double *raw; /* BLOCKS x TOGETHER x m.rows */
};

mgv_status mgvi_gather_new(mgvi_op *op, mgvi_arena *arena, mgvi_gather **out)
{
    *out = NULL;
    if (!op->view || (op->view->sign && op->view->sign_lanes != 1))
        return MGVI_FAIL(op->ctx, MGV_E_UNSUPPORTED, "the operator '%s' has no single columns",
                         mgvi_view_base(op)->ops->name);
    mgvi_gather *c;
    MGVI_TRY(MGVI_ARRAY(arena, c, 1));
    c->op = op;
    c->view = *op->view;
    c->m = *op->stored;
    if (c->m.layout == MGV_CSR) {
        const mgvi_matrix t = mgvi_matrix_transpose(op->stored);
        mgvi_matrix by_columns;
        MGVI_TRY(mgvi_matrix_rows(arena, &t, &by_columns));
        c->m = mgvi_matrix_transpose(&by_columns);
    }
    MGVI_TRY(MGVI_SCRATCH(arena, c->raw, (size_t)c->m.rows * TOGETHER * BLOCKS));
    *out = c;
    return MGV_OK;
}

double mgvi_gather_bytes(const mgvi_matrix *m)
{
    const double entry = (double)(mgvi_dtype_size(m->dtype) + sizeof *m->idx);
    const double copy = m->layout == MGV_CSR ? entry * (double)m->nnz + 8.0 * (double)m->cols : 0;
    return copy + 8.0 * TOGETHER * BLOCKS * (double)m->rows;
}

/* raw[t*rows + r] = x_rj, j = cols[t] */
#define FETCH_DENSE(T, S)                                                                          \
    static void fetch_dense_##S(const mgvi_matrix *m, const int32_t *cols, int64_t count,          \
                                double *raw)                                                       \
    {                                                                                              \
        const T *const val = m->val;                                                               \
        for (int64_t r = 0; r < m->rows; r++)                                                      \
            for (int64_t t = 0; t < count; t++)                                                    \
                raw[t * m->rows + r] = (double)val[r * m->row_stride + cols[t] * m->col_stride];   \
    }
FETCH_DENSE(float, f32)
FETCH_DENSE(double, f64)

static void fetch_sparse(const mgvi_matrix *m, const int32_t *cols, int64_t count, double *raw)
{
    memset(raw, 0, (size_t)(count * m->rows) * sizeof *raw);
    for (int64_t t = 0; t < count; t++)
        for (int64_t at = m->ptr[cols[t]]; at < m->ptr[cols[t] + 1]; at++)
            raw[t * m->rows + m->idx[at]] = mgvi_matrix_value(m, at);
}

static void fetch(const mgvi_matrix *m, const int32_t *cols, int64_t count, double *raw)
{
    if (m->layout != MGV_DENSE)
        fetch_sparse(m, cols, count, raw);
    else if (m->dtype == MGV_F32)
        fetch_dense_f32(m, cols, count, raw);
    else
        fetch_dense_f64(m, cols, count, raw);
}

static void map_column(const mgvi_view *v, int64_t j, const double *raw, double *out)
{
    const double s = mgvi_view_scale(v, j), c = mgvi_view_centre(v, j);
    for (int64_t i = 0; i < v->rows; i++)
        out[i] = (raw[mgvi_view_source(v, i)] - c) * s;
    for (int64_t i = 0; v->row_scale && i < v->rows; i++)
        out[i] *= v->row_scale[i];
    for (int64_t i = 0; v->sign && i < v->rows; i++)
        out[i] *= v->sign[i];
}

static void intercept_column(const mgvi_view *v, double *out)
{
    for (int64_t i = 0; i < v->rows; i++)
        out[i] = mgvi_view_sign(v, i);
}

typedef struct gather_job {
    const mgvi_gather *c;
    const int32_t *cols;
    int64_t count, blocks, ld;
    double *out;
} gather_job;

static void gather_block(void *arg, int64_t block)
{
    const gather_job *job = arg;
    const mgvi_gather *c = job->c;
    double *raw = c->raw + block * TOGETHER * c->m.rows;
    const int64_t end = mgvi_block_begin(job->count, job->blocks, block + 1);
    int64_t n = 0;
    for (int64_t t = mgvi_block_begin(job->count, job->blocks, block); t < end; t += n) {
        if (job->cols[t] == c->m.cols) {
            intercept_column(&c->view, job->out + t * job->ld);
            n = 1;
            continue;
        }
        for (n = 1; n < TOGETHER && t + n < end && job->cols[t + n] < c->m.cols;)
            n++;
        fetch(&c->m, job->cols + t, n, raw);
        for (int64_t r = 0; r < n; r++)
            map_column(&c->view, job->cols[t + r], raw + r * c->m.rows,
                       job->out + (t + r) * job->ld);
    }
}

void mgvi_gather_columns(mgvi_gather *c, const int32_t *cols, int64_t count, double *out,
                         int64_t ld)
{
    gather_job job = {.c = c, .cols = cols, .count = count, .out = out, .ld = ld};
    job.blocks = mgvi_block_count(count * c->op->rows, GRAIN, BLOCKS);
    mgvi_ctx_run(c->op->ctx, job.blocks, gather_block, &job);
    double touched = 0;
    for (int64_t t = 0; t < count; t++)
        if (cols[t] < c->m.cols)
            touched += c->m.layout == MGV_DENSE
                           ? (double)c->m.rows
                           : (double)(c->m.ptr[cols[t] + 1] - c->m.ptr[cols[t]]);
    c->op->touched += touched;
}

/* ---- a copy: counts the entries of every column, then places them row by row -------------------- */

typedef struct placing {
    mgvi_packed *out;
    const double *factor, *scale;
    const int32_t *number;
    int64_t first;   /* rows of the matrices before this one */
    int64_t *cursor; /* sparse: where the next entry of a column goes */
} placing;

static void place(const placing *job, int64_t row, int64_t col, double value)
{
    const int64_t i = job->first + row, to = job->number ? job->number[i] : i;
    int64_t at = job->out->ptr[col] + to;
    if (!job->out->dense) {
        at = job->cursor[col]++;
        job->out->idx[at] = (int32_t)to;
    }
    if (job->factor)
        value *= job->factor[i];
    if (job->scale)
        value *= job->scale[col];
    if (job->out->f32)
        job->out->f32[at] = (float)value;
    else
        job->out->f64[at] = value;
}

static void place_matrix(const placing *job, const mgvi_matrix *m)
{
    if (m->layout == MGV_DENSE) {
        for (int64_t i = 0; i < m->rows; i++)
            for (int64_t j = 0; j < m->cols; j++)
                place(job, i, j, mgvi_matrix_value(m, i * m->row_stride + j * m->col_stride));
        return;
    }
    const bool by_rows = m->layout == MGV_CSR;
    const int64_t lines = by_rows ? m->rows : m->cols;
    for (int64_t l = 0; l < lines; l++)
        for (int64_t t = m->ptr[l]; t < m->ptr[l + 1]; t++)
            place(job, by_rows ? l : m->idx[t], by_rows ? m->idx[t] : l, mgvi_matrix_value(m, t));
}

/* Adds the entries of every column j to ptr[j + 1]. */
static void count_entries(const mgvi_matrix *m, bool dense, int64_t *ptr)
{
    for (int64_t j = 0; j < m->cols; j++) {
        if (dense || m->layout == MGV_DENSE)
            ptr[j + 1] += m->rows;
        else if (m->layout == MGV_CSC)
            ptr[j + 1] += m->ptr[j + 1] - m->ptr[j];
    }
    if (!dense && m->layout == MGV_CSR)
        for (int64_t t = 0; t < m->nnz; t++)
            ptr[m->idx[t] + 1]++;
}

static mgv_status allocate(mgvi_arena *arena, mgv_dtype dtype, mgvi_packed *out)
{
    const size_t entries = (size_t)out->ptr[out->cols];
    if (dtype == MGV_F32)
        out->f32 = mgvi_arena_array(arena, entries, sizeof *out->f32);
    else
        out->f64 = mgvi_arena_array(arena, entries, sizeof *out->f64);
    if (!out->dense)
        out->idx = mgvi_arena_array(arena, entries, sizeof *out->idx);
    return (out->f32 || out->f64) && (out->dense || out->idx) ? MGV_OK : MGV_E_MEMORY;
}

mgv_status mgvi_packed_new(mgvi_arena *arena, const mgvi_matrix *const *stack, int count,
                           const double *factor, const double *scale, const int32_t *number,
                           mgv_dtype dtype, mgvi_packed *out)
{
    *out = (mgvi_packed){.cols = stack[0]->cols, .dense = stack[0]->layout == MGV_DENSE};
    for (int k = 0; k < count; k++)
        out->rows += stack[k]->rows;
    if (out->rows > INT32_MAX)
        return MGVI_FAIL(arena->ctx, MGV_E_UNSUPPORTED,
                         "a copy by columns takes at most 2^31 rows; there are %" PRId64,
                         out->rows);
    MGVI_TRY(MGVI_ARRAY(arena, out->ptr, (size_t)out->cols + 1));
    for (int k = 0; k < count; k++)
        count_entries(stack[k], out->dense, out->ptr);
    for (int64_t j = 0; j < out->cols; j++)
        out->ptr[j + 1] += out->ptr[j];
    MGVI_TRY(allocate(arena, dtype, out));
    placing job = {.out = out, .factor = factor, .scale = scale, .number = number};
    job.cursor = mgvi_dup(arena->ctx, out->ptr, (size_t)out->cols + 1, sizeof *job.cursor);
    if (!job.cursor)
        return MGV_E_MEMORY;
    for (int k = 0; k < count; k++) {
        place_matrix(&job, stack[k]);
        job.first += stack[k]->rows;
    }
    mgvi_release(arena->ctx, job.cursor);
    return MGV_OK;
}

double mgvi_packed_bytes(const mgvi_matrix *m, mgv_dtype dtype)
{
    const double entry = (double)mgvi_dtype_size(dtype) + (m->layout == MGV_DENSE ? 0 : 4);
    return (double)m->nnz * entry + 8.0 * (double)m->cols;
}
