/* bench_lasso.c - choosing a sparse, grouped or ridge model by 4 folds, beside glmnet, celer,
 * adelie, skglm and scikit-learn on the same rows and folds. usage: bench_lasso SCRATCH [DATA]
 * SCRATCH: a folder for what the peers read DATA: a folder with reuters-money-fx,
 * news20.multiclass, riboflavin
 *
 * BENCH_ONLY=reuters,news,ribo,dense,group chooses sets, BENCH_PEERS=1 stops after glmnet.
 * Seconds run from the matrix in memory to the chosen model, for us with its certificate (gap
 * 1e-4). Ours: the least of three runs, two threads. A peer runs once; scikit-learn, celer and
 * skglm are cut off once it is clear that they are slower than their bar. 100 strengths to 1/1000
 * of the largest (text) or 1/100 (dense), no standardisation. Generated sets: times on the first of
 * five, F1 of the support as the mean over them. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "io/io.h"
#include "row.h"
#include "select/selection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RUNS = 3, SEEDS = 5, PEER_SECONDS = 60, LEAST_SECONDS = 3, GROUP = 5, GROUP_POINTS = 20 };
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
    snprintf(s.name, sizeof s.name, "dense 1000 x 2000 rho %.1f", rho);
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
    if (mgvi_packed_new(&arena, &X, 1, NULL, NULL, NULL, MGV_F64, &P) != MGV_OK)
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
    int64_t iteration; /* chosen; 0: a path by strength */
    bool certified;
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

/* `options` are settings as "name=value name=value". */
static mgv_selection *choose(const set *s, const char *options, bool intercept)
{
    char end[32], copy[TEXT_MAX], *rest = copy, *item;
    mgv_settings *chosen_by = settings_new();
    mgv_selection *chosen;
    snprintf(end, sizeof end, "%g", s->end);
    snprintf(copy, sizeof copy, "%s", options);
    assign(chosen_by, "task", "regress");
    assign(chosen_by, "select", "cv:4");
    assign(chosen_by, "path_end", end);
    assign(chosen_by, "intercept", intercept ? "yes" : "no");
    while ((item = strsep(&rest, " "))) {
        char *equals = strchr(item, '=');
        if (equals) {
            *equals = 0;
            assign(chosen_by, item, equals + 1);
        }
    }
    if (mgv_selection_run(ctx, s->data, chosen_by, &chosen) != MGV_OK)
        fail(s->name);
    mgv_settings_free(ctx, chosen_by);
    return chosen;
}

/* The peers get the same folds. */
static void export_folds(const mgv_selection *chosen)
{
    const int64_t n = chosen->split.rows;
    int32_t *fold = malloc((size_t)n * sizeof *fold);
    for (int64_t i = 0; i < n; i++)
        fold[i] = chosen->split.code[i] + 1;
    put("fold", fold, sizeof *fold, (size_t)n);
    free(fold);
}

static outcome ours(const set *s, const char *options, bool intercept, int runs)
{
    outcome out = {.seconds = INFINITY, .test = NAN};
    double *coef = malloc((size_t)s->data->X.cols * sizeof *coef), b;
    for (int r = 0; r < runs; r++) {
        mgv_selection *chosen = choose(s, options, intercept);
        const mgvi_path_point *p = mgvi_selection_point(chosen);
        out.seconds = fmin(out.seconds, chosen->seconds);
        out.error = p->error;
        out.se = p->error_se;
        out.iteration = p->iteration;
        out.certified = chosen->solver->stop == MGV_STOP_CERTIFIED;
        snprintf(out.method, sizeof out.method, "%s", mgvi_selection_path(chosen)->method);
        mgvi_problem_user_weights(chosen->problem, chosen->solver->answer.w.x, coef, &b);
        out.nonzeros = (double)mgvi_count_nonzeros(coef, s->data->X.cols);
        out.f1 = f1_of(s, coef);
        if (r == 0)
            export_folds(chosen);
        mgv_selection_free(ctx, chosen);
    }
    free(coef);
    return out;
}

