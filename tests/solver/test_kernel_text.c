/* test_kernel_text.c - kernels between sparse points of many columns: values, cores over kept rows.
 */
#include "vectors.h"

#include "base/rng.h"
#include "op/kernel_impl.h"
#include "solver/driver.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 1300, COLS = 700, WORDS = 12 };

typedef struct text {
    double x[ROWS * COLS], val[ROWS * WORDS], y[ROWS];
    int64_t ptr[ROWS + 1];
    int32_t idx[ROWS * WORDS];
} text;

/* Few words are common, most are rare; two classes that overlap. */
static text *make_text(uint64_t seed)
{
    text *s = calloc(1, sizeof *s);
    mgvi_rng rng = mgvi_rng_seed(seed);
    int64_t at = 0;
    for (int i = 0; i < ROWS; i++) {
        s->y[i] = mgvi_rng_below(&rng, 4) ? -1 : 1;
        for (int t = 0; t < WORDS; t++) {
            const double u = mgvi_rng_uniform(&rng);
            const int j = (int)(exp(u * log(COLS + 1)) - 1), odd = s->y[i] > 0 && t % 4 == 0;
            s->x[i * COLS + (odd ? j / 2 * 2 : j)] += 1;
        }
        for (int j = 0; j < COLS; j++)
            if (s->x[i * COLS + j] != 0) {
                s->idx[at] = j;
                s->val[at++] = s->x[i * COLS + j];
            }
        s->ptr[i + 1] = at;
    }
    return s;
}

static void start(mgv_fit *fit, const text *s, const char *options)
{
    mgv_fit_start(fit, s->x, s->y, ROWS, COLS, options);
    mgv_data_free(fit->ctx, fit->data);
    CHECK_OK(fit->ctx, mgv_data_from_sparse(fit->ctx, MGV_CSR, MGV_F64, s->val, s->ptr, s->idx,
                                            ROWS, COLS, &fit->data));
    CHECK_OK(fit->ctx, mgv_data_set_labels(fit->ctx, fit->data, s->y));
}

/* Whichever list is held and however many points there are: the definition, and the same bits. */
TEST(values_are_the_definition_in_any_company)
{
    text *s = make_text(5);
    mgv_ctx *ctx = mgv_check_ctx();
    const mgvi_matrix m = {.layout = MGV_CSR,
                           .dtype = MGV_F64,
                           .rows = ROWS,
                           .cols = COLS,
                           .nnz = s->ptr[ROWS],
                           .val = s->val,
                           .ptr = s->ptr,
                           .idx = s->idx};
    const mgvi_kernel kernel = {MGVI_KERNEL_RBF, 7, 0, 1, MGVI_ORIGIN_NONE};
    const int64_t some[] = {3, 1299, 0, 511, 512, 700};
    enum { SOME = sizeof some / sizeof *some };
    mgvi_points *points;
    CHECK_OK(ctx, mgvi_points_new(ctx, &m, &(mgvi_point_scaling){0}, MGV_F64, true, &points));
    const mgvi_point_list all = {.points = points, .count = ROWS};
    const mgvi_point_list few = {.points = points, .index = some, .count = SOME};
    double *K = malloc(sizeof *K * ROWS * ROWS), (*wide)[ROWS] = malloc(sizeof *wide * SOME);
    double(*tall)[SOME] = malloc(sizeof *tall * ROWS);
    float(*f32)[ROWS] = malloc(sizeof *f32 * SOME);
    CHECK_OK(ctx, mgvi_kernel_block(ctx, &kernel, &all, &all, MGV_F64, K, ROWS));
    CHECK_OK(ctx, mgvi_kernel_block(ctx, &kernel, &few, &all, MGV_F64, wide, ROWS));
    CHECK_OK(ctx, mgvi_kernel_block(ctx, &kernel, &all, &few, MGV_F64, tall, SOME));
    CHECK_OK(ctx, mgvi_kernel_block(ctx, &kernel, &few, &all, MGV_F32, f32, ROWS));
    for (int t = 0; t < SOME; t++)
        for (int i = 0; i < ROWS; i++) {
            double square = 0;
            for (int j = 0; j < COLS; j++) {
                const double apart = s->x[some[t] * COLS + j] - s->x[i * COLS + j];
                square += apart * apart;
            }
            CHECK_NEAR(wide[t][i], exp(-square / 14), 1e-14, "%d, %d", t, i);
            CHECK_NEAR((double)f32[t][i], wide[t][i], 1e-5, "%d, %d", t, i);
            CHECK(wide[t][i] == K[some[t] * ROWS + i] && tall[i][t] == K[i * ROWS + some[t]]);
        }
    mgvi_points_free(points);
    free(f32);
    free(tall);
    free(wide);
    free(K);
    free(s);
    mgv_ctx_free(ctx);
}

