/* test_joint_pass.c - the fused pass of a loss of many classes against products in float64. */
#include "samples.h"

#include "loss/registry.h"
#include "op/joint_pass.h"

enum { ROWS = 9000, COLS = 65 }; /* two blocks, ends of every kind */

static void check_pass(mgv_ctx *ctx, const mgvi_matrix *m, const mgvi_view *view, int32_t k,
                       const char *loss_name)
{
    mgvi_op *base, *op;
    mgvi_arena arena;
    mgvi_joint_pass *pass;
    mgvi_vec w, g, want, z, u;
    mgvi_rng rng = mgvi_rng_seed((uint64_t)k);
    const mgvi_loss_ops *loss = mgvi_loss_find(loss_name);
    mgvi_arena_init(&arena, ctx);
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, m, k, &base));
    CHECK_OK(ctx, mgvi_op_view(ctx, base, view, k, &op));
    double *c = mgvi_arena_array(&arena, ROWS, sizeof *c);
    double *s = mgvi_arena_array(&arena, ROWS, sizeof *s);
    CHECK_OK(ctx, mgvi_vec_new(&arena, MGVI_COLS, op->cols, k, &w));
    CHECK_OK(ctx, mgvi_vec_new(&arena, MGVI_COLS, op->cols, k, &g));
    CHECK_OK(ctx, mgvi_vec_new(&arena, MGVI_COLS, op->cols, k, &want));
    CHECK_OK(ctx, mgvi_vec_new(&arena, MGVI_ROWS, ROWS, k, &z));
    CHECK_OK(ctx, mgvi_vec_new(&arena, MGVI_ROWS, ROWS, k, &u));
    for (int i = 0; i < ROWS; i++) {
        c[i] = i % k;
        s[i] = mgvi_rng_uniform(&rng) / ROWS;
    }
    for (int64_t t = 0; t < op->cols * k; t++)
        w.x[t] = mgvi_rng_normal(&rng) / 5;
    const mgvi_coefs coefs = {.scale = {.values = s, .lanes = 1}, .a = {.values = c, .lanes = 1}};
    CHECK_OK(ctx, mgvi_joint_pass_new(&arena, op, loss, &coefs, k, &pass));
    CHECK(pass != NULL);
    const double value = mgvi_joint_pass_run(pass, &w, &g);
    mgvi_joint_pass_slopes(pass, &w, &u);
    mgvi_op_mul(op, 1, &w, 0, &z);
    CHECK_NEAR(value, mgvi_joint_value(ctx, loss, &coefs, &z), 1e-6 * value, "%s, k = %d",
               loss_name, k);
    mgvi_joint_grad(ctx, loss, &coefs, &z, &z);
    mgvi_op_mul_t(op, 1, &z, 0, &want);
    for (int64_t t = 0; t < op->cols * k; t++)
        CHECK_NEAR(g.x[t], want.x[t], 3e-6, "%s, k = %d: gradient", loss_name, k);
    for (int64_t t = 0; t < ROWS * k; t++)
        CHECK_NEAR(u.x[t] * ROWS, z.x[t] * ROWS, 1e-4, "%s, k = %d: slopes", loss_name, k);
    mgvi_op_free(op);
    mgvi_arena_free(&arena);
}

TEST(a_pass_is_two_products)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_rng rng = mgvi_rng_seed(6);
    float *F = malloc(ROWS * COLS * sizeof *F);
    double *X = malloc(ROWS * COLS * sizeof *X), centre[COLS], scale[COLS];
    for (int t = 0; t < ROWS * COLS; t++) {
        F[t] = (float)(mgvi_rng_normal(&rng) + 1);
        X[t] = (double)F[t];
    }
    for (int j = 0; j < COLS; j++) {
        centre[j] = 1;
        scale[j] = 0.5 + (j % 3);
    }
    const mgvi_matrix f32 = {.layout = MGV_DENSE,
                             .dtype = MGV_F32,
                             .rows = ROWS,
                             .cols = COLS,
                             .nnz = ROWS * COLS,
                             .val = F,
                             .row_stride = COLS,
                             .col_stride = 1};
    mgvi_matrix f64 = f32;
    f64.dtype = MGV_F64;
    f64.val = X;
    const mgvi_view views[] = {{.intercept = true, .centre = centre},
                               {.intercept = true, .centre = centre, .scale = scale},
                               {.intercept = false}};
    for (int v = 0; v < 3; v++) {
        check_pass(ctx, &f32, &views[v], 10, "softmax");
        check_pass(ctx, &f64, &views[v], 3, "softmax");
    }
    check_pass(ctx, &f32, &views[0], 37, "softmax");
    free(F);
    free(X);
    mgv_ctx_free(ctx);
}

