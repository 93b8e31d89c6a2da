/* test_stats.c - column statistics and row norms of every form. */
#include "samples.h"

#include "op/stats.h"

typedef struct columns {
    double *mean, *std, *max_abs;
    int64_t *nonzeros;
} columns;

static columns columns_of(mgv_ctx *ctx, const mgvi_matrix *m, const double *weights)
{
    const size_t d = (size_t)m->cols;
    const columns c = {sample_memory(d, 8), sample_memory(d, 8), sample_memory(d, 8),
                       sample_memory(d, 8)};
    CHECK_OK(ctx, mgvi_matrix_column_stats(ctx, m, weights, c.mean, c.std, c.max_abs, c.nonzeros));
    return c;
}

static void columns_free(const columns *c)
{
    free(c->mean);
    free(c->std);
    free(c->max_abs);
    free(c->nonzeros);
}

/* Against sums in long double. */
static void check_columns(mgv_ctx *ctx, const sample *s, const double *weights, int form)
{
    const columns got = columns_of(ctx, &s->m, weights);
    for (int64_t j = 0; j < s->m.cols; j++) {
        long double total = 0, mean = 0, square = 0;
        double largest = 0;
        int64_t nonzeros = 0;
        for (int64_t i = 0; i < s->m.rows; i++) {
            const double x = s->ref[i * s->m.cols + j];
            total += weights ? weights[i] : 1;
            mean += (weights ? weights[i] : 1) * (long double)x;
            largest = weights && weights[i] == 0 ? largest : fmax(largest, fabs(x));
            nonzeros += x != 0 && !(weights && weights[i] == 0);
        }
        mean = total > 0 ? mean / total : 0;
        for (int64_t i = 0; i < s->m.rows; i++) {
            const long double x = s->ref[i * s->m.cols + j] - mean;
            square += (weights ? weights[i] : 1) * x * x;
        }
        const double std = total > 0 ? (double)sqrtl(square / total) : 0;
        CHECK_NEAR(got.mean[j], (double)mean, 1e-14 * (largest + 1), "%s: mean of column %d",
                   form_names[form], (int)j);
        CHECK_NEAR(got.std[j], std, 2e-15 * std, "%s: std of column %d", form_names[form], (int)j);
        CHECK(got.max_abs[j] == largest && got.nonzeros[j] == nonzeros);
    }
    columns_free(&got);
}

/* Means of 1e15 are rounded to 1/8: the spread about them must not see it. */
TEST(std_of_columns_far_from_zero)
{
    enum { ROWS = 8 };
    mgv_ctx *ctx = mgv_check_ctx();
    static const double step[ROWS] = {0, 0.25, 1, 0, 0.5, 0.125, 0.75, 1.5};
    double x[ROWS], mean, std;
    long double middle = 0, square = 0;
    for (int i = 0; i < ROWS; i++) {
        x[i] = 1e15 + step[i];
        middle += (x[i] - 1e15) / ROWS;
    }
    for (int i = 0; i < ROWS; i++)
        square += (x[i] - 1e15 - middle) * (x[i] - 1e15 - middle) / ROWS;
    const mgvi_matrix m = {.layout = MGV_DENSE,
                           .dtype = MGV_F64,
                           .rows = ROWS,
                           .cols = 1,
                           .nnz = ROWS,
                           .val = x,
                           .row_stride = 1,
                           .col_stride = 1};
    CHECK_OK(ctx, mgvi_matrix_column_stats(ctx, &m, NULL, &mean, &std, NULL, NULL));
    CHECK_NEAR(std, (double)sqrtl(square), 1e-14 * std, "std");
    mgv_ctx_free(ctx);
}

TEST(columns_of_every_form_match_plain_sums)
{
    static const int64_t shapes[][2] = {{0, 4}, {4, 0}, {1, 3}, {50, 6}, {4000, 30}, {5, 3000}};
    mgv_ctx *ctx = mgv_check_ctx();
    for (int form = 0; form < FORMS; form++)
        for (int at = 0; at < 6; at++) {
            sample s =
                sample_new(shapes[at][0], shapes[at][1], 0.6, form, at % 2 ? MGV_F32 : MGV_F64);
            double *weights = random_numbers(3, s.m.rows);
            for (int64_t i = 0; i < s.m.rows; i++)
                weights[i] = fmax(weights[i], 0); /* half of them 0 */
            check_columns(ctx, &s, NULL, form);
            check_columns(ctx, &s, weights, form);
            sample_free(&s);
            free(weights);
        }
    mgv_ctx_free(ctx);
}

