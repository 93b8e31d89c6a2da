/* test_kernel.c - kernel blocks and the kernel operator against pair by pair sums. */
#include "check.h"

#include "base/rng.h"
#include "base/threads.h"
#include "op/kernel_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 70, COLS = 37 }; /* more than MGVI_SHORT_COLUMNS */

typedef struct sample {
    double x[ROWS * COLS]; /* the truth */
    float f32[ROWS * COLS];
    double sparse_val[ROWS * COLS];
    int64_t ptr[ROWS + 1];
    int32_t idx[ROWS * COLS];
    int8_t sign[ROWS];
} sample;

/* Half of the entries are 0, all are exact in float32. */
static sample *make_sample(uint64_t seed)
{
    sample *s = calloc(1, sizeof *s);
    mgvi_rng rng = mgvi_rng_seed(seed);
    int64_t at = 0;
    for (int i = 0; i < ROWS; i++) {
        s->sign[i] = mgvi_rng_below(&rng, 2) ? 1 : -1;
        for (int j = 0; j < COLS; j++) {
            const float x = mgvi_rng_below(&rng, 2) ? (float)mgvi_rng_normal(&rng) : 0;
            s->f32[i * COLS + j] = x;
            s->x[i * COLS + j] = (double)x;
            if (x != 0) {
                s->sparse_val[at] = (double)x;
                s->idx[at++] = j;
            }
        }
        s->ptr[i + 1] = at;
    }
    return s;
}

/* 0: dense f64, 1: dense f32, 2: CSR */
static mgvi_matrix as_matrix(const sample *s, int kind)
{
    if (kind == 2)
        return (mgvi_matrix){.layout = MGV_CSR,
                             .dtype = MGV_F64,
                             .rows = ROWS,
                             .cols = COLS,
                             .nnz = s->ptr[ROWS],
                             .val = s->sparse_val,
                             .ptr = s->ptr,
                             .idx = s->idx};
    return (mgvi_matrix){.layout = MGV_DENSE,
                         .dtype = kind ? MGV_F32 : MGV_F64,
                         .rows = ROWS,
                         .cols = COLS,
                         .nnz = ROWS * COLS,
                         .val = kind ? (const void *)s->f32 : (const void *)s->x,
                         .row_stride = COLS,
                         .col_stride = 1};
}

static const mgvi_kernel kernels[] = {{MGVI_KERNEL_RBF, 3, 0, 1, MGVI_ORIGIN_NONE},
                                      {MGVI_KERNEL_LAPLACE, 2, 0, 1, MGVI_ORIGIN_NONE},
                                      {MGVI_KERNEL_POLY, 2, 0.5, 3, MGVI_ORIGIN_NONE},
                                      {MGVI_KERNEL_POLY, 1, 0, 1, MGVI_ORIGIN_NONE}};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* As the definition says. */
static double value(const mgvi_kernel *k, const double *x, const double *z)
{
    double dot = 0, square = 0;
    for (int j = 0; j < COLS; j++) {
        dot += x[j] * z[j];
        square += (x[j] - z[j]) * (x[j] - z[j]);
    }
    if (k->kind == MGVI_KERNEL_RBF)
        return exp(-square / (2 * k->sigma2));
    if (k->kind == MGVI_KERNEL_LAPLACE)
        return exp(-sqrt(square / k->sigma2));
    return pow(dot / k->sigma2 + k->offset, k->degree);
}

TEST(blocks_are_the_definition)
{
    mgv_ctx *ctx = mgv_check_ctx();
    sample *s = make_sample(3);
    const int64_t some[] = {5, 0, 69, 33, 34, 12, 1, 68};
    double *out = calloc(ROWS * ROWS, sizeof *out);
    for (int kind = 0; kind < 9; kind++) { /* every pair of layouts */
        const mgvi_matrix a = as_matrix(s, kind / 3), b = as_matrix(s, kind % 3);
        mgvi_points *p, *q;
        CHECK_OK(ctx, mgvi_points_new(ctx, &a, &(mgvi_point_scaling){0}, MGV_F64, true, &p));
        CHECK_OK(ctx, mgvi_points_new(ctx, &b, &(mgvi_point_scaling){0}, MGV_F64, true, &q));
        for (int k = 0; k < KERNELS; k++)
            for (int count = 1; count <= 8; count += 7) {
                const mgvi_point_list left = {.points = p, .index = some, .count = count};
                const mgvi_point_list right = {.points = q, .first = 2, .count = ROWS - 2};
                CHECK_OK(ctx,
                         mgvi_kernel_block(ctx, &kernels[k], &left, &right, MGV_F64, out, ROWS));
                for (int i = 0; i < count; i++)
                    for (int j = 0; j < ROWS - 2; j++)
                        CHECK_NEAR(out[i * ROWS + j],
                                   value(&kernels[k], s->x + some[i] * COLS, s->x + (j + 2) * COLS),
                                   some[i] == j + 2 ? 1e-7 : 1e-11, "kernel %d, layouts %d", k,
                                   kind);
            }
        mgvi_points_free(p);
        mgvi_points_free(q);
    }
    free(out);
    free(s);
    mgv_ctx_free(ctx);
}

