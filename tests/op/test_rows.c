/* test_rows.c - single rows of every form and view against the plain matrix. */
#include "samples.h"

/* Row i as numbers; without the centre it differs from the reference by the same row for all. */
static void check_entries(const mgvi_rows *rows, int64_t i, const double *ref, double *room)
{
    const int64_t d = rows->m.cols;
    for (int centred = 0; centred < 2; centred++) {
        const mgvi_entries e = mgvi_rows_entries(rows, i, centred, room);
        const double factor = mgvi_view_sign(&rows->view, i) * mgvi_view_row_scale(&rows->view, i);
        int64_t t = 0;
        for (int64_t j = 0; j < d; j++) {
            const bool stored = !e.idx || (t < e.n && e.idx[t] == j);
            const double shift =
                centred || !rows->view.centre
                    ? 0
                    : factor * rows->view.centre[j] * mgvi_view_scale(&rows->view, j);
            CHECK_NEAR(stored ? e.val[t] : 0, ref[j] + shift, 1e-12 * (1 + fabs(ref[j])),
                       "entry %d of row %d", (int)j, (int)i);
            t += stored;
        }
        CHECK(t == e.n);
    }
}

/* w = sum delta_i a_i built row by row, beside the plain sum. */
static void check_rows(mgv_ctx *ctx, const sample *s, int form, int parts)
{
    view_sample v = view_sample_new(s, parts, 1);
    mgvi_arena arena;
    mgvi_arena_init(&arena, ctx);
    mgvi_op *op;
    mgvi_rows *rows;
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &s->m, 1, &op));
    CHECK_OK(ctx, mgvi_op_view(ctx, op, &v.view, 1, &op));
    CHECK_OK(ctx, mgvi_rows_new(op, &arena, &rows));
    const size_t len = (size_t)mgvi_rows_acc_len(rows);
    double *acc = sample_memory(len, sizeof *acc), *again = sample_memory(len, sizeof *again),
           *w = sample_memory((size_t)v.cols, sizeof *w),
           *want = sample_memory((size_t)v.cols, sizeof *want),
           *norms = sample_memory((size_t)v.rows, sizeof *norms),
           *room = sample_memory((size_t)s->m.cols, sizeof *room),
           *delta = random_numbers(9, v.rows);
    const int64_t d = s->m.cols;
    for (int64_t i = 0; i < v.rows; i++) {
        mgvi_rows_prefetch(rows, i);
        mgvi_rows_axpy(rows, i, delta[i], acc);
        for (int64_t j = 0; j < v.cols; j++)
            want[j] += delta[i] * v.ref[i * v.cols + j];
    }
    mgvi_rows_weights(rows, acc, w);
    const double tol = 1e-12 * (double)(v.rows + 10);
    for (int64_t j = 0; j < v.cols; j++)
        CHECK_NEAR(w[j], want[j], tol, "%s, parts %d: w[%d]", form_names[form], parts, (int)j);
    mgvi_rows_load(rows, w, again);
    mgvi_rows_square_norms(rows, norms);
    for (int64_t i = 0; i < v.rows; i++) {
        double z = 0, square = 0;
        int64_t stored = 0;
        for (int64_t j = 0; j < v.cols; j++) {
            const double a = v.ref[i * v.cols + j];
            z += a * w[j];
            square += j < d ? a * a : 0;
            stored += j < d && s->ref[(v.view.row ? v.row[i] : i) * d + j] != 0;
        }
        const double size = tol * (1 + sqrt((square + 1) * (double)v.cols) * 10);
        CHECK_NEAR(mgvi_rows_dot(rows, i, acc), z, size, "%s, parts %d: a_%d . w", form_names[form],
                   parts, (int)i);
        CHECK_NEAR(mgvi_rows_dot(rows, i, again), z, size, "%s, parts %d: loaded, row %d",
                   form_names[form], parts, (int)i);
        CHECK_NEAR(norms[i], square, 1e-12 * (1 + square + (double)d), "%s, parts %d: |a_%d|^2",
                   form_names[form], parts, (int)i);
        CHECK(mgvi_rows_nnz(rows, i) == (form < CSR ? d : stored));
        check_entries(rows, i, v.ref + i * v.cols, room);
    }
    mgvi_op_free(op);
    mgvi_arena_free(&arena);
    free(acc);
    free(again);
    free(w);
    free(want);
    free(norms);
    free(room);
    free(delta);
    view_sample_free(&v);
}

