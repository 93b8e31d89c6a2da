/* test_counters.c - what some sixty problems take: iterations, entries and bytes read, allocations
 * and the objective, for every solver, loss, penalty, kernel and class form, paths, folds,
 * completion and deblurring. They are compared with tests/counters.csv exactly, for each
 * instruction set that this machine has and the same assumed caches, so that a change of work or of
 * a last bit is seen in the commit that makes it. After such a change write the file anew, and say
 * why in the commit:
 *   ./dev counters
 * The rows hold for one compiler and its options: others skip the comparison. */
#include "check.h"

#include "base/rng.h"
#include "complete/samples.h"
#include "data/image.h"
#include "restore/deblur.h"
#include "simd/simd.h"
#include "solver/driver.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *const FILE_NAME = MGV_TEST_DIR "/counters.csv";
static const char *const COMPILER = "gcc 12";

/* ---- problems -------------------------------------------------------------------------------- */

typedef enum job { FIT, PATH, SELECT, COMPLETE, DEBLUR } job;
typedef enum rows { TALL, APART, CLASSES, WIDE, SPARSE, VALUES, SQUARE, EXACT } rows;

typedef struct problem {
    job job;
    rows rows;
    const char *options;
} problem;

/* The sets: rows, columns, classes (0: values), part of the entries that is 0, and how far classes
 * lie apart. */
static const struct {
    const char *name;
    int64_t n, d;
    int classes;
    double zeros, apart;
} sets[] = {
    [TALL] = {"tall", 240, 9, 2, 0, 0.7},       [APART] = {"apart", 80, 12, 2, 0, 6},
    [CLASSES] = {"classes", 150, 10, 5, 0, 2},  [WIDE] = {"wide", 40, 160, 2, 0, 1},
    [SPARSE] = {"sparse", 160, 120, 2, 0.9, 2}, [VALUES] = {"values", 90, 30, 0, 0, 1},
    [SQUARE] = {"square", 60, 16, 0, 0, 1},     [EXACT] = {"exact", 12, 30, 0, 0, 1},
};

