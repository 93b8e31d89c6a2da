/* bench_svm_l1.c - hinge SVMs with penalty l1 (linear programmes), their paths, and wide data.
 * usage: bench_svm_l1 DIR [FILE...]   (libsvm text, packed or not)
 *
 * No intercept. For each set: the exact optimum (certified relative gap 1e-10) at mu_max/10 and
 * mu_max/100, and a path of 30 points from mu_max to mu_max/100, each certified to 1e-6. Minimum of
 * several runs, from binding to the certificate, data in memory. The problems and our figures are
 * left in DIR, where svm_l1.py finds them and runs HiGHS. Then 100 x 2500 with penalty l2 beside
 * LIBLINEAR -s 3 at its default tolerance and at one that reaches 1e-4. */
#include "base/rng.h"
#include "io/io.h"
#include "peer_liblinear.h"
#include "timing.h"

enum { REPEATS = 9, PATH_POINTS = 30 };

typedef struct set {
    const char *name;
    mgv_data *data;
    double *X, *y;
} set;

/* ---- data ------------------------------------------------------------------------------------ */

/* Two normal classes whose means differ in the first columns, standardised by construction. */
static set generated(mgv_ctx *ctx, const char *name, int64_t n, int64_t d)
{
    mgvi_rng rng = mgvi_rng_seed(7);
    set s = {.name = name};
    s.X = malloc((size_t)(n * d) * sizeof *s.X);
    s.y = malloc((size_t)n * sizeof *s.y);
    for (int64_t i = 0; i < n; i++) {
        s.y[i] = i % 2 ? 1 : -1;
        for (int64_t j = 0; j < d; j++)
            s.X[i * d + j] = mgvi_rng_normal(&rng) + (j < 20 ? 0.25 * s.y[i] : 0);
    }
    if (mgv_data_from_dense(ctx, MGV_F64, s.X, n, d, d, 1, &s.data) != MGV_OK ||
        mgv_data_set_labels(ctx, s.data, s.y) != MGV_OK)
        bench_fail(ctx, name);
    return s;
}

static set from_file(mgv_ctx *ctx, const char *path, const mgv_settings *settings)
{
    const char *slash = strrchr(path, '/');
    set s = {.name = strtok(strdup(slash ? slash + 1 : path), ".")};
    if (mgv_data_read(ctx, path, settings, &s.data) != MGV_OK)
        bench_fail(ctx, path);
    return s;
}

static double entry(const mgvi_matrix *X, int64_t i, int64_t j)
{
    if (X->layout == MGV_DENSE)
        return peer_entry(X, i, j);
    for (int64_t t = X->ptr[i]; t < X->ptr[i + 1]; t++)
        if (X->idx[t] == j)
            return mgvi_matrix_value(X, t);
    return 0;
}

/* n, d, then the rows y_i x_i, as float64. */
static void leave(const char *directory, const set *s)
{
    char path[512];
    const mgvi_matrix *X = &s->data->X;
    const double shape[2] = {(double)X->rows, (double)X->cols};
    snprintf(path, sizeof path, "%s/%s.bin", directory, s->name);
    FILE *out = fopen(path, "wb");
    double *row = calloc((size_t)X->cols, sizeof *row);
    if (!out || !row || fwrite(shape, sizeof *shape, 2, out) != 2)
        exit(1);
    for (int64_t i = 0; i < X->rows; i++) {
        const double y = s->data->labels[i] == s->data->class_value[1] ? 1 : -1;
        for (int64_t j = 0; j < X->cols; j++)
            row[j] = y * entry(X, i, j);
        if (fwrite(row, sizeof *row, (size_t)X->cols, out) != (size_t)X->cols)
            exit(1);
    }
    free(row);
    fclose(out);
}

/* ---- ours ------------------------------------------------------------------------------------ */

/* The time of a whole path; *worst is its largest gap. */
static double walk(mgv_ctx *ctx, const set *s, int threads, double *largest, double *worst)
{
    mgv_ctx_set_threads(ctx, threads);
    char options[128];
    double best = INFINITY;
    snprintf(options, sizeof options,
             "penalty=l1 intercept=no tol=1e-6 path_points=%d path_end=0.01", PATH_POINTS);
    mgv_settings *settings = bench_settings(ctx, options);
    for (int r = 0; r < REPEATS; r++) {
        mgv_path *path;
        const mgv_solver *solver;
        const double start = mgvi_clock_seconds();
        if (mgv_path_new(ctx, s->data, settings, &path) != MGV_OK)
            bench_fail(ctx, s->name);
        do
            if (mgv_path_next(ctx, path, &solver) != MGV_OK)
                bench_fail(ctx, s->name);
        while (solver);
        best = fmin(best, mgvi_clock_seconds() - start);
        mgv_path_info info = {.size = sizeof info};
        mgv_path_describe(path, &info);
        *largest = info.largest;
        *worst = 0;
        for (int64_t k = 0; k < info.points; k++) {
            mgv_path_result point = {.size = sizeof point};
            mgv_path_at(path, k, &point);
            *worst = fmax(*worst, point.relative_gap);
        }
        mgv_path_free(ctx, path);
    }
    mgv_settings_free(ctx, settings);
    return best;
}