/* Repeated splits: a fifth of the rows is left out, the model chosen by 4 folds of the others. */
static outcome ours_repeated(const set *s, const char *options)
{
    const int64_t n = s->data->X.rows, d = s->data->X.cols;
    outcome out = {.f1 = NAN, .certified = true};
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
        mgv_selection *chosen = choose(&part, options, true);
        for (int64_t k = 0; k < train; k++)
            fold[r * n + order[test + k]] = chosen->split.code[k] + 1;
        out.seconds += chosen->seconds;
        out.certified = out.certified && chosen->solver->stop == MGV_STOP_CERTIFIED;
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

/* ---- peers ----------------------------------------------------------------------------------- */

typedef enum answer { ANSWERED, CUT_OFF, MISSING } answer;

/* A model, the peers that have it, and what is asked. */
typedef struct race {
    const char *what;
    unsigned peers;
    double glmnet, others; /* bars; 0: none */
    double alpha;          /* the part of l1, the rest is l2 */
    int points, group;     /* strengths; columns of a group */
    bool early;            /* stopped early: no certificate is asked */
} race;
enum { GLMNET = 1, ADELIE = 2, CELER = 4, SKGLM = 8, SKLEARN = 16, EVERYONE = 31 };

/* Runs a peer's script: it prints seconds, cv error, test error, nonzeros, or that it was cut off.
 */
static answer run_peer(const char *command, const set *s, const race *r, bool intercept,
                       double limit, outcome *out)
{
    char line[TEXT_MAX], text[2 * TEXT_MAX];
    snprintf(text, sizeof text, "timeout 120 %s %s %d %g %g %g %d %d 2>/dev/null", command, scratch,
             intercept, s->end, limit, r->alpha, r->points, r->group);
    FILE *in = popen(text, "r");
    answer state = MISSING;
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "result %lf %lf %lf %lf", &out->seconds, &out->error, &out->test,
                   &out->nonzeros) == 4)
            state = ANSWERED;
        else if (state == MISSING && strncmp(line, "cut off", 7) == 0)
            state = CUT_OFF;
    if (in)
        pclose(in);
    return state;
}

static void print_row(const char *name, const outcome *o, double base)
{
    printf("  %-42s %8.3f s  CV error %-9.6g", name, o->seconds, o->error);
    if (!isnan(o->test) && o->test > 0)
        printf(" test %-8.4g", o->test);
    printf(" %6.0f weights", o->nonzeros);
    if (!isnan(o->f1) && o->f1 > 0)
        printf("  F1 %.3f", o->f1);
    if (o->iteration > 0)
        printf("  k %d", (int)o->iteration);
    if (base > 0)
        printf("  %6.1fx", o->seconds / base);
    putchar('\n');
    fflush(stdout);
}

/* Errors beside glmnet's. */
static void compare_errors(const set *s, const outcome *fast, const outcome *ridge,
                           const outcome *glmnet)
{
    char row[96];
    if (ridge) {
        snprintf(row, sizeof row, "%.40s, ridge path", s->name);
        bench_row_add((bench_row){.work = row,
                                  .peer = "glmnet lasso",
                                  .ours = ridge->seconds,
                                  .theirs = glmnet->seconds,
                                  .bar = 20});
        snprintf(row, sizeof row, "%.40s, lasso path", s->name);
        bench_row_add((bench_row){.work = row,
                                  .unit = "CV error",
                                  .peer = "glmnet",
                                  .ours = fast->error,
                                  .theirs = glmnet->error,
                                  .bar = .995});
        snprintf(row, sizeof row, "%.40s, ridge path", s->name);
        bench_row_add((bench_row){.work = row,
                                  .unit = "CV error",
                                  .peer = "glmnet lasso",
                                  .ours = ridge->error,
                                  .theirs = glmnet->error,
                                  .bar = 1});
    } else if (s->repeats) {
        snprintf(row, sizeof row, "%.40s, left-out rows", s->name);
        bench_row_add((bench_row){.work = row,
                                  .unit = "error",
                                  .peer = "glmnet, and a standard error",
                                  .ours = fast->test,
                                  .theirs = glmnet->test + fast->se,
                                  .bar = 1});
    }
}

