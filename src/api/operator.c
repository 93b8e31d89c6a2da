/* operator.c - public functions on the caller's own operators. */
#include "api/need.h"
#include "base/memory.h"
#include "base/rng.h"
#include "op/op.h"

#include <math.h>

/* <A x, u> against <x, A'u> for one random pair. */
static mgv_status compare(mgv_ctx *ctx, mgvi_op *op, mgvi_arena *arena)
{
    mgvi_vec x, u, Ax, Au;
    MGVI_TRY(MGVI_VECS(arena, MGVI_COLS, op->cols, 1, &x, &Au));
    MGVI_TRY(MGVI_VECS(arena, MGVI_ROWS, op->rows, 1, &u, &Ax));
    mgvi_rng rng = mgvi_rng_seed(1);
    for (int64_t j = 0; j < x.n; j++)
        x.x[j] = mgvi_rng_normal(&rng);
    for (int64_t i = 0; i < u.n; i++)
        u.x[i] = mgvi_rng_normal(&rng);
    mgvi_op_mul(op, 1, &x, 0, &Ax);
    mgvi_op_mul_t(op, 1, &u, 0, &Au);
    double left, right, size, length;
    mgvi_vec_dot(ctx, &Ax, &u, &left);
    mgvi_vec_dot(ctx, &x, &Au, &right);
    mgvi_vec_norm2(ctx, &Ax, &size);
    mgvi_vec_norm2(ctx, &u, &length);
    if (fabs(left - right) <= 1e-8 * (size * length + 1e-300))
        return MGV_OK;
    return MGVI_FAIL(ctx, MGV_E_INPUT,
                     "mul and mul_t are not each other's transposes: <A x, u> = %.12g, "
                     "<x, A'u> = %.12g",
                     left, right);
}

mgv_status mgv_operator_check(mgv_ctx *ctx, const mgv_operator *user)
{
    MGVI_TRY(mgvi_need(ctx, user, "the operator"));
    mgvi_op *op;
    mgvi_arena arena;
    MGVI_TRY(mgvi_op_user(ctx, user, 1, &op));
    mgvi_arena_init(&arena, ctx);
    const mgv_status st = compare(ctx, op, &arena);
    mgvi_arena_free(&arena);
    mgvi_op_free(op);
    return mgvi_done(ctx, st);
}
