/* bench_svm.c - tall hinge SVMs beside LIBLINEAR -s 3: the same problem in the same process,
 * float32 values, a constant column in the place of an intercept (LIBLINEAR's is regularised).
 * usage: bench_svm [-q] [-d DATA_FOLDER] [-o FOLDER] [GROUP...]
 *        -q: no peer   -o: the dense problems and our figures for svm_peers.py
 *
 * Ours: milliseconds from the bound data to a certified relative gap, problem and solver made anew,
 * 1 and 2 threads. LIBLINEAR's: train() at the largest tolerance (found with hindsight) whose
 * weights have at most that primal suboptimality, or the last one within the patience (marked >).
 * Objectives are recomputed here in float64. Groups of rows are functions in the table at the end.
 */
#include "generate.h"
#include "io/io.h"
#include "peer_liblinear.h"
#include "timing.h"

enum { REPEATS = 7 };

typedef struct bench {
    mgv_ctx *ctx;
    const char *folder, *out;
    bool quick;
    FILE *figures; /* our times for svm_peers.py */
} bench;

/* ---- one problem at several tolerances ------------------------------------------------------- */

typedef struct work {
    const char *name;
    double lambda;
    double tolerance[6];  /* ended by 0 */
    double bar[6];        /* the ratio asked for; 0: none */
    double peer_eps;      /* where the search for LIBLINEAR's tolerance starts; 0: not run */
    double peer_patience; /* seconds of one training */
    int repeats;
    double limit; /* on our own seconds at the first tolerance; 0: none */
} work;

static void heading(const char *title)
{
    printf("\n%s\n%-26s %-16s %-6s %9s %9s %9s %7s %11s %9s %8s\n", title, "problem", "solver",
           "gap", "1 th. ms", "2 th. ms", "certified", "passes", "LIBLINEAR", "subopt", "ratio");
}

/* One line of the table, one of the figures, one of the summary. */
static void report(const bench *b, const work *k, int t, const bench_timing ours[2],
                   const peer_run *theirs, double optimum)
{
    const double tolerance = k->tolerance[t], goal = optimum * (1 + tolerance);
    const bool arrived = theirs && theirs->objective <= goal;
    char text[16];
    snprintf(text, sizeof text, "gap %.0e", tolerance);
    printf("%-26s %-16s %-6.0e %9.2f %9.2f %8.1e%s %7.1f", k->name, ours[1].solver, tolerance,
           1e3 * ours[0].seconds, 1e3 * ours[1].seconds, ours[1].gap, ours[1].certified ? " " : "!",
           ours[1].passes);
    if (theirs)
        printf(" %s%10.1f %9.1e %s%7.1f", arrived ? " " : ">", 1e3 * theirs->seconds,
               theirs->objective / optimum - 1, arrived ? " " : ">",
               theirs->seconds / ours[1].seconds);
    printf("\n");
    fflush(stdout);
    if (b->figures)
        fprintf(b->figures, "\"%s\",%.17g,%g,%.17g,%.17g,%.17g\n", k->name, k->lambda, tolerance,
                ours[0].seconds, ours[1].seconds, ours[1].primal);
    bench_row row = {.work = k->name,
                     .goal = text,
                     .ours = ours[1].seconds,
                     .one_thread = ours[0].seconds,
                     .uncertified = !ours[1].certified};
    if (k->limit > 0 && t == 0) {
        row.bar = k->limit;
        row.on = BENCH_MOST;
        bench_row_add(row);
    }
    row.on = BENCH_RATIO;
    row.bar = k->bar[t];
    row.peer = theirs ? "LIBLINEAR -s 3" : NULL;
    row.theirs = theirs ? theirs->seconds : NAN;
    row.cut_off = theirs && !arrived;
    bench_row_add(row);
}

