/* test_memory.c - what a fit takes beyond its data: at most half of it, and the allowance, which is
 * 0 here but for what does not grow with the rows. Counted by the context's allocator, so that it
 * is the same everywhere. docs/memory.md. */
#include "check.h"

#include "base/rng.h"
#include "problem/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- an allocator that knows how much is out ------------------------------------------------- */

typedef struct scales {
    atomic_llong live, peak;
} scales;

enum { HEAD = 64 };

static void *weigh_out(void *user, size_t bytes, size_t align)
{
    scales *s = user;
    char *block = align <= HEAD ? aligned_alloc(HEAD, (bytes + 2 * HEAD - 1) / HEAD * HEAD) : NULL;
    if (!block)
        return NULL;
    memcpy(block, &bytes, sizeof bytes);
    const long long now = atomic_fetch_add(&s->live, (long long)bytes) + (long long)bytes;
    long long peak = atomic_load(&s->peak);
    while (now > peak && !atomic_compare_exchange_weak(&s->peak, &peak, now))
        ;
    return block + HEAD;
}

static void weigh_in(void *user, void *memory)
{
    scales *s = user;
    char *block = (char *)memory - HEAD;
    size_t bytes;
    memcpy(&bytes, block, sizeof bytes);
    atomic_fetch_sub(&s->live, (long long)bytes);
    free(block);
}

/* ---- tables ---------------------------------------------------------------------------------- */

typedef enum kind { TWO, FOUR, QUANTITY } kind;

static double label_of(mgvi_rng *rng, kind of, double score)
{
    const double noisy = score + 0.5 * mgvi_rng_normal(rng);
    if (of == QUANTITY)
        return noisy;
    return of == TWO ? noisy > 0 : fmin(fmax(floor(2 + noisy), 0), 3);
}

/* Values are borrowed by the data. */
typedef struct table {
    mgv_data *data;
    float *val;
    int32_t *idx;
    int64_t *ptr;
} table;

static void table_free(mgv_ctx *ctx, table *t)
{
    mgv_data_free(ctx, t->data);
    free(t->val);
    free(t->idx);
    free(t->ptr);
}

static table dense_table(mgv_ctx *ctx, int64_t rows, int64_t cols, kind of)
{
    mgvi_rng rng = mgvi_rng_seed(3);
    float *X = malloc((size_t)(rows * cols) * sizeof *X);
    double *y = malloc((size_t)rows * sizeof *y);
    table t = {.val = X};
    for (int64_t i = 0; i < rows; i++) {
        double score = 0;
        for (int64_t j = 0; j < cols; j++) {
            X[i * cols + j] = (float)(2 * mgvi_rng_uniform(&rng) - 1);
            score += (double)X[i * cols + j] * (j % 3 == 0 ? 1 : j % 3 == 1 ? -0.5 : 0);
        }
        y[i] = label_of(&rng, of, score);
    }
    CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F32, X, rows, cols, cols, 1, &t.data));
    CHECK_OK(ctx, mgv_data_set_labels(ctx, t.data, y));
    free(y);
    return t;
}

static table sparse_table(mgv_ctx *ctx, int64_t rows, int64_t cols, kind of)
{
    enum { EACH = 40 };
    mgvi_rng rng = mgvi_rng_seed(5);
    const size_t nnz = (size_t)(rows * EACH);
    double *y = malloc((size_t)rows * sizeof *y);
    table t = {.val = malloc(nnz * sizeof *t.val),
               .idx = malloc(nnz * sizeof *t.idx),
               .ptr = malloc(((size_t)rows + 1) * sizeof *t.ptr)};
    for (int64_t i = 0; i < rows; i++) {
        double score = 0;
        for (int64_t k = 0; k < EACH; k++) {
            const int64_t j = (int64_t)(((double)k + mgvi_rng_uniform(&rng)) / EACH * (double)cols);
            const double x = mgvi_rng_uniform(&rng);
            t.idx[i * EACH + k] = (int32_t)j;
            t.val[i * EACH + k] = (float)x;
            score += x * (j % 2 ? 0.5 : -0.5);
        }
        y[i] = label_of(&rng, of, score);
    }
    for (int64_t i = 0; i <= rows; i++)
        t.ptr[i] = i * EACH;
    CHECK_OK(ctx,
             mgv_data_from_sparse(ctx, MGV_CSR, MGV_F32, t.val, t.ptr, t.idx, rows, cols, &t.data));
    CHECK_OK(ctx, mgv_data_set_labels(ctx, t.data, y));
    free(y);
    return t;
}

/* ---- fits ------------------------------------------------------------------------------------ */

static void set(mgv_ctx *ctx, mgv_settings *settings, const char *options)
{
    char copy[200], *rest = copy, *item;
    snprintf(copy, sizeof copy, "%s", options);
    while ((item = strsep(&rest, " "))) {
        char *equals = strchr(item, '=');
        *equals = 0;
        CHECK_OK(ctx, mgv_settings_set(ctx, settings, item, equals + 1));
    }
}