/* Cores, with rows of K that are kept or not: the optimum of the same points written out, which go
 * another way. */
TEST(cores_have_the_optimum_of_dense_points)
{
    static const char *const options[] = {
        "C=0.1",         "C=1 tol=1e-7",       "C=20",  "C=3 intercept=no", "C=1 cache=1",
        "C=20 cache=10", "C=1 kernel=laplace", "C=2000"};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    enum { FIRST = 1, EVERY = 3 }; /* the same code for half a minute */
#else
    enum { FIRST = 0, EVERY = 1 };
#endif
    text *s = make_text(6);
    for (size_t k = FIRST; k < sizeof options / sizeof *options; k += EVERY) {
        mgv_fit a, b;
        start(&a, s, "kernel=rbf sigma2=6 loss=hinge solver=kernel_svm");
        mgv_fit_start(&b, s->x, s->y, ROWS, COLS,
                      "kernel=rbf sigma2=6 loss=hinge solver=kernel_svm");
        mgv_fit *const both[] = {&a, &b};
        for (int f = 0; f < 2; f++) {
            mgv_fit_set(both[f], options[k]);
            mgv_fit_solve(both[f]);
            CHECK_THAT(both[f]->run.stop == MGV_STOP_CERTIFIED, "%s, %d: gap %g", options[k], f,
                       both[f]->certificate.relative_gap);
        }
        CHECK_LE(a.certificate.dual, b.certificate.primal * (1 + 1e-12), "%s", options[k]);
        CHECK_LE(b.certificate.dual, a.certificate.primal * (1 + 1e-12), "%s", options[k]);
        mgv_fit_free(&a);
        mgv_fit_free(&b);
    }
    free(s);
}

/* The block of a core stays from round to round: a run that goes on without it ends in the same
 * bits. */
static void check_bits(const text *s, const char *options)
{
    double first[ROWS + 1];
    char file[64];
    snprintf(file, sizeof file, "kernel_text.%d", (int)getpid());
    for (int variant = 1; variant <= 5; variant++) {
        mgv_fit fit;
        start(&fit, s, options);
        CHECK_OK(fit.ctx, mgv_ctx_set_threads(fit.ctx, variant < 4 ? variant : 1));
        if (variant > 3) {
            mgv_fit part;
            start(&part, s, options);
            mgv_fit_set(&part, variant == 4 ? "max_iter=2" : "max_iter=4");
            mgv_fit_solve(&part);
            CHECK(part.run.stop == MGV_STOP_MAX_ITER);
            CHECK_OK(part.ctx, mgv_solver_checkpoint(part.ctx, part.solver, file));
            mgv_fit_free(&part);
            CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
            CHECK_OK(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver));
            CHECK_OK(fit.ctx, mgv_solver_resume(fit.ctx, fit.solver, file));
            CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
            remove(file);
        } else {
            mgv_fit_solve(&fit);
        }
        if (variant == 1)
            memcpy(first, fit.solver->answer.w.x, sizeof first);
        assert_memory_equal(first, fit.solver->answer.w.x, sizeof first);
        mgv_fit_free(&fit);
    }
}

