/* bench_svm.c - tall hinge SVMs beside LIBLINEAR -s 3: the same problem in the same process,
 * float32 values, a constant column in the place of an intercept (LIBLINEAR's is regularised).
 * usage: bench_svm [-q] [-o FOLDER] FOLDER_WITH_DATA
 *        -q: no peer   -o: the dense problems and our figures for svm_peers.py
 *
 * Ours: milliseconds from the bound data to a certified relative gap, problem and solver made anew,
 * 1 and 2 threads. LIBLINEAR's: train() at the largest tolerance (found with hindsight) whose
 * weights have at most that primal suboptimality, or the last one within the patience (marked >).
 * Objectives are recomputed here in float64. Groups of rows are functions in the table at the end.
 */
#include "base/rng.h"
#include "io/io.h"
#include "peer_liblinear.h"

#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

enum { REPEATS = 7 };

typedef struct bench {
    mgv_ctx *ctx;
    const char *folder, *out;
    bool quick;
    FILE *figures; /* our times for svm_peers.py */
} bench;

static void fail(const bench *b, const char *what)
{
    fprintf(stderr, "bench_svm: %s: %s\n", what, mgv_ctx_error(b->ctx));
    exit(1);
}

static void set(const bench *b, mgv_settings *s, const char *name, const char *value)
{
    if (mgv_settings_set(b->ctx, s, name, value) != MGV_OK)
        fail(b, name);
}

static void set_number(const bench *b, mgv_settings *s, const char *name, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    set(b, s, name, text);
}

/* ---- ours ------------------------------------------------------------------------------------ */

typedef struct timing {
    double seconds, primal, gap, passes;
    char solver[32], stop[24];
    bool certified;
} timing;

static timing fit(const bench *b, mgv_data *data, const mgv_settings *settings, int repeats)
{
    timing best = {.seconds = INFINITY};
    for (int r = 0; r < repeats; r++) {
        mgv_problem *problem;
        mgv_solver *solver;
        const double start = mgvi_clock_seconds();
        if (mgv_problem_new(b->ctx, data, settings, &problem) != MGV_OK ||
            mgv_solver_new(b->ctx, problem, settings, &solver) != MGV_OK ||
            mgv_solver_run(b->ctx, solver) != MGV_OK)
            fail(b, "fit");
        const double seconds = mgvi_clock_seconds() - start;
        mgv_certificate c = {.size = sizeof c};
        mgv_run_info info = {.size = sizeof info};
        mgv_solver_describe(solver, &info, &c);
        if (seconds < best.seconds) {
            best = (timing){.seconds = seconds,
                            .primal = c.primal,
                            .gap = c.relative_gap,
                            .passes = info.passes,
                            .certified = info.stop == MGV_STOP_CERTIFIED};
            snprintf(best.solver, sizeof best.solver, "%s", info.solver);
            snprintf(best.stop, sizeof best.stop, "%s", mgv_stop_name(info.stop));
        }
        mgv_solver_free(b->ctx, solver);
        mgv_problem_free(b->ctx, problem);
    }
    return best;
}

/* ---- one problem at several tolerances ------------------------------------------------------- */

typedef struct work {
    const char *name;
    double lambda;
    double tolerance[6];  /* ended by 0 */
    double peer_eps;      /* where the search for LIBLINEAR's tolerance starts; 0: not run */
    double peer_patience; /* seconds of one training */
    int repeats;
} work;

static double hinge_objective(const struct problem *lp, const double *w, double sign,
                              const void *user)
{
    const work *k = user;
    double sum = 0, square = 0;
    for (int i = 0; i < lp->l; i++) {
        double z = 0;
        for (const struct feature_node *f = lp->x[i]; f->index > 0; f++)
            z += w[f->index - 1] * f->value;
        sum += fmax(0, 1 - lp->y[i] * sign * z);
    }
    for (int j = 0; j < lp->n; j++)
        square += w[j] * w[j];
    return k->lambda / 2 * square + sum / lp->l;
}

static void heading(const char *title)
{
    printf("\n%s\n%-26s %-16s %-6s %9s %9s %9s %7s %11s %9s %8s\n", title, "problem", "solver",
           "gap", "1 th. ms", "2 th. ms", "certified", "passes", "LIBLINEAR", "subopt", "ratio");
}

