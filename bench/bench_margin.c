/* bench_margin.c - the exact hard margin and the proof of inseparability, beside LIBLINEAR -s 3.
 * usage: bench_margin MNIST-IMAGES    (train-images-idx3-ubyte, its labels beside it)
 *
 * MNIST pairs in pixels, without and with intercept; margins are printed divided by the longest
 * row. LIBLINEAR gets the same rows, its best C and the largest tolerance with which its weights
 * come within 1e-6 of the margin (found with hindsight: it has no certificate). Minimum of several
 * runs, data in memory. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "io/io.h"
#include "solver/driver.h"

#include <linear.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 7 };

static void fail(mgv_ctx *ctx, const char *what)
{
    fprintf(stderr, "bench_margin: %s: %s\n", what, mgv_ctx_error(ctx));
    exit(1);
}

static void quiet(const char *text) { (void)text; }

typedef struct set {
    int64_t n, d;
    float *X;
    double *y, longest;
} set;

static void measure(set *s)
{
    s->longest = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double square = 0;
        for (int64_t j = 0; j < s->d; j++)
            square += (double)s->X[i * s->d + j] * s->X[i * s->d + j];
        s->longest = fmax(s->longest, sqrt(square));
    }
}

static set pair_of(const mgv_data *all, int a, int b)
{
    set s = {.d = all->X.cols};
    for (int64_t i = 0; i < all->X.rows; i++)
        s.n += all->labels[i] == a || all->labels[i] == b;
    s.X = malloc((size_t)(s.n * s.d) * sizeof *s.X);
    s.y = malloc((size_t)s.n * sizeof *s.y);
    int64_t at = 0;
    for (int64_t i = 0; i < all->X.rows; i++) {
        if (all->labels[i] != a && all->labels[i] != b)
            continue;
        memcpy(s.X + at * s.d, (const float *)all->X.val + i * all->X.row_stride,
               (size_t)s.d * sizeof *s.X);
        s.y[at++] = all->labels[i] == b ? 1 : -1;
    }
    measure(&s);
    return s;
}

/* Normal rows at least .1 away from a plane; `flips` labels are wrong. */
static set generated(int64_t n, int64_t d, int flips)
{
    mgvi_rng rng = mgvi_rng_seed(2);
    set s = {.n = n, .d = d};
    double *plane = malloc((size_t)d * sizeof *plane), square = 0;
    s.X = malloc((size_t)(n * d) * sizeof *s.X);
    s.y = malloc((size_t)n * sizeof *s.y);
    for (int64_t j = 0; j < d; j++) {
        plane[j] = mgvi_rng_normal(&rng);
        square += plane[j] * plane[j];
    }
    for (int64_t i = 0; i < n;) {
        double z = 0;
        for (int64_t j = 0; j < d; j++) {
            s.X[i * d + j] = (float)mgvi_rng_normal(&rng);
            z += plane[j] * s.X[i * d + j] / sqrt(square);
        }
        if (fabs(z) < 0.1)
            continue;
        s.y[i++] = z > 0 ? 1 : -1;
    }
    for (int f = 0; f < flips; f++) {
        const uint32_t i = mgvi_rng_below(&rng, (uint32_t)n);
        s.y[i] = -s.y[i];
    }
    free(plane);
    measure(&s);
    return s;
}

static void free_set(set *s)
{
    free(s->X);
    free(s->y);
}

static double ours(mgv_ctx *ctx, const char *name, const set *s, const char *intercept,
                   const char *tol, int repeats)
{
    mgv_settings *settings;
    mgv_data *data;
    double best = INFINITY;
    mgv_certificate c = {.size = sizeof c};
    mgv_run_info run = {.size = sizeof run};
    if (mgv_settings_new(ctx, &settings) != MGV_OK ||
        mgv_settings_set(ctx, settings, "loss", "margin") != MGV_OK ||
        mgv_settings_set(ctx, settings, "intercept", intercept) != MGV_OK ||
        mgv_settings_set(ctx, settings, "tol", tol) != MGV_OK ||
        mgv_data_from_dense(ctx, MGV_F32, s->X, s->n, s->d, s->d, 1, &data) != MGV_OK ||
        mgv_data_set_labels(ctx, data, s->y) != MGV_OK)
        fail(ctx, name);
    for (int r = 0; r < repeats; r++) {
        mgv_problem *problem;
        mgv_solver *solver;
        const double start = mgvi_clock_seconds();
        if (mgv_problem_new(ctx, data, settings, &problem) != MGV_OK ||
            mgv_solver_new(ctx, problem, settings, &solver) != MGV_OK ||
            mgv_solver_run(ctx, solver) != MGV_OK)
            fail(ctx, name);
        best = fmin(best, mgvi_clock_seconds() - start);
        mgv_solver_describe(solver, &run, &c);
        mgv_solver_free(ctx, solver);
        mgv_problem_free(ctx, problem);
    }
    if (c.separable == 0)
        printf("%-26s %9lld x %-5lld %9.1f ms  %6.1f passes  not separable, |A'q|/R = %.1e\n", name,
               (long long)s->n, (long long)s->d, 1e3 * best, run.passes, c.proof_norm / s->longest);
    else
        printf("%-26s %9lld x %-5lld %9.1f ms  %6.1f passes  margin/R %.16f, gap %.1e (%s)\n", name,
               (long long)s->n, (long long)s->d, 1e3 * best, run.passes, c.margin / s->longest,
               c.relative_gap, mgv_stop_name(run.stop));
    fflush(stdout);
    mgv_data_free(ctx, data);
    mgv_settings_free(ctx, settings);
    return c.margin;
}