TEST(threads_and_resuming_do_not_change_bits)
{
    text *s = make_text(7);
    check_bits(s, "kernel=rbf sigma2=6 loss=hinge C=10 tol=1e-7 solver=kernel_svm");
    free(s);
}

/* Rows of 13.5 MB, their half of 9.2: with room for no more than 10 every value is made once, in
 * place of rows that push each other out; the same bits for any number of threads. */
TEST(the_half_is_kept_where_rows_do_not_fit)
{
    text *s = make_text(8);
    double first[ROWS + 1];
    for (int threads = 1; threads <= 2; threads++) {
        mgv_fit fit;
        start(&fit, s, "kernel=rbf sigma2=6 loss=hinge C=10 solver=kernel_svm cache=10");
        CHECK_OK(fit.ctx, mgv_ctx_set_threads(fit.ctx, threads));
        mgv_fit_solve(&fit);
        const mgvi_kernel_op *kernel = mgvi_kernel_of(fit.problem->A);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
        CHECK_THAT(kernel->half && kernel->used == 0, "%d rows kept", (int)kernel->used);
        if (threads == 1)
            memcpy(first, fit.solver->answer.w.x, sizeof first);
        assert_memory_equal(first, fit.solver->answer.w.x, sizeof first);
        mgv_fit_free(&fit);
    }
    free(s);
}

/* Three points, most rows at the origin: rounds of nearly no room to move. What is attained is the
 * objective of these very weights, added up here. */
TEST(what_is_attained_is_of_the_weights)
{
    enum { N = 53, FEW = 14 };
    const double sigma2 = 0.34143759348800756, lambda = 1.2061637588143095e-05;
    for (uint64_t seed = 0; seed < 40; seed++) {
        mgvi_rng rng = mgvi_rng_seed(seed);
        double x[N] = {0}, y[N], val[N];
        int64_t ptr[N + 1] = {0};
        int32_t idx[N] = {0};
        for (int i = 0; i < N; i++) {
            y[i] = mgvi_rng_below(&rng, 2) ? 1 : -1;
            if (mgvi_rng_below(&rng, N) < FEW)
                val[ptr[i]] = x[i] = mgvi_rng_below(&rng, 3) ? -1 : 1;
            ptr[i + 1] = ptr[i] + (x[i] != 0);
        }
        y[0] = -(y[1] = 1);
        mgv_fit fit;
        mgv_fit_start(&fit, x, y, N, 1, "kernel=poly degree=4 tol=1e-6 solver=kernel_svm");
        mgv_data_free(fit.ctx, fit.data);
        CHECK_OK(fit.ctx,
                 mgv_data_from_sparse(fit.ctx, MGV_CSR, MGV_F64, val, ptr, idx, N, 1, &fit.data));
        CHECK_OK(fit.ctx, mgv_data_set_labels(fit.ctx, fit.data, y));
        mgv_fit_set(&fit, "sigma2=0.34143759348800756 lambda=1.2061637588143095e-05");
        mgv_fit_solve(&fit);
        const double *c = fit.solver->answer.w.x;
        long double square = 0, loss = 0;
        for (int i = 0; i < N; i++) {
            long double f = 0;
            for (int j = 0; j < N; j++)
                f += c[j] * powl((long double)x[i] * x[j] / sigma2 + 1, 4);
            square += c[i] * f;
            loss += fmaxl(0, 1 - y[i] * (f + c[N])) / N;
        }
        CHECK_LE((double)(lambda / 2 * square + loss), fit.certificate.primal,
                 "seed %" PRIu64 ": %s", seed, mgv_stop_name(fit.run.stop));
        mgv_fit_free(&fit);
    }
}

int main(void)
{
    return RUN(what_is_attained_is_of_the_weights, values_are_the_definition_in_any_company,
               cores_have_the_optimum_of_dense_points, threads_and_resuming_do_not_change_bits,
               the_half_is_kept_where_rows_do_not_fit);
}