static void compare(const bench *b, mgv_data *data, const work *k)
{
    mgv_settings *s = bench_settings(b->ctx, "intercept=no tol=1e-9");
    bench_set_number(b->ctx, s, "lambda", k->lambda);
    const bench_timing exact = bench_fit(b->ctx, data, s, 1);
    const double optimum = exact.primal * (1 - exact.gap); /* a proven lower bound */
    const bool peer = peer_there && k->peer_eps > 0 && !b->quick;
    double eps = k->peer_eps;
    peer_run theirs = {0};
    struct problem lp = {0};
    if (peer)
        lp = peer_problem(data);
    for (int t = 0; k->tolerance[t] > 0; t++) {
        bench_timing ours[2];
        bench_set_number(b->ctx, s, "tol", k->tolerance[t]);
        bench_fit_threads(b->ctx, data, s, k->repeats, ours);
        /* once out of patience, a sharper goal is further away still */
        if (peer && theirs.seconds <= k->peer_patience) {
            const struct parameter param = {
                .solver_type = L2R_L1LOSS_SVC_DUAL, .C = 1 / (k->lambda * lp.l), .p = .1};
            theirs = peer_train(&lp, param, eps, .5, optimum * (1 + k->tolerance[t]), 3,
                                k->peer_patience, peer_hinge, &k->lambda);
            eps = theirs.eps;
        }
        report(b, k, t, ours, peer ? &theirs : NULL, optimum);
    }
    if (peer)
        peer_free(&lp);
    mgv_settings_free(b->ctx, s);
}

/* ---- data ------------------------------------------------------------------------------------ */

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

/* The arrays live as long as the data, freed by drop(). */
static mgv_data *bind(const bench *b, const table *t, const char *name)
{
    mgv_data *data;
    const int64_t wide = t->d + 1;
    if (mgv_data_from_dense(b->ctx, MGV_F32, t->X, t->n, wide, wide, 1, &data) != MGV_OK ||
        mgv_data_set_labels(b->ctx, data, t->y) != MGV_OK)
        bench_fail(b->ctx, "data");
    if (name) {
        char label[64];
        snprintf(label, sizeof label, "%s_y", name);
        dump(b, name, "<f4", t->X, sizeof *t->X, t->n, wide);
        dump(b, label, "<f8", t->y, sizeof *t->y, t->n, 1);
    }
    return data;
}

static void drop(const bench *b, mgv_data *data, table *t)
{
    mgv_data_free(b->ctx, data);
    free(t->X);
    free(t->y);
}

static table standardised(const mgv_data *from)
{
    const mgvi_matrix *m = &from->X;
    table t = table_new(m->rows, m->cols);
    for (int64_t i = 0; i < m->rows; i++) {
        t.y[i] = from->labels[i] == from->class_value[1] ? 1 : -1;
        if (m->layout == MGV_CSR)
            for (int64_t k = m->ptr[i]; k < m->ptr[i + 1]; k++)
                table_row(&t, i)[m->idx[k]] = (float)mgvi_matrix_value(m, k);
        else
            for (int64_t j = 0; j < m->cols; j++)
                table_row(&t, i)[j] = (float)peer_entry(m, i, j);
    }
    table_standardise(&t);
    return t;
}

/* ---- groups of rows -------------------------------------------------------------------------- */

static void covtype(const bench *b)
{
    mgv_data *raw = bench_read(b->ctx, b->folder, "covtype.sub92962.libsvm.binary.scale");
    if (!raw)
        return;
    table t = standardised(raw);
    mgv_data_free(b->ctx, raw);
    mgv_data *data = bind(b, &t, "covtype");
    heading("covtype sample, 92,962 x 54 standardised, and a constant column");
    compare(b, data,
            &(work){"covtype lambda 1e-4",
                    1e-4,
                    {1e-2, 1e-3, 1e-4, 1e-6, 1e-10},
                    {20, 50, 200},
                    100,
                    8,
                    REPEATS,
                    0});
    compare(b, data,
            &(work){"covtype lambda 1e-6", 1e-6, {1e-4, 1e-6, 1e-10}, {0}, 100, 4, REPEATS, 0});
    drop(b, data, &t);
}

static void large(const bench *b)
{
    table t = table_forest(581012, 1);
    mgv_data *data = bind(b, &t, "large");
    heading("generated as covtype is made (generate.h), 581,012 x 54, and a constant column");
    compare(b, data, &(work){"generated 581,012 x 54", 1e-4, {1e-4, 1e-8}, {100}, 10, 15, 5, 0.3});
    drop(b, data, &t);
}

