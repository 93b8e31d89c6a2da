/* view.c - products with the A of a view (op/matrix.h):
 *   A (w, b) = sign (row_scale (X[rows] (scale w) - centre . (scale w)) + b)               (1)
 *   A'u      = ( scale (X[rows]'v - centre sum v),  sum sign u ),   v = row_scale sign u   (2)
 * Over a matrix stored by rows the row side is applied piece by piece inside the product; any other
 * operator makes its full product first. */
#include "op/view.h"

#include "base/limit.h"

#include "base/memory.h"
#include "base/threads.h"

#include <assert.h>
#include <string.h>

enum { GRAIN = 1 << 14, BLOCKS = 32 }; /* of passes over row and column vectors */

/* A pass over a row or column vector, in blocks, in pieces. */
typedef struct pass {
    mgvi_view_op *v;
    int64_t count, blocks; /* rows or columns, and how they are cut */
    int32_t k;
    double alpha, beta;
    const double *in;
    double *out;
    mgvi_lane_shift shift;
    bool intercept; /* its sum is wanted */
} pass;

static void run_pass(pass *job, mgvi_block_fn fn, int64_t count, int64_t most_blocks)
{
    job->count = count;
    job->blocks = mgvi_block_count(count * job->k, GRAIN, most_blocks);
    mgvi_ctx_run(job->v->op.ctx, job->blocks, fn, job);
}

#define FOR_PIECES(job, block, i, n)                                                               \
    for (int64_t i = mgvi_block_begin((job)->count, (job)->blocks, block),                         \
                 end = mgvi_block_begin((job)->count, (job)->blocks, (block) + 1),                 \
                 step = mgvi_piece_rows((job)->k), n = 0;                                          \
         n = end - i < step ? end - i : step, i < end; i += n)

/* The sums of a block: one per lane for the intercept, one for the centre. */
static mgvi_lane_sums block_sums(const pass *job, int64_t block)
{
    double *sums = job->v->sums + block * 2 * job->k;
    return (mgvi_lane_sums){.intercept = job->intercept ? sums : NULL,
                            .centre = job->v->view.centre ? sums + job->k : NULL};
}

static void clear_sums(const pass *job, int64_t block)
{
    memset(job->v->sums + block * 2 * job->k, 0, (size_t)(2 * job->k) * sizeof(double));
}

static void add_sums(const pass *job)
{
    for (int64_t block = 1; block < job->blocks; block++)
        mgvi_map_combine(1, job->v->sums + block * 2 * job->k, 1, job->v->sums, 2 * job->k);
}

/* ---- A w ------------------------------------------------------------------------------------ */
/* out = scale in, and centre . out per lane */
static void cols_block(void *arg, int64_t block)
{
    const pass *job = arg;
    const mgvi_view *view = &job->v->view;
    const mgvi_simd *simd = job->v->op.ctx->simd;
    const int32_t k = job->k;
    double *sum = block_sums(job, block).centre;
    clear_sums(job, block);
    FOR_PIECES(job, block, j, n)
    {
        const double *x = job->in + j * k;
        if (view->scale) {
            mgvi_map_cols(view, j, n, k, x, job->out + j * k);
            x = job->out + j * k;
        }
        if (sum && k == 1)
            *sum += simd->dot_f64(x, view->centre + j, n);
        else if (sum)
            simd->dense_mul_t_f64(x, k, n, k, view->centre + j, sum);
    }
}

/* y = alpha map(full[rows]) + beta y */
static void rows_block(void *arg, int64_t block)
{
    const pass *job = arg;
    const mgvi_view *view = &job->v->view;
    const int32_t k = job->k;
    double buffer[MGVI_LANES_MAX];
    FOR_PIECES(job, block, i, n)
    {
        double *y = job->out + i * k, *t = job->beta == 0 ? y : buffer;
        for (int64_t r = 0; r < n; r++)
            memcpy(t + r * k, job->in + mgvi_view_source(view, i + r) * k, (size_t)k * sizeof *t);
        mgvi_map_rows(view, job->shift, i, n, k, t);
        mgvi_map_combine(job->alpha, t, job->beta, y, n * k);
    }
}

