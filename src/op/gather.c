/* gather.c - columns: the raw entries first, then what the view lays over. */
#include "op/gather.h"

#include "base/limit.h"
#include "base/threads.h"
#include "op/rows.h"
#include "op/view.h"

#include <string.h>

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
    mgvi_gather *c = mgvi_arena_array(arena, 1, sizeof *c);
    if (!c)
        return MGV_E_MEMORY;
    c->op = op;
    c->view = *op->view;
    c->m = *op->stored;
    if (c->m.layout == MGV_CSR) {
        const mgvi_matrix t = mgvi_matrix_transpose(op->stored);
        mgvi_matrix by_columns;
        MGVI_TRY(mgvi_matrix_rows(arena, &t, &by_columns));
        c->m = mgvi_matrix_transpose(&by_columns);
    }
    c->raw = mgvi_arena_scratch(arena, (size_t)c->m.rows * TOGETHER * BLOCKS, sizeof *c->raw);
    if (!c->raw)
        return MGV_E_MEMORY;
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
