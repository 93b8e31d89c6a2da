/* test_class_dual.c - Newton's steps of softmax and the joint hinge by rows: sparse tables with
 * more columns than rows, some of whose rows are copies of each other with other labels. */
#include "vectors.h"

#include "base/rng.h"
#include "solver/driver.h"
#include "solver/joint/class_metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 50, LANES = 4 };

/* Rows 0 to 19 are alike, and 30 and 31; every third curvature is none. */
static void make_metric(mgv_ctx *ctx, mgvi_arena *arena, double kappa, mgvi_class_metric *m)
{
    double x[ROWS];
    mgvi_rng rng = mgvi_rng_seed(5);
    for (int i = 0; i < ROWS; i++)
        x[i] = i < 20 ? 7 : i == 31 ? 30 : i;
    const mgvi_matrix rows = {.layout = MGV_DENSE,
                              .dtype = MGV_F64,
                              .rows = ROWS,
                              .cols = 1,
                              .nnz = ROWS,
                              .val = x,
                              .row_stride = 1,
                              .col_stride = 1};
    CHECK_OK(ctx, mgvi_class_metric_new(ctx, arena, ROWS, LANES, m));
    m->kappa = kappa;
    for (int i = 0; i < ROWS; i++) {
        m->row[i] = i;
        m->square[i] = i == 40 ? 0 : 10 + x[i];
        for (int j = 0; j < LANES; j++)
            m->h[i * LANES + j] =
                (i + j) % 3 == 2 ? 0 : pow(10, -4 * mgvi_rng_uniform(&rng)) * (1 + j);
    }
    CHECK_OK(ctx, mgvi_class_metric_group(&rows, m));
    CHECK_OK(ctx, mgvi_class_metric_ready(m));
}

/* Groups have 16 rows at most: of 20 that are alike the last four are a group of their own. */
static bool same_group(int a, int b)
{
    if (a < 20 && b < 20)
        return (a < 16) == (b < 16);
    return a == b || (a / 2 == 15 && b / 2 == 15);
}

TEST(the_metric_is_the_inverse_it_promises)
{
    static const double kappas[] = {0, 3, 1e6};
    mgv_ctx *ctx;
    assert_int_equal(mgv_ctx_new(NULL, &ctx), MGV_OK);
    for (int t = 0; t < 3; t++) {
        double x[ROWS * LANES], y[ROWS * LANES], all[LANES] = {0};
        mgvi_class_metric m;
        mgvi_arena arena;
        mgvi_rng rng = mgvi_rng_seed(6);
        mgvi_arena_init(&arena, ctx);
        make_metric(ctx, &arena, kappas[t], &m);
        for (int i = 0; i < ROWS * LANES; i++)
            x[i] = mgvi_rng_normal(&rng);
        CHECK_OK(ctx, mgvi_class_metric_solve(&m, x, y));
        for (int i = 0; i < ROWS * LANES; i++)
            all[i % LANES] += y[i];
        for (int i = 0; i < ROWS; i++) {
            double sum = 0, shift = NAN;
            for (int j = 0; j < LANES; j++) {
                const int at = i * LANES + j;
                sum += y[at];
                if (m.h[at] == 0) {
                    CHECK(y[at] == 0);
                    continue;
                }
                double image = y[at] / m.h[at] + kappas[t] * all[j];
                for (int a = 0; a < ROWS; a++)
                    image += same_group(a, i) ? m.square[i] * y[a * LANES + j] : 0;
                if (isnan(shift)) /* M y = x but for a number that the classes have in common */
                    shift = image - x[at];
                CHECK_NEAR(image - x[at], shift, 1e-6, "row %d, kappa %g", i, kappas[t]);
            }
            CHECK_NEAR(sum, 0, 1e-12, "row %d, kappa %g", i, kappas[t]);
        }
        mgvi_arena_free(&arena);
    }
    mgv_ctx_free(ctx);
}

enum { N = 240, D = 900, K = 4, EACH = 12 };

typedef struct table {
    double val[N * EACH], y[N], dense[N * D];
    int64_t ptr[N + 1];
    int32_t idx[N * EACH];
} table;

/* Counts of words, frequent ones first; every eighth row is the one before it with another label,
 * and every sixteenth is ten times as long as others. */
