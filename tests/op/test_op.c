/* test_op.c - every operator in every form against plain loops. */
#include "base/twofold.h"
#include "op/view.h"
#include "subject.h"

static mgvi_op *operator_of(mgv_ctx *ctx, const sample *s, int32_t lanes)
{
    mgvi_op *op;
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &s->m, lanes, &op));
    return op;
}

TEST(every_operator_has_a_name)
{
    CHECK(mgvi_operator_count() >= 4);
    for (int i = 0; i < mgvi_operator_count(); i++) {
        CHECK(mgvi_operator_at(i)->name[0] && mgvi_operator_at(i)->summary[0]);
        for (int j = 0; j < i; j++)
            CHECK(strcmp(mgvi_operator_at(i)->name, mgvi_operator_at(j)->name) != 0);
    }
}

/* Empty, tiny, tall, wide, and large enough for several blocks. */
TEST(products_of_every_form_match_plain_loops)
{
    static const int64_t shapes[][2] = {{0, 0}, {0, 5},  {5, 0},     {1, 1},    {7, 5},
                                        {1, 9}, {90, 4}, {11, 1500}, {2500, 30}};
    enum { LARGE = 8 };
    mgv_ctx *ctx = mgv_check_ctx();
    for (int simd = 0; simd < mgvi_simd_count(); simd++)
        for (int form = 0; form < FORMS; form++)
            for (int dtype = MGV_F32; dtype <= MGV_F64; dtype++)
                for (size_t at = 0; at < sizeof shapes / sizeof *shapes; at++) {
                    if (at == LARGE && simd != mgvi_simd_count() - 1)
                        continue; /* blocks do not depend on the kernels */
                    ctx->simd = mgvi_simd_at(simd);
                    sample s = sample_new(shapes[at][0], shapes[at][1], 0.6, form, dtype);
                    CHECK_OK(ctx, mgvi_matrix_check(ctx, &s.m, NULL, NULL));
                    subject sub = {.ctx = ctx,
                                   .op = operator_of(ctx, &s, 8),
                                   .ref = s.ref,
                                   .name = form_names[form]};
                    for (int l = 0; l < LANE_COUNTS; l++)
                        check_subject(&sub, lane_counts[l]);
                    mgvi_op_free(sub.op);
                    sample_free(&s);
                }
    mgv_ctx_free(ctx);
}

/* Every step-th of the 2^6 sets of parts; signs shared by the lanes, or one per lane. */
static void check_views(mgv_ctx *ctx, const sample *s, int form, int32_t k, int32_t sign_lanes,
                        int step)
{
    for (int parts = 0; parts < PARTS; parts += step) {
        view_sample v = view_sample_new(s, parts, sign_lanes);
        mgvi_op *op;
        CHECK_OK(ctx, mgvi_op_view(ctx, operator_of(ctx, s, k), &v.view, k, &op));
        CHECK(op->rows == v.rows && op->cols == v.cols);
        char name[80];
        snprintf(name, sizeof name, "%s, parts %d, signs for %d", form_names[form], parts,
                 (int)sign_lanes);
        const subject sub = {.ctx = ctx,
                             .op = op,
                             .ref = v.ref,
                             .sign = v.view.sign && sign_lanes > 1 ? v.sign : NULL,
                             .name = name};
        check_subject(&sub, k);
        mgvi_op_free(op);
        view_sample_free(&v);
    }
}

TEST(views_of_every_form_match_plain_loops)
{
    mgv_ctx *ctx = mgv_check_ctx();
    for (int form = 0; form < FORMS; form++)
        for (int l = 0; l < LANE_COUNTS; l++) {
            sample s = sample_new(60, 13, 0.5, form, l % 2 ? MGV_F32 : MGV_F64);
            check_views(ctx, &s, form, lane_counts[l], 1, 1);
            check_views(ctx, &s, form, lane_counts[l], lane_counts[l], 1);
            sample_free(&s);
        }
    for (int form = 0; form < FORMS; form++) { /* several blocks of rows, then of columns */
        sample s = sample_new(2600, 30, 0.9, form, MGV_F32);
        check_views(ctx, &s, form, 1, 1, 9);
        sample_free(&s);
    }
    for (int form = 0; form < FORMS; form += CSR - C_PADDED) {
        sample s = sample_new(7, 9000, 0.9, form, MGV_F32);
        check_views(ctx, &s, form, 4, 4, 9);
        sample_free(&s);
    }
    for (int form = 0; form < FORMS; form++) { /* one row is more than a piece */
        sample s = sample_new(6, 3, 0.9, form, MGV_F32);
        check_views(ctx, &s, form, MOST_LANES, form % 2 ? MOST_LANES : 1, 9);
        sample_free(&s);
    }
    mgv_ctx_free(ctx);
}