/* Points scaled by the library are points scaled here. */
TEST(scaling_is_applied)
{
    mgv_ctx *ctx = mgv_check_ctx();
    sample *s = make_sample(4);
    double centre[COLS], scale[COLS], row[ROWS], *moved = calloc(ROWS * COLS, sizeof *moved);
    for (int j = 0; j < COLS; j++) {
        centre[j] = 0.1 * j;
        scale[j] = 1 + 0.2 * j;
    }
    for (int i = 0; i < ROWS; i++)
        row[i] = 1 + 0.01 * i;
    for (int kind = 0; kind < 3; kind++) {
        const bool sparse = kind == 2;
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLS; j++)
                moved[i * COLS + j] =
                    (s->x[i * COLS + j] - (sparse ? 0 : centre[j])) * scale[j] * row[i];
        const mgvi_matrix m = as_matrix(s, kind);
        mgvi_points *p;
        const mgvi_point_scaling scaling = {
            .view.centre = centre, .view.scale = scale, .view.row_scale = row};
        CHECK_OK(ctx, mgvi_points_new(ctx, &m, &scaling, MGV_F64, true, &p));
        const mgvi_point_list one = {.points = p, .first = 7, .count = 1},
                              all = {.points = p, .count = ROWS};
        double out[ROWS];
        CHECK_OK(ctx, mgvi_kernel_block(ctx, &kernels[0], &one, &all, MGV_F64, out, ROWS));
        for (int j = 0; j < ROWS; j++)
            CHECK_NEAR(out[j], value(&kernels[0], moved + 7 * COLS, moved + j * COLS), 1e-12,
                       "row %d, layout %d", j, kind);
        mgvi_points_free(p);
    }
    const mgvi_matrix m = as_matrix(s, 2);
    mgvi_points *p;
    CHECK_FAILS(
        ctx,
        mgvi_points_new(ctx, &m, &(mgvi_point_scaling){.view.centre = centre}, MGV_F64, false, &p),
        MGV_E_UNSUPPORTED, "sparse");
    free(moved);
    free(s);
    mgv_ctx_free(ctx);
}

static mgvi_op *make_op(mgv_ctx *ctx, const sample *s, const mgvi_matrix *m, const mgvi_kernel *k,
                        mgv_dtype fast, double cache)
{
    mgvi_op *op;
    const mgvi_kernel_plan plan = {.kernel = *k,
                                   .X = m,
                                   .scaling.view.sign = s->sign,
                                   .scaling.view.intercept = true,
                                   .fast = fast,
                                   .cache_bytes = cache};
    CHECK_OK(ctx, mgvi_op_kernel(ctx, &plan, &op));
    return op;
}