static void compare(const bench *b, mgv_data *data, const work *k)
{
    mgv_settings *s;
    struct problem lp = {0};
    if (mgv_settings_new(b->ctx, &s) != MGV_OK)
        fail(b, "settings");
    set(b, s, "intercept", "no");
    set_number(b, s, "lambda", k->lambda);
    set(b, s, "tol", "1e-9");
    const timing exact = fit(b, data, s, 1);
    const double optimum = exact.primal * (1 - exact.gap); /* a proven lower bound */
    const bool peer = k->peer_eps > 0 && !b->quick;
    double eps = k->peer_eps;
    peer_run theirs = {0};
    if (peer)
        lp = peer_problem(data);
    for (int t = 0; k->tolerance[t] > 0; t++) {
        timing ours[2];
        set_number(b, s, "tol", k->tolerance[t]);
        for (int threads = 1; threads <= 2; threads++) {
            mgv_ctx_set_threads(b->ctx, threads);
            ours[threads - 1] = fit(b, data, s, k->repeats);
        }
        printf("%-26s %-16s %-6.0e %9.2f %9.2f %8.1e%s %7.1f", k->name, ours[1].solver,
               k->tolerance[t], 1e3 * ours[0].seconds, 1e3 * ours[1].seconds, ours[1].gap,
               ours[1].certified ? " " : "!", ours[1].passes);
        if (b->figures)
            fprintf(b->figures, "%s,%.17g,%g,%.17g,%.17g\n", k->name, k->lambda, k->tolerance[t],
                    ours[1].seconds, ours[1].primal);
        /* once out of patience, a sharper goal is further away still */
        if (peer && theirs.seconds <= k->peer_patience) {
            const struct parameter param = {
                .solver_type = L2R_L1LOSS_SVC_DUAL, .C = 1 / (k->lambda * lp.l), .p = .1};
            theirs = peer_train(&lp, param, eps, .5, optimum * (1 + k->tolerance[t]), 3,
                                k->peer_patience, hinge_objective, k);
            eps = theirs.eps;
        }
        if (peer)
            printf(" %s%10.1f %9.1e %s%7.1f",
                   theirs.objective > optimum * (1 + k->tolerance[t]) ? ">" : " ",
                   1e3 * theirs.seconds, theirs.objective / optimum - 1,
                   theirs.objective > optimum * (1 + k->tolerance[t]) ? ">" : " ",
                   theirs.seconds / ours[1].seconds);
        printf("\n");
        fflush(stdout);
    }
    if (peer)
        peer_free(&lp);
    mgv_settings_free(b->ctx, s);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* NAME, packed or not, from the data folder; NULL when it is not there. */
static mgv_data *read_data(const bench *b, const char *name)
{
    static const char *const endings[] = {"", ".bz2", ".xz", ".gz", ".zst"};
    for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s%s", b->folder, name, endings[e]);
        FILE *f = fopen(path, "rb");
        if (!f)
            continue;
        fclose(f);
        mgv_settings *s;
        mgv_data *data;
        if (mgv_settings_new(b->ctx, &s) != MGV_OK ||
            mgv_data_read(b->ctx, path, s, &data) != MGV_OK)
            fail(b, path);
        mgv_settings_free(b->ctx, s);
        return data;
    }
    printf("\n%s: not in %s, left out\n", name, b->folder);
    return NULL;
}

/* n x d floats and labels that live as long as the program. */
static mgv_data *dense_data(const bench *b, float *X, double *y, int64_t n, int64_t d)
{
    mgv_data *data;
    if (mgv_data_from_dense(b->ctx, MGV_F32, X, n, d, d, 1, &data) != MGV_OK ||
        mgv_data_set_labels(b->ctx, data, y) != MGV_OK)
        fail(b, "data");
    return data;
}

/* Raw arrays for svm_peers.py, NPY. */
static void dump(const bench *b, const char *name, const char *type, const void *x, size_t size,
                 int64_t n, int64_t d)
{
    char path[1024], header[128];
    if (!b->out)
        return;
    snprintf(path, sizeof path, "%s/%s.npy", b->out, name);
    FILE *f = fopen(path, "wb");
    const int length =
        snprintf(header, sizeof header,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRId64 ", %" PRId64 "), }",
                 type, n, d);
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
    fprintf(f, "%s%*s\n", header, 0x75 - length, "");
    fwrite(x, size, (size_t)(n * d), f);
    fclose(f);
}