static void measure_set(mgv_ctx *ctx, const set *s, const char *directory, FILE *table, bool path)
{
    double largest = 0, worst = 0, seconds[2];
    leave(directory, s);
    mgv_settings *settings = bench_settings(ctx, "penalty=l1 intercept=no path_points=1");
    mgv_path *one;
    mgv_path_info info = {.size = sizeof info};
    if (mgv_path_new(ctx, s->data, settings, &one) != MGV_OK)
        bench_fail(ctx, s->name);
    mgv_path_describe(one, &info);
    largest = info.largest;
    mgv_path_free(ctx, one);
    mgv_settings_free(ctx, settings);
    for (int part = 10; part <= 100; part *= 10) {
        char options[128];
        snprintf(options, sizeof options, "mu=%.17g intercept=no tol=1e-10", largest / part);
        bench_timing a[2];
        settings = bench_settings(ctx, options);
        bench_fit_threads(ctx, s->data, settings, REPEATS, a);
        mgv_settings_free(ctx, settings);
        fprintf(table, "lp\t%s\tmu_max/%d\t%.17g\t%.17g\t%.17g\t%.17g\t%.3g\t%d\t%s\n", s->name,
                part, largest / part, a[0].seconds, a[1].seconds, a[1].primal, a[1].gap,
                a[1].certified, a[1].solver);
    }
    if (!path)
        return;
    for (int threads = 1; threads <= 2; threads++)
        seconds[threads - 1] = walk(ctx, s, threads, &largest, &worst);
    fprintf(table, "path\t%s\t%d points\t%.17g\t%.17g\t%.17g\t0\t%.3g\t%d\t-\n", s->name,
            PATH_POINTS, largest, seconds[0], seconds[1], worst, worst <= 1e-6);
}

/* ---- wide, penalty l2, beside LIBLINEAR ------------------------------------------------------ */

static void measure_wide(mgv_ctx *ctx, const set *s)
{
    const double lambda = 0.01;
    mgv_settings *settings = bench_settings(ctx, "lambda=0.01 intercept=no tol=1e-8");
    bench_timing a[2];
    bench_fit_threads(ctx, s->data, settings, 4 * REPEATS, a);
    mgv_settings_free(ctx, settings);
    struct problem lp = peer_problem(s->data);
    struct parameter param = {.solver_type = L2R_L1LOSS_SVC_DUAL, .C = 1 / (lambda * lp.l)};
    const double best = a[1].primal;
    const peer_run crude =
        peer_train(&lp, param, 0.1, 0.3, INFINITY, REPEATS, 1, peer_hinge, &lambda);
    const peer_run fine =
        peer_train(&lp, param, 0.1, 0.3, best * (1 + 1e-4), REPEATS, 1, peer_hinge, &lambda);
    printf("wide %s, penalty l2, lambda = 0.01, no intercept; LIBLINEAR -s 3 one thread\n",
           s->name);
    printf("  margrave (%s)  %8.2f ms, %.2f with 2 threads, certified gap %.1e\n", a[1].solver,
           1e3 * a[0].seconds, 1e3 * a[1].seconds, a[1].gap);
    printf("  LIBLINEAR eps 0.1            %8.2f ms  suboptimal by %.1e   %.1fx\n",
           1e3 * crude.seconds, crude.objective / best - 1, crude.seconds / a[1].seconds);
    printf("  LIBLINEAR eps %-8.1e       %8.2f ms  suboptimal by %.1e   %.1fx\n", fine.eps,
           1e3 * fine.seconds, fine.objective / best - 1, fine.seconds / a[1].seconds);
    bench_row row = {.work = "wide 100 x 2500, l2",
                     .goal = "gap 1e-8",
                     .peer = "LIBLINEAR -s 3 -e 0.1",
                     .ours = a[1].seconds,
                     .one_thread = a[0].seconds,
                     .uncertified = !a[1].certified,
                     .theirs = crude.seconds,
                     .bar = 1};
    bench_row_add(row);
    row.peer = "LIBLINEAR -s 3 to 1e-4";
    row.theirs = fine.seconds;
    row.cut_off = fine.objective > best * (1 + 1e-4);
    row.bar = 0;
    bench_row_add(row);
    peer_free(&lp);
}

int main(int argc, char **argv)
{
    mgv_ctx *ctx;
    char path[512];
    if (argc < 2 || mgv_ctx_new(NULL, &ctx) != MGV_OK)
        return 2;
    snprintf(path, sizeof path, "%s/ours.tsv", argv[1]);
    FILE *table = fopen(path, "w");
    if (!table)
        return 1;
    set_print_string_function(peer_quiet);
    mgv_settings *settings = bench_settings(ctx, "task=classify");
    const set wide = generated(ctx, "100x2500", 100, 2500);
    const set tall = generated(ctx, "10000x50", 10000, 50);
    bench_keep_memory();
    measure_wide(ctx, &wide);
    measure_set(ctx, &wide, argv[1], table, true);
    measure_set(ctx, &tall, argv[1], table, false);
    for (int k = 2; k < argc; k++) {
        const set s = from_file(ctx, argv[k], settings);
        measure_set(ctx, &s, argv[1], table, true);
    }
    fclose(table);
    return 0;
}
