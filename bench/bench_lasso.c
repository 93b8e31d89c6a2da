/* bench_lasso.c - choosing a sparse or ridge model by 4 folds, beside glmnet, celer, skglm and
 * scikit-learn on the same rows and folds.
 * usage: bench_lasso SCRATCH [DATA]   SCRATCH: a folder for what the peers read
 *                                     DATA: a folder with reuters-money-fx, news20.multiclass,
 * riboflavin
 *
 * BENCH_ONLY=reuters,news,ribo,dense chooses sets, BENCH_PEERS=1 stops after glmnet.
 * Seconds run from the matrix in memory to the chosen model, for us with its certificate (gap
 * 1e-4). Ours: the least of three runs, two threads. A peer runs once, with a limit of
 * PEER_SECONDS. 100 strengths to 1/1000 of the largest (text) or 1/100 (dense), no standardisation.
 */
#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "io/io.h"
#include "select/selection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FOLDS = 4, RUNS = 3, PEER_SECONDS = 60 };
#define TEXT_MAX 512

static mgv_ctx *ctx;
static const char *scratch;

static void fail(const char *what)
{
    fprintf(stderr, "bench_lasso: %s: %s\n", what, mgv_ctx_error(ctx));
    exit(1);
}

/* ---- sets ------------------------------------------------------------------------------------ */

typedef struct set {
    char name[64];
    mgv_data *data;
    double end;        /* last strength */
    const bool *truth; /* generated sets: which columns matter */
    int repeats;       /* splits into training and test rows; 0: no test rows */
} set;

static mgv_settings *settings_new(void)
{
    mgv_settings *s;
    if (mgv_settings_new(ctx, &s) != MGV_OK)
        fail("settings");
    return s;
}

static void assign(mgv_settings *s, const char *name, const char *value)
{
    if (mgv_settings_set(ctx, s, name, value) != MGV_OK)
        fail(name);
}

static bool load(const char *folder, const char *file, mgv_data **out)
{
    char path[TEXT_MAX];
    struct stat found;
    snprintf(path, sizeof path, "%s/%s.bz2", folder, file);
    if (stat(path, &found) != 0)
        snprintf(path, sizeof path, "%s/%s", folder, file);
    if (stat(path, &found) != 0) {
        printf("(no %s in %s: left out)\n", file, folder);
        return false;
    }
    mgv_settings *s = settings_new();
    if (mgv_data_read(ctx, path, s, out) != MGV_OK)
        fail(file);
    mgv_settings_free(ctx, s);
    return true;
}

/* Rows of length 1, the first ten groups -1 and the others +1. */
static void halve_news(mgv_data *data)
{
    double *y = malloc((size_t)data->X.rows * sizeof *y);
    for (int64_t i = 0; i < data->X.rows; i++) {
        double square = 0;
        for (int64_t t = data->X.ptr[i]; t < data->X.ptr[i + 1]; t++)
            square += pow(mgvi_matrix_value(&data->X, t), 2);
        for (int64_t t = data->X.ptr[i]; t < data->X.ptr[i + 1]; t++) {
            const double x = mgvi_matrix_value(&data->X, t) / sqrt(square);
            if (data->X.dtype == MGV_F32)
                ((float *)(uintptr_t)data->X.val)[t] = (float)x;
            else
                ((double *)(uintptr_t)data->X.val)[t] = x;
        }
        y[i] = data->labels[i] <= 10 ? -1 : 1;
    }
    if (mgv_data_set_labels(ctx, data, y) != MGV_OK)
        fail("labels");
    free(y);
}