static const problem problems[] = {
    /* the hinge and its kin by every solver */
    {FIT, TALL, "loss=hinge C=1"},
    {FIT, TALL, "loss=hinge C=1 solver=newton"},
    {FIT, TALL, "loss=hinge C=1 solver=dual_coordinate"},
    {FIT, TALL, "loss=hinge lambda=0.01 solver=smsvm tol=1e-3"},
    {FIT, TALL, "loss=hinge lambda=0.1 solver=mirror_coordinate intercept=no"},
    {FIT, TALL, "loss=smooth_hinge lambda=0.1 solver=accelerated_coordinate intercept=no"},
    {FIT, TALL, "loss=squared_hinge C=1"},
    {FIT, TALL, "loss=smooth_hinge C=1"},
    {FIT, TALL, "loss=sqrt_hinge lambda=0.01"},
    {FIT, TALL, "loss=logistic C=1"},
    {FIT, TALL, "loss=logistic C=1 solver=proximal_newton precision=f32"},
    {FIT, TALL, "loss=exponential lambda=0.1"},
    {FIT, TALL, "loss=hinge penalty=l1 mu=0.01"},
    {FIT, TALL, "loss=logistic penalty=enet mu=0.01 lambda=0.01 scale=std"},
    {FIT, WIDE, "loss=hinge C=1"},
    {FIT, WIDE, "loss=hinge penalty=l1 mu=0.05"},
    {FIT, WIDE, "loss=squared_hinge penalty=l1 mu=0.02"},
    {FIT, WIDE, "loss=logistic penalty=l1 mu=0.01 class_weight=balanced"},
    {FIT, SPARSE, "loss=hinge C=1 scale=std"},
    {FIT, SPARSE, "loss=squared_hinge C=0.1 intercept=no"},
    {FIT, SPARSE, "loss=logistic penalty=l1 mu=0.005"},
    {FIT, SPARSE, "loss=logistic C=1 scale=rownorm"},
    /* hard margins and the papers' methods for them */
    {FIT, APART, "loss=margin"},
    {FIT, APART, "loss=margin p=1.5"},
    {FIT, APART, "loss=margin penalty=l1"},
    {FIT, APART, "loss=margin penalty=linf"},
    {FIT, TALL, "loss=margin"},
    {FIT, APART, "loss=margin solver=momentum_margin tol=1e-2 intercept=no"},
    {FIT, APART, "loss=margin solver=dual_diagonal max_iter=300 intercept=no"},
    {FIT, APART, "loss=margin solver=batch_perceptron max_iter=300 intercept=no"},
    {FIT, APART, "loss=margin solver=perceptron intercept=no"},
    {FIT, APART, "loss=margin solver=normalized_gd max_iter=200 intercept=no"},
    {FIT, APART, "loss=margin solver=gd max_iter=200 intercept=no"},
    {FIT, APART, "loss=margin solver=mirror_sgd max_iter=20 intercept=no"},
    {FIT, APART, "loss=margin solver=homotopic_subgradient max_iter=50 intercept=no"},
    {FIT, TALL, "loss=hinge lambda=0.01 solver=cg_descent max_iter=50"},
    {FIT, TALL, "loss=hinge lambda=0.01 solver=nesterov_sgd max_iter=20"},
    {FIT, TALL, "loss=hinge lambda=0.01 solver=adadelta max_iter=20"},
    {FIT, TALL, "loss=hinge lambda=0.01 solver=adam max_iter=20"},
    /* many classes */
    {FIT, CLASSES, "loss=hinge C=1"},
    {FIT, CLASSES, "loss=squared_hinge C=1 multiclass=ovo"},
    {FIT, CLASSES, "loss=logistic C=1"},
    {FIT, CLASSES, "loss=softmax lambda=0.01"},
    {FIT, CLASSES, "loss=crammer_singer lambda=0.01"},
    {FIT, CLASSES, "loss=crammer_singer lambda=0.1 solver=class_coordinate"},
    {FIT, CLASSES, "loss=margin multiclass=joint"},
    /* kernels */
    {FIT, TALL, "loss=hinge C=1 kernel=rbf"},
    {FIT, TALL, "loss=logistic C=1 kernel=rbf"},
    {FIT, APART, "loss=margin kernel=laplace"},
    {FIT, APART, "loss=margin kernel=poly degree=2 solver=feature_margin"},
    {FIT, CLASSES, "loss=softmax lambda=0.01 kernel=rbf"},
    {FIT, VALUES, "loss=squared C=1 kernel=rbf"},
    /* regression */
    {FIT, VALUES, "loss=squared C=1"},
    {FIT, VALUES, "loss=squared penalty=l1 mu=0.05"},
    {FIT, VALUES, "loss=squared penalty=enet mu=0.05 lambda=0.1"},
    {FIT, VALUES, "loss=huber C=1"},
    {FIT, VALUES, "loss=absolute C=1"},
    {FIT, VALUES, "loss=epsilon_insensitive C=1 solver=dual_coordinate"},
    {FIT, VALUES, "loss=absolute penalty=l1 mu=0.05 solver=proximal_newton"},
    {FIT, VALUES, "loss=epsilon_insensitive penalty=l1 mu=0.05"},
    {FIT, VALUES, "loss=epsilon_insensitive C=1 kernel=rbf"},
    {FIT, VALUES, "loss=squared penalty=l1_nonneg mu=0.05"},
    {FIT, VALUES, "loss=squared penalty=nonneg"},
    {FIT, VALUES, "loss=squared penalty=group mu=0.05"},
    {FIT, VALUES, "loss=squared penalty=owl mu=0.05"},
    {FIT, VALUES, "loss=squared penalty=linf mu=0.05"},
    {FIT, VALUES, "loss=squared penalty=tv1d mu=0.05"},
    {FIT, VALUES, "loss=squared lambda=0.1 penalty=lp p=1.5 intercept=no"},
    {FIT, SQUARE, "loss=squared penalty=nuclear mu=0.05 shape=4x4"},
    {FIT, SQUARE, "loss=squared penalty=tv2d mu=0.05 shape=4x4 max_iter=300"},
    {FIT, SQUARE, "loss=squared penalty=box low=-0.5 high=0.5"},
    {FIT, TALL, "loss=logistic lambda=0.1 penalty=entropy intercept=no"},
    /* constraints and early stopping */
    {FIT, EXACT, "loss=equal penalty=l1 intercept=no"},
    {FIT, EXACT, "loss=interval epsilon=0.1 penalty=l1 intercept=no tol=1e-3"},
    {FIT, EXACT, "loss=equal penalty=l2 intercept=no solver=landweber max_iter=100"},
    {FIT, EXACT, "loss=equal penalty=l2 intercept=no solver=nesterov_landweber max_iter=100"},
    {FIT, EXACT, "loss=equal penalty=l1 intercept=no solver=linearized_bregman max_iter=200"},
    {FIT, EXACT, "loss=equal penalty=l1 intercept=no solver=accelerated_dual_gradient max_iter=99"},
    {FIT, EXACT, "loss=equal penalty=l1 intercept=no solver=bregman max_iter=20"},
    /* paths, folds and what is no fit */
    {PATH, WIDE, "loss=logistic penalty=l1 path_points=8"},
    {PATH, VALUES, "loss=squared penalty=l1 path_points=12"},
    {SELECT, TALL, "loss=hinge select=cv:3"},
    {SELECT, VALUES, "loss=squared penalty=l1 select=cv:4"},
    {SELECT, VALUES, "loss=squared penalty=l2 select=cv:4"},
    {SELECT, CLASSES, "loss=softmax select=holdout:0.3 solver=minibatch_momentum"},
    {COMPLETE, TALL, ""},
    {COMPLETE, TALL, "select=last max_iter=30"},
    {DEBLUR, TALL, "noise=0.02"},
};

