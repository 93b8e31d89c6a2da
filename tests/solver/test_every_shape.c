/* test_every_shape.c - `auto` on awkward data of every shape, every loss, penalty and strength: a
 * verified relative gap of 1e-8. MARGRAVE_SWEEP=N tries N seeds at larger sizes, MARGRAVE_SWEEP=M:N
 * the seeds M to N - 1. */
#include "stepping.h"

#include "select/strength.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

typedef struct shape {
    const char *name;
    int64_t n, d;
    double density;
    bool twins;    /* every second row and column is a copy of the one before */
    bool constant; /* some columns are the same in every row */
    bool uneven;   /* columns of sizes 1e-6 to 1e6 */
    bool rare;     /* one class has two rows */
} shape;

static const shape shapes[] = {
    {.name = "tall", .n = 150, .d = 6, .density = 1},
    {.name = "wide", .n = 14, .d = 90, .density = 1},
    {.name = "square", .n = 24, .d = 24, .density = 1},
    {.name = "sparse", .n = 60, .d = 90, .density = 0.06},
    {.name = "words", .n = 60, .d = 700, .density = 0.03},
    {.name = "twins", .n = 40, .d = 30, .density = 1, .twins = true},
    {.name = "wide twins", .n = 16, .d = 60, .density = 1, .twins = true},
    {.name = "constant columns", .n = 50, .d = 8, .density = 1, .constant = true},
    {.name = "uneven tall", .n = 90, .d = 7, .density = 1, .uneven = true},
    {.name = "uneven wide", .n = 15, .d = 50, .density = 1, .uneven = true},
    {.name = "uneven sparse", .n = 50, .d = 70, .density = 0.1, .uneven = true},
    {.name = "rare class", .n = 120, .d = 10, .density = 1, .rare = true},
};

static void make(const shape *s, uint64_t seed, double *X, double *y)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    for (int64_t i = 0; i < s->n; i++) {
        y[i] = s->rare ? (i < 2 ? 1 : -1) : i % 2 ? 1 : -1;
        for (int64_t j = 0; j < s->d; j++) {
            const double x = mgvi_rng_normal(&rng) + (j < 3 ? 0.5 * y[i] : 0);
            const bool there = mgvi_rng_uniform(&rng) < s->density;
            const double size = s->uneven ? pow(10, (double)(j % 13) - 6) : 1;
            X[i * s->d + j] = s->constant && j % 4 == 3 ? 7 : there ? size * x : 0;
            if (s->twins && j % 2)
                X[i * s->d + j] = X[i * s->d + j - 1];
        }
        if (s->twins && i % 4 > 1) {
            memcpy(X + i * s->d, X + (i - 2) * s->d, (size_t)s->d * sizeof *X);
            y[i] = y[i - 2];
        }
    }
}

typedef struct strength {
    const char *penalty;
    double lambda; /* NaN: none */
    double part;   /* of the mu at which w leaves 0; NaN: none */
} strength;

static const strength strengths[] = {
    {"l2", 1e-6, NAN},   {"l2", 1e-2, NAN},    {"l2", 10, NAN},
    {"l1", NAN, 0.5},    {"l1", NAN, 0.03},    {"l1", NAN, 1e-4},
    {"enet", 1e-2, 0.1}, {"enet", 1e-5, 1e-3}, {"enet", 1e-8, .3},
};

/* With columns of size 1e6 and lambda = 0.01 the penalty is 1e-14 of the squares beside it: near a
 * hard margin what it decides is lost in the rounding of the scores, for any method. */
static bool beyond_doubles(const shape *s, const strength *k, const char *loss)
{
    return s->uneven && strcmp(k->penalty, "l2") == 0 && k->lambda < 0.1 &&
           strcmp(loss, "logistic") != 0;
}

/* The same data in memory, dense or by rows. */
typedef struct table {
    double *X, *val, y[1024];
    int64_t *ptr;
    int32_t *idx;
    mgv_data *data;
} table;

static void fill(mgv_ctx *ctx, const shape *s, uint64_t seed, table *t)
{
    const size_t entries = (size_t)(s->n * s->d);
    int64_t nnz = 0;
    t->X = calloc(entries, sizeof *t->X);
    t->val = calloc(entries, sizeof *t->val);
    t->idx = calloc(entries, sizeof *t->idx);
    t->ptr = calloc((size_t)s->n + 1, sizeof *t->ptr);
    make(s, seed, t->X, t->y);
    for (int64_t i = 0; i < s->n; i++) {
        for (int64_t j = 0; j < s->d; j++)
            if (t->X[i * s->d + j] != 0) {
                t->idx[nnz] = (int32_t)j;
                t->val[nnz++] = t->X[i * s->d + j];
            }
        t->ptr[i + 1] = nnz;
    }
    CHECK_OK(ctx, s->density == 1
                      ? mgv_data_from_dense(ctx, MGV_F64, t->X, s->n, s->d, s->d, 1, &t->data)
                      : mgv_data_from_sparse(ctx, MGV_CSR, MGV_F64, t->val, t->ptr, t->idx, s->n,
                                             s->d, &t->data));
    CHECK_OK(ctx, mgv_data_set_labels(ctx, t->data, t->y));
}

static void empty(mgv_ctx *ctx, table *t)
{
    mgv_data_free(ctx, t->data);
    free(t->X);
    free(t->val);
    free(t->idx);
    free(t->ptr);
}

static void set(mgv_ctx *ctx, mgv_settings *settings, const char *name, const char *format,
                double value)
{
    char text[40];
    snprintf(text, sizeof text, format, value);
    CHECK_OK(ctx, mgv_settings_set(ctx, settings, name, text));
}

/* Columns of very different sizes: weights in the user's units are rounded by more than 1e-8 of
 * what there is to gain (README, Limits). */
