/* stack.c - a matrix of operators: the sum of factor_p [0 ... op_p at (row_p, col_p) ... 0]. */
#include "op/op.h"

#include "base/memory.h"

#include <assert.h>

typedef struct stack {
    mgvi_op op;
    int count;
    mgvi_stack_part *parts;
} stack;

extern const mgvi_op_ops mgvi_operator_stack;

static int64_t part_rows(const mgvi_stack_part *p) { return p->op ? p->op->rows : p->size; }
static int64_t part_cols(const mgvi_stack_part *p) { return p->op ? p->op->cols : p->size; }

static mgvi_vec piece(const mgvi_vec *v, int64_t first, int64_t n)
{
    return (mgvi_vec){.x = v->x + first * v->k, .n = n, .k = v->k, .space = v->space};
}

/* out = beta out, then every part adds its product to its piece. */
static void product(mgvi_op *op, bool t, double alpha, const mgvi_vec *in, double beta,
                    mgvi_vec *out)
{
    const stack *s = (const stack *)op;
    assert(in->k == out->k && in->n == (t ? op->rows : op->cols));
    if (beta == 0)
        mgvi_vec_fill(op->ctx, out, 0);
    else if (beta != 1)
        mgvi_vec_scale(op->ctx, beta, out);
    for (int i = 0; i < s->count; i++) {
        const mgvi_stack_part *p = &s->parts[i];
        const int64_t rows = part_rows(p), cols = part_cols(p);
        const mgvi_vec from = piece(in, t ? p->row : p->col, t ? rows : cols);
        mgvi_vec to = piece(out, t ? p->col : p->row, t ? cols : rows);
        if (!p->op)
            mgvi_vec_axpby(op->ctx, alpha * p->factor, &from, 1, &to);
        else if (t)
            mgvi_op_mul_t(p->op, alpha * p->factor, &from, 1, &to);
        else
            mgvi_op_mul(p->op, alpha * p->factor, &from, 1, &to);
    }
    op->touched += (double)op->nnz;
}

static void stack_mul(mgvi_op *op, double alpha, const mgvi_vec *x, double beta, mgvi_vec *y)
{
    product(op, false, alpha, x, beta, y);
}

static void stack_mul_t(mgvi_op *op, double alpha, const mgvi_vec *u, double beta, mgvi_vec *g)
{
    product(op, true, alpha, u, beta, g);
}

static void free_parts(const mgvi_stack_part *parts, int count)
{
    for (int i = 0; i < count; i++)
        mgvi_op_free(parts[i].op);
}

static void stack_free(mgvi_op *op)
{
    stack *s = (stack *)op;
    mgv_ctx *ctx = op->ctx;
    free_parts(s->parts, s->count);
    mgvi_release(ctx, s->parts);
    mgvi_release(ctx, s);
}

const mgvi_op_ops mgvi_operator_stack = {
    .name = "stack",
    .summary = "operators below and beside each other",
    .can = MGVI_MUL | MGVI_MUL_T,
    .mul = stack_mul,
    .mul_t = stack_mul_t,
    .free = stack_free,
};

static mgv_status check_parts(mgv_ctx *ctx, const mgvi_stack_part *parts, int count, int32_t lanes)
{
    MGVI_TRY(mgvi_op_check_lanes(ctx, lanes));
    for (int i = 0; i < count; i++) {
        const mgvi_stack_part *p = &parts[i];
        if (p->row < 0 || p->col < 0 || (!p->op && p->size < 0))
            return MGVI_FAIL(ctx, MGV_E_ARG,
                             "part %d of the stack lies at (%" PRId64 ", %" PRId64 ")", i, p->row,
                             p->col);
        if (p->op && (p->op->lanes < lanes || p->op->lanes_fixed))
            return MGVI_FAIL(ctx, MGV_E_ARG,
                             "a stack of %" PRId32 " lanes over an operator of %" PRId32, lanes,
                             p->op->lanes);
    }
    return MGV_OK;
}

mgv_status mgvi_op_stack(mgv_ctx *ctx, const mgvi_stack_part *parts, int count, int32_t lanes,
                         mgvi_op **out)
{
    stack *s = NULL;
    mgvi_stack_part *copy = NULL;
    *out = NULL;
    mgv_status st = check_parts(ctx, parts, count, lanes);
    if (st == MGV_OK && (!(s = mgvi_new(ctx, sizeof *s)) ||
                         !(copy = mgvi_dup(ctx, parts, (size_t)count, sizeof *parts))))
        st = MGV_E_MEMORY;
    if (st != MGV_OK) {
        mgvi_release(ctx, s);
        free_parts(parts, count);
        return st;
    }
    s->op = (mgvi_op){.ops = &mgvi_operator_stack, .ctx = ctx, .lanes = lanes};
    s->parts = copy;
    s->count = count;
    for (int i = 0; i < count; i++) {
        const int64_t rows = parts[i].row + part_rows(&parts[i]);
        const int64_t cols = parts[i].col + part_cols(&parts[i]);
        s->op.rows = rows > s->op.rows ? rows : s->op.rows;
        s->op.cols = cols > s->op.cols ? cols : s->op.cols;
        s->op.nnz += parts[i].op ? parts[i].op->nnz : parts[i].size;
    }
    *out = &s->op;
    return MGV_OK;
}