/* Problem, run, model and its accuracy, as `margrave fit` has them. */
static void fit(mgv_ctx *ctx, mgv_data *data, const char *options)
{
    mgv_settings *settings;
    mgv_problem *problem;
    mgv_solver *solver;
    mgv_model *model;
    mgv_metrics metrics = {.size = sizeof metrics};
    CHECK_OK(ctx, mgv_settings_new(ctx, &settings));
    set(ctx, settings, options);
    CHECK_OK(ctx, mgv_problem_new(ctx, data, settings, &problem));
    CHECK_OK(ctx, mgv_solver_new(ctx, problem, settings, &solver));
    CHECK_OK(ctx, mgv_solver_run(ctx, solver));
    mgv_run_info run = {.size = sizeof run};
    mgv_solver_describe(solver, &run, NULL);
    CHECK_THAT(run.stop == MGV_STOP_CERTIFIED, "%s: %s", options, mgv_stop_name(run.stop));
    CHECK_OK(ctx, mgv_model_new(ctx, solver, &model));
    CHECK_OK(ctx, mgv_model_evaluate(ctx, model, data, NULL, &metrics));
    mgv_model_free(ctx, model);
    mgv_solver_free(ctx, solver);
    mgv_problem_free(ctx, problem);
    mgv_settings_free(ctx, settings);
}

/* What does not grow with the rows: sums of blocks, a Gram matrix, and so many numbers a column. */
static const double FIXED = 4 << 20, COLUMNS = 60;

static void check_beyond(kind of, bool sparse, const char *options)
{
    enum { DENSE_ROWS = 40000, DENSE_COLS = 24, ROWS = 10000, COLS = 2000 };
    scales s = {0, 0};
    const mgv_allocator hooks = {
        .size = sizeof hooks, .user = &s, .alloc = weigh_out, .release = weigh_in};
    mgv_ctx *ctx;
    assert_int_equal(mgv_ctx_new(&hooks, &ctx), MGV_OK);
    CHECK_OK(ctx, mgv_ctx_set_threads(ctx, 2));
    ctx->allowance = 0;
    table t =
        sparse ? sparse_table(ctx, ROWS, COLS, of) : dense_table(ctx, DENSE_ROWS, DENSE_COLS, of);
    const mgvi_matrix *X = &t.data->X;
    const double rows = (double)X->rows, cols = (double)X->cols, nnz = (double)X->nnz;
    const double bytes = sparse ? 8 * nnz + 16 * rows : 4 * nnz + 8 * rows;
    const double before = (double)atomic_load(&s.live);
    atomic_store(&s.peak, atomic_load(&s.live));
    fit(ctx, t.data, options);
    const double beyond = (double)atomic_load(&s.peak) - before;
    CHECK_LE(beyond, 0.5 * bytes + FIXED + COLUMNS * 8 * cols, "%s %s: %.2f times the data",
             sparse ? "sparse" : "dense", options, beyond / bytes);
    table_free(ctx, &t);
    mgv_ctx_free(ctx);
    CHECK(atomic_load(&s.live) == 0);
}

TEST(a_dense_fit_takes_half_its_data)
{
    static const char *const two[] = {"loss=hinge",
                                      "loss=logistic",
                                      "loss=squared_hinge",
                                      "loss=hinge penalty=l1 mu=0.001",
                                      "loss=logistic penalty=l1 mu=0.001",
                                      "loss=squared"};
    static const char *const quantity[] = {"loss=squared", "loss=squared penalty=l1 mu=0.01",
                                           "loss=squared penalty=enet mu=0.01 lambda=0.1"};
    for (size_t k = 0; k < sizeof two / sizeof *two; k++)
        check_beyond(TWO, false, two[k]);
    for (size_t k = 0; k < sizeof quantity / sizeof *quantity; k++)
        check_beyond(QUANTITY, false, quantity[k]);
}

TEST(so_does_a_sparse_one)
{
    static const char *const two[] = {"loss=hinge",
                                      "loss=logistic",
                                      "loss=squared_hinge",
                                      "loss=logistic solver=proximal_newton",
                                      "loss=logistic penalty=l1 mu=0.001",
                                      "loss=squared_hinge penalty=l1 mu=0.01"};
    static const char *const quantity[] = {"loss=squared lambda=0.1",
                                           "loss=squared penalty=l1 mu=0.01"};
    for (size_t k = 0; k < sizeof two / sizeof *two; k++)
        check_beyond(TWO, true, two[k]);
    for (size_t k = 0; k < sizeof quantity / sizeof *quantity; k++)
        check_beyond(QUANTITY, true, quantity[k]);
}

/* Classes one after the other, not side by side. */
TEST(so_do_several_classes)
{
    check_beyond(FOUR, false, "loss=hinge");
    check_beyond(FOUR, false, "loss=logistic");
    check_beyond(FOUR, true, "loss=hinge");
}

int main(void)
{
    return RUN(a_dense_fit_takes_half_its_data, so_does_a_sparse_one, so_do_several_classes);
}