TEST(views_lie_over_views)
{
    mgv_ctx *ctx = mgv_check_ctx();
    sample s = sample_new(40, 6, 0.7, CSR, MGV_F64);
    view_sample inner = view_sample_new(&s, HAS_SIGN | HAS_SCALE, 1);
    sample middle = {.m = {.rows = 40, .cols = 6}, .ref = inner.ref};
    for (int parts = 0; parts < PARTS; parts++) {
        view_sample outer = view_sample_new(&middle, parts, 1);
        mgvi_op *op;
        CHECK_OK(ctx, mgvi_op_view(ctx, operator_of(ctx, &s, 2), &inner.view, 2, &op));
        CHECK_OK(ctx, mgvi_op_view(ctx, op, &outer.view, 2, &op));
        const subject sub = {.ctx = ctx, .op = op, .ref = outer.ref, .name = "view of a view"};
        check_subject(&sub, 2);
        mgvi_op_free(op);
        view_sample_free(&outer);
    }
    view_sample_free(&inner);
    sample_free(&s);
    mgv_ctx_free(ctx);
}

/* All numbers a product and a view's product leave behind. */
static double *product_bits(mgv_ctx *ctx, const sample *s, const mgvi_view *view, int32_t k,
                            int64_t *count)
{
    mgvi_op *op;
    CHECK_OK(ctx, mgvi_op_view(ctx, operator_of(ctx, s, k), view, k, &op));
    double *w = random_numbers(5, op->cols * k), *u = random_numbers(6, op->rows * k);
    *count = (op->rows + op->cols) * k;
    double *out = sample_memory((size_t)*count, sizeof *out);
    mgvi_vec vw = {.x = w, .n = op->cols, .k = k}, vu = {.x = u, .n = op->rows, .k = k},
             y = {.x = out, .n = op->rows, .k = k},
             g = {.x = out + op->rows * k, .n = op->cols, .k = k};
    mgvi_op_mul(op, 1, &vw, 0, &y);
    mgvi_op_mul_t(op, 1, &vu, 0, &g);
    mgvi_op_mul_t(op, 0.3, &vu, 1, &g);
    free(w);
    free(u);
    mgvi_op_free(op);
    return out;
}

TEST(the_number_of_threads_changes_no_bit)
{
    static const int threads[] = {1, 2, 5};
    mgv_ctx *ctx = mgv_check_ctx();
    for (int form = 0; form < FORMS; form++)
        for (int parts = 0; parts < PARTS; parts += PARTS - 1)
            for (int32_t k = 1; k <= 3; k += 2) {
                sample s = sample_new(4000, 50, 0.7, form, MGV_F32);
                view_sample v = view_sample_new(&s, parts, 1);
                double *first = NULL;
                int64_t count;
                for (int t = 0; t < 3; t++) {
                    CHECK_OK(ctx, mgv_ctx_set_threads(ctx, threads[t]));
                    double *bits = product_bits(ctx, &s, &v.view, k, &count);
                    if (first)
                        CHECK_THAT(memcmp(first, bits, (size_t)count * sizeof *bits) == 0,
                                   "%s with %d threads", form_names[form], threads[t]);
                    if (first)
                        free(bits);
                    else
                        first = bits;
                }
                free(first);
                view_sample_free(&v);
                sample_free(&s);
            }
    mgv_ctx_free(ctx);
}

TEST(a_view_of_few_rows_reads_only_those)
{
    mgv_ctx *ctx = mgv_check_ctx();
    const int64_t row[] = {3, 4, 9};
    for (int form = 0; form < FORMS; form++) {
        sample s = sample_new(20, 6, 0.5, form, MGV_F64);
        mgvi_op *op;
        const mgvi_view view = {.row = row, .rows = 3};
        CHECK_OK(ctx, mgvi_op_view(ctx, operator_of(ctx, &s, 1), &view, 1, &op));
        int64_t want = 3 * 6;
        if (form == CSR)
            want = s.ptr[5] - s.ptr[3] + s.ptr[10] - s.ptr[9];
        else if (form == CSC || form == F_ORDER || form == F_PADDED)
            want = s.m.nnz; /* stored by columns: the whole product */
        CHECK(op->nnz == want);
        mgvi_op_free(op);
        sample_free(&s);
    }
    mgv_ctx_free(ctx);
}

