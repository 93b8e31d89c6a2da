/* user.c - a linear map computed by the caller's own pair of functions. */
#include "op/op.h"

#include "base/memory.h"

#include <assert.h>

typedef struct user_op {
    mgvi_op op;
    mgv_operator fn;
    double *in, *out; /* one contiguous lane */
} user_op;

extern const mgvi_op_ops mgvi_operator_user;

/* Callers' functions see one lane at a time. */
static void product(mgvi_op *op, bool t, double alpha, const mgvi_vec *from, double beta,
                    mgvi_vec *to)
{
    user_op *s = (user_op *)op;
    const int32_t k = from->k;
    assert(k == to->k && from->n == (t ? op->rows : op->cols));
    for (int32_t c = 0; c < k; c++) {
        for (int64_t i = 0; i < from->n; i++)
            s->in[i] = from->x[i * k + c];
        if ((t ? s->fn.mul_t : s->fn.mul)(s->fn.user, s->in, s->out) != 0)
            atomic_store(&op->ctx->interrupted, 1);
        for (int64_t i = 0; i < to->n; i++) {
            double *y = &to->x[i * k + c];
            *y = alpha * s->out[i] + (beta == 0 ? 0 : beta * *y);
        }
    }
    op->touched += (double)op->nnz;
}

static void user_mul(mgvi_op *op, double alpha, const mgvi_vec *x, double beta, mgvi_vec *y)
{
    product(op, false, alpha, x, beta, y);
}

static void user_mul_t(mgvi_op *op, double alpha, const mgvi_vec *u, double beta, mgvi_vec *g)
{
    product(op, true, alpha, u, beta, g);
}

static void user_free(mgvi_op *op)
{
    user_op *s = (user_op *)op;
    mgv_ctx *ctx = op->ctx;
    mgvi_release(ctx, s->in);
    mgvi_release(ctx, s->out);
    mgvi_release(ctx, s);
}

const mgvi_op_ops mgvi_operator_user = {
    .name = "user",
    .summary = "the caller's own pair of functions",
    .can = MGVI_MUL | MGVI_MUL_T,
    .mul = user_mul,
    .mul_t = user_mul_t,
    .free = user_free,
};

mgv_status mgvi_op_user(mgv_ctx *ctx, const mgv_operator *user, int32_t lanes, mgvi_op **out)
{
    *out = NULL;
    MGVI_TRY(mgvi_op_check_lanes(ctx, lanes));
    if (user->size < sizeof *user)
        return MGVI_FAIL(ctx, MGV_E_ARG, "mgv_operator: size is %zu, expected %zu", user->size,
                         sizeof *user);
    if (user->rows < 0 || user->cols < 0 || !user->mul || !user->mul_t)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "an operator of %" PRId64 " x %" PRId64 " needs both functions",
                         user->rows, user->cols);
    const int64_t longest = user->rows > user->cols ? user->rows : user->cols;
    user_op *s = mgvi_new(ctx, sizeof *s);
    if (!s)
        return MGV_E_MEMORY;
    s->op = (mgvi_op){.ops = &mgvi_operator_user,
                      .ctx = ctx,
                      .rows = user->rows,
                      .cols = user->cols,
                      .nnz = longest,
                      .lanes = lanes};
    s->fn = *user;
    s->in = mgvi_alloc(ctx, (size_t)longest, sizeof *s->in);
    s->out = mgvi_alloc(ctx, (size_t)longest, sizeof *s->out);
    if (!s->in || !s->out) {
        mgvi_op_free(&s->op);
        return MGV_E_MEMORY;
    }
    *out = &s->op;
    return MGV_OK;
}