static table *make_table(void)
{
    table *t = calloc(1, sizeof *t);
    mgvi_rng rng = mgvi_rng_seed(3);
    for (int i = 0; i < N; i++) {
        double *row = t->dense + i * D;
        t->y[i] = i % 8 == 7 ? (i + 2) % K : i % K;
        for (int e = 0; e < EACH && i % 8 != 7; e++) {
            const int topic = e % 3 == 0 ? (int)t->y[i] : K;
            const int word = (int)(150 * pow(mgvi_rng_uniform(&rng), 3));
            row[topic * 150 + word] += i % 16 == 3 ? 10 : 1;
        }
        if (i % 8 == 7)
            memcpy(row, row - D, D * sizeof *row);
        t->ptr[i + 1] = t->ptr[i];
        for (int j = 0; j < D; j++)
            if (row[j] != 0) {
                t->idx[t->ptr[i + 1]] = j;
                t->val[t->ptr[i + 1]++] = row[j];
            }
    }
    return t;
}

static void solve(const table *t, bool sparse, int threads, const char *options, mgv_fit *fit)
{
    mgv_fit_start(fit, t->dense, t->y, N, D, options);
    if (sparse) {
        mgv_data_free(fit->ctx, fit->data);
        CHECK_OK(fit->ctx, mgv_data_from_sparse(fit->ctx, MGV_CSR, MGV_F64, t->val, t->ptr, t->idx,
                                                N, D, &fit->data));
        CHECK_OK(fit->ctx, mgv_data_set_labels(fit->ctx, fit->data, t->y));
    }
    CHECK_OK(fit->ctx, mgv_ctx_set_threads(fit->ctx, threads));
    mgv_fit_solve(fit);
}

/* Without Newton's steps the first takes 57 iterations. */
TEST(copies_of_rows_need_few_iterations)
{
    static const char *const options[] = {
        "loss=softmax C=1 tol=1e-6",
        "loss=softmax C=100 tol=1e-6 intercept=no",
        "loss=softmax C=1 tol=1e-6 scale=std",
        "loss=softmax C=10 tol=1e-8 scale=maxabs",
        "loss=softmax C=1e-4 tol=1e-8",
        "loss=softmax C=1 tol=1e-6 class_weight=0:1,1:1,2:3,3:0.5"};
    table *t = make_table();
    for (int o = 0; o < 6; o++) {
        mgv_fit fit, other;
        solve(t, true, 1, options[o], &fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified, "%s",
                   options[o]);
        CHECK_LE((double)fit.run.iterations, 30, "%s", options[o]);
        solve(t, false, 1, options[o], &other);
        CHECK_NEAR(fit.certificate.primal, other.certificate.primal,
                   1e-5 * other.certificate.primal, "%s", options[o]);
        mgv_fit_free(&other);
        mgv_fit_free(&fit);
    }
    free(t);
}

/* Of the joint hinge; a dense table has its optimum from the method of multipliers. */
TEST(the_joint_hinge_needs_few_iterations)
{
    static const char *const options[] = {
        "loss=crammer_singer solver=class_newton C=1 tol=1e-5",
        "loss=crammer_singer solver=class_newton C=1 tol=1e-5 intercept=no",
        "loss=crammer_singer solver=class_newton C=1 tol=1e-5 scale=std",
        "loss=crammer_singer solver=class_newton C=0.01 tol=1e-6"};
    table *t = make_table();
    for (int o = 0; o < 4; o++) {
        mgv_fit fit, other;
        solve(t, true, 1, options[o], &fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified, "%s",
                   options[o]);
        CHECK_LE((double)fit.run.iterations, 22, "%s", options[o]);
        solve(t, false, 1, options[o], &other);
        CHECK_NEAR(fit.certificate.primal, other.certificate.primal,
                   2e-5 * other.certificate.primal, "%s", options[o]);
        mgv_fit_free(&other);
        mgv_fit_free(&fit);
    }
    free(t);
}

TEST(threads_change_no_bits)
{
    static const char *const options[] = {
        "loss=softmax C=1 tol=1e-4 scale=std",
        "loss=crammer_singer solver=class_newton C=1 tol=1e-3 scale=std"};
    table *t = make_table();
    mgv_fit one;
    for (int threads = 1; threads < 7; threads++) {
        mgv_fit fit;
        if (threads % 3 == 1) {
            solve(t, true, 1, options[threads / 3], &one);
            continue;
        }
        solve(t, true, threads, options[(threads - 1) / 3], &fit);
        const mgvi_vec *w = &one.solver->answer.w, *u = &one.solver->answer.u;
        assert_memory_equal(w->x, fit.solver->answer.w.x, (size_t)(w->n * w->k) * sizeof *w->x);
        assert_memory_equal(u->x, fit.solver->answer.u.x, (size_t)(u->n * u->k) * sizeof *u->x);
        mgv_fit_free(&fit);
        if (threads % 3 == 0)
            mgv_fit_free(&one);
    }
    free(t);
}

int main(void)
{
    return RUN(the_metric_is_the_inverse_it_promises, copies_of_rows_need_few_iterations,
               the_joint_hinge_needs_few_iterations, threads_change_no_bits);
}
