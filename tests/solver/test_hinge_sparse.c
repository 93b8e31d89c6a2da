/* test_hinge_sparse.c - a sparse block of a hinge problem against plain loops over the dense one:
 * every entry, both products, both normal matrices, with and without centred columns. */
#include "base/rng.h"
#include "check.h"
#include "op/op.h"
#include "solver/column_generation/hinge_sparse.h"

#include <math.h>
#include <string.h>

enum { ROWS = 40, COLS = 23, N = 31, M = 14, LIVE = 19 };

typedef struct table {
    double dense[ROWS][COLS], val[ROWS * COLS], centre[COLS], scale[COLS];
    int64_t ptr[ROWS + 1], row[N + 5];
    int32_t idx[ROWS * COLS], of_rows[N], of_cols[M];
    int8_t sign[N + 5];
    double Z[N][M]; /* the truth */
} table;

/* Column 0 is full, 1 nearly, 2 empty; the others have a fifth of the rows. */
static void fill(table *t, bool centred)
{
    mgvi_rng rng = mgvi_rng_seed(5);
    int64_t at = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLS; j++) {
            const double share = j == 0 ? 1 : j == 1 ? 0.8 : j == 2 ? 0 : 0.2;
            const bool there = mgvi_rng_uniform(&rng) < share;
            t->dense[i][j] = there ? 100 + mgvi_rng_normal(&rng) : 0;
            if (there) {
                t->val[at] = t->dense[i][j];
                t->idx[at++] = j;
            }
        }
        t->ptr[i + 1] = at;
    }
    for (int j = 0; j < COLS; j++) {
        t->scale[j] = 0.1 + mgvi_rng_uniform(&rng);
        t->centre[j] = centred ? 50 * mgvi_rng_uniform(&rng) : 0;
    }
    for (int i = 0; i < N + 5; i++) { /* some rows twice */
        t->row[i] = (int64_t)mgvi_rng_below(&rng, ROWS);
        t->sign[i] = i % 3 ? 1 : -1;
    }
    for (int i = 0; i < N; i++)
        t->of_rows[i] = i < 10 ? i : i + 5;
    for (int j = 0; j < M; j++)
        t->of_cols[j] = (j * 5) % COLS; /* 0, 5, .., 1, 6, .., 2 among them, in no order */
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            const int32_t r = t->of_rows[i], c = t->of_cols[j];
            t->Z[i][j] = t->sign[r] * (t->dense[t->row[r]][c] - t->centre[c]) * t->scale[c];
        }
}

static void check_products(mgv_ctx *ctx, const table *t, const mgvi_hinge_sparse *z)
{
    double x[N], w[M], out[N], back[M];
    for (int i = 0; i < N; i++)
        x[i] = sin(i + 1.0);
    for (int j = 0; j < M; j++)
        w[j] = cos(j + 1.0);
    mgvi_hinge_sparse_mul(ctx, z, w, out);
    mgvi_hinge_sparse_mul_t(ctx, z, x, back);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < M; j++)
            sum += t->Z[i][j] * w[j];
        CHECK_NEAR(out[i], sum, 1e-10, "row %d", i);
    }
    for (int j = 0; j < M; j++) {
        double sum = 0;
        for (int i = 0; i < N; i++)
            sum += t->Z[i][j] * x[i];
        CHECK_NEAR(back[j], sum, 1e-10, "column %d", j);
    }
}

static void check_normal(mgv_ctx *ctx, const table *t, const mgvi_hinge_sparse *z)
{
    double K[M], h[N], H[N * N], diagonal[LIVE];
    float rough[LIVE * LIVE];
    int32_t live[LIVE];
    for (int j = 0; j < M; j++)
        K[j] = j == 3 ? 0 : 1 + j;
    for (int i = 0; i < N; i++)
        h[i] = i % 4 == 2 ? 0 : 1.0 / (1 + i);
    for (int a = 0; a < LIVE; a++)
        live[a] = a + a / 2;
    mgvi_hinge_sparse_rows(ctx, z, K, live, LIVE, H);
    mgvi_hinge_sparse_rows_rough(ctx, z, K, live, LIVE, rough);
    mgvi_hinge_sparse_rows_diagonal(z, K, live, LIVE, diagonal);
    for (int a = 0; a < LIVE; a++)
        for (int b = a; b < LIVE; b++) {
            double sum = 0;
            for (int j = 0; j < M; j++)
                sum += t->Z[live[a]][j] * K[j] * t->Z[live[b]][j];
            CHECK_NEAR(H[a * LIVE + b], sum, 1e-7, "Z K Z' at %d, %d", a, b);
            CHECK((double)rough[a * LIVE + b] == (double)(float)H[a * LIVE + b]);
            if (a == b)
                CHECK_NEAR(diagonal[a], sum, 1e-9 * sum, "the diagonal at %d", a);
        }
    mgvi_hinge_sparse_cols(ctx, z, h, H);
    for (int a = 0; a < M; a++)
        for (int b = a; b < M; b++) {
            double sum = 0;
            for (int i = 0; i < N; i++)
                sum += t->Z[i][a] * h[i] * t->Z[i][b];
            CHECK_NEAR(H[a * M + b], sum, 1e-7, "Z'h Z at %d, %d", a, b);
        }
}

static void check_columns(const table *t, const mgvi_hinge_sparse *z)
{
    const int32_t row[] = {7, 2, 30, 11};
    int32_t place[N];
    double out[8];
    memset(place, -1, sizeof place);
    for (int s = 0; s < 4; s++)
        place[row[s]] = s;
    for (int j = 0; j < M; j++) {
        mgvi_hinge_sparse_column(z, j, place, row, 4, out, 2);
        for (int s = 0; s < 4; s++)
            CHECK_NEAR(out[2 * s], t->Z[row[s]][j], 1e-11, "column %d", j);
    }
}

TEST(a_sparse_block_is_the_dense_one)
{
    static table t;
    for (int centred = 0; centred < 2; centred++) {
        mgv_ctx *ctx = mgv_check_ctx();
        mgvi_op *base, *view;
        mgvi_arena arena;
        mgvi_rows *rows;
        mgvi_hinge_sparse *z;
        memset(&t, 0, sizeof t);
        fill(&t, centred);
        const mgvi_matrix m = {.layout = MGV_CSR,
                               .dtype = MGV_F64,
                               .rows = ROWS,
                               .cols = COLS,
                               .nnz = t.ptr[ROWS],
                               .val = t.val,
                               .ptr = t.ptr,
                               .idx = t.idx,
                               .most = 110};
        CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &m, 1, &base));
        CHECK_OK(ctx, mgvi_op_view(ctx, base,
                                   &(mgvi_view){.row = t.row,
                                                .rows = N + 5,
                                                .sign = t.sign,
                                                .sign_lanes = 1,
                                                .centre = centred ? t.centre : NULL,
                                                .scale = t.scale,
                                                .intercept = true},
                                   1, &view));
        mgvi_arena_init(&arena, ctx);
        CHECK_OK(ctx, mgvi_rows_bare(view, &arena, &rows));
        CHECK_OK(ctx, mgvi_hinge_sparse_new(&arena, rows, t.of_rows, N, t.of_cols, M, &z));
        check_products(ctx, &t, z);
        check_normal(ctx, &t, z);
        check_columns(&t, z);
        mgvi_arena_free(&arena);
        mgvi_op_free(view);
        mgv_ctx_free(ctx);
    }
}

int main(void) { return RUN(a_sparse_block_is_the_dense_one); }