/* Rows with correlation rho^|i-j|, 200 weights of +-1, noise of the given signal-to-noise ratio. */
static set generated(double rho, double snr, uint64_t seed)
{
    enum { N = 1000, D = 2000, TRUE = 200 };
    set s = {.end = .01};
    double *X = malloc((size_t)N * D * sizeof *X), *y = malloc(N * sizeof *y), energy = 0;
    bool *truth = calloc(D, sizeof *truth);
    double *w = calloc(D, sizeof *w);
    mgvi_rng rng = mgvi_rng_seed(seed);
    for (int k = 0; k < TRUE;) {
        const uint32_t j = mgvi_rng_below(&rng, D);
        if (truth[j])
            continue;
        truth[j] = true;
        w[j] = mgvi_rng_below(&rng, 2) ? 1 : -1;
        k++;
    }
    for (int i = 0; i < N; i++) {
        y[i] = 0;
        for (int j = 0; j < D; j++) {
            const double fresh = mgvi_rng_normal(&rng);
            X[i * D + j] = j ? rho * X[i * D + j - 1] + sqrt(1 - rho * rho) * fresh : fresh;
            y[i] += w[j] * X[i * D + j];
        }
        energy += y[i] * y[i];
    }
    const double noise = sqrt(energy / N) / snr;
    for (int i = 0; i < N; i++)
        y[i] += noise * mgvi_rng_normal(&rng);
    snprintf(s.name, sizeof s.name, "dense 1000 x 2000, rho %.1f", rho);
    if (mgv_data_from_dense(ctx, MGV_F64, X, N, D, D, 1, &s.data) != MGV_OK ||
        mgv_data_set_labels(ctx, s.data, y) != MGV_OK)
        fail(s.name);
    s.truth = truth;
    free(y);
    free(w);
    return s;
}

/* ---- what peers read ------------------------------------------------------------------------- */

static void put(const char *file, const void *data, size_t size, size_t count)
{
    char path[TEXT_MAX];
    snprintf(path, sizeof path, "%s/%s", scratch, file);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(data, size, count, out) != count || fclose(out) != 0) {
        fprintf(stderr, "bench_lasso: %s cannot be written\n", path);
        exit(1);
    }
}

/* The matrix by columns and the target as raw arrays. */
static void export_set(const set *s)
{
    mgvi_arena arena;
    mgvi_packed P;
    const mgvi_matrix *X = &s->data->X;
    mgvi_arena_init(&arena, ctx);
    if (mgvi_packed_new(&arena, &X, 1, NULL, NULL, MGV_F64, &P) != MGV_OK)
        fail("columns");
    const int64_t nnz = P.ptr[P.cols];
    const int32_t shape[] = {(int32_t)X->rows, (int32_t)X->cols, (int32_t)nnz, P.dense};
    int32_t *ptr = malloc(((size_t)P.cols + 1) * sizeof *ptr);
    for (int64_t j = 0; j <= P.cols; j++)
        ptr[j] = (int32_t)P.ptr[j];
    put("shape", shape, sizeof *shape, 4);
    put("ptr", ptr, sizeof *ptr, (size_t)P.cols + 1);
    if (!P.dense)
        put("idx", P.idx, sizeof *P.idx, (size_t)nnz);
    put("val", P.f64, sizeof *P.f64, (size_t)nnz);
    put("y", s->data->labels, sizeof *s->data->labels, (size_t)X->rows);
    free(ptr);
    mgvi_arena_free(&arena);
}

/* ---- runs ------------------------------------------------------------------------------------ */

typedef struct outcome {
    double seconds, error, se, test, nonzeros, f1;
    char method[64];
} outcome;

static double f1_of(const set *s, const double *coef)
{
    int64_t both = 0, chosen = 0, wanted = 0;
    for (int64_t j = 0; s->truth && j < s->data->X.cols; j++) {
        both += s->truth[j] && coef[j] != 0;
        chosen += coef[j] != 0;
        wanted += s->truth[j];
    }
    return s->truth ? 2.0 * (double)both / (double)(chosen + wanted) : NAN;
}

static mgv_selection *choose(const set *s, const char *penalty, bool intercept)
{
    char end[32];
    mgv_settings *options = settings_new();
    mgv_selection *chosen;
    snprintf(end, sizeof end, "%g", s->end);
    assign(options, "task", "regress");
    assign(options, "penalty", penalty);
    assign(options, "select", "cv:4");
    assign(options, "path_end", end);
    assign(options, "intercept", intercept ? "yes" : "no");
    if (mgv_selection_run(ctx, s->data, options, &chosen) != MGV_OK)
        fail(s->name);
    mgv_settings_free(ctx, options);
    return chosen;
}

