/* test_row_set.c - sweeps over sets of rows of every form and view against the plain matrix. */
#include "samples.h"

#include "base/limit.h"
#include "op/row_set.h"

typedef struct coefficients {
    const double *t, *t2, *h;
} coefficients;

static void fill(void *arg, int64_t first, int64_t count, double *t, double *t2, double *h)
{
    const coefficients *c = arg;
    for (int64_t i = 0; i < count; i++) {
        t[i] = c->t[first + i];
        if (t2)
            t2[i] = c->t2[first + i];
        if (h)
            h[i] = c->h[first + i];
    }
}

/* A set beside the rows `ref` (count x cols) it should hold. */
static void check_set(mgvi_row_set *set, const double *ref, int64_t count, double tol,
                      const char *what)
{
    const int64_t d = set->cols;
    double *t = random_numbers(1, count), *t2 = random_numbers(2, count),
           *h = random_numbers(3, count), *w = random_numbers(4, d),
           *z = sample_memory((size_t)count, sizeof *z), *g = sample_memory((size_t)d, sizeof *g),
           *g2 = sample_memory((size_t)d, sizeof *g2),
           *H = sample_memory((size_t)(d * d), sizeof *H);
    for (int64_t i = 0; i < count; i++)
        h[i] = i % 5 == 0 ? 0 : h[i] * h[i];
    const coefficients c = {t, t2, h};
    coefficients given = c;
    CHECK(mgvi_row_set_count(set) == count);
    mgvi_row_set_mul(set, w, z);
    mgvi_row_set_sweep(set, fill, &given, g, g2, H, d);
    for (int64_t i = 0; i < count; i++) {
        double want = 0, size = 1;
        for (int64_t j = 0; j < d; j++) {
            want += ref[i * d + j] * w[j];
            size += fabs(ref[i * d + j] * w[j]);
        }
        CHECK_NEAR(z[i], want, tol * size, "%s: z[%d]", what, (int)i);
    }
    for (int64_t j = 0; j < d; j++) {
        double want = 0, want2 = 0, size = 1;
        for (int64_t i = 0; i < count; i++) {
            want += t[i] * ref[i * d + j];
            want2 += t2[i] * ref[i * d + j];
            size += fabs(t[i] * ref[i * d + j]) + fabs(t2[i] * ref[i * d + j]);
        }
        CHECK_NEAR(g[j], want, tol * size, "%s: g[%d]", what, (int)j);
        CHECK_NEAR(g2[j], want2, tol * size, "%s: g2[%d]", what, (int)j);
        for (int64_t k = j; k < d; k++) {
            double sum = 0, most = 1;
            for (int64_t i = 0; i < count; i++) {
                sum += h[i] * ref[i * d + j] * ref[i * d + k];
                most += h[i] * (ref[i * d + j] * ref[i * d + j] + ref[i * d + k] * ref[i * d + k]);
            }
            CHECK_NEAR(H[j * d + k], sum, 10 * tol * most, "%s: H[%d][%d]", what, (int)j, (int)k);
        }
    }
    free(t);
    free(t2);
    free(h);
    free(w);
    free(z);
    free(g);
    free(g2);
    free(H);
}

static void check_leverage(mgvi_row_set *set, const double *ref, int64_t count, int64_t data_cols,
                           const char *what)
{
    double *energy = sample_memory((size_t)set->cols, sizeof *energy),
           *want = sample_memory((size_t)count, sizeof *want);
    float *q = sample_memory((size_t)count, sizeof *q);
    mgvi_row_set_leverage(set, energy, q);
    for (int64_t j = 0; j < data_cols; j++) {
        double sum = 0;
        for (int64_t i = 0; i < count; i++)
            sum += ref[i * set->cols + j] * ref[i * set->cols + j];
        sum /= (double)count;
        CHECK_NEAR(energy[j], sum, 1e-5 * (1 + sum), "%s: energy of %d", what, (int)j);
        for (int64_t i = 0; i < count; i++)
            want[i] += sum > 0 ? ref[i * set->cols + j] * ref[i * set->cols + j] / sum : 0;
    }
    for (int64_t i = 0; i < count; i++)
        CHECK_NEAR(q[i], want[i], 1e-4 * (1 + want[i]), "%s: leverage of %d", what, (int)i);
    free(energy);
    free(q);
    free(want);
}

/* Rows 0, 1, 2, 5, 6, 7, 10, ...: runs of them, and rows that are left out. */
static void check_squares(mgvi_row_set *set, const double *ref, int64_t count, int64_t data_cols,
                          const char *what)
{
    enum { PERIOD = 5, TAKEN = 3, FLAG = 2 };
    double *sum = sample_memory((size_t)set->cols, sizeof *sum);
    uint8_t *which = sample_memory((size_t)count, sizeof *which);
    for (int64_t i = 0; i < count; i++)
        which[i] = i % PERIOD < TAKEN ? FLAG : 1;
    mgvi_row_set_squares(set, which, FLAG, sum);
    for (int64_t j = 0; j < data_cols; j++) {
        double want = 0;
        for (int64_t i = 0; i < count; i++)
            if (which[i] == FLAG)
                want += ref[i * set->cols + j] * ref[i * set->cols + j];
        CHECK_NEAR(sum[j], want, 1e-5 * (1 + want), "%s: squares of %d", what, (int)j);
    }
    free(sum);
    free(which);
}