/* A (c, b) = y (K c + b), A'u = (y u, y.u), |w|^2 = c'K c, with room for all rows or for few. */
TEST(operator_is_its_formula)
{
    mgv_ctx *ctx = mgv_check_ctx();
    sample *s = make_sample(5);
    mgvi_rng rng = mgvi_rng_seed(8);
    for (int k = 0; k < KERNELS; k++)
        for (int kind = 0; kind < 3; kind++)
            for (int room = 0; room < 3; room++) {
                const mgvi_matrix m = as_matrix(s, kind);
                const double rows_kept[] = {1e9, 8.0 * ROWS * 2, 8.0 * ROWS * 20};
                mgvi_op *op = make_op(ctx, s, &m, &kernels[k], MGV_F64, rows_kept[room]);
                double c[ROWS + 1] = {0}, z[ROWS], u[ROWS], g[ROWS + 1];
                for (int turn = 0; turn < 4; turn++) {
                    for (int i = 0; i < ROWS; i++) {
                        c[i] = mgvi_rng_below(&rng, 3) == 0 ? mgvi_rng_normal(&rng) : 0;
                        u[i] = mgvi_rng_normal(&rng);
                    }
                    c[ROWS] = 0.3;
                    const mgvi_vec w = mgvi_vec_wrap(c, ROWS + 1, MGVI_COLS);
                    const mgvi_vec part = mgvi_vec_wrap(c, ROWS, MGVI_COLS);
                    mgvi_vec vz = mgvi_vec_wrap(z, ROWS, MGVI_ROWS);
                    const mgvi_vec vu = mgvi_vec_wrap(u, ROWS, MGVI_ROWS);
                    mgvi_vec vg = mgvi_vec_wrap(g, ROWS + 1, MGVI_COLS);
                    if (turn % 2) /* a product first, which the length may remember */
                        mgvi_op_mul(op, 1, &w, 0, &vz);
                    const double length = mgvi_op_length(op, &part);
                    mgvi_op_mul(op, 1, &w, 0, &vz);
                    mgvi_op_mul_t(op, 1, &vu, 0, &vg);
                    double square = 0, sum = 0;
                    for (int i = 0; i < ROWS; i++) {
                        double f = 0;
                        for (int j = 0; j < ROWS; j++)
                            f += c[j] * value(&kernels[k], s->x + i * COLS, s->x + j * COLS);
                        square += c[i] * f;
                        sum += s->sign[i] * u[i];
                        CHECK_NEAR(z[i], s->sign[i] * (f + 0.3), 1e-9 * (1 + fabs(f)),
                                   "kernel %d layout %d room %d row %d", k, kind, room, i);
                        CHECK(g[i] == s->sign[i] * u[i]);
                    }
                    CHECK_NEAR(g[ROWS], sum, 1e-12, "intercept");
                    CHECK_NEAR(length * length, square, 1e-9 * square, "length");
                    for (int i = 0; i < ROWS; i++) /* nearly the same direction */
                        c[i] *= -2.5;
                    CHECK_NEAR(mgvi_op_length(op, &part), 2.5 * length, 1e-9 * length, "multiple");
                }
                CHECK(op->failed == MGV_OK && op->touched > 0);
                mgvi_op_free(op);
            }
    free(s);
    mgv_ctx_free(ctx);
}

/* Rows that are asked for twice at once, as differences of classes do, have one place. */
TEST(rows_listed_twice_are_kept_once)
{
    mgv_ctx *ctx = mgv_check_ctx();
    sample *s = make_sample(9);
    const mgvi_matrix m = as_matrix(s, 0);
    mgvi_op *op = make_op(ctx, s, &m, &kernels[1], MGV_F64, 1e9);
    int64_t twice[ROWS], all[ROWS];
    double values[ROWS * ROWS], c[ROWS + 1], z[ROWS];
    for (int64_t i = 0; i < ROWS; i++) {
        twice[i] = i / 2;
        all[i] = i;
        c[i] = i % 3 ? 1 : -0.5;
    }
    c[ROWS] = 0;
    const mgvi_vec w = mgvi_vec_wrap(c, ROWS + 1, MGVI_COLS);
    mgvi_vec vz = mgvi_vec_wrap(z, ROWS, MGVI_ROWS);
    CHECK_OK(ctx,
             mgvi_kernel_among(mgvi_kernel_of(op), twice, ROWS, all, ROWS, MGV_F64, values, ROWS));
    for (int turn = 0; turn < 3; turn++) {
        c[turn] += 1;
        mgvi_op_mul(op, 1, &w, 0, &vz);
        for (int i = 0; i < ROWS; i++) {
            double f = 0;
            for (int j = 0; j < ROWS; j++)
                f += c[j] * value(&kernels[1], s->x + i * COLS, s->x + j * COLS);
            CHECK_NEAR(z[i], s->sign[i] * f, 1e-9 * (1 + fabs(f)), "turn %d, row %d", turn, i);
        }
    }
    mgvi_op_free(op);
    free(s);
    mgv_ctx_free(ctx);
}

/* Several vectors at once are each of them alone, whichever rows are kept, and so is their length;
 * coefficients in few rows and in all. */