/* min_i y_i x_i.w / |w| */
static double margin_of(const set *s, const double *w, double sign)
{
    double least = INFINITY, square = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double z = 0;
        for (int64_t j = 0; j < s->d; j++)
            z += w[j] * s->X[i * s->d + j];
        least = fmin(least, sign * s->y[i] * z);
    }
    for (int64_t j = 0; j < s->d; j++)
        square += w[j] * w[j];
    return least / sqrt(square);
}

static struct problem to_liblinear(const set *s)
{
    struct problem lp = {.l = (int)s->n, .n = (int)s->d, .y = s->y, .bias = -1};
    struct feature_node *node = malloc((size_t)(s->n * (s->d + 1)) * sizeof *node);
    lp.x = malloc((size_t)s->n * sizeof *lp.x);
    for (int64_t i = 0; i < s->n; i++) {
        lp.x[i] = node;
        for (int64_t j = 0; j < s->d; j++)
            if (s->X[i * s->d + j] != 0)
                *node++ = (struct feature_node){(int)j + 1, s->X[i * s->d + j] / s->longest};
        *node++ = (struct feature_node){-1, 0};
    }
    return lp;
}

static void liblinear(const set *s, double margin, double gap)
{
    struct problem lp = to_liblinear(s);
    double best = INFINITY, best_C = 0, best_eps = 0, reached = NAN;
    for (double C = 1e3; C <= 1e6; C *= 10)
        for (double eps = 1; eps > 1e-7; eps *= 0.3) {
            struct parameter param = {.solver_type = L2R_L1LOSS_SVC_DUAL, .eps = eps, .C = C};
            double seconds = INFINITY, missing = NAN;
            for (int r = 0; r < 3; r++) {
                const double start = mgvi_clock_seconds();
                struct model *m = train(&lp, &param);
                seconds = fmin(seconds, mgvi_clock_seconds() - start);
                missing = 1 - margin_of(s, m->w, m->label[0] > 0 ? 1 : -1) / margin;
                free_and_destroy_model(&m);
                if (missing > gap)
                    break;
            }
            if (missing <= gap) {
                if (seconds < best) {
                    best = seconds;
                    best_C = C;
                    best_eps = eps;
                    reached = missing;
                }
                break;
            }
        }
    printf("%-26s %9s   %-5s %9.1f ms  C = %g, eps = %.2g, margin gap %.1e, no certificate\n",
           "  LIBLINEAR -s 3", "", "", 1e3 * best, best_C, best_eps, reached);
    fflush(stdout);
    free(lp.x[0]);
    free(lp.x);
}

static void bench_mnist(mgv_ctx *ctx, const char *path)
{
    static const int pairs[][2] = {{3, 5}, {3, 8}, {4, 9}, {7, 9}};
    mgv_settings *settings;
    mgv_data *all;
    if (mgv_settings_new(ctx, &settings) != MGV_OK ||
        mgv_data_read(ctx, path, settings, &all) != MGV_OK)
        fail(ctx, path);
    set s = pair_of(all, 0, 1);
    liblinear(&s, ours(ctx, "MNIST 0 v 1", &s, "no", "1e-9", REPEATS), 1e-6);
    ours(ctx, "MNIST 0 v 1, intercept", &s, "yes", "1e-9", REPEATS);
    free_set(&s);
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        char name[32];
        snprintf(name, sizeof name, "MNIST %d v %d", pairs[k][0], pairs[k][1]);
        s = pair_of(all, pairs[k][0], pairs[k][1]);
        ours(ctx, name, &s, "no", "1e-9", 3);
        strcat(name, ", intercept");
        ours(ctx, name, &s, "yes", "1e-9", 3);
        free_set(&s);
    }
    mgv_data_free(ctx, all);
    mgv_settings_free(ctx, settings);
}

int main(int argc, char **argv)
{
    mgv_ctx *ctx;
    if (mgv_ctx_new(NULL, &ctx) != MGV_OK)
        return 1;
    set_print_string_function(quiet);
    printf("hard margin, no intercept unless said, %d threads; LIBLINEAR one thread\n",
           mgv_ctx_threads(ctx));
    if (argc > 1)
        bench_mnist(ctx, argv[1]);
    for (int64_t n = 10000; n <= 1000000; n *= 10) {
        set s = generated(n, 100, 0);
        ours(ctx, "generated, separable", &s, "no", "1e-6", 3);
        free_set(&s);
    }
    set s = generated(1000000, 100, 20);
    ours(ctx, "generated, 20 labels wrong", &s, "no", "1e-6", 3);
    free_set(&s);
    mgv_ctx_free(ctx);
    return 0;
}