static void view_mul(mgvi_op *op, double alpha, const mgvi_vec *x, double beta, mgvi_vec *y)
{
    mgvi_view_op *v = (mgvi_view_op *)op;
    const int64_t cols = v->base->cols;
    assert(x->k == y->k && x->n == op->cols && y->n == op->rows && x->k <= op->lanes);
    assert(!op->lanes_fixed || x->k == op->lanes);
    pass job = {.v = v, .k = x->k, .in = x->x, .out = v->scaled, .beta = beta, .alpha = alpha};
    mgvi_vec scaled = {.x = x->x, .n = cols, .k = x->k, .space = MGVI_COLS};
    if (v->view.scale)
        scaled.x = v->scaled;
    if (mgvi_view_has_cols(&v->view)) {
        run_pass(&job, cols_block, cols, BLOCKS);
        add_sums(&job);
        job.shift.centre = block_sums(&job, 0).centre;
    }
    job.shift.intercept = v->view.intercept ? x->x + cols * x->k : NULL;
    op->touched += (double)op->nnz;
    if (v->by_rows) {
        mgvi_rowwise_mul(v->by_rows, &v->view, job.shift, x->k, alpha, scaled.x, beta, y->x);
        return;
    }
    mgvi_vec full = {.x = v->full, .n = v->base->rows, .k = x->k, .space = MGVI_ROWS};
    mgvi_op_mul(v->base, 1, &scaled, 0, &full);
    job.in = v->full;
    job.out = y->x;
    run_pass(&job, rows_block, op->rows, BLOCKS);
}

/* ---- A'u ------------------------------------------------------------------------------------ */
/* full[rows] += alpha row_scale sign u with its sums; all rows: no row is met twice. */
static void rows_t_block(void *arg, int64_t block)
{
    const pass *job = arg;
    const mgvi_view *view = &job->v->view;
    const int32_t k = job->k;
    double buffer[MGVI_LANES_MAX];
    clear_sums(job, block);
    FOR_PIECES(job, block, i, n)
    {
        double *t = view->row ? buffer : job->out + i * k;
        mgvi_map_rows_t(view, i, n, k, job->alpha, job->in + i * k, t, block_sums(job, block));
        for (int64_t r = 0; view->row && r < n; r++)
            mgvi_map_combine(1, t + r * k, 1, job->out + view->row[i + r] * k, k);
    }
}

/* g = map(r) + beta g */
static void cols_t_block(void *arg, int64_t block)
{
    const pass *job = arg;
    const int32_t k = job->k;
    FOR_PIECES(job, block, j, n)
    {
        double *r = job->v->scaled + j * k;
        mgvi_map_cols_t(&job->v->view, block_sums(job, 0).centre, j, n, k, r);
        mgvi_map_combine(1, r, job->beta, job->out + j * k, n * k);
    }
}

/* (2) through the full product of any base. */
static void full_mul_t(pass *job, mgvi_vec *g)
{
    mgvi_view_op *v = job->v;
    mgvi_vec full = {.x = v->full, .n = v->base->rows, .k = job->k, .space = MGVI_ROWS};
    job->out = v->full;
    if (v->view.row) /* chosen rows may repeat: one block */
        mgvi_vec_fill(v->op.ctx, &full, 0);
    run_pass(job, rows_t_block, v->op.rows, v->view.row ? 1 : BLOCKS);
    add_sums(job);
    if (!mgvi_view_has_cols(&v->view)) {
        mgvi_op_mul_t(v->base, 1, &full, job->beta, g);
        return;
    }
    mgvi_vec r = {.x = v->scaled, .n = g->n, .k = job->k, .space = MGVI_COLS};
    mgvi_op_mul_t(v->base, 1, &full, 0, &r);
    job->out = g->x;
    run_pass(job, cols_t_block, g->n, BLOCKS);
}

static void view_mul_t(mgvi_op *op, double alpha, const mgvi_vec *u, double beta, mgvi_vec *g)
{
    mgvi_view_op *v = (mgvi_view_op *)op;
    const int32_t k = u->k;
    assert(k == g->k && u->n == op->rows && g->n == op->cols && k <= op->lanes);
    assert(!op->lanes_fixed || k == op->lanes);
    const bool intercept = v->view.intercept;
    mgvi_vec main = {.x = g->x, .n = v->base->cols, .k = k, .space = MGVI_COLS};
    if (v->by_rows) {
        mgvi_rowwise_mul_t(v->by_rows, &v->view, k, alpha, u->x, beta, main.x,
                           intercept ? v->sums : NULL);
    } else {
        pass job = {
            .v = v, .k = k, .in = u->x, .alpha = alpha, .beta = beta, .intercept = intercept};
        full_mul_t(&job, &main);
    }
    if (intercept)
        mgvi_map_combine(1, v->sums, beta, g->x + main.n * k, k);
    op->touched += (double)op->nnz;
}

/* ---- making it ------------------------------------------------------------------------------ */
static void view_free(mgvi_op *op)
{
    mgvi_view_op *v = (mgvi_view_op *)op;
    mgv_ctx *ctx = op->ctx;
    mgvi_op_free(v->base);
    mgvi_release(ctx, v->scaled);
    mgvi_release(ctx, v->full);
    mgvi_release(ctx, v->sums);
    mgvi_release(ctx, v);
}