TEST(lanes_are_vectors)
{
    enum { LANES = 3 };
    mgv_ctx *ctx = mgv_check_ctx();
    sample *s = make_sample(7);
    mgvi_rng rng = mgvi_rng_seed(12);
    double first[2][ROWS * LANES];
    for (int room = 0; room < 3; room++) {
        const mgvi_matrix m = as_matrix(s, 0);
        const double rows_kept[] = {1e9, 8.0 * ROWS * 2, 8.0 * ROWS * 20};
        const mgvi_kernel_plan plan = {.kernel = kernels[0],
                                       .X = &m,
                                       .scaling.view.intercept = true,
                                       .lanes = LANES,
                                       .fast = MGV_F64,
                                       .cache_bytes = rows_kept[room]};
        mgvi_op *op, *single = make_op(ctx, s, &m, &kernels[0], MGV_F64, 1e9);
        CHECK_OK(ctx, mgvi_op_kernel(ctx, &plan, &op));
        for (int few = 0; few < 2; few++) {
            double c[(ROWS + 1) * LANES], z[ROWS * LANES], one[ROWS + 1], f[ROWS], square = 0;
            rng = mgvi_rng_seed(13);
            for (int t = 0; t < (ROWS + 1) * LANES; t++)
                c[t] = few && t / LANES % 5 ? 0 : mgvi_rng_normal(&rng);
            const mgvi_vec w = {.x = c, .n = ROWS + 1, .k = LANES, .space = MGVI_COLS};
            const mgvi_vec part = {.x = c, .n = ROWS, .k = LANES, .space = MGVI_COLS};
            mgvi_vec vz = {.x = z, .n = ROWS, .k = LANES, .space = MGVI_ROWS};
            mgvi_op_mul(op, 2, &w, 0, &vz);
            for (int lane = 0; lane < LANES; lane++) {
                for (int i = 0; i <= ROWS; i++)
                    one[i] = c[i * LANES + lane];
                const mgvi_vec v1 = mgvi_vec_wrap(one, ROWS + 1, MGVI_COLS);
                mgvi_vec vf = mgvi_vec_wrap(f, ROWS, MGVI_ROWS);
                mgvi_op_mul(single, 1, &v1, 0, &vf);
                for (int i = 0; i < ROWS; i++) {
                    CHECK_NEAR(z[i * LANES + lane], 2 * s->sign[i] * f[i], 1e-12 * (1 + fabs(f[i])),
                               "room %d row %d", room, i);
                    square += one[i] * (s->sign[i] * f[i] - one[ROWS]);
                }
            }
            CHECK_NEAR(pow(mgvi_op_length(op, &part), 2), square, 1e-10 * square, "length");
            if (room == 0)
                memcpy(first[few], z, sizeof z);
            assert_memory_equal(first[few], z, sizeof z);
        }
        mgvi_op_free(single);
        mgvi_op_free(op);
    }
    free(s);
    mgv_ctx_free(ctx);
}

/* float32 rows: below the truth everywhere, the truth itself below 1, and lengths in float64. */
TEST(low_products_are_low_and_exact_below_1)
{
    mgv_ctx *ctx = mgv_check_ctx();
    sample *s = make_sample(6);
    const mgvi_matrix m = as_matrix(s, 1);
    mgvi_op *op = make_op(ctx, s, &m, &kernels[0], MGV_F32, 1e9);
    mgvi_rng rng = mgvi_rng_seed(9);
    int64_t above = 0;
    for (int turn = 0; turn < 20; turn++) {
        double c[ROWS + 1] = {0}, low[ROWS], z[ROWS];
        for (int i = 0; i < ROWS; i++)
            c[i] = mgvi_rng_below(&rng, 2) ? 3 * mgvi_rng_normal(&rng) : 0;
        const mgvi_vec w = mgvi_vec_wrap(c, ROWS + 1, MGVI_COLS);
        const mgvi_vec part = mgvi_vec_wrap(c, ROWS, MGVI_COLS);
        mgvi_vec vl = mgvi_vec_wrap(low, ROWS, MGVI_ROWS), vz = mgvi_vec_wrap(z, ROWS, MGVI_ROWS);
        mgvi_op_mul_low(op, &w, &vl);
        const double length = mgvi_op_length(op, &part);
        mgvi_op_mul(op, 1, &w, 0, &vz);
        double square = 0;
        for (int i = 0; i < ROWS; i++) {
            double f = 0;
            for (int j = 0; j < ROWS; j++)
                f += c[j] * value(&kernels[0], s->x + i * COLS, s->x + j * COLS);
            square += c[i] * f;
            CHECK_NEAR(z[i], s->sign[i] * f, 1e-12 * (1 + fabs(f)), "float64 product");
            CHECK_LE(low[i], z[i] + 1e-12, "row %d", i);
            CHECK_LE(z[i] - low[i], z[i] < 1 ? 1e-12 : 1e-3, "row %d", i);
            above += z[i] > low[i] + 1e-12;
        }
        CHECK_NEAR(length * length, square, 1e-11 * square, "length");
    }
    CHECK(above > 0); /* some sums were left in float32 */
    mgvi_op_free(op);
    free(s);
    mgv_ctx_free(ctx);
}

