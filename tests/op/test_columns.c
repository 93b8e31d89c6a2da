/* test_columns.c - products with chosen columns against full products, for every form and view. */
#include "subject.h"

#include "op/columns.h"

/* Every `step`-th column, or none. */
static int64_t choose(int64_t cols, int64_t step, int64_t *list)
{
    int64_t count = 0;
    for (int64_t j = 0; step > 0 && j < cols; j += step)
        list[count++] = j;
    return count;
}

static void check_chosen(mgv_ctx *ctx, mgvi_op *op, mgvi_columns *columns, int32_t k, int64_t step,
                         const char *name)
{
    const int64_t cols = mgvi_columns_count(columns);
    int64_t *list = sample_memory((size_t)cols, sizeof *list);
    const int64_t count = choose(cols, step, list);
    double *w = random_numbers(1, op->cols * k), *u = random_numbers(2, op->rows * k);
    double *part = sample_memory((size_t)(op->cols * k), 8);
    for (int64_t t = 0; t < count * k; t++)
        part[list[t / k] * k + t % k] = w[list[t / k] * k + t % k];
    for (int64_t t = cols * k; t < op->cols * k; t++)
        part[t] = w[t]; /* the intercept is always in */
    double *y = sample_memory((size_t)(2 * op->rows * k), 8);
    double *g = random_numbers(3, op->cols * k), *before = random_numbers(3, op->cols * k);
    double *all = sample_memory((size_t)(op->cols * k), 8);
    const mgvi_vec vw = {.x = w, .n = op->cols, .k = k}, vu = {.x = u, .n = op->rows, .k = k},
                   vpart = {.x = part, .n = op->cols, .k = k};
    mgvi_vec vy = {.x = y, .n = op->rows, .k = k},
             vfull = {.x = y + op->rows * k, .n = op->rows, .k = k},
             vg = {.x = g, .n = op->cols, .k = k}, vall = {.x = all, .n = op->cols, .k = k};
    mgvi_op_mul(op, 1, &vpart, 0, &vfull);
    mgvi_op_mul_t(op, 1, &vu, 0, &vall);
    mgvi_columns_mul(columns, list, count, &vw, &vy);
    mgvi_columns_mul_t(columns, list, count, &vu, &vg);
    for (int64_t i = 0; i < op->rows * k; i++)
        CHECK_NEAR(vy.x[i], vfull.x[i], 1e-12, "%s: A w, %d of %d", name, (int)i, (int)op->rows);
    for (int64_t j = 0; j < op->cols * k; j++) {
        const bool chosen = j / k >= cols || (step > 0 && j / k % step == 0);
        CHECK_NEAR(g[j], chosen ? all[j] : before[j], 1e-11, "%s: A'u, %d", name, (int)j);
    }
    free(list), free(w), free(u), free(part), free(y), free(g), free(before), free(all);
    (void)ctx;
}

TEST(chosen_columns_give_the_product_of_those)
{
    static const int32_t lanes[] = {1, 3, 8};
    mgv_ctx *ctx = mgv_check_ctx();
    for (int form = 0; form < FORMS; form++)
        for (int l = 0; l < 3; l++)
            for (int parts = 0; parts < PARTS; parts += 2) { /* without chosen rows */
                sample s = sample_new(60, 13, 0.5, form, l % 2 ? MGV_F32 : MGV_F64);
                view_sample v = view_sample_new(&s, parts, 1);
                mgvi_op *op;
                CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &s.m, lanes[l], &op));
                CHECK_OK(ctx, mgvi_op_view(ctx, op, &v.view, lanes[l], &op));
                mgvi_arena arena;
                mgvi_arena_init(&arena, ctx);
                mgvi_columns *columns;
                CHECK_OK(ctx, mgvi_columns_new(op, &arena, &columns));
                CHECK(columns && mgvi_columns_count(columns) == 13);
                for (int64_t step = 0; step <= 4; step++)
                    check_chosen(ctx, op, columns, lanes[l], step, form_names[form]);
                mgvi_arena_free(&arena);
                mgvi_op_free(op);
                view_sample_free(&v);
                sample_free(&s);
            }
    mgv_ctx_free(ctx);
}

/* Exactly the stored entries of the chosen columns are counted. */
TEST(only_the_chosen_columns_are_read)
{
    mgv_ctx *ctx = mgv_check_ctx();
    for (int form = 0; form < FORMS; form++) {
        sample s = sample_new(40, 9, 0.5, form, MGV_F64);
        mgvi_op *op;
        CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &s.m, 1, &op));
        mgvi_arena arena;
        mgvi_arena_init(&arena, ctx);
        mgvi_columns *columns;
        CHECK_OK(ctx, mgvi_columns_new(op, &arena, &columns));
        const int64_t list[] = {2, 3, 8};
        double want = 0, w[9] = {0}, y[40];
        for (int i = 0; i < 40; i++)
            for (int t = 0; t < 3; t++)
                want += form < CSR || s.ref[i * 9 + list[t]] != 0;
        const mgvi_vec in = mgvi_vec_wrap(w, 9, MGVI_COLS);
        mgvi_vec out = mgvi_vec_wrap(y, 40, MGVI_ROWS), back = mgvi_vec_wrap(w, 9, MGVI_COLS);
        CHECK(op->touched == 0);
        mgvi_columns_mul(columns, list, 3, &in, &out);
        CHECK(op->touched == want);
        mgvi_columns_mul_t(columns, list, 3, &out, &back);
        CHECK(op->touched == 2 * want);
        mgvi_arena_free(&arena);
        mgvi_op_free(op);
        sample_free(&s);
    }
    mgv_ctx_free(ctx);
}

TEST(operators_without_columns_say_so)
{
    mgv_ctx *ctx = mgv_check_ctx();
    sample s = sample_new(20, 6, 0.5, CSR, MGV_F64);
    const int64_t row[] = {3, 4, 9};
    const mgvi_view view = {.row = row, .rows = 3};
    mgvi_op *op;
    mgvi_arena arena;
    mgvi_columns *columns;
    mgvi_arena_init(&arena, ctx);
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &s.m, 1, &op));
    CHECK_OK(ctx, mgvi_op_view(ctx, op, &view, 1, &op));
    CHECK_OK(ctx, mgvi_columns_new(op, &arena, &columns));
    CHECK(!columns);
    mgvi_op_free(op);
    CHECK_OK(ctx, mgvi_op_diff1d(ctx, 7, 1, &op));
    CHECK_OK(ctx, mgvi_columns_new(op, &arena, &columns));
    CHECK(!columns);
    mgvi_op_free(op);
    mgvi_arena_free(&arena);
    sample_free(&s);
    mgv_ctx_free(ctx);
}

int main(void)
{
    return RUN(chosen_columns_give_the_product_of_those, only_the_chosen_columns_are_read,
               operators_without_columns_say_so);
}