static outcome ours(const set *s, const char *penalty, bool intercept)
{
    outcome out = {.seconds = INFINITY, .test = NAN};
    double *coef = malloc((size_t)s->data->X.cols * sizeof *coef), b;
    for (int r = 0; r < RUNS; r++) {
        mgv_selection *chosen = choose(s, penalty, intercept);
        const mgvi_path_point *p = mgvi_selection_point(chosen);
        out.seconds = fmin(out.seconds, chosen->seconds);
        out.error = p->error;
        out.se = p->error_se;
        snprintf(out.method, sizeof out.method, "%s", mgvi_selection_path(chosen)->method);
        mgvi_problem_user_weights(chosen->problem, chosen->solver->answer.w.x, coef, &b);
        out.nonzeros = (double)mgvi_count_nonzeros(coef, s->data->X.cols);
        out.f1 = f1_of(s, coef);
        if (r == 0 && !s->repeats) { /* the peers get the same folds */
            int32_t *fold = malloc((size_t)s->data->X.rows * sizeof *fold);
            for (int64_t i = 0; i < s->data->X.rows; i++)
                fold[i] = chosen->split.code[i] + 1;
            put("fold", fold, sizeof *fold, (size_t)s->data->X.rows);
            free(fold);
        }
        mgv_selection_free(ctx, chosen);
    }
    free(coef);
    return out;
}

/* Repeated splits: a fifth of the rows is left out, the model chosen by 4 folds of the others. */
static outcome ours_repeated(const set *s, const char *penalty)
{
    const int64_t n = s->data->X.rows, d = s->data->X.cols;
    outcome out = {.f1 = NAN};
    int32_t *fold = calloc((size_t)(n * s->repeats), sizeof *fold), *order = malloc((size_t)n * 4);
    double *X = malloc((size_t)(n * d) * sizeof *X), *y = malloc((size_t)n * sizeof *y);
    double *coef = malloc((size_t)d * sizeof *coef), b;
    for (int r = 0; r < s->repeats; r++) {
        mgvi_rng rng = mgvi_rng_seed(100 + (uint64_t)r);
        for (int64_t i = 0; i < n; i++)
            order[i] = (int32_t)i;
        mgvi_rng_shuffle(&rng, order, n);
        const int64_t test = n / 5, train = n - test;
        for (int64_t k = 0; k < train; k++) {
            y[k] = s->data->labels[order[test + k]];
            for (int64_t j = 0; j < d; j++)
                X[k * d + j] = mgvi_matrix_value(&s->data->X, order[test + k] * d + j);
        }
        set part = {.end = s->end};
        if (mgv_data_from_dense(ctx, MGV_F64, X, train, d, d, 1, &part.data) != MGV_OK ||
            mgv_data_set_labels(ctx, part.data, y) != MGV_OK)
            fail("part");
        mgv_selection *chosen = choose(&part, penalty, true);
        for (int64_t k = 0; k < train; k++)
            fold[r * n + order[test + k]] = chosen->split.code[k] + 1;
        out.seconds += chosen->seconds;
        out.error += mgvi_selection_point(chosen)->error / s->repeats;
        mgvi_problem_user_weights(chosen->problem, chosen->solver->answer.w.x, coef, &b);
        out.nonzeros += (double)mgvi_count_nonzeros(coef, d) / s->repeats;
        double square = 0;
        for (int64_t k = 0; k < test; k++) {
            double z = b;
            for (int64_t j = 0; j < d; j++)
                z += coef[j] * mgvi_matrix_value(&s->data->X, order[k] * d + j);
            square += pow(z - s->data->labels[order[k]], 2) / (double)test;
        }
        out.test += square / s->repeats;
        out.se += square * square / s->repeats;
        snprintf(out.method, sizeof out.method, "%s", mgvi_selection_path(chosen)->method);
        mgv_selection_free(ctx, chosen);
        mgv_data_free(ctx, part.data);
    }
    out.se = sqrt(fmax(0, out.se - out.test * out.test) / s->repeats);
    put("fold", fold, sizeof *fold, (size_t)(n * s->repeats));
    free(fold);
    free(order);
    free(X);
    free(y);
    free(coef);
    return out;
}

/* Runs a peer's script: it prints seconds, cv error, test error, nonzeros. */
static bool peer(const char *command, const set *s, bool intercept, outcome *out)
{
    char line[TEXT_MAX], text[2 * TEXT_MAX];
    snprintf(text, sizeof text, "timeout %d %s %s %d %g 2>/dev/null", PEER_SECONDS, command,
             scratch, intercept, s->end);
    FILE *in = popen(text, "r");
    bool read = false;
    while (in && fgets(line, sizeof line, in))
        read = sscanf(line, "result %lf %lf %lf %lf", &out->seconds, &out->error, &out->test,
                      &out->nonzeros) == 4 ||
               read;
    if (in)
        pclose(in);
    return read;
}