/* Every difference of two points far from the origin is rounded. */
TEST(float32_steps_are_near)
{
    mgv_ctx *ctx = mgv_check_ctx();
    sample *s = make_sample(7);
    const mgvi_matrix m = as_matrix(s, 1);
    mgvi_rng rng = mgvi_rng_seed(19);
    for (int turn = 0; turn < 8; turn++) {
        const mgvi_kernel kernel = kernels[turn % 2];
        double c[ROWS + 1] = {0}, f[ROWS] = {0}, z[ROWS], step[ROWS], size = 0;
        int64_t rows[ROWS];
        mgvi_op *op = make_op(ctx, s, &m, &kernel, MGV_F64, 1e9);
        mgvi_kernel_op *k = mgvi_kernel_of(op);
        CHECK_OK(ctx, mgvi_kernel_open_rough(k));
        for (int round = 0; round < 3; round++) {
            int64_t count = 0;
            for (int i = 0; i < ROWS; i++)
                if (i % 4 == 0 && mgvi_rng_below(&rng, 2)) {
                    rows[count] = i;
                    step[count] = pow(10, turn % 4) * (s->sign[i] + mgvi_rng_normal(&rng));
                    c[i] += step[count];
                    size += fabs(step[count++]);
                }
            CHECK_OK(ctx, mgvi_kernel_rough_add(k, rows, count, step, f));
        }
        const mgvi_vec w = mgvi_vec_wrap(c, ROWS + 1, MGVI_COLS);
        mgvi_vec vz = mgvi_vec_wrap(z, ROWS, MGVI_ROWS);
        mgvi_op_mul(op, 1, &w, 0, &vz);
        for (int i = 0; i < ROWS; i++)
            CHECK_NEAR(f[i], s->sign[i] * z[i], 1e-5 * size, "turn %d, row %d", turn, i);
        mgvi_op_free(op);
    }
    free(s);
    mgv_ctx_free(ctx);
}

TEST(threads_do_not_change_bits)
{
    sample *s = make_sample(10);
    double z[2][ROWS];
    for (int t = 0; t < 2; t++) {
        mgv_ctx *ctx = mgv_check_ctx();
        CHECK_OK(ctx, mgv_ctx_set_threads(ctx, t ? 3 : 1));
        const mgvi_matrix m = as_matrix(s, 0);
        mgvi_op *op = make_op(ctx, s, &m, &kernels[0], MGV_F64, 1e9);
        double c[ROWS + 1];
        for (int i = 0; i <= ROWS; i++)
            c[i] = sin(i);
        const mgvi_vec w = mgvi_vec_wrap(c, ROWS + 1, MGVI_COLS);
        mgvi_vec vz = mgvi_vec_wrap(z[t], ROWS, MGVI_ROWS);
        mgvi_op_mul(op, 1, &w, 0, &vz);
        mgvi_op_free(op);
        mgv_ctx_free(ctx);
    }
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    free(s);
}

/* ---- shared rows ----------------------------------------------------------------------------- */

enum { BORROWERS = 12, ROUNDS = 6 };

typedef struct loan {
    mgv_ctx *ctx;
    const mgvi_kernel_plan *plan;
    double f[BORROWERS][ROWS];
    mgv_status status[BORROWERS];
} loan;

/* Coefficients of more and more rows, other ones for every borrower, at times a single new one. */
static void borrow_block(void *arg, int64_t b)
{
    loan *l = arg;
    mgv_ctx child = mgvi_ctx_child(l->ctx);
    mgvi_rng rng = mgvi_rng_seed((uint64_t)b);
    double c[ROWS] = {0};
    mgvi_op *op;
    l->status[b] = mgvi_op_kernel(&child, l->plan, &op);
    for (int k = 0; l->status[b] == MGV_OK && k < ROUNDS; k++) {
        for (int t = 0; t < 1 + 5 * (k % 3); t++)
            c[mgvi_rng_below(&rng, ROWS)] = mgvi_rng_normal(&rng);
        mgvi_kernel_combine(mgvi_kernel_of(op), c, l->f[b]);
    }
    if (l->status[b] == MGV_OK)
        mgvi_op_free(op);
}