/* With copies of the rows, or, where `most` bytes allow none, through the rows themselves. */
static void check_view(mgv_ctx *ctx, const sample *s, int form, int parts, double most)
{
    view_sample v = view_sample_new(s, parts, 1);
    mgvi_arena arena;
    mgvi_arena_init(&arena, ctx);
    mgvi_op *op;
    mgvi_rows *rows;
    mgvi_row_set set = {0};
    double touched = 0;
    char what[80];
    snprintf(what, sizeof what, "%s, parts %d", form_names[form], parts);
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &s->m, 1, &op));
    CHECK_OK(ctx, mgvi_op_view(ctx, op, &v.view, 1, &op));
    CHECK_OK(ctx, mgvi_rows_new(op, &arena, &rows));
    if ((parts & HAS_CENTRE) && (parts & HAS_ROW_SCALE)) {
        CHECK_FAILS(ctx, mgvi_row_set_all(rows, most, &arena, &touched, &set), MGV_E_UNSUPPORTED,
                    "centred");
    } else {
        CHECK_OK(ctx, mgvi_row_set_all(rows, most, &arena, &touched, &set));
        check_set(&set, v.ref, v.rows, 1e-5, what);
        if (v.rows > 0) {
            check_leverage(&set, v.ref, v.rows, set.m.cols, what);
            check_squares(&set, v.ref, v.rows, set.m.cols, what);
        }
        mgvi_row_set some = {0};
        int32_t *list = sample_memory((size_t)v.rows, sizeof *list);
        double *ref = sample_memory((size_t)(v.rows * v.cols), sizeof *ref);
        for (int64_t stride = 3; stride >= 2; stride--) { /* the second does not fit the first */
            int64_t count = 0;
            for (int64_t i = v.rows - 1; i >= 0; i -= stride, count++) {
                list[count] = (int32_t)i;
                memcpy(ref + count * v.cols, v.ref + i * v.cols, (size_t)v.cols * sizeof *ref);
            }
            CHECK_OK(ctx,
                     mgvi_row_set_gather(rows, list, count, true, most, &arena, &touched, &some));
            check_set(&some, ref, count, 1e-12, what);
        }
        CHECK(v.rows == 0 || s->m.nnz == 0 || touched > 0);
        free(list);
        free(ref);
    }
    mgvi_op_free(op);
    mgvi_arena_free(&arena);
    view_sample_free(&v);
}

TEST(sums_over_rows_of_every_view_match_plain_loops)
{
    static const struct {
        int64_t rows, cols;
        double density;
    } shapes[] = {{1, 4, 0.5}, {37, 7, 0.5}, {40, 60, 0.1}, {500, 9, 0.1}};
    static const int forms[] = {C_ORDER, C_PADDED, F_ORDER, CSR, CSC};
    mgv_ctx *ctx = mgv_check_ctx();
    for (int simd = 0; simd < mgvi_simd_count(); simd++)
        for (size_t form = 0; form < sizeof forms / sizeof *forms; form++)
            for (int dtype = MGV_F32; dtype <= MGV_F64; dtype++)
                for (size_t at = 0; at < sizeof shapes / sizeof *shapes; at++) {
                    ctx->simd = mgvi_simd_at(simd);
                    sample s = sample_new(shapes[at].rows, shapes[at].cols, shapes[at].density,
                                          forms[form], dtype);
                    for (int k = 0; k < 2 * PARTS; k++)
                        check_view(ctx, &s, forms[form], k / 2, k % 2 ? 0 : INFINITY);
                    sample_free(&s);
                }
    mgv_ctx_free(ctx);
}

typedef struct interrupting {
    mgv_ctx *ctx; /* NULL: let it be */
    atomic_int fills;
} interrupting;

static void interrupt(void *arg, int64_t first, int64_t count, double *t, double *t2, double *h)
{
    interrupting *c = arg;
    (void)first;
    (void)t2;
    atomic_fetch_add(&c->fills, 1);
    for (int64_t i = 0; i < count; i++)
        t[i] = h[i] = 1;
    if (c->ctx)
        mgv_ctx_interrupt(c->ctx);
}

/* The curvature of rows of many columns takes seconds: an interrupt ends it between two of them. */
TEST(an_interrupt_ends_the_sums_of_many_columns)
{
    enum { ROWS = 2000, COLS = 600 };
    mgv_ctx *ctx = mgv_check_ctx();
    sample s = sample_new(ROWS, COLS, 1, C_ORDER, MGV_F64);
    double *g = sample_memory(COLS, sizeof *g);
    double *H = sample_memory((size_t)COLS * COLS, sizeof *H), touched = 0;
    mgvi_arena arena;
    mgvi_op *op;
    mgvi_rows *rows;
    mgvi_row_set set = {0};
    interrupting whole = {.ctx = NULL}, cut = {.ctx = ctx};
    mgvi_arena_init(&arena, ctx);
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &s.m, 1, &op));
    CHECK_OK(ctx, mgvi_rows_new(op, &arena, &rows));
    CHECK_OK(ctx, mgvi_row_set_all(rows, INFINITY, &arena, &touched, &set));
    mgvi_row_set_sweep(&set, interrupt, &whole, g, NULL, H, COLS);
    mgvi_ctx_open(ctx, 0);
    mgvi_row_set_sweep(&set, interrupt, &cut, g, NULL, H, COLS);
    CHECK(mgvi_ctx_close(ctx));
    CHECK_THAT(3 * cut.fills <= whole.fills, "%d of %d pieces", cut.fills, whole.fills);
    mgvi_op_free(op);
    mgvi_arena_free(&arena);
    sample_free(&s);
    free(g);
    free(H);
    mgv_ctx_free(ctx);
}

int main(void)
{
    return RUN(sums_over_rows_of_every_view_match_plain_loops,
               an_interrupt_ends_the_sums_of_many_columns);
}