/* ---- what is counted ------------------------------------------------------------------------- */

typedef struct counters {
    int64_t iterations;
    double entries, bytes;
    int64_t allocations;
    double objective;
} counters;

/* A set in memory, which the data borrows. */
typedef struct table {
    double *X, *y, *val;
    int64_t *ptr, *group;
    int32_t *idx;
} table;

static void fill_table(rows which, table *t)
{
    const int64_t n = sets[which].n, d = sets[which].d;
    mgvi_rng rng = mgvi_rng_seed(17 + which);
    int64_t nnz = 0;
    for (int64_t i = 0; i < n; i++) {
        const int own = sets[which].classes > 0 ? (int)(i % sets[which].classes) : 0;
        double score = 0;
        t->ptr[i] = nnz;
        for (int64_t j = 0; j < d; j++) {
            const bool mark = sets[which].classes > 0 && j % sets[which].classes == own;
            const double x = mgvi_rng_normal(&rng) + (mark ? sets[which].apart : 0);
            const double entry = mgvi_rng_uniform(&rng) < sets[which].zeros ? 0 : x;
            t->X[i * d + j] = entry;
            score += j % 4 == 0 ? entry : 0;
            t->idx[nnz] = (int32_t)j;
            t->val[nnz] = entry;
            nnz += entry != 0;
        }
        t->y[i] = sets[which].classes > 0 ? own : score + 0.3 * mgvi_rng_normal(&rng);
    }
    t->ptr[n] = nnz;
    for (int64_t j = 0; j < d; j++)
        t->group[j] = j / 5;
}

static void open_table(rows which, table *t)
{
    const size_t n = (size_t)sets[which].n, d = (size_t)sets[which].d;
    t->X = malloc(n * d * sizeof *t->X);
    t->y = malloc(n * sizeof *t->y);
    t->val = malloc((n * d + 1) * sizeof *t->val);
    t->ptr = malloc((n + 1) * sizeof *t->ptr);
    t->group = malloc(d * sizeof *t->group);
    t->idx = malloc((n * d + 1) * sizeof *t->idx);
    fill_table(which, t);
}

static void close_table(table *t)
{
    free(t->X);
    free(t->y);
    free(t->val);
    free(t->ptr);
    free(t->group);
    free(t->idx);
}

static mgv_data *data_of(mgv_ctx *ctx, rows which, const table *t)
{
    const int64_t n = sets[which].n, d = sets[which].d;
    mgv_data *data;
    if (sets[which].zeros > 0)
        CHECK_OK(ctx,
                 mgv_data_from_sparse(ctx, MGV_CSR, MGV_F64, t->val, t->ptr, t->idx, n, d, &data));
    else
        CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F64, t->X, n, d, d, 1, &data));
    CHECK_OK(ctx, mgv_data_set_labels(ctx, data, t->y));
    CHECK_OK(ctx, mgv_data_set_groups(ctx, data, t->group));
    return data;
}

static void set_options(mgv_ctx *ctx, mgv_settings *s, const char *options)
{
    char copy[256], *rest = copy, *item;
    snprintf(copy, sizeof copy, "%s", options);
    while ((item = strsep(&rest, " "))) {
        char *equals = strchr(item, '=');
        if (!equals)
            continue;
        *equals = 0;
        CHECK_OK(ctx, mgv_settings_set(ctx, s, item, equals + 1));
    }
}

static void count_solver(const mgv_solver *solver, counters *c)
{
    mgv_run_info run = {.size = sizeof run};
    mgv_certificate found = {.size = sizeof found};
    const mgvi_op *A = solver->run.problem->A;
    mgv_solver_describe(solver, &run, &found);
    c->iterations += run.iterations;
    c->entries += run.passes * (double)A->nnz;
    c->bytes += mgvi_op_bytes(A, run.passes * (double)A->nnz);
    c->objective = isnan(found.margin) ? found.primal : found.margin;
}

