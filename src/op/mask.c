/* mask.c - chosen entries: y_t = x[entry_t]; the transpose fills zeros in between. */
#include "op/op.h"

#include "base/limit.h"

#include "base/memory.h"
#include "base/threads.h"

#include <assert.h>
#include <string.h>

typedef struct mask {
    mgvi_op op;
    int64_t *entry;
} mask;

typedef struct job {
    const mask *m;
    int64_t blocks;
    int32_t k;
    double alpha, beta;
    const double *in;
    double *out;
} job;

enum { GRAIN = 1 << 15, BLOCKS = 64 };

extern const mgvi_op_ops mgvi_operator_mask;

static void gather_block(void *arg, int64_t block)
{
    const job *j = arg;
    const int64_t end = mgvi_block_begin(j->m->op.rows, j->blocks, block + 1);
    for (int64_t t = mgvi_block_begin(j->m->op.rows, j->blocks, block); t < end; t++) {
        const double *x = j->in + j->m->entry[t] * j->k;
        double *y = j->out + t * j->k;
        for (int32_t c = 0; c < j->k; c++)
            y[c] = j->alpha * x[c] + (j->beta == 0 ? 0 : j->beta * y[c]);
    }
}

/* No entry is met twice: the blocks do not touch each other's numbers. */
static void scatter_block(void *arg, int64_t block)
{
    const job *j = arg;
    const int64_t end = mgvi_block_begin(j->m->op.rows, j->blocks, block + 1);
    for (int64_t t = mgvi_block_begin(j->m->op.rows, j->blocks, block); t < end; t++)
        for (int32_t c = 0; c < j->k; c++)
            j->out[j->m->entry[t] * j->k + c] += j->alpha * j->in[t * j->k + c];
}

static void run(mgvi_op *op, mgvi_block_fn fn, job j)
{
    j.m = (const mask *)op;
    j.blocks = mgvi_block_count(op->rows * j.k, GRAIN, BLOCKS);
    mgvi_ctx_run(op->ctx, j.blocks, fn, &j);
    op->touched += (double)op->nnz;
}

static void mask_mul(mgvi_op *op, double alpha, const mgvi_vec *x, double beta, mgvi_vec *y)
{
    assert(x->k == y->k && x->n == op->cols && y->n == op->rows);
    run(op, gather_block, (job){.k = x->k, .alpha = alpha, .beta = beta, .in = x->x, .out = y->x});
}

static void mask_mul_t(mgvi_op *op, double alpha, const mgvi_vec *u, double beta, mgvi_vec *g)
{
    assert(u->k == g->k && g->n == op->cols && u->n == op->rows);
    if (beta == 0)
        mgvi_vec_fill(op->ctx, g, 0);
    else if (beta != 1)
        mgvi_vec_scale(op->ctx, beta, g);
    run(op, scatter_block, (job){.k = u->k, .alpha = alpha, .in = u->x, .out = g->x});
}

static void mask_free(mgvi_op *op)
{
    mgv_ctx *ctx = op->ctx;
    mgvi_release(ctx, ((mask *)op)->entry);
    mgvi_release(ctx, op);
}

const mgvi_op_ops mgvi_operator_mask = {
    .name = "mask",
    .summary = "chosen entries of a vector or matrix",
    .can = MGVI_MUL | MGVI_MUL_T,
    .mul = mask_mul,
    .mul_t = mask_mul_t,
    .free = mask_free,
};

static mgv_status check_entries(mgv_ctx *ctx, int64_t cols, const int64_t *entry, int64_t count)
{
    if (cols < 0 || count < 0)
        return MGVI_FAIL(ctx, MGV_E_ARG, "a mask of %" PRId64 " of %" PRId64 " entries", count,
                         cols);
    for (int64_t t = 0; t < count; t++)
        if (entry[t] < 0 || entry[t] >= cols || (t && entry[t] <= entry[t - 1]))
            return MGVI_FAIL(ctx, MGV_E_ARG,
                             "entry %" PRId64 " of the mask is %" PRId64
                             "; allowed: increasing, below %" PRId64,
                             t, entry[t], cols);
    return MGV_OK;
}

mgv_status mgvi_op_mask(mgv_ctx *ctx, int64_t cols, const int64_t *entry, int64_t count,
                        int32_t lanes, mgvi_op **out)
{
    *out = NULL;
    MGVI_TRY(mgvi_op_check_lanes(ctx, lanes));
    MGVI_TRY(check_entries(ctx, cols, entry, count));
    mask *m = mgvi_new(ctx, sizeof *m);
    if (!m)
        return MGV_E_MEMORY;
    m->op = (mgvi_op){.ops = &mgvi_operator_mask,
                      .ctx = ctx,
                      .rows = count,
                      .cols = cols,
                      .nnz = count,
                      .lanes = lanes};
    m->entry = mgvi_dup(ctx, entry, (size_t)count, sizeof *entry);
    if (!m->entry) {
        mgvi_op_free(&m->op);
        return MGV_E_MEMORY;
    }
    *out = &m->op;
    return MGV_OK;
}