/* Columns of mean 0 and variance 1 in float32, and a constant one. */
static mgv_data *standardised(const bench *b, const mgv_data *from, const char *name)
{
    const mgvi_matrix *m = &from->X;
    const int64_t n = m->rows, d = m->cols;
    float *X = calloc((size_t)(n * (d + 1)), sizeof *X);
    double *y = malloc((size_t)n * sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        y[i] = from->labels[i] == from->class_value[1] ? 1 : -1;
        if (m->layout == MGV_CSR)
            for (int64_t t = m->ptr[i]; t < m->ptr[i + 1]; t++)
                X[i * (d + 1) + m->idx[t]] = (float)mgvi_matrix_value(m, t);
        else
            for (int64_t j = 0; j < d; j++)
                X[i * (d + 1) + j] = (float)peer_entry(m, i, j);
        X[i * (d + 1) + d] = 1;
    }
    for (int64_t j = 0; j < d; j++) {
        double mean = 0, square = 0;
        for (int64_t i = 0; i < n; i++)
            mean += X[i * (d + 1) + j];
        mean /= (double)n;
        for (int64_t i = 0; i < n; i++)
            square += pow(X[i * (d + 1) + j] - mean, 2);
        const double scale = square > 0 ? 1 / sqrt(square / (double)n) : 1;
        for (int64_t i = 0; i < n; i++)
            X[i * (d + 1) + j] = (float)((X[i * (d + 1) + j] - mean) * scale);
    }
    char label[64];
    snprintf(label, sizeof label, "%s_y", name);
    dump(b, name, "<f4", X, sizeof *X, n, d + 1);
    dump(b, label, "<f8", y, sizeof *y, n, 1);
    return dense_data(b, X, y, n, d + 1);
}

/* Overlapping classes as covtype's: ten numbers and one-hot groups of very different frequency. */
static mgv_data *generated(const bench *b, int64_t n, int64_t d, uint64_t seed, const char *name)
{
    enum { NUMBERS = 10 };
    mgvi_rng rng = mgvi_rng_seed(seed);
    float *X = calloc((size_t)(n * (d + 1)), sizeof *X);
    double *y = malloc((size_t)n * sizeof *y);
    double *effect = malloc((size_t)d * sizeof *effect);
    for (int64_t j = 0; j < d; j++)
        effect[j] = mgvi_rng_normal(&rng) * (j < NUMBERS ? 0.5 : 1);
    for (int64_t i = 0; i < n; i++) {
        double score = 0;
        for (int64_t j = 0; j < NUMBERS; j++) {
            X[i * (d + 1) + j] = (float)mgvi_rng_normal(&rng);
            score += effect[j] * X[i * (d + 1) + j];
        }
        const double power = mgvi_rng_uniform(&rng);
        const int64_t group = NUMBERS + (int64_t)(power * power * (double)(d - NUMBERS));
        X[i * (d + 1) + group] = (float)sqrt((double)(d - NUMBERS)) / 2;
        score += effect[group];
        X[i * (d + 1) + d] = 1;
        y[i] = score + 1.5 * mgvi_rng_normal(&rng) > 0 ? 1 : -1;
    }
    free(effect);
    if (name) {
        char label[64];
        snprintf(label, sizeof label, "%s_y", name);
        dump(b, name, "<f4", X, sizeof *X, n, d + 1);
        dump(b, label, "<f8", y, sizeof *y, n, 1);
    }
    return dense_data(b, X, y, n, d + 1);
}

/* ---- groups of rows -------------------------------------------------------------------------- */

static void covtype(const bench *b)
{
    mgv_data *raw = read_data(b, "covtype.sub92962.libsvm.binary.scale");
    if (!raw)
        return;
    mgv_data *data = standardised(b, raw, "covtype");
    heading("covtype sample, 92,962 x 54 standardised, and a constant column");
    compare(b, data,
            &(work){"covtype lambda 1e-4", 1e-4, {1e-2, 1e-3, 1e-4, 1e-6, 1e-10}, 100, 6, REPEATS});
    compare(b, data, &(work){"covtype lambda 1e-6", 1e-6, {1e-4, 1e-6, 1e-10}, 100, 6, REPEATS});
    mgv_data_free(b->ctx, data);
    mgv_data_free(b->ctx, raw);
}