TEST(borrowed_rows_are_the_same_whoever_computes_them)
{
    sample *s = make_sample(8);
    for (int k = 0; k < 2 * KERNELS; k++) { /* dense and sparse points */
        const mgvi_matrix m = as_matrix(s, k < KERNELS ? 0 : 2);
        double alone[BORROWERS][ROWS];
        for (int threads = 0; threads <= 5; threads++) { /* 0: nothing is lent */
            mgv_ctx *ctx = mgv_check_ctx();
            CHECK_OK(ctx, mgv_ctx_set_threads(ctx, threads > 0 ? threads : 1));
            mgvi_kernel_plan plan = {

                .kernel = kernels[k % KERNELS], .X = &m, .fast = MGV_F64, .cache_bytes = 1e6};
            mgvi_op *lender;
            CHECK_OK(ctx, mgvi_op_kernel(ctx, &plan, &lender));
            if (threads > 0) {
                CHECK(mgvi_kernel_can_lend(mgvi_kernel_of(lender)));
                CHECK_OK(ctx, mgvi_kernel_lend(mgvi_kernel_of(lender)));
                plan.lender = mgvi_kernel_of(lender);
            }
            loan l = {.ctx = ctx, .plan = &plan};
            mgvi_pool_run(ctx->pool, BORROWERS, borrow_block, &l);
            for (int b = 0; b < BORROWERS; b++) {
                CHECK(l.status[b] == MGV_OK);
                for (int i = 0; i < ROWS && threads == 1; i++)
                    CHECK_NEAR(l.f[b][i], alone[b][i], 1e-11, "kernel %d, borrower %d", k, b);
            }
            if (threads > 1)
                assert_memory_equal(l.f, alone, sizeof alone);
            memcpy(alone, l.f, sizeof alone);
            mgvi_kernel_drop_rows(mgvi_kernel_of(lender));
            mgvi_op_free(lender);
            mgv_ctx_free(ctx);
        }
    }
    free(s);
}

TEST(gram_matrices_are_checked)
{
    mgv_ctx *ctx = mgv_check_ctx();
    double K[] = {2, 1, 0, 1, 2, 1, 0, 1, 2};
    mgvi_matrix m = {.layout = MGV_DENSE,
                     .dtype = MGV_F64,
                     .rows = 3,
                     .cols = 3,
                     .nnz = 9,
                     .val = K,
                     .row_stride = 3,
                     .col_stride = 1};
    mgvi_kernel_plan plan = {
        .kernel = {.kind = MGVI_KERNEL_PRECOMPUTED}, .X = &m, .fast = MGV_F64, .cache_bytes = 1e6};
    mgvi_op *op;
    CHECK_OK(ctx, mgvi_op_kernel(ctx, &plan, &op));
    double c[] = {1, 0, -1}, z[3];
    const mgvi_vec w = mgvi_vec_wrap(c, 3, MGVI_COLS);
    mgvi_vec vz = mgvi_vec_wrap(z, 3, MGVI_ROWS);
    mgvi_op_mul(op, 1, &w, 0, &vz);
    CHECK(z[0] == 2 && z[1] == 0 && z[2] == -2);
    CHECK_NEAR(mgvi_op_length(op, &w), 2, 1e-15, "length");
    mgvi_op_free(op);
    K[1] = 1.5;
    CHECK_FAILS(ctx, mgvi_op_kernel(ctx, &plan, &op), MGV_E_INPUT, "symmetric");
    m.cols = 2;
    CHECK_FAILS(ctx, mgvi_op_kernel(ctx, &plan, &op), MGV_E_INPUT, "square");
    mgv_ctx_free(ctx);
}

/* Points of few and of many columns, one and several outputs: sums over values that are not kept.
 */