TEST(rows_of_every_view_match_the_plain_matrix)
{
    static const int64_t shapes[][2] = {{0, 4}, {5, 0}, {30, 7}, {40, 90}};
    mgv_ctx *ctx = mgv_check_ctx();
    for (int simd = 0; simd < mgvi_simd_count(); simd++)
        for (int form = 0; form < FORMS; form++)
            for (int dtype = MGV_F32; dtype <= MGV_F64; dtype++)
                for (int at = 0; at < 4; at++) {
                    ctx->simd = mgvi_simd_at(simd);
                    sample s = sample_new(shapes[at][0], shapes[at][1], 0.5, form, dtype);
                    for (int parts = 0; parts < PARTS; parts++)
                        check_rows(ctx, &s, form, parts);
                    sample_free(&s);
                }
    mgv_ctx_free(ctx);
}

/* Without scaling and centring acc is w itself, so solvers may read it. */
TEST(plain_rows_keep_the_weights_themselves)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_arena arena;
    mgvi_arena_init(&arena, ctx);
    sample s = sample_new(30, 6, 0.5, CSR, MGV_F32);
    mgvi_op *op;
    mgvi_rows *rows;
    double acc[7] = {0}, w[7];
    const mgvi_view view = {.intercept = true};
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &s.m, 1, &op));
    CHECK_OK(ctx, mgvi_rows_new(op, &arena, &rows));
    CHECK(mgvi_rows_acc_len(rows) == 6);
    CHECK_OK(ctx, mgvi_op_view(ctx, op, &view, 1, &op));
    CHECK_OK(ctx, mgvi_rows_new(op, &arena, &rows));
    CHECK(mgvi_rows_acc_len(rows) == 7);
    for (int i = 0; i < 30; i++)
        mgvi_rows_axpy(rows, i, 0.1 * i - 1, acc);
    mgvi_rows_weights(rows, acc, w);
    CHECK(memcmp(acc, w, sizeof w) == 0);
    CHECK(op->touched == 0);
    mgvi_op_free(op);
    mgvi_arena_free(&arena);
    sample_free(&s);
    mgv_ctx_free(ctx);
}

TEST(what_has_no_rows_says_so)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_arena arena;
    mgvi_arena_init(&arena, ctx);
    sample s = sample_new(4, 2, 1, CSR, MGV_F64);
    const int8_t sign[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    mgvi_op *op;
    mgvi_rows *rows;
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &s.m, 2, &op));
    CHECK_OK(ctx, mgvi_op_view(ctx, op, &(mgvi_view){.sign = sign, .sign_lanes = 2}, 2, &op));
    CHECK_FAILS(ctx, mgvi_rows_new(op, &arena, &rows), MGV_E_UNSUPPORTED, "signs for 2 lanes");
    CHECK(!rows);
    CHECK_OK(ctx, mgvi_op_view(ctx, op, &(mgvi_view){0}, 2, &op));
    CHECK_FAILS(ctx, mgvi_rows_new(op, &arena, &rows), MGV_E_UNSUPPORTED, "'view' has no single");
    mgvi_op_free(op);
    mgvi_arena_free(&arena);
    sample_free(&s);
    mgv_ctx_free(ctx);
}

int main(void)
{
    return RUN(rows_of_every_view_match_the_plain_matrix, plain_rows_keep_the_weights_themselves,
               what_has_no_rows_says_so);
}