static void count_fit(mgv_ctx *ctx, mgv_data *data, const mgv_settings *s, counters *c)
{
    mgv_problem *p;
    mgv_solver *solver;
    CHECK_OK(ctx, mgv_problem_new(ctx, data, s, &p));
    CHECK_OK(ctx, mgv_solver_new(ctx, p, s, &solver));
    CHECK_OK(ctx, mgv_solver_run(ctx, solver));
    count_solver(solver, c);
    mgv_solver_free(ctx, solver);
    mgv_problem_free(ctx, p);
}

static void count_path(mgv_ctx *ctx, mgv_data *data, const mgv_settings *s, counters *c)
{
    mgv_path *path;
    const mgv_solver *solver;
    CHECK_OK(ctx, mgv_path_new(ctx, data, s, &path));
    for (;;) {
        CHECK_OK(ctx, mgv_path_next(ctx, path, &solver));
        if (!solver)
            break;
        count_solver(solver, c);
    }
    mgv_path_free(ctx, path);
}

static void count_selection(mgv_ctx *ctx, mgv_data *data, const mgv_settings *s, counters *c)
{
    mgv_selection *selection;
    mgv_selection_info info = {.size = sizeof info};
    CHECK_OK(ctx, mgv_selection_run(ctx, data, s, &selection));
    CHECK_OK(ctx, mgv_selection_describe(selection, &info));
    count_solver(mgv_selection_solver(selection), c);
    c->objective = info.score;
    mgv_selection_free(ctx, selection);
}

static void count_table(mgv_ctx *ctx, const problem *p, const mgv_settings *s, counters *c)
{
    table t;
    open_table(p->rows, &t);
    mgv_data *data = data_of(ctx, p->rows, &t);
    (p->job == PATH ? count_path : p->job == SELECT ? count_selection : count_fit)(ctx, data, s, c);
    mgv_data_free(ctx, data);
    close_table(&t);
}

static void count_completion(mgv_ctx *ctx, const mgv_settings *s, counters *c)
{
    sample of = sample_new(4, 60, 50, 3, 0.5, 0.1);
    mgv_triples *t = sample_triples(ctx, &of);
    mgv_completion *completion;
    mgv_completion_info info = {.size = sizeof info};
    CHECK_OK(ctx, mgv_completion_run(ctx, t, s, &completion));
    CHECK_OK(ctx, mgv_completion_describe(completion, &info));
    c->iterations = info.iterations + info.sweeps;
    c->objective = info.train_error;
    mgv_completion_free(ctx, completion);
    mgv_triples_free(ctx, t);
    sample_free(&of);
}

static void count_deblurring(mgv_ctx *ctx, const mgv_settings *s, counters *c)
{
    enum { SIDE = 24, PSF = 5 };
    mgv_image *image, *psf;
    mgv_deblur *deblur;
    mgv_deblur_info info = {.size = sizeof info};
    mgvi_rng rng = mgvi_rng_seed(9);
    CHECK_OK(ctx, mgvi_image_new(ctx, "test", SIDE, SIDE, 1, false, &image));
    CHECK_OK(ctx, mgvi_image_new(ctx, "psf", PSF, PSF, 1, false, &psf));
    for (int k = 0; k < SIDE * SIDE; k++)
        image->pixels[k] = (k % SIDE < 9 ? 0.3 : 0.7) + 0.02 * mgvi_rng_normal(&rng);
    for (int k = 0; k < PSF * PSF; k++)
        psf->pixels[k] = 1.0 / (PSF * PSF);
    CHECK_OK(ctx, mgv_deblur_new(ctx, image, psf, NULL, s, &deblur));
    CHECK_OK(ctx, mgv_deblur_run(ctx, deblur));
    CHECK_OK(ctx, mgv_deblur_describe(deblur, &info));
    c->iterations = info.iterations;
    c->objective = info.residual;
    mgv_deblur_free(ctx, deblur);
    mgv_image_free(ctx, image);
    mgv_image_free(ctx, psf);
}

