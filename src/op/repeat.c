/* repeat.c - the same operator for each of several interleaved channels: A (x) I.
 * Entry (i, c) of a vector is x[i channels + c], which is a block of `channels` lanes: the
 * operator below multiplies all channels at once. */
#include "op/op.h"

#include "base/memory.h"

#include <assert.h>

typedef struct repeat {
    mgvi_op op;
    mgvi_op *base;
    int32_t channels;
} repeat;

extern const mgvi_op_ops mgvi_operator_repeat;

/* The same numbers as a block of lanes. */
static mgvi_vec as_lanes(const repeat *r, const mgvi_vec *x)
{
    return (mgvi_vec){
        .x = x->x, .n = x->n / r->channels, .k = r->channels * x->k, .space = x->space};
}

static void repeat_mul(mgvi_op *op, double alpha, const mgvi_vec *x, double beta, mgvi_vec *y)
{
    const repeat *r = (const repeat *)op;
    assert(x->k == y->k && x->n == op->cols && y->n == op->rows);
    const mgvi_vec in = as_lanes(r, x);
    mgvi_vec out = as_lanes(r, y);
    mgvi_op_mul(r->base, alpha, &in, beta, &out);
    op->touched += (double)op->nnz;
}

static void repeat_mul_t(mgvi_op *op, double alpha, const mgvi_vec *u, double beta, mgvi_vec *g)
{
    const repeat *r = (const repeat *)op;
    assert(u->k == g->k && g->n == op->cols && u->n == op->rows);
    const mgvi_vec in = as_lanes(r, u);
    mgvi_vec out = as_lanes(r, g);
    mgvi_op_mul_t(r->base, alpha, &in, beta, &out);
    op->touched += (double)op->nnz;
}

static void repeat_free(mgvi_op *op)
{
    mgvi_op_free(((repeat *)op)->base);
    mgvi_release(op->ctx, op);
}

const mgvi_op_ops mgvi_operator_repeat = {
    .name = "repeat",
    .summary = "one operator for every channel of an image",
    .can = MGVI_MUL | MGVI_MUL_T,
    .mul = repeat_mul,
    .mul_t = repeat_mul_t,
    .free = repeat_free,
};

mgv_status mgvi_op_repeat(mgv_ctx *ctx, mgvi_op *base, int32_t channels, int32_t lanes,
                          mgvi_op **out)
{
    mgv_status st = mgvi_op_check_lanes(ctx, lanes);
    *out = NULL;
    if (st == MGV_OK && (channels < 1 || base->lanes / lanes < channels || base->lanes_fixed))
        st = MGVI_FAIL(ctx, MGV_E_ARG,
                       "%" PRId32 " channels of %" PRId32 " lanes over an operator of %" PRId32,
                       channels, lanes, base->lanes);
    repeat *r = st == MGV_OK ? mgvi_new(ctx, sizeof *r) : NULL;
    if (!r) {
        mgvi_op_free(base);
        return st == MGV_OK ? MGV_E_MEMORY : st;
    }
    r->op = (mgvi_op){.ops = &mgvi_operator_repeat,
                      .ctx = ctx,
                      .rows = base->rows * channels,
                      .cols = base->cols * channels,
                      .nnz = base->nnz * channels,
                      .lanes = lanes};
    r->base = base;
    r->channels = channels;
    *out = &r->op;
    return MGV_OK;
}