TEST(sums_are_those_of_the_values)
{
    enum { LIST = 6, OUTPUTS = 3 };
    static const int64_t columns[] = {1, 5, 32, COLS};
    const int64_t some[LIST] = {5, 0, 69, 33, 34, 12};
    mgv_ctx *ctx = mgv_check_ctx();
    sample *s = make_sample(8);
    double c[OUTPUTS * LIST], sums[OUTPUTS * ROWS], values[LIST * ROWS];
    for (int t = 0; t < OUTPUTS * LIST; t++)
        c[t] = t % 4 == 0 ? 0 : t - 7.5;
    for (int w = 0; w < 4; w++)
        for (int k = 0; k < KERNELS; k++) {
            mgvi_matrix m = as_matrix(s, 0);
            mgvi_points *p;
            m.cols = columns[w];
            m.nnz = m.rows * m.cols;
            CHECK_OK(ctx, mgvi_points_new(ctx, &m, &(mgvi_point_scaling){0}, MGV_F64, true, &p));
            const bool distance = kernels[k].kind != MGVI_KERNEL_POLY;
            CHECK(mgvi_kernel_is_short(&kernels[k], p, p) == (distance && w < 3));
            const mgvi_point_list left = {.points = p, .index = some, .count = LIST};
            const mgvi_point_list right = {.points = p, .first = 1, .count = ROWS - 1};
            for (int t = 0; t < OUTPUTS * ROWS; t++)
                sums[t] = 0.25 * t;
            CHECK_OK(ctx,
                     mgvi_kernel_sums(ctx, &kernels[k], &left, c, OUTPUTS, &right, sums, ROWS));
            CHECK_OK(ctx,
                     mgvi_kernel_block(ctx, &kernels[k], &left, &right, MGV_F64, values, ROWS));
            for (int o = 0; o < OUTPUTS; o++)
                for (int t = 0; t < ROWS - 1; t++) {
                    double want = 0.25 * (o * ROWS + t), size = 1 + want;
                    for (int i = 0; i < LIST; i++) {
                        want += c[o * LIST + i] * values[i * ROWS + t];
                        size += fabs(c[o * LIST + i] * values[i * ROWS + t]);
                    }
                    CHECK_NEAR(sums[o * ROWS + t], want, 1e-14 * size, "kernel %d, %d columns", k,
                               (int)columns[w]);
                }
            for (int i = 0; i < LIST && distance; i++)
                for (int t = 0; t < ROWS - 1; t++) {
                    double square = 0;
                    for (int j = 0; j < columns[w]; j++) {
                        const double d = s->x[some[i] * COLS + j] - s->x[(t + 1) * COLS + j];
                        square += d * d;
                    }
                    const double x = square / kernels[k].sigma2;
                    const bool root = kernels[k].kind == MGVI_KERNEL_LAPLACE;
                    CHECK_NEAR(values[i * ROWS + t], exp(root ? -sqrt(x) : -x / 2),
                               w < 3 ? 1e-14 : 1e-7, "kernel %d, %d columns", k, (int)columns[w]);
                }
            mgvi_points_free(p);
        }
    free(s);
    mgv_ctx_free(ctx);
}

/* Few columns of K over many rows, in blocks of rows: every value is there. */
TEST(many_rows_are_blocks)
{
    enum { MANY = 20001, LIST = 3 };
    mgv_ctx *ctx = mgv_check_ctx();
    double *x = calloc(MANY, sizeof *x), *out = calloc(MANY * LIST, sizeof *out);
    const int64_t some[LIST] = {7, 8192, MANY - 1};
    mgvi_points *p;
    for (int i = 0; i < MANY; i++)
        x[i] = i % 977 / 100.0;
    const mgvi_matrix m = {.layout = MGV_DENSE,
                           .dtype = MGV_F64,
                           .rows = MANY,
                           .cols = 1,
                           .nnz = MANY,
                           .val = x,
                           .row_stride = 1,
                           .col_stride = 1};
    CHECK_OK(ctx, mgvi_points_new(ctx, &m, &(mgvi_point_scaling){0}, MGV_F64, true, &p));
    const mgvi_point_list all = {.points = p, .count = MANY};
    const mgvi_point_list list = {.points = p, .index = some, .count = LIST};
    CHECK_OK(ctx, mgvi_kernel_block(ctx, &kernels[0], &all, &list, MGV_F64, out, LIST));
    for (int i = 0; i < MANY; i++)
        for (int t = 0; t < LIST; t++) {
            const double d = x[i] - x[some[t]];
            CHECK_NEAR(out[i * LIST + t], exp(-d * d / (2 * kernels[0].sigma2)), 1e-13, "row %d",
                       i);
        }
    mgvi_points_free(p);
    free(x);
    free(out);
    mgv_ctx_free(ctx);
}

/* Values that are made where they are used: float32 near the float64 ones, the same bits for any
 * number of threads, points of every layout, and nothing for other kernels. */