static void print_row(const char *name, const outcome *o, double base, const char *bar)
{
    printf("  %-34s %8.3f s  CV error %-9.6g", name, o->seconds, o->error);
    if (!isnan(o->test) && o->test > 0)
        printf(" test %-8.4g", o->test);
    printf(" %6.0f weights", o->nonzeros);
    if (!isnan(o->f1) && o->f1 > 0)
        printf("  F1 %.2f", o->f1);
    if (base > 0)
        printf("  %6.1fx", o->seconds / base);
    printf("%s%s\n", *bar ? "   bar: " : "", bar);
}

static void compare(const set *s, bool intercept, const char *bar)
{
    static const struct {
        const char *name, *command;
    } peers[] = {{"glmnet cv.glmnet", "Rscript bench/peer_glmnet.R"},
                 {"celer LassoCV", "python3 bench/peer_lasso.py celer"},
                 {"skglm path", "python3 bench/peer_lasso.py skglm"},
                 {"scikit-learn LassoCV", "python3 bench/peer_lasso.py sklearn"}};
    printf("%s, %s\n", s->name, intercept ? "intercept" : "no intercept");
    export_set(s);
    const outcome lasso = s->repeats ? ours_repeated(s, "l1") : ours(s, "l1", intercept);
    print_row("margrave lasso path", &lasso, 0, "");
    const outcome ridge = s->repeats ? ours_repeated(s, "l2") : ours(s, "l2", intercept);
    print_row("margrave ridge path", &ridge, 0, "");
    if (s->repeats)
        printf("  (standard error of the test error: lasso %.2g, ridge %.2g)\n", lasso.se,
               ridge.se);
    if (!s->repeats) {
        const outcome any = ours(s, "auto", intercept);
        char name[128];
        snprintf(name, sizeof name, "margrave auto: %s", any.method);
        print_row(name, &any, 0, "");
    }
    const char *most = getenv("BENCH_PEERS");
    const size_t count = most ? (size_t)atoi(most) : sizeof peers / sizeof *peers;
    for (size_t k = 0; k < count && k < sizeof peers / sizeof *peers; k++) {
        outcome other = {.f1 = NAN};
        if (peer(peers[k].command, s, intercept, &other)) {
            print_row(peers[k].name, &other, lasso.seconds, k ? "20x" : bar);
            if (k == 0)
                printf("  %-34s %.1fx glmnet's time (bar 20x), CV error %+.1f %%\n",
                       "  ridge path:", other.seconds / ridge.seconds,
                       100 * (ridge.error / other.error - 1));
        } else {
            printf("  %-34s not installed, or no answer in %d s\n", peers[k].name, PEER_SECONDS);
        }
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2 || mgv_ctx_new(NULL, &ctx) != MGV_OK) {
        fprintf(stderr, "usage: bench_lasso SCRATCH [DATA]\n");
        return 2;
    }
    scratch = argv[1];
    mgv_ctx_set_threads(ctx, 2);
    const char *only = getenv("BENCH_ONLY");
    set s = {.end = 1e-3};
    if (argc > 2 && (!only || strstr(only, "reuters")) &&
        load(argv[2], "reuters-money-fx", &s.data)) {
        snprintf(s.name, sizeof s.name, "reuters money-fx, 7770 x 8315");
        compare(&s, false, "10x");
        compare(&s, true, "10x");
        mgv_data_free(ctx, s.data);
    }
    if (argc > 2 && (!only || strstr(only, "news")) &&
        load(argv[2], "news20.multiclass", &s.data)) {
        halve_news(s.data);
        snprintf(s.name, sizeof s.name, "news20, 15935 x 62061, groups 1-10 against 11-20");
        compare(&s, false, "5x");
        compare(&s, true, "5x");
        mgv_data_free(ctx, s.data);
    }
    if (argc > 2 && (!only || strstr(only, "ribo")) && load(argv[2], "riboflavin", &s.data)) {
        snprintf(s.name, sizeof s.name, "riboflavin, 71 x 4088, a fifth left out, 10 repeats");
        s.repeats = 10;
        s.end = .01;
        compare(&s, true, "10x");
        mgv_data_free(ctx, s.data);
    }
    for (int k = 0; k < 2 && (!only || strstr(only, "dense")); k++) {
        set g = k ? generated(.8, 3, 1) : generated(.2, 5, 1);
        compare(&g, true, "10x (primal-dual)");
        mgv_data_free(ctx, g.data);
    }
    mgv_ctx_free(ctx);
    return 0;
}
