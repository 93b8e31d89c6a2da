/* bench_margin.c - the exact hard margin and proofs of inseparability, beside LIBLINEAR -s 3 and
 * our own accelerated coordinate method. usage: bench_margin [-q] [MNIST-IMAGES]
 * (train-images-idx3-ubyte, its labels beside it; -q: the first rows only, for a quick look)
 *
 * MNIST pairs in pixels, without and with intercept; margins are printed divided by the longest
 * row. LIBLINEAR gets the same rows, its best C and the largest tolerance with which its weights
 * come within 1e-6 of the margin (found with hindsight: it has no certificate). Minimum of several
 * runs, data in memory. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "io/io.h"
#include "peer_liblinear.h"
#include "row.h"
#include "solver/driver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPEATS = 7 };

static void fail(mgv_ctx *ctx, const char *what)
{
    fprintf(stderr, "bench_margin: %s: %s\n", what, mgv_ctx_error(ctx));
    exit(1);
}

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

/* 1000 normal rows of 2000 numbers with variances i^-power, labels from a random plane (of `used`
 * entries) shifted by .005, nothing nearer to it than .1. */
static set spectrum(double power, int64_t used)
{
    mgvi_rng rng = mgvi_rng_seed(3);
    set s = {.n = 1000, .d = 2000};
    double *plane = calloc((size_t)s.d, sizeof *plane);
    s.X = malloc((size_t)(s.n * s.d) * sizeof *s.X);
    s.y = malloc((size_t)s.n * sizeof *s.y);
    for (int64_t k = 0; k < used;) {
        const int64_t j = used == s.d ? k : mgvi_rng_below(&rng, (uint32_t)s.d);
        k += plane[j] == 0;
        plane[j] = plane[j] == 0 ? mgvi_rng_normal(&rng) : plane[j];
    }
    for (int64_t i = 0; i < s.n;) {
        double z = 0.005;
        for (int64_t j = 0; j < s.d; j++) {
            s.X[i * s.d + j] = (float)(mgvi_rng_normal(&rng) * pow((double)(j + 1), -power / 2));
            z += plane[j] * s.X[i * s.d + j];
        }
        if (fabs(z) <= 0.1)
            continue;
        s.y[i++] = z > 0 ? 1 : -1;
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

/* What a run cost and found. */
typedef struct found {
    char name[40];
    double seconds, passes, margin, gap;
    int64_t examples; /* in a proof */
    bool decided;     /* certified, or proven not to be separable */
} found;

/* `options` is "name=value name=value"; loss margin and no intercept unless said. */
static found ours(mgv_ctx *ctx, const char *name, const set *s, const char *options, int repeats)
{
    mgv_settings *settings;
    mgv_data *data;
    found f = {.seconds = INFINITY};
    mgv_certificate c = {.size = sizeof c};
    mgv_run_info run = {.size = sizeof run};
    char text[256], *rest = text, *item;
    snprintf(text, sizeof text, "loss=margin intercept=no %s", options);
    if (mgv_settings_new(ctx, &settings) != MGV_OK ||
        mgv_data_from_dense(ctx, MGV_F32, s->X, s->n, s->d, s->d, 1, &data) != MGV_OK ||
        mgv_data_set_labels(ctx, data, s->y) != MGV_OK)
        fail(ctx, name);
    while ((item = strsep(&rest, " "))) {
        char *value = strchr(item, '=');
        if (!value)
            continue;
        *value++ = 0;
        if (mgv_settings_set(ctx, settings, item, value) != MGV_OK)
            fail(ctx, name);
    }
    for (int r = 0; r < repeats; r++) {
        mgv_problem *problem;
        mgv_solver *solver;
        const double *u;
        int64_t rows;
        const double start = mgvi_clock_seconds();
        if (mgv_problem_new(ctx, data, settings, &problem) != MGV_OK ||
            mgv_solver_new(ctx, problem, settings, &solver) != MGV_OK ||
            mgv_solver_run(ctx, solver) != MGV_OK)
            fail(ctx, name);
        f.seconds = fmin(f.seconds, mgvi_clock_seconds() - start);
        mgv_solver_describe(solver, &run, &c);
        mgv_solver_dual(solver, &u, &rows);
        f.examples = 0;
        for (int64_t i = 0; i < rows; i++)
            f.examples += u[i] != 0;
        mgv_solver_free(ctx, solver);
        mgv_problem_free(ctx, problem);
    }
    snprintf(f.name, sizeof f.name, "%s", name);
    f.decided = run.stop == MGV_STOP_CERTIFIED || run.stop == MGV_STOP_INFEASIBLE;
    f.passes = run.passes;
    f.margin = c.margin;
    f.gap = c.relative_gap;
    printf("%-28s %8lld x %-5lld %9.1f ms %7.1f passes  ", name, (long long)s->n, (long long)s->d,
           1e3 * f.seconds, f.passes);
    if (c.separable == 0)
        printf("not separable, %lld examples, |A'q|/R = %.1e\n", (long long)f.examples,
               c.proof_norm / s->longest);
    else
        printf("margin/R %.16f, gap %.1e (%s)\n", c.margin / s->longest, c.relative_gap,
               mgv_stop_name(run.stop));
    fflush(stdout);
    mgv_data_free(ctx, data);
    mgv_settings_free(ctx, settings);
    return f;
}

/* Rows of the results: a figure of the run that should be at most `most`, or a peer's over ours
 * that should be at least `bar`. */
static void at_most(const found *f, const char *unit, double figure, double most)
{
    bench_row_add((bench_row){.work = f->name,
                              .unit = unit,
                              .ours = figure,
                              .uncertified = !f->decided,
                              .bar = most,
                              .on = BENCH_MOST});
}

static void beside(const found *f, const char *peer, double theirs, bool cut_off, double bar)
{
    bench_row_add((bench_row){.work = f->name,
                              .peer = peer,
                              .ours = f->seconds,
                              .theirs = theirs,
                              .uncertified = !f->decided,
                              .cut_off = cut_off,
                              .bar = bar});
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

/* The seconds of its fastest run that comes within `gap` of the margin; NAN without it. */
static double liblinear(const set *s, double margin, double gap)
{
    if (!peer_there)
        return NAN;
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
    printf("%-28s %8s   %-5s %9.1f ms  C = %g, eps = %.2g, margin gap %.1e, no certificate\n",
           "  LIBLINEAR -s 3", "", "", 1e3 * best, best_C, best_eps, reached);
    fflush(stdout);
    free(lp.x[0]);
    free(lp.x);
    return best;
}

/* The best margin gap LIBLINEAR reaches within `limit` seconds: runs with ever smaller tolerances
 * in processes of their own, ended by an alarm. */
static void liblinear_in_time(const set *s, double margin, unsigned limit)
{
    struct problem lp = to_liblinear(s);
    double best[2] = {NAN, NAN}, now[2]; /* gap, seconds */
    for (double eps = 1; eps > 1e-6; eps *= 0.1) {
        int pipes[2];
        if (pipe(pipes) != 0)
            break;
        const pid_t child = fork();
        if (child == 0) {
            struct parameter param = {.solver_type = L2R_L1LOSS_SVC_DUAL, .eps = eps, .C = 1e4};
            alarm(limit);
            const double start = mgvi_clock_seconds();
            struct model *m = train(&lp, &param);
            now[1] = mgvi_clock_seconds() - start;
            alarm(0);
            now[0] = 1 - margin_of(s, m->w, m->label[0] > 0 ? 1 : -1) / margin;
            _exit(write(pipes[1], now, sizeof now) != sizeof now);
        }
        close(pipes[1]);
        const bool done = child > 0 && read(pipes[0], now, sizeof now) == sizeof now;
        close(pipes[0]);
        if (child > 0)
            waitpid(child, NULL, 0);
        if (!done)
            break;
        if (!(now[0] >= best[0]))
            memcpy(best, now, sizeof best);
    }
    printf("%-28s %8s   %-5s %9.1f ms  margin gap %.1e, the best within %u s, no certificate\n",
           "  LIBLINEAR -s 3 -c 1e4", "", "", 1e3 * best[1], best[0], limit);
    fflush(stdout);
    free(lp.x[0]);
    free(lp.x);
}

static void bench_mnist(mgv_ctx *ctx, const char *path, bool quick)
{
    static const int pairs[][2] = {{3, 5}, {3, 8}, {4, 9}, {7, 9}};
    mgv_settings *settings;
    mgv_data *all;
    if (mgv_settings_new(ctx, &settings) != MGV_OK ||
        mgv_data_read(ctx, path, settings, &all) != MGV_OK)
        fail(ctx, path);
    set s = pair_of(all, 0, 1);
    const found best = ours(ctx, "MNIST 0 v 1", &s, "tol=1e-9", REPEATS);
    beside(&best, "LIBLINEAR -s 3", liblinear(&s, best.margin, 1e-6), false, 3);
    at_most(&best, "passes", best.passes, 8);
    ours(ctx, "MNIST 0 v 1, intercept", &s, "tol=1e-9 intercept=yes", REPEATS);
    ours(ctx, "MNIST 0 v 1, p = 1.5", &s, "tol=1e-6 p=1.5", 3);
    ours(ctx, "MNIST 0 v 1, p = sparse", &s, "tol=1e-6 p=sparse", 3);
    free_set(&s);
    s = pair_of(all, 3, 5);
    found f = ours(ctx, "MNIST 3 v 5", &s, "", 3);
    at_most(&f, "s", f.seconds, 1);
    f = ours(ctx, "MNIST 3 v 5, short proof", &s, "short_proof=yes", 1);
    at_most(&f, "examples", (double)f.examples, (double)(s.d + 2));
    free_set(&s);
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs && !quick; k++) {
        char name[40];
        snprintf(name, sizeof name, "MNIST %d v %d", pairs[k][0], pairs[k][1]);
        s = pair_of(all, pairs[k][0], pairs[k][1]);
        ours(ctx, name, &s, "", 1);
        strcat(name, ", intercept");
        ours(ctx, name, &s, "intercept=yes", 1);
        free_set(&s);
    }
    mgv_data_free(ctx, all);
    mgv_settings_free(ctx, settings);
}

/* The sets of the accelerated coordinate method's paper. */
static void bench_spectra(mgv_ctx *ctx)
{
    static const struct {
        const char *name, *exact, *accelerated;
        double power;
        int64_t used;
    } row[] = {{"spectrum i^-1.5, p = 2", "tol=1e-6",
                "tol=1e-6 solver=accelerated_coordinate max_passes=2000", 1.5, 2000},
               {"spectrum 1/i, p = sparse", "tol=1e-6 p=sparse",
                "tol=1e-6 p=sparse solver=accelerated_coordinate max_passes=300", 1, 50}};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        set s = spectrum(row[k].power, row[k].used);
        const found best = ours(ctx, row[k].name, &s, row[k].exact, 3);
        const found other = ours(ctx, "  accelerated coordinates", &s, row[k].accelerated, 1);
        bench_row_add((bench_row){.work = best.name,
                                  .unit = "passes",
                                  .peer = "accelerated coordinates",
                                  .ours = best.passes,
                                  .theirs = other.passes,
                                  .uncertified = !best.decided,
                                  .bar = 5});
        if (k > 0)
            at_most(&best, "s", best.seconds, 1);
        free_set(&s);
    }
}

/* Passes must not grow with n; units must not matter. */
static void bench_generated(mgv_ctx *ctx, bool quick)
{
    const int64_t most = quick ? 100000 : 1000000;
    found f[3];
    int k = 0;
    for (int64_t n = 10000; n <= most; n *= 10) {
        set s = generated(n, 100, 0);
        char name[40];
        snprintf(name, sizeof name, "generated, %d rows", (int)n);
        f[k++] = ours(ctx, name, &s, "tol=1e-6", 3);
        if (n == 1000000) {
            if (peer_there)
                liblinear_in_time(&s, f[k - 1].margin, 10);
            beside(&f[k - 1], "LIBLINEAR -s 3", peer_there ? 10 : NAN, true, 10);
            at_most(&f[k - 1], "passes", f[k - 1].passes, 20);
        }
        free_set(&s);
    }
    at_most(&f[k - 1], "x the passes of 10,000", f[k - 1].passes / f[0].passes, 2);
    for (int sign = -1; sign <= 1; sign += 2) {
        const double unit = pow(10, 6 * sign);
        set s = generated(10000, 100, 0);
        for (int64_t i = 0; i < s.n * s.d; i++)
            s.X[i] = (float)(s.X[i] * unit);
        measure(&s);
        const found scaled = ours(ctx, sign < 0 ? "generated, times 1e-6" : "generated, times 1e6",
                                  &s, "tol=1e-6", 1);
        at_most(&scaled, "off its unit", fabs(scaled.margin / unit / f[0].margin - 1), 2e-6);
        free_set(&s);
    }
    set s = generated(most, 100, 20);
    const found proven = ours(ctx, "generated, 20 labels wrong", &s, "tol=1e-6", 3);
    at_most(&proven, "s", proven.seconds, 0.3);
    free_set(&s);
}

int main(int argc, char **argv)
{
    mgv_ctx *ctx;
    if (mgv_ctx_new(NULL, &ctx) != MGV_OK)
        return 1;
    const bool quick = argc > 1 && strcmp(argv[1], "-q") == 0;
    const char *images = argc > 1 + quick ? argv[1 + quick] : NULL;
    set_print_string_function(peer_quiet);
    printf("hard margin, no intercept unless said, %d threads; LIBLINEAR one thread\n",
           mgv_ctx_threads(ctx));
    if (images)
        bench_mnist(ctx, images, quick);
    bench_spectra(ctx);
    bench_generated(ctx, quick);
    mgv_ctx_free(ctx);
    return 0;
}