/* `fast` is what the bars are for; its CV error is compared where it is the same model. */
static void compare_peers(const set *s, bool intercept, const race *r, const outcome *fast,
                          const outcome *ridge)
{
    static const struct {
        const char *name, *command;
    } peers[] = {{"glmnet", "Rscript bench/peer_glmnet.R"},
                 {"adelie", "build/peers-older/bin/python bench/peer_lasso.py adelie"},
                 {"celer", "build/peers-older/bin/python bench/peer_lasso.py celer"},
                 {"skglm", "python3 bench/peer_lasso.py skglm"},
                 {"scikit-learn", "python3 bench/peer_lasso.py sklearn"}};
    const char *few = getenv("BENCH_PEERS");
    char row[96];
    snprintf(row, sizeof row, "%.40s, %s%s", s->name, r->what, intercept ? ", intercept" : "");
    for (size_t k = 0; k < sizeof peers / sizeof *peers; k++) {
        outcome other = {.f1 = NAN};
        if (!(r->peers >> k & 1) || (few && (int)k >= atoi(few)))
            continue;
        const double wanted = k == 0 ? r->glmnet : 1u << k == ADELIE ? 0 : r->others;
        const double limit = k == 0 || wanted == 0
                                 ? PEER_SECONDS
                                 : fmax(LEAST_SECONDS, 1.05 * wanted * fast->seconds);
        const answer state = run_peer(peers[k].command, s, r, intercept, limit, &other);
        if (state == MISSING) {
            printf("  %-42s not installed, or it failed\n", peers[k].name);
            continue;
        }
        if (state == CUT_OFF)
            printf("  %-42s cut off after %.1f s\n", peers[k].name, other.seconds = limit);
        else
            print_row(peers[k].name, &other, fast->seconds);
        bench_row_add((bench_row){.work = row,
                                  .peer = peers[k].name,
                                  .ours = fast->seconds,
                                  .theirs = other.seconds,
                                  .uncertified = !r->early && !fast->certified,
                                  .cut_off = state == CUT_OFF,
                                  .bar = wanted});
        if (k == 0 && state == ANSWERED)
            compare_errors(s, fast, ridge, &other);
    }
}

static void compare_text(const set *s, bool intercept, const race *r)
{
    printf("%s, %s\n", s->name, intercept ? "intercept" : "no intercept");
    export_set(s);
    const outcome lasso = ours(s, "penalty=l1", intercept, RUNS);
    print_row("margrave lasso path", &lasso, 0);
    const outcome ridge = ours(s, "penalty=l2", intercept, RUNS);
    print_row("margrave ridge path", &ridge, 0);
    if (intercept) {
        const outcome any = ours(s, "penalty=auto", intercept, 1);
        char name[128];
        snprintf(name, sizeof name, "margrave auto: %s", any.method);
        print_row(name, &any, 0);
    }
    compare_peers(s, intercept, r, &lasso, &ridge);
}

/* Half l1, half l2, as `penalty=enet` has it along its path. */
static void compare_enet(const set *s, bool intercept)
{
    const race r = {
        .what = "elastic-net path", .peers = GLMNET | ADELIE | SKLEARN, .alpha = .5, .points = 100};
    printf("%s, elastic net\n", s->name);
    export_set(s);
    const outcome enet = ours(s, "penalty=enet", intercept, RUNS);
    print_row("margrave elastic-net path", &enet, 0);
    compare_peers(s, intercept, &r, &enet, NULL);
}

/* Groups of neighbouring columns, weighted by the roots of their sizes. */
static void compare_group(void)
{
    const race r = {.what = "group-lasso path",
                    .peers = ADELIE,
                    .alpha = 1,
                    .points = GROUP_POINTS,
                    .group = GROUP};
    char options[80];
    set s = generated(.2, 5, 1);
    int64_t *group = malloc((size_t)s.data->X.cols * sizeof *group);
    for (int64_t j = 0; j < s.data->X.cols; j++)
        group[j] = j / GROUP;
    if (mgv_data_set_groups(ctx, s.data, group) != MGV_OK)
        fail("groups");
    free(group);
    printf("%s, groups of %d columns, %d strengths\n", s.name, GROUP, GROUP_POINTS);
    export_set(&s);
    snprintf(options, sizeof options, "penalty=group path_points=%d time_limit=%d", GROUP_POINTS,
             PEER_SECONDS);
    const outcome found = ours(&s, options, true, 1);
    print_row("margrave group-lasso path", &found, 0);
    compare_peers(&s, true, &r, &found, NULL);
    mgv_data_free(ctx, s.data);
}

static void compare_repeated(const set *s)
{
    const race r = {.what = "lasso path, 10 repeats",
                    .peers = EVERYONE,
                    .glmnet = 10,
                    .others = 10,
                    .alpha = 1,
                    .points = 100};
    printf("%s\n", s->name);
    export_set(s);
    const outcome ridge = ours_repeated(s, "penalty=l2"), lasso = ours_repeated(s, "penalty=l1");
    print_row("margrave ridge path", &ridge, 0);
    print_row("margrave lasso path", &lasso, 0);
    printf("  (standard error of the test error: lasso %.2g, ridge %.2g)\n", lasso.se, ridge.se);
    compare_peers(s, true, &r, &lasso, NULL);
}