static mgv_settings *settings_of(mgv_ctx *ctx, const char *loss, bool intercept, bool uneven)
{
    mgv_settings *settings;
    CHECK_OK(ctx, mgv_settings_new(ctx, &settings));
    const bool regress = strcmp(loss, "squared") == 0;
    CHECK_OK(ctx, mgv_settings_set(ctx, settings, "task", regress ? "regress" : "classify"));
    CHECK_OK(ctx, mgv_settings_set(ctx, settings, "loss", loss));
    CHECK_OK(ctx, mgv_settings_set(ctx, settings, "intercept", intercept ? "yes" : "no"));
    CHECK_OK(ctx, mgv_settings_set(ctx, settings, "tol", uneven ? "1e-6" : "1e-8"));
    return settings;
}

/* The mu at which w leaves 0. */
static double largest_mu(mgv_ctx *ctx, mgv_data *data, const char *loss, bool intercept)
{
    mgv_settings *settings = settings_of(ctx, loss, intercept, false);
    mgv_problem *problem;
    double mu;
    set(ctx, settings, "mu", "%.17g", 1);
    CHECK_OK(ctx, mgv_problem_new(ctx, data, settings, &problem));
    CHECK_OK(ctx, mgvi_largest_mu(problem, settings, &mu));
    mgv_problem_free(ctx, problem);
    mgv_settings_free(ctx, settings);
    return mu;
}

/* True when the run ended with its certificate. */
static bool certified(mgv_ctx *ctx, mgv_data *data, const strength *k, double largest,
                      mgv_settings *settings, char *story, size_t room)
{
    mgv_problem *problem;
    mgv_solver *solver;
    mgv_certificate c = {.size = sizeof c};
    mgv_run_info info = {.size = sizeof info};
    if (!isnan(k->lambda))
        set(ctx, settings, "lambda", "%.17g", k->lambda);
    if (!isnan(k->part))
        set(ctx, settings, "mu", "%.17g", k->part * largest);
    CHECK_OK(ctx, mgv_settings_set(ctx, settings, "penalty", k->penalty));
    CHECK_OK(ctx, mgv_problem_new(ctx, data, settings, &problem));
    CHECK_OK(ctx, mgv_solver_new(ctx, problem, settings, &solver));
    const mgv_status st = mgv_solver_run(ctx, solver);
    mgv_solver_describe(solver, &info, &c);
    snprintf(story, room, "%s lambda %g mu %g: %s by %s, gap %g after %d steps; %s", k->penalty,
             k->lambda, k->part * largest, mgv_stop_name(info.stop), info.solver, c.relative_gap,
             (int)info.iterations, st == MGV_OK ? "" : mgv_ctx_error(ctx));
    const bool good = st == MGV_OK && info.stop == MGV_STOP_CERTIFIED && c.verified;
    mgv_solver_free(ctx, solver);
    mgv_problem_free(ctx, problem);
    return good;
}

static int failures_on(mgv_ctx *ctx, const shape *s, uint64_t seed)
{
    static const char *const losses[] = {"hinge", "squared_hinge", "smooth_hinge", "logistic",
                                         "squared"};
    table t;
    int failures = 0;
    fill(ctx, s, seed, &t);
    for (size_t l = 0; l < COUNT(losses); l++)
        for (int intercept = 0; intercept < 2; intercept++) {
            const double largest = largest_mu(ctx, t.data, losses[l], intercept);
            for (size_t k = 0; k < COUNT(strengths); k++) {
                char story[400];
                if (beyond_doubles(s, &strengths[k], losses[l]))
                    continue;
                mgv_settings *settings = settings_of(ctx, losses[l], intercept, s->uneven);
                if (!certified(ctx, t.data, &strengths[k], largest, settings, story,
                               sizeof story)) {
                    failures++;
                    print_error("%s %d x %d, seed %d, %s, intercept %d, %s\n", s->name, (int)s->n,
                                (int)s->d, (int)seed, losses[l], intercept, story);
                }
                mgv_settings_free(ctx, settings);
            }
        }
    empty(ctx, &t);
    return failures;
}

TEST(every_shape_loss_penalty_and_strength_to_1e_8)
{
    mgv_ctx *ctx = mgv_check_ctx();
    int failures = 0;
    for (size_t k = 0; k < COUNT(shapes); k++)
        failures += failures_on(ctx, &shapes[k], 100 + k);
    mgv_ctx_free(ctx);
    CHECK_THAT(failures == 0, "%d runs without a certificate", failures);
}

/* Asked for by MARGRAVE_SWEEP: more seeds, at one to five times the size. */
TEST(a_longer_sweep)
{
    const char *seeds = getenv("MARGRAVE_SWEEP");
    const char *colon = seeds ? strchr(seeds, ':') : NULL;
    const uint64_t first = colon ? strtoull(seeds, NULL, 10) : 0;
    const uint64_t last = seeds ? strtoull(colon ? colon + 1 : seeds, NULL, 10) : 0;
    if (!seeds)
        skip();
    mgv_ctx *ctx = mgv_check_ctx();
    int failures = 0;
    for (uint64_t seed = first; seed < last; seed++)
        for (size_t k = 0; k < COUNT(shapes); k++) {
            shape s = shapes[k];
            const int64_t factor = 1 + (int64_t)(seed % 5);
            s.n *= factor;
            s.d *= factor;
            failures += failures_on(ctx, &s, 1000 * (seed + 1) + k);
        }
    mgv_ctx_free(ctx);
    CHECK_THAT(failures == 0, "%d runs without a certificate", failures);
}

int main(void) { return RUN(every_shape_loss_penalty_and_strength_to_1e_8, a_longer_sweep); }