TEST(the_norm_is_found)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_arena arena;
    mgvi_arena_init(&arena, ctx);
    const int64_t ptr[] = {0, 1, 2, 3};
    const int32_t idx[] = {0, 1, 2};
    const int8_t signs[] = {1, -1, -1, 1, 1, 1};
    for (int size = -200; size <= 200; size += 200) {
        const double val[] = {3 * pow(10, size), -1 * pow(10, size), 2 * pow(10, size)};
        const mgvi_matrix m = {.layout = MGV_CSR,
                               .dtype = MGV_F64,
                               .rows = 3,
                               .cols = 4,
                               .nnz = 3,
                               .val = val,
                               .ptr = ptr,
                               .idx = idx};
        mgvi_op *op;
        double norm;
        CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &m, 2, &op));
        CHECK_OK(ctx, mgvi_op_norm(op, &arena, 100, 1, &norm));
        CHECK_NEAR(norm / pow(10, size), 3, 1e-9, "the norm of a diagonal times 10^%d", size);
        CHECK(op->touched == 201 * 3);
        /* Signs change no singular value, also when every lane has its own. */
        const mgvi_view view = {.sign = signs, .sign_lanes = 2};
        CHECK_OK(ctx, mgvi_op_view(ctx, op, &view, 2, &op));
        CHECK_OK(ctx, mgvi_op_norm(op, &arena, 100, 1, &norm));
        CHECK_NEAR(norm / pow(10, size), 3, 1e-9, "signed");
        mgvi_op_free(op);
    }
    const double zero[3] = {0}, huge[3] = {1.7e308, 1.7e308, 1.7e308};
    mgvi_matrix m = {.layout = MGV_DENSE,
                     .dtype = MGV_F64,
                     .rows = 1,
                     .cols = 3,
                     .nnz = 3,
                     .val = zero,
                     .row_stride = 3,
                     .col_stride = 1};
    mgvi_op *op;
    double norm = -1;
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &m, 1, &op));
    CHECK_OK(ctx, mgvi_op_norm(op, &arena, 10, 1, &norm));
    CHECK(norm == 0);
    mgvi_op_free(op);
    m.rows = m.nnz = 0;
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &m, 1, &op));
    CHECK_OK(ctx, mgvi_op_norm(op, &arena, 10, 1, &norm));
    CHECK(norm == 0);
    mgvi_op_free(op);
    m = (mgvi_matrix){.layout = MGV_DENSE,
                      .dtype = MGV_F64,
                      .rows = 3,
                      .cols = 1,
                      .nnz = 3,
                      .val = huge,
                      .row_stride = 1,
                      .col_stride = 1};
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &m, 1, &op));
    CHECK_FAILS(ctx, mgvi_op_norm(op, &arena, 10, 1, &norm), MGV_E_NUMERIC, "overflows");
    mgvi_op_free(op);
    mgvi_arena_free(&arena);
    mgv_ctx_free(ctx);
}

/* A'u of very many rows, all of the same sign, against sums in twofold numbers: off by no more than
 * the number of roundings that is promised, which is far below the number of rows. */
TEST(long_sums_are_added_in_stages)
{
    enum { ROWS = 70000, COLS = 5 };
    mgv_ctx *ctx = mgv_check_ctx();
    sample s = sample_new(ROWS, COLS, 1, 0, MGV_F64);
    double *u = random_numbers(7, ROWS), g[COLS];
    mgvi_op *op;
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &s.m, 1, &op));
    CHECK_OK(ctx, mgvi_op_view(ctx, op, &(mgvi_view){0}, 1, &op));
    const double terms = mgvi_op_terms_t(op, 1);
    CHECK_LE(terms, ROWS / 50.0, "terms");
    mgvi_vec in = mgvi_vec_wrap(u, ROWS, MGVI_ROWS), out = mgvi_vec_wrap(g, COLS, MGVI_COLS);
    for (int64_t i = 0; i < ROWS; i++)
        u[i] = fabs(u[i]);
    mgvi_op_mul_t(op, 1, &in, 0, &out);
    for (int64_t j = 0; j < COLS; j++) {
        mgvi_two sum = {0, 0};
        double size = 0;
        for (int64_t i = 0; i < ROWS; i++) {
            sum = mgvi_two_fma(sum, u[i], s.ref[i * COLS + j]);
            size += fabs(u[i] * s.ref[i * COLS + j]);
        }
        CHECK_LE(fabs(g[j] - mgvi_two_real(sum)), (terms + 1) * 0x1p-53 * size, "column %d",
                 (int)j);
    }
    mgvi_op_free(op);
    free(u);
    sample_free(&s);
    mgv_ctx_free(ctx);
}