/* Other ways to make such a set: ours alone. */
static void kinds(const bench *b)
{
    heading("581,012 x 54 of other kinds (generate.h), lambda 1e-4, ours alone");
    for (kind k = GAUSSIAN; k < KINDS; k++) {
        table t = table_of_kind(k, 581012, 54, 3);
        mgv_data *data = bind(b, &t, NULL);
        compare(b, data, &(work){kind_names[k], 1e-4, {1e-4}, {0}, 0, 0, 3, 0});
        drop(b, data, &t);
    }
}

static void libsvm_sets(const bench *b)
{
    static const struct {
        const char *name;
        double bar;
    } sets[] = {{"a9a", 6}, {"ijcnn1", 6}, {"w8a", 2}};
    heading("LIBSVM sets, C = 1, no intercept");
    for (int k = 0; k < 3; k++) {
        mgv_data *data = bench_read(b->ctx, b->folder, sets[k].name);
        if (!data)
            continue;
        compare(b, data,
                &(work){sets[k].name,
                        1 / (double)data->X.rows,
                        {1e-4, 1e-8},
                        {sets[k].bar},
                        1,
                        5,
                        3 * REPEATS,
                        0});
        mgv_data_free(b->ctx, data);
    }
}

/* Passes must not grow with the number of rows. */
static void passes(const bench *b)
{
    static const double most[] = {25, 25, 20};
    heading("passes, generated, 30 columns, gap 1e-6");
    mgv_settings *s = bench_settings(b->ctx, "intercept=no tol=1e-6 lambda=1e-4");
    int64_t n = 10000;
    for (int k = 0; k < 3; k++, n *= 10) {
        char name[40];
        snprintf(name, sizeof name, "%" PRId64 " x 30", n);
        table t = table_of_kind(CORRELATED, n, 30, 2);
        mgv_data *data = bind(b, &t, NULL);
        bench_timing ours[2];
        bench_fit_threads(b->ctx, data, s, 2, ours);
        report(b, &(work){name, 1e-4, {1e-6}, {0}, 0, 0, 1, 0}, 0, ours, NULL, NAN);
        bench_row_add((bench_row){.work = name,
                                  .goal = "gap 1e-6",
                                  .unit = "passes",
                                  .ours = ours[1].passes,
                                  .uncertified = !ours[1].certified,
                                  .bar = most[k],
                                  .on = BENCH_MOST});
        drop(b, data, &t);
    }
    mgv_settings_free(b->ctx, s);
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
        mgv_data *data = bench_read(b->ctx, b->folder, names[k]);
        if (!data)
            continue;
        mgv_settings *s = bench_settings(b->ctx, "time_limit=20");
        const bench_timing t = bench_fit(b->ctx, data, s, 1);
        printf("%-38s %10" PRId64 " %8" PRId64 " %-18s %9.2f %9.1e %7.1f %s\n", names[k],
               data->X.rows, data->X.cols, t.solver, 1e3 * t.seconds, t.gap, t.passes,
               t.certified ? "" : t.stop);
        bench_row_add((bench_row){.work = names[k],
                                  .goal = "default settings",
                                  .ours = t.seconds,
                                  .uncertified = !t.certified});
        mgv_settings_free(b->ctx, s);
        mgv_data_free(b->ctx, data);
    }
}

static const struct {
    const char *name;
    void (*run)(const bench *b);
    bool by_default;
} groups[] = {{"covtype", covtype, true}, {"large", large, true},       {"sets", libsvm_sets, true},
              {"passes", passes, true},   {"defaults", defaults, true}, {"kinds", kinds, false}};

int main(int argc, char **argv)
{
    bench b = {0};
    int i = 1;
    bench_keep_memory();
    for (; i < argc && argv[i][0] == '-'; i++)
        if (strcmp(argv[i], "-q") == 0)
            b.quick = true;
        else if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
            b.out = argv[++i];
        else if (strcmp(argv[i], "-d") == 0 && i + 1 < argc)
            b.folder = argv[++i];
    if (mgv_ctx_new(NULL, &b.ctx) != MGV_OK)
        return 1;
    if (b.out) {
        char path[1024];
        snprintf(path, sizeof path, "%s/ours.csv", b.out);
        b.figures = fopen(path, "a");
    }
    set_print_string_function(peer_quiet);
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        bool wanted = i >= argc && groups[g].by_default;
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