TEST(rough_sums_are_nearly_the_sums)
{
    enum { LIST = 37, LANES = 19 };
    static double lanes[ROWS * LANES], together[3][ROWS * LANES];
    sample *s = make_sample(12);
    int64_t rows[LIST];
    double c[LIST], f[3][ROWS], whole[3][ROWS], all[ROWS], exact[ROWS];
    static float K[LIST][ROWS];
    for (int i = 0; i < ROWS; i++)
        all[i] = cos(i);
    for (int t = 0; t < ROWS * LANES; t++)
        lanes[t] = (t % LANES - 4) * all[t / LANES];
    for (int t = 0; t < LIST; t++) {
        rows[t] = (t * 29) % ROWS;
        c[t] = sin(t);
    }
    for (int kind = 0; kind < 3; kind++)
        for (int k = 0; k < KERNELS; k++)
            for (int threads = 1; threads <= 3; threads++) {
                mgv_ctx *ctx = mgv_check_ctx();
                CHECK_OK(ctx, mgv_ctx_set_threads(ctx, threads));
                const mgvi_matrix m = as_matrix(s, kind);
                mgvi_op *A = make_op(ctx, s, &m, &kernels[k], MGV_F64, 1e9);
                mgvi_kernel_op *op = mgvi_kernel_of(A);
                CHECK(mgvi_kernel_has_rough(op) == (kernels[k].kind != MGVI_KERNEL_POLY));
                memset(exact, 0, sizeof exact);
                CHECK_OK(ctx, mgvi_kernel_exact_add(op, rows, LIST, c, exact));
                double *rough = f[threads - 1];
                for (int i = 0; i < ROWS; i++)
                    rough[i] = exact[i];
                if (mgvi_kernel_has_rough(op)) {
                    CHECK_OK(ctx, mgvi_kernel_open_rough(op));
                    CHECK_OK(ctx, mgvi_kernel_open_rough(op));
                    CHECK_OK(ctx, mgvi_kernel_rough_add(op, rows, LIST, c, rough));
                    CHECK_OK(ctx, mgvi_kernel_rough_among(op, rows, LIST, K[0], ROWS));
                    CHECK_OK(ctx, mgvi_kernel_rough_times(op, all, whole[threads - 1]));
                    assert_memory_equal(whole[0], whole[threads - 1], sizeof whole[0]);
                    double *of = together[threads - 1];
                    CHECK_OK(ctx, mgvi_kernel_rough_lanes(op, lanes, LANES, of));
                    assert_memory_equal(together[0], of, sizeof together[0]);
                    for (int t = 0; t < ROWS * LANES; t++)
                        CHECK_NEAR(of[t], (t % LANES - 4) * whole[threads - 1][t / LANES], 2e-4,
                                   "kernel %d row %d lane %d", k, t / LANES, t % LANES);
                }
                for (int i = 0; i < ROWS && mgvi_kernel_has_rough(op); i++) {
                    double want = 0;
                    for (int j = 0; j < ROWS; j++)
                        want += all[j] * value(&kernels[k], s->x + i * COLS, s->x + j * COLS);
                    CHECK_NEAR(whole[threads - 1][i], want, 1e-5, "kernel %d row %d", k, i);
                }
                for (int i = 0; i < ROWS; i++) {
                    double want = 0;
                    for (int t = 0; t < LIST; t++)
                        want += c[t] * value(&kernels[k], s->x + i * COLS, s->x + rows[t] * COLS);
                    CHECK_NEAR(exact[i], want, 1e-9 * (1 + fabs(want)), "kernel %d row %d", k, i);
                    if (mgvi_kernel_has_rough(op))
                        CHECK_NEAR(rough[i], 2 * want, 1e-5, "kernel %d row %d", k, i);
                }
                for (int t = 0; t < LIST * LIST && mgvi_kernel_has_rough(op); t++) {
                    const int a = t / LIST, b = t % LIST;
                    const double want =
                        value(&kernels[k], s->x + rows[a] * COLS, s->x + rows[b] * COLS);
                    CHECK_NEAR((double)K[a][b], want, 2e-6, "kernel %d: %d, %d", k, a, b);
                    CHECK(K[a][b] == K[b][a] && (a != b || K[a][b] == 1));
                }
                assert_memory_equal(f[0], rough, sizeof f[0]);
                mgvi_op_free(A);
                mgv_ctx_free(ctx);
            }
    free(s);
}

int main(void)
{
    return RUN(rows_listed_twice_are_kept_once, blocks_are_the_definition,
               sums_are_those_of_the_values, many_rows_are_blocks, scaling_is_applied,
               operator_is_its_formula, lanes_are_vectors, low_products_are_low_and_exact_below_1,
               float32_steps_are_near, threads_do_not_change_bits,
               borrowed_rows_are_the_same_whoever_computes_them, gram_matrices_are_checked,
               rough_sums_are_nearly_the_sums);
}