/* Basis pursuit stopped early beside the Lasso at its least CV error. */
static void compare_generated(double rho, double snr)
{
    static const struct {
        const char *name, *options;
    } ways[] = {{"margrave lasso path", "penalty=l1"},
                {"margrave early-stopped primal-dual", "loss=equal penalty=l1"},
                {"  --one-se", "loss=equal penalty=l1 one_se=yes"},
                {"  --debias", "loss=equal penalty=l1 debias=yes"},
                {"  --stable .75", "loss=equal penalty=l1 stable=.75"}};
    enum { WAYS = sizeof ways / sizeof *ways };
    const race r = {.what = "early primal-dual",
                    .peers = EVERYONE,
                    .glmnet = 10,
                    .others = 30,
                    .alpha = 1,
                    .points = 100,
                    .early = true};
    outcome mean[WAYS] = {{0}};
    char row[96], name[64];
    for (int seed = SEEDS; seed >= 1; seed--) {
        set s = generated(rho, snr, (uint64_t)seed);
        snprintf(name, sizeof name, "%s", s.name);
        for (int w = 0; w < WAYS; w++) {
            const outcome now = ours(&s, ways[w].options, true, seed == 1 ? RUNS : 1);
            mean[w].f1 += now.f1 / SEEDS;
            mean[w].error += now.error / SEEDS;
            mean[w].nonzeros += now.nonzeros / SEEDS;
            mean[w].seconds = now.seconds;
            mean[w].iteration = now.iteration;
            mean[w].test = NAN;
        }
        if (seed > 1) {
            mgv_data_free(ctx, s.data);
            continue;
        }
        printf("%s, SNR %g (seconds of one set, the rest means over %d)\n", s.name, snr, SEEDS);
        for (int w = 0; w < WAYS; w++)
            print_row(ways[w].name, &mean[w], 0);
        export_set(&s);
        compare_peers(&s, true, &r, &mean[1], NULL);
        mgv_data_free(ctx, s.data);
    }
    for (int w = 1; w < WAYS; w++) {
        snprintf(row, sizeof row, "%.40s, early primal-dual%s", name, w > 1 ? ways[w].name : "");
        bench_row_add((bench_row){.work = row,
                                  .goal = "F1 above the lasso's",
                                  .unit = "",
                                  .ours = mean[w].f1 - mean[0].f1,
                                  .bar = .1,
                                  .on = BENCH_LEAST});
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
    const char *only = getenv("BENCH_ONLY"), *folder = argc > 2 ? argv[2] : NULL;
    race lasso = {.what = "lasso path", .peers = EVERYONE, .alpha = 1, .points = 100, .others = 20};
    set s = {.end = 1e-3};
    if (folder && (!only || strstr(only, "reuters")) && load(folder, "reuters-money-fx", &s.data)) {
        snprintf(s.name, sizeof s.name, "reuters 7770 x 8315");
        lasso.glmnet = 10;
        compare_text(&s, false, &lasso);
        lasso.peers = GLMNET | ADELIE; /* minutes less */
        compare_text(&s, true, &lasso);
        compare_enet(&s, true);
        mgv_data_free(ctx, s.data);
    }
    if (folder && (!only || strstr(only, "news")) && load(folder, "news20.multiclass", &s.data)) {
        halve_news(s.data);
        snprintf(s.name, sizeof s.name, "news20 15935 x 62061");
        lasso.glmnet = 5;
        lasso.peers = EVERYONE;
        compare_text(&s, false, &lasso);
        lasso.peers = GLMNET | ADELIE;
        compare_text(&s, true, &lasso);
        mgv_data_free(ctx, s.data);
    }
    if (folder && (!only || strstr(only, "ribo")) && load(folder, "riboflavin", &s.data)) {
        snprintf(s.name, sizeof s.name, "riboflavin 71 x 4088");
        s.end = .01;
        compare_enet(&s, true);
        s.repeats = 10;
        compare_repeated(&s);
        mgv_data_free(ctx, s.data);
    }
    if (!only || strstr(only, "dense")) {
        compare_generated(.2, 5);
        compare_generated(.8, 3);
    }
    if (!only || strstr(only, "group"))
        compare_group();
    mgv_ctx_free(ctx);
    return 0;
}