static counters count(const char *level, const problem *p)
{
    mgv_check_allocator allocator;
    mgv_ctx *ctx;
    mgv_settings *s;
    counters c = {0};
    setenv("MGV_SIMD", level, 1);
    mgv_check_allocator_init(&allocator, 0);
    CHECK(mgv_ctx_new(&allocator.hooks, &ctx) == MGV_OK);
    CHECK_OK(ctx, mgv_ctx_set_threads(ctx, 1)); /* there were those of the machine's processors */
    const long before = atomic_load(&allocator.calls);
    CHECK_OK(ctx, mgv_settings_new(ctx, &s));
    set_options(ctx, s, p->options);
    if (p->job == COMPLETE)
        count_completion(ctx, s, &c);
    else if (p->job == DEBLUR)
        count_deblurring(ctx, s, &c);
    else
        count_table(ctx, p, s, &c);
    mgv_settings_free(ctx, s);
    mgv_ctx_free(ctx);
    c.allocations = atomic_load(&allocator.calls) - before;
    CHECK_THAT(atomic_load(&allocator.live) == 0, "%s", p->options);
    return c;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* The row of a problem: what it is called, and its numbers. */
static void write_row(const char *level, const problem *p, const counters *c, char row[512])
{
    static const char *const jobs[] = {"fit", "path", "select", "complete", "deblur"};
    snprintf(row, 512, "%s,%s %s %s,%" PRId64 ",%.17g,%.17g,%" PRId64 ",%.17g", level, jobs[p->job],
             p->job < COMPLETE ? sets[p->rows].name : "-", p->options, c->iterations, c->entries,
             c->bytes, c->allocations, c->objective);
}

/* The line of the file that begins like `row` up to its second comma; NULL: there is none. */
static char *find_row(char *text, const char *row)
{
    const char *end = strchr(strchr(row, ',') + 1, ',');
    const size_t length = (size_t)(end - row) + 1;
    for (char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL)
        if (strncmp(line, row, length) == 0)
            return line;
    return NULL;
}

static char *read_file(void)
{
    FILE *f = fopen(FILE_NAME, "r");
    char *text = calloc(1, 1 << 18);
    if (f) {
        const size_t got = fread(text, 1, (1 << 18) - 1, f);
        text[got] = 0;
        fclose(f);
    }
    return text;
}

/* Whether the rows are of such a program: others sum in another order, and without fused
 * multiplications the C library's own exp and log have other last bits. */
static bool comparable(void)
{
#if defined(__x86_64__) && defined(NDEBUG) && defined(__GNUC__) && !defined(__clang__) &&          \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    char own[32];
    snprintf(own, sizeof own, "gcc %d", __GNUC__);
    return strcmp(own, COMPILER) == 0 && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

/* Every row of this machine's instruction sets; those of others are kept as they are. */
static void write_file(void)
{
    char *old = read_file();
    FILE *f = fopen(FILE_NAME, "w");
    CHECK(f != NULL);
    fputs("level,problem,iterations,entries,bytes,allocations,objective\n", f);
    for (int v = 0; v < mgvi_simd_count(); v++)
        for (size_t k = 0; k < COUNT(problems); k++) {
            const char *level = mgvi_simd_at(v)->name;
            const counters c = count(level, &problems[k]);
            char row[512];
            write_row(level, &problems[k], &c, row);
            fprintf(f, "%s\n", row);
        }
    for (char *line = old; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        bool own = strncmp(line, "level,", 6) == 0;
        for (int v = 0; v < mgvi_simd_count(); v++) {
            const char *level = mgvi_simd_at(v)->name;
            own = own || (strncmp(line, level, strlen(level)) == 0 && line[strlen(level)] == ',');
        }
        if (!own)
            fprintf(f, "%.*s\n", (int)strcspn(line, "\n"), line);
    }
    fclose(f);
    free(old);
}

TEST(every_problem_takes_what_it_took)
{
    enum { MOST_PRINTED = 20 };
    int different = 0;
    setenv("MGV_CACHE", "32K,512K,4M", 1);
    if (getenv("MGV_COUNTERS_WRITE")) {
        write_file();
        return;
    }
    if (!comparable()) {
        print_message("counters.csv is for %s, release: not compared\n", COMPILER);
        skip();
    }
    char *text = read_file();
    for (int v = 0; v < mgvi_simd_count(); v++)
        for (size_t k = 0; k < COUNT(problems); k++) {
            const counters c = count(mgvi_simd_at(v)->name, &problems[k]);
            char row[512];
            write_row(mgvi_simd_at(v)->name, &problems[k], &c, row);
            const char *line = find_row(text, row);
            const size_t length = line ? strcspn(line, "\n") : 0;
            if (line && strlen(row) == length && strncmp(line, row, length) == 0)
                continue;
            if (different++ < MOST_PRINTED)
                print_error("was %.*s\nnow %s\n", line ? (int)length : 6, line ? line : "absent",
                            row);
        }
    free(text);
    CHECK_THAT(different == 0, "%d rows differ: ./dev counters writes them anew", different);
}

int main(void) { return RUN(every_problem_takes_what_it_took); }