TEST(wrong_arguments_get_a_sentence)
{
    mgv_check_allocator a;
    mgv_check_allocator_init(&a, 0);
    mgv_ctx *ctx;
    CHECK(mgv_ctx_new(&a.hooks, &ctx) == MGV_OK);
    sample s = sample_new(5, 3, 1, CSR, MGV_F64);
    mgvi_op *op;
    CHECK_FAILS(ctx, mgvi_op_from_matrix(ctx, &s.m, 0, &op), MGV_E_ARG, "0 lanes");
    CHECK_FAILS(ctx, mgvi_op_from_matrix(ctx, &s.m, 5000, &op), MGV_E_ARG, "from 1 to 4096");
    const int64_t row[] = {0, 5};
    const int8_t sign[15] = {1};
    CHECK_FAILS(
        ctx,
        mgvi_op_view(ctx, operator_of(ctx, &s, 2), &(mgvi_view){.row = row, .rows = 2}, 1, &op),
        MGV_E_ARG, "row 1 of the view is row 5 of 5");
    CHECK_FAILS(ctx, mgvi_op_view(ctx, operator_of(ctx, &s, 2), &(mgvi_view){0}, 3, &op), MGV_E_ARG,
                "3 lanes over an operator of 2");
    CHECK_FAILS(ctx,
                mgvi_op_view(ctx, operator_of(ctx, &s, 2),
                             &(mgvi_view){.sign = sign, .sign_lanes = 3}, 2, &op),
                MGV_E_ARG, "signs for 3 lanes in a view of 2");
    const mgvi_matrix wide = {
        .layout = MGV_DENSE, .cols = INT64_MAX / 8, .row_stride = 1, .col_stride = 1};
    CHECK_FAILS(ctx, mgvi_op_from_matrix(ctx, &wide, 64, &op), MGV_E_MEMORY, "do not fit");
    mgvi_op_free(NULL);
    sample_free(&s);
    mgv_ctx_free(ctx);
    CHECK(atomic_load(&a.live) == 0);
}

/* Everything that allocates, with the `fail_at`-th call failing; whether all went well. */
static bool allocate_everything(mgv_check_allocator *a, long fail_at, int form)
{
    mgv_check_allocator_init(a, 0);
    mgv_ctx *ctx;
    if (mgv_ctx_new(&a->hooks, &ctx) != MGV_OK)
        abort();
    sample s = sample_new(30, 7, 0.5, form, MGV_F32);
    view_sample v = view_sample_new(&s, PARTS - 1, 1);
    atomic_store(&a->calls, 0);
    a->fail_at = fail_at;
    mgvi_arena arena;
    mgvi_arena_init(&arena, ctx);
    mgvi_op *op = NULL;
    mgvi_rows *rows;
    double norm;
    mgv_status st = mgvi_op_from_matrix(ctx, &s.m, 2, &op);
    if (st == MGV_OK)
        st = mgvi_op_view(ctx, op, &v.view, 2, &op);
    if (st == MGV_OK)
        st = mgvi_op_norm(op, &arena, 3, 1, &norm);
    if (st == MGV_OK)
        st = mgvi_rows_new(op, &arena, &rows);
    CHECK(st == MGV_OK || (st == MGV_E_MEMORY && mgv_ctx_error(ctx)[0]));
    mgvi_op_free(op);
    mgvi_arena_free(&arena);
    view_sample_free(&v);
    sample_free(&s);
    mgv_ctx_free(ctx);
    CHECK(atomic_load(&a->live) == 0);
    return st == MGV_OK;
}

TEST(every_failing_allocation_is_survived)
{
    for (int form = 0; form < FORMS; form++) {
        mgv_check_allocator a;
        long fail_at = 1;
        while (!allocate_everything(&a, fail_at, form))
            CHECK(++fail_at < 100);
        CHECK(fail_at > 5);
    }
}

int main(void)
{
    return RUN(every_operator_has_a_name, products_of_every_form_match_plain_loops,
               views_of_every_form_match_plain_loops, views_lie_over_views,
               the_number_of_threads_changes_no_bit, a_view_of_few_rows_reads_only_those,
               the_norm_is_found, long_sums_are_added_in_stages, wrong_arguments_get_a_sentence,
               every_failing_allocation_is_survived);
}