const mgvi_op_ops mgvi_operator_view = {
    .name = "view",
    .summary = "chosen rows, signs, scaling, centring and an intercept column over an operator",
    .can = MGVI_MUL | MGVI_MUL_T | MGVI_ROW,
    .mul = view_mul,
    .mul_t = view_mul_t,
    .free = view_free,
};

mgvi_view_op *mgvi_view_of(mgvi_op *op)
{
    return op->ops == &mgvi_operator_view ? (mgvi_view_op *)op : NULL;
}

static mgv_status check_view(mgv_ctx *ctx, const mgvi_op *base, const mgvi_view *view,
                             int32_t lanes)
{
    if (lanes < 1 || lanes > base->lanes || (base->lanes_fixed && lanes != base->lanes))
        return MGVI_FAIL(ctx, MGV_E_ARG, "a view of %" PRId32 " lanes over an operator of %" PRId32,
                         lanes, base->lanes);
    if (view->sign && view->sign_lanes != 1 && view->sign_lanes != lanes)
        return MGVI_FAIL(ctx, MGV_E_ARG, "signs for %" PRId32 " lanes in a view of %" PRId32,
                         view->sign_lanes, lanes);
    if (view->row && view->rows < 0)
        return MGVI_FAIL(ctx, MGV_E_ARG, "a view of %" PRId64 " rows", view->rows);
    for (int64_t i = 0; view->row && i < view->rows; i++)
        if (view->row[i] < 0 || view->row[i] >= base->rows)
            return MGVI_FAIL(ctx, MGV_E_ARG,
                             "row %" PRId64 " of the view is row %" PRId64 " of %" PRId64, i,
                             view->row[i], base->rows);
    return MGV_OK;
}

/* Stored entries that a product reads. */
static int64_t view_nnz(const mgvi_view_op *v)
{
    if (!v->by_rows || !v->view.row)
        return v->base->nnz;
    const mgvi_matrix *m = &v->by_rows->m;
    if (m->layout == MGV_DENSE)
        return v->view.rows * m->cols;
    int64_t count = 0;
    for (int64_t i = 0; i < v->view.rows; i++)
        count += m->ptr[v->view.row[i] + 1] - m->ptr[v->view.row[i]];
    return count;
}

static mgv_status allocate(mgv_ctx *ctx, mgvi_view_op *v, int32_t lanes)
{
    const size_t wide = (size_t)lanes * sizeof(double);
    const bool scaled = v->view.scale || (!v->by_rows && v->view.centre);
    if ((scaled && !(v->scaled = mgvi_alloc(ctx, (size_t)v->base->cols, wide))) ||
        (!v->by_rows && !(v->full = mgvi_alloc(ctx, (size_t)v->base->rows, wide))) ||
        !(v->sums = mgvi_alloc(ctx, 2 * BLOCKS, wide)))
        return MGV_E_MEMORY;
    return MGV_OK;
}

mgv_status mgvi_op_view(mgv_ctx *ctx, mgvi_op *base, const mgvi_view *view, int32_t lanes,
                        mgvi_op **out)
{
    mgvi_view_op *v = NULL;
    *out = NULL;
    mgv_status st = check_view(ctx, base, view, lanes);
    if (st == MGV_OK && !(v = mgvi_new(ctx, sizeof *v)))
        st = MGV_E_MEMORY;
    if (st != MGV_OK) {
        mgvi_op_free(base);
        return st;
    }
    mgvi_stored *stored = mgvi_stored_of(base);
    v->base = base;
    v->by_rows = stored && !stored->transposed ? &stored->by_rows : NULL;
    v->view = *view;
    v->view.rows = view->row ? view->rows : base->rows;
    v->op = (mgvi_op){.ops = &mgvi_operator_view,
                      .ctx = ctx,
                      .rows = v->view.rows,
                      .cols = base->cols + (view->intercept ? 1 : 0),
                      .nnz = view_nnz(v),
                      .entry = base->entry,
                      .stored = stored ? base->stored : NULL,
                      .view = stored ? &v->view : NULL,
                      .lanes = lanes,
                      .lanes_fixed = base->lanes_fixed || (view->sign && view->sign_lanes > 1)};
    st = allocate(ctx, v, lanes);
    if (st == MGV_OK)
        *out = &v->op;
    else
        mgvi_op_free(&v->op);
    return st;
}

double mgvi_op_terms_t(mgvi_op *op, int32_t k)
{
    const mgvi_view_op *v = mgvi_view_of(op);
    return v && v->by_rows ? mgvi_rowwise_terms_t(v->by_rows, &v->view, k) : (double)op->rows;
}
