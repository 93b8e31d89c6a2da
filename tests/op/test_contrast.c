/* test_contrast.c - differences of class scores: products and single rows against the matrix. */
#include "subject.h"

#include "op/contrast.h"
#include "op/rows.h"

enum { N = 7, D = 3, K = 4 };

/* E written out: row i K + j is x_i (e_c - e_j)', weights feature by feature. */
static void write_out(const double *X, const int32_t *own, double *E)
{
    memset(E, 0, sizeof(double) * N * K * D * K);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < K; j++)
            for (int t = 0; t < D; t++) {
                double *row = E + (i * K + j) * D * K;
                row[t * K + own[i]] += X[i * D + t];
                row[t * K + j] -= X[i * D + t];
            }
}

static mgvi_op *contrasts(mgv_ctx *ctx, const double *X, const int32_t *own)
{
    const mgvi_matrix m = {.layout = MGV_DENSE,
                           .dtype = MGV_F64,
                           .rows = N,
                           .cols = D,
                           .nnz = N * D,
                           .row_stride = D,
                           .col_stride = 1,
                           .val = X};
    mgvi_op *base, *op;
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &m, K, &base));
    CHECK_OK(ctx, mgvi_op_contrast(ctx, base, false, own, K, &op));
    return op;
}

TEST(products)
{
    static const int32_t own[N] = {0, 3, 1, 1, 2, 0, 3};
    mgv_ctx *ctx;
    static double E[N * K * D * K];
    double *X = random_numbers(9, N * D);
    CHECK(mgv_ctx_new(NULL, &ctx) == MGV_OK);
    mgvi_op *op = contrasts(ctx, X, own);
    CHECK(op->rows == N * K && op->cols == D * K && mgvi_contrast_of(op));
    write_out(X, own, E);
    const subject s = {.ctx = ctx, .op = op, .ref = E, .name = "contrast"};
    check_subject(&s, 1);
    mgvi_op_free(op);
    free(X);
    mgv_ctx_free(ctx);
}

/* dot, axpy, weights, load and norms of single rows, and the factor of two of them. */
TEST(single_rows)
{
    static const int32_t own[N] = {0, 3, 1, 1, 2, 0, 3};
    mgv_ctx *ctx;
    mgvi_arena arena;
    mgvi_rows *rows;
    static double E[N * K * D * K];
    double *X = random_numbers(9, N * D), *w = random_numbers(3, D * K), back[D * K], square[N * K];
    CHECK(mgv_ctx_new(NULL, &ctx) == MGV_OK);
    mgvi_op *op = contrasts(ctx, X, own);
    mgvi_arena_init(&arena, ctx);
    CHECK_OK(ctx, mgvi_rows_new(op, &arena, &rows));
    write_out(X, own, E);
    double *acc = mgvi_arena_array(&arena, (size_t)mgvi_rows_acc_len(rows), sizeof *acc);
    mgvi_rows_load(rows, w, acc);
    mgvi_rows_square_norms(rows, square);
    for (int r = 0; r < N * K; r++) {
        double dot = 0, norm = 0;
        for (int t = 0; t < D * K; t++) {
            dot += E[r * D * K + t] * w[t];
            norm += E[r * D * K + t] * E[r * D * K + t];
        }
        CHECK_NEAR(mgvi_rows_dot(rows, r, acc), dot, 1e-13, "row %d", r);
        CHECK_NEAR(mgvi_rows_square_norm(rows, r), norm, 1e-13, "row %d", r);
        CHECK_NEAR(square[r], norm, 1e-13, "row %d", r);
        for (int q = 0; q < N * K; q++) {
            double product = 0, examples = 0;
            for (int t = 0; t < D * K; t++)
                product += E[r * D * K + t] * E[q * D * K + t];
            for (int t = 0; t < D; t++)
                examples += X[r / K * D + t] * X[q / K * D + t];
            CHECK_NEAR(examples * mgvi_contrast_factor(own[r / K], r % K, own[q / K], q % K),
                       product, 1e-13, "rows %d and %d", r, q);
        }
    }
    mgvi_rows_axpy(rows, 5, 0.5, acc);
    mgvi_rows_weights(rows, acc, back);
    for (int t = 0; t < D * K; t++)
        CHECK_NEAR(back[t], w[t] + 0.5 * E[5 * D * K + t], 1e-13, "weight %d", t);
    mgvi_arena_free(&arena);
    mgvi_op_free(op);
    free(X);
    free(w);
    mgv_ctx_free(ctx);
}

TEST(refusals)
{
    static const int32_t own[N] = {0};
    mgv_ctx *ctx;
    double *X = random_numbers(9, N * D);
    mgvi_op *base, *op;
    const mgvi_matrix m = {.layout = MGV_DENSE,
                           .dtype = MGV_F64,
                           .rows = N,
                           .cols = D,
                           .nnz = N * D,
                           .row_stride = D,
                           .col_stride = 1,
                           .val = X};
    CHECK(mgv_ctx_new(NULL, &ctx) == MGV_OK);
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &m, 2, &base));
    CHECK(mgvi_op_contrast(ctx, base, false, own, K, &op) == MGV_E_ARG && !op);
    free(X);
    mgv_ctx_free(ctx);
}

int main(void) { return RUN(products, single_rows, refusals); }