/* A' diag(h) A w beside two products, every lane its own h; signs cancel. */
static void check_curve(mgv_ctx *ctx, const mgvi_matrix *m, const mgvi_view *view, int32_t k)
{
    mgvi_op *base, *op;
    mgvi_arena arena;
    mgvi_joint_pass *pass;
    mgvi_vec w, g, want, z, h;
    mgvi_rng rng = mgvi_rng_seed((uint64_t)k);
    mgvi_arena_init(&arena, ctx);
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, m, k, &base));
    CHECK_OK(ctx, mgvi_op_view(ctx, base, view, k, &op));
    CHECK_OK(ctx, mgvi_vec_new(&arena, MGVI_COLS, op->cols, k, &w));
    CHECK_OK(ctx, mgvi_vec_new(&arena, MGVI_COLS, op->cols, k, &g));
    CHECK_OK(ctx, mgvi_vec_new(&arena, MGVI_COLS, op->cols, k, &want));
    CHECK_OK(ctx, mgvi_vec_new(&arena, MGVI_ROWS, ROWS, k, &z));
    CHECK_OK(ctx, mgvi_vec_new(&arena, MGVI_ROWS, ROWS, k, &h));
    for (int64_t t = 0; t < ROWS * k; t++)
        h.x[t] = mgvi_rng_uniform(&rng) / ROWS;
    for (int64_t t = 0; t < op->cols * k; t++)
        w.x[t] = mgvi_rng_normal(&rng) / 5;
    CHECK_OK(ctx, mgvi_curve_pass_new(&arena, op, k, &pass));
    CHECK(pass != NULL);
    mgvi_curve_pass_run(pass, NULL, &h, &w, &g);
    mgvi_op_mul(op, 1, &w, 0, &z);
    for (int64_t t = 0; t < ROWS * k; t++)
        z.x[t] *= h.x[t];
    mgvi_op_mul_t(op, 1, &z, 0, &want);
    for (int64_t t = 0; t < op->cols * k; t++)
        CHECK_NEAR(g.x[t], want.x[t], 1e-5, "k = %d: curvature", k);
    bool on[] = {false, true, true, false, true};
    mgvi_curve_pass_run(pass, on, &h, &w, &g); /* some lanes */
    for (int64_t t = 0; t < op->cols * k; t++)
        CHECK_NEAR(g.x[t], on[t % k] ? want.x[t] : 0, 1e-5, "k = %d: curvature of some", k);
    mgvi_op_free(op);
    mgvi_arena_free(&arena);
}

TEST(a_pass_for_curvatures)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_rng rng = mgvi_rng_seed(8);
    enum { LANES = 5 };
    double *X = malloc(ROWS * COLS * sizeof *X), centre[COLS];
    int8_t *sign = malloc(ROWS * LANES * sizeof *sign);
    for (int t = 0; t < ROWS * COLS; t++)
        X[t] = mgvi_rng_normal(&rng) + 1;
    for (int t = 0; t < ROWS * LANES; t++)
        sign[t] = mgvi_rng_uniform(&rng) < 0.3 ? 1 : -1;
    for (int j = 0; j < COLS; j++)
        centre[j] = 1;
    const mgvi_matrix m = {.layout = MGV_DENSE,
                           .dtype = MGV_F64,
                           .rows = ROWS,
                           .cols = COLS,
                           .nnz = ROWS * COLS,
                           .val = X,
                           .row_stride = COLS,
                           .col_stride = 1};
    check_curve(ctx, &m, &(mgvi_view){.intercept = true, .centre = centre}, 3);
    check_curve(
        ctx, &m,
        &(mgvi_view){.intercept = true, .centre = centre, .sign = sign, .sign_lanes = LANES},
        LANES);
    free(sign);
    free(X);
    mgv_ctx_free(ctx);
}

/* Sparse, by columns, signed: nothing to fuse. */
TEST(other_operators_have_none)
{
    mgv_ctx *ctx = mgv_check_ctx();
    float val[6] = {1, 2, 3, 4, 5, 6};
    mgvi_op *op;
    mgvi_arena arena;
    mgvi_joint_pass *pass;
    const mgvi_coefs none = {.scale = {.constant = 1}};
    mgvi_arena_init(&arena, ctx);
    const mgvi_matrix turned = {.layout = MGV_DENSE,
                                .dtype = MGV_F32,
                                .rows = 3,
                                .cols = 2,
                                .nnz = 6,
                                .val = val,
                                .row_stride = 1,
                                .col_stride = 3};
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &turned, 2, &op));
    CHECK_OK(ctx, mgvi_joint_pass_new(&arena, op, mgvi_loss_find("softmax"), &none, 2, &pass));
    CHECK(!pass);
    mgvi_op_free(op);
    CHECK_OK(ctx, mgvi_op_diff1d(ctx, 5, 2, &op));
    CHECK_OK(ctx, mgvi_joint_pass_new(&arena, op, mgvi_loss_find("softmax"), &none, 2, &pass));
    CHECK(!pass);
    mgvi_op_free(op);
    mgvi_arena_free(&arena);
    mgv_ctx_free(ctx);
}

int main(void)
{
    return RUN(a_pass_is_two_products, a_pass_for_curvatures, other_operators_have_none);
}