static void large(const bench *b)
{
    heading("generated as covtype, 581,012 x 54, and a constant column");
    mgv_data *data = generated(b, 581012, 54, 1, "large");
    compare(b, data, &(work){"generated lambda 1e-4", 1e-4, {1e-4, 1e-8}, 30, 8, 3});
    mgv_data_free(b->ctx, data);
}

static void libsvm_sets(const bench *b)
{
    static const char *const names[] = {"a9a", "ijcnn1", "w8a"};
    heading("LIBSVM sets, C = 1, no intercept");
    for (int k = 0; k < 3; k++) {
        mgv_data *data = read_data(b, names[k]);
        if (!data)
            continue;
        compare(b, data, &(work){names[k], 1 / (double)data->X.rows, {1e-4, 1e-8}, 1, 5, REPEATS});
        mgv_data_free(b->ctx, data);
    }
}

/* Passes must not grow with the number of rows. */
static void passes(const bench *b)
{
    heading("passes, generated, 30 columns, gap 1e-6");
    for (int64_t n = 10000; n <= 1000000; n *= 10) {
        char name[40];
        snprintf(name, sizeof name, "%" PRId64 " rows", n);
        mgv_data *data = generated(b, n, 30, 2, NULL);
        compare(b, data, &(work){name, 1e-4, {1e-6}, 0, 0, 1});
        mgv_data_free(b->ctx, data);
    }
}

/* Everything with two classes in the folder, all settings at their defaults. */
static void defaults(const bench *b)
{
    static const char *const names[] = {"a9a",
                                        "w8a",
                                        "ijcnn1",
                                        "mushrooms",
                                        "splice",
                                        "madelon",
                                        "sonar",
                                        "german.numer",
                                        "australian",
                                        "diabetes",
                                        "breast-cancer",
                                        "heart",
                                        "heart_scale",
                                        "fourclass",
                                        "colon-cancer.raw",
                                        "colon-cancer.std",
                                        "leukemia",
                                        "breast-west",
                                        "prostate-singh",
                                        "reuters-money-fx",
                                        "covtype.sub92962.libsvm.binary.scale"};
    printf("\nevery set with the default settings (C = 1, free intercept, gap 1e-4)\n");
    printf("%-38s %10s %8s %-18s %9s %9s %7s\n", "set", "rows", "columns", "solver", "ms", "gap",
           "passes");
    mgv_ctx_set_threads(b->ctx, 2);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        mgv_data *data = read_data(b, names[k]);
        mgv_settings *s;
        if (!data || mgv_settings_new(b->ctx, &s) != MGV_OK)
            continue;
        set(b, s, "time_limit", "20");
        const timing t = fit(b, data, s, 1);
        printf("%-38s %10" PRId64 " %8" PRId64 " %-18s %9.2f %9.1e %7.1f %s\n", names[k],
               data->X.rows, data->X.cols, t.solver, 1e3 * t.seconds, t.gap, t.passes,
               t.certified ? "" : t.stop);
        mgv_settings_free(b->ctx, s);
        mgv_data_free(b->ctx, data);
    }
}

static const struct {
    const char *name;
    void (*run)(const bench *b);
} groups[] = {{"covtype", covtype},
              {"large", large},
              {"sets", libsvm_sets},
              {"passes", passes},
              {"defaults", defaults}};

int main(int argc, char **argv)
{
    bench b = {0};
    int i = 1;
    /* a process that fits many models keeps its memory: repeats should not pay for fresh pages */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    for (; i < argc && argv[i][0] == '-'; i++)
        if (strcmp(argv[i], "-q") == 0)
            b.quick = true;
        else if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
            b.out = argv[++i];
    if (i >= argc || mgv_ctx_new(NULL, &b.ctx) != MGV_OK) {
        fprintf(stderr, "usage: bench_svm [-q] [-o FOLDER] DATA_FOLDER [GROUP...]\n");
        return 2;
    }
    b.folder = argv[i++];
    if (b.out) {
        char path[1024];
        snprintf(path, sizeof path, "%s/ours.csv", b.out);
        b.figures = fopen(path, "w");
    }
    set_print_string_function(peer_quiet);
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        bool wanted = i >= argc;
        for (int k = i; k < argc; k++)
            wanted = wanted || strcmp(argv[k], groups[g].name) == 0;
        if (wanted)
            groups[g].run(&b);
    }
    if (b.figures)
        fclose(b.figures);
    mgv_ctx_free(b.ctx);
    return 0;
}