/* Columns: 0.1 everywhere; 1e9 + {0, 1}; constant where the weight is positive; all zero. */
TEST(large_means_do_not_cancel_and_constants_have_no_spread)
{
    enum { N = 40000, D = 4 }; /* several blocks: sums in another order */
    mgv_ctx *ctx = mgv_check_ctx();
    double *weights = sample_memory(N, sizeof *weights);
    for (int form = 0; form < FORMS; form++) {
        sample made = sample_new(N, D, 1, C_ORDER, MGV_F64);
        free(made.val);
        for (int i = 0; i < N; i++) {
            weights[i] = i % 3 ? 0.1 * (i % 7 + 1) : 0;
            const double row[D] = {0.1, 1e9 + i % 2, i % 3 ? 0.7 : i % 2, 0};
            memcpy(made.ref + i * D, row, sizeof row);
        }
        sample s = {.m = {.dtype = MGV_F64, .rows = N, .cols = D}, .ref = made.ref};
        if (form < CSR)
            sample_dense(&s, form);
        else
            sample_sparse(&s, form);
        columns c = columns_of(ctx, &s.m, NULL);
        CHECK(c.mean[0] == 0.1 && c.std[0] == 0 && c.mean[3] == 0 && c.std[3] == 0);
        CHECK_NEAR(c.std[1], 0.5, 1e-9, "%s: far from the origin", form_names[form]);
        columns_free(&c);
        c = columns_of(ctx, &s.m, weights);
        CHECK_THAT(c.mean[2] == 0.7 && c.std[2] == 0 && c.std[0] == 0, "%s", form_names[form]);
        columns_free(&c);
        sample_free(&s);
    }
    free(weights);
    mgv_ctx_free(ctx);
}

TEST(row_norms_match)
{
    mgv_ctx *ctx = mgv_check_ctx();
    for (int form = 0; form < FORMS; form++) {
        sample s = sample_new(3000, 25, 0.8, form, MGV_F32);
        double *norms = sample_memory(3000, sizeof *norms);
        CHECK_OK(ctx, mgvi_matrix_row_norms(ctx, &s.m, norms));
        for (int64_t i = 0; i < s.m.rows; i++) {
            long double square = 0;
            for (int64_t j = 0; j < s.m.cols; j++)
                square += (long double)s.ref[i * s.m.cols + j] * s.ref[i * s.m.cols + j];
            CHECK_NEAR(norms[i], (double)sqrtl(square), 0x1p-52 * norms[i], "%s: row %d",
                       form_names[form], (int)i);
        }
        free(norms);
        sample_free(&s);
    }
    mgv_ctx_free(ctx);
}

TEST(the_number_of_threads_changes_no_bit)
{
    mgv_ctx *ctx = mgv_check_ctx();
    for (int form = 0; form < FORMS; form++) {
        sample s = sample_new(5000, 40, 0.8, form, MGV_F64);
        columns c[3];
        for (int t = 0; t < 3; t++) {
            CHECK_OK(ctx, mgv_ctx_set_threads(ctx, (int[]){1, 2, 5}[t]));
            c[t] = columns_of(ctx, &s.m, NULL);
            CHECK(memcmp(c[0].mean, c[t].mean, 40 * sizeof(double)) == 0);
            CHECK(memcmp(c[0].std, c[t].std, 40 * sizeof(double)) == 0);
        }
        for (int t = 0; t < 3; t++)
            columns_free(&c[t]);
        sample_free(&s);
    }
    mgv_ctx_free(ctx);
}

TEST(outputs_are_optional_and_memory_may_fail)
{
    mgv_check_allocator a;
    mgv_check_allocator_init(&a, 0);
    mgv_ctx *ctx;
    CHECK(mgv_ctx_new(&a.hooks, &ctx) == MGV_OK);
    sample s = sample_new(10, 3, 0.5, CSR, MGV_F64);
    double numbers[10];
    CHECK_OK(ctx, mgvi_matrix_column_stats(ctx, &s.m, NULL, NULL, NULL, NULL, NULL));
    CHECK_OK(ctx, mgvi_matrix_column_stats(ctx, &s.m, NULL, NULL, numbers, NULL, NULL));
    a.fail_at = atomic_load(&a.calls) + 1;
    CHECK(mgvi_matrix_column_stats(ctx, &s.m, NULL, numbers, NULL, NULL, NULL) == MGV_E_MEMORY);
    a.fail_at = atomic_load(&a.calls) + 1;
    CHECK_OK(ctx, mgvi_matrix_row_norms(ctx, &s.m, numbers)); /* takes none by rows */
    const mgvi_matrix turned = mgvi_matrix_transpose(&s.m);
    CHECK(mgvi_matrix_row_norms(ctx, &turned, numbers) == MGV_E_MEMORY);
    sample_free(&s);
    mgv_ctx_free(ctx);
    CHECK(atomic_load(&a.live) == 0);
}

int main(void)
{
    return RUN(columns_of_every_form_match_plain_sums, std_of_columns_far_from_zero,
               large_means_do_not_cancel_and_constants_have_no_spread, row_norms_match,
               the_number_of_threads_changes_no_bit, outputs_are_optional_and_memory_may_fail);
}
