/* bench_memory.c - the memory that `margrave fit` takes beyond its data, with default settings.
 * usage: bench_memory [--full] [--only WORD] [--command FILE] [--folder FOLDER]
 *
 * Makes tables of several kinds and formats in FOLDER (build-bench/memory), fits each with the
 * command (build-bench/margrave) and reads the peak of its resident memory from the kernel. The
 * data are the matrix as it is stored in memory, in its own type, and the labels as float64;
 * allowed beyond them are half of them and 64 MiB (docs/memory.md). Ends with 1 where a row is over
 * that. --full: tables of a gigabyte, as a cluster has them; --only: rows with WORD in their line;
 * files that are there already are used again.
 *
 * The kernel counts a program's peak from before it was loaded on: this one stays small, and
 * everything large is done by children. */
#include "base/rng.h"
#include "timing.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum form { DENSE, SPARSE } form;
typedef enum target { TWO, TEN, QUANTITY } target;
enum { CLASSES = 10 };

typedef struct shape {
    int64_t rows, cols, per_row; /* entries of a sparse row */
} shape;

typedef struct sizes {
    shape dense, sparse, text; /* text: of the dense table as csv and libsvm */
} sizes;

static const sizes ordinary = {{2000000, 20, 20}, {200000, 200000, 50}, {500000, 20, 20}};
static const sizes full = {{10000000, 20, 20}, {1000000, 1000000, 50}, {2000000, 20, 20}};

typedef struct row {
    form form;
    target target;
    const char *format;  /* the file's ending */
    const char *options; /* of the command */
} row;

static const row rows[] = {
    {DENSE, TWO, "npy", "--loss hinge"},
    {DENSE, TWO, "npy", "--loss logistic"},
    {DENSE, TWO, "npy", "--loss squared_hinge"},
    {DENSE, TWO, "npy", "--loss hinge --penalty l1 --mu 1e-4"},
    {DENSE, TWO, "npy", "--loss logistic --penalty l1 --mu 1e-4"},
    {DENSE, TWO, "mgd", "--loss hinge"},
    {DENSE, QUANTITY, "npy", "--loss squared"},
    {DENSE, QUANTITY, "npy", "--loss squared --penalty l1 --mu 0.1"},
    {DENSE, QUANTITY, "npy", "--loss squared --penalty enet --mu 0.1 --lambda 0.01"},
    {DENSE, TEN, "npy", "--loss hinge"},
    {DENSE, TEN, "npy", "--loss logistic"},
    {DENSE, TWO, "csv", "--loss hinge"},
    {DENSE, TWO, "svm", "--loss hinge"},
    {SPARSE, TWO, "mgd", "--loss hinge"},
    {SPARSE, TWO, "svm", "--loss hinge"},
    {SPARSE, TWO, "mgd", "--loss logistic"},
    {SPARSE, TWO, "mgd", "--loss logistic --penalty l1 --mu 1e-4"},
    {SPARSE, TWO, "mgd", "--loss squared_hinge --penalty l1 --mu 1e-4"},
    {SPARSE, QUANTITY, "mgd", "--loss squared"},
    {SPARSE, QUANTITY, "mgd", "--loss squared --penalty l1 --mu 0.01"},
    {SPARSE, TEN, "mgd", "--loss hinge"},
};

typedef struct options {
    const char *command, *folder, *only;
    bool full;
} options;

/* ---- tables ---------------------------------------------------------------------------------- */

/* A number of -1 to 1 for each class and column. */
static double pull(int64_t class, int64_t col)
{
    const uint64_t bits = ((uint64_t) class * 1000003u + (uint64_t)col) * 0x9e3779b97f4a7c15u;
    return (double)(bits >> 40) / (double)(1 << 23) - 1;
}

/* What the scores of a row become: of ten classes the highest, of two the sign of the first, or the
 * first itself, with noise. */
static double label_of(mgvi_rng *rng, target of, const double *score)
{
    int best = 0;
    if (of == QUANTITY)
        return score[0] + 0.3 * mgvi_rng_normal(rng);
    if (of == TWO)
        return score[0] + 0.7 * mgvi_rng_normal(rng) > 0;
    for (int c = 1; c < CLASSES; c++)
        best = score[c] > score[best] ? c : best;
    return mgvi_rng_uniform(rng) < 0.1 ? (double)mgvi_rng_below(rng, CLASSES) : best;
}

static mgv_data *dense_table(mgv_ctx *ctx, shape s, target of)
{
    mgvi_rng rng = mgvi_rng_seed(7);
    float *X = malloc((size_t)(s.rows * s.cols) * sizeof *X);
    double *y = malloc((size_t)s.rows * sizeof *y);
    mgv_data *data;
    for (int64_t i = 0; i < s.rows; i++) {
        double score[CLASSES] = {0};
        for (int64_t j = 0; j < s.cols; j++) {
            const double x = 2 * (mgvi_rng_uniform(&rng) + mgvi_rng_uniform(&rng) - 1);
            X[i * s.cols + j] = (float)x;
            for (int c = 0; c < (of == TEN ? CLASSES : 1); c++)
                score[c] += 0.5 * x * pull(c, j);
        }
        y[i] = label_of(&rng, of, score);
    }
    if (mgv_data_from_dense(ctx, MGV_F32, X, s.rows, s.cols, s.cols, 1, &data) != MGV_OK ||
        mgv_data_set_labels(ctx, data, y) != MGV_OK)
        bench_fail(ctx, "a dense table");
    return data;
}

/* Columns as rare as words are: number u^3 of them, u uniform in a part of its own for each entry.
 */
static mgv_data *sparse_table(mgv_ctx *ctx, shape s, target of)
{
    mgvi_rng rng = mgvi_rng_seed(11);
    const size_t most = (size_t)(s.rows * s.per_row);
    float *val = malloc(most * sizeof *val);
    int32_t *idx = malloc(most * sizeof *idx);
    int64_t *ptr = calloc((size_t)s.rows + 1, sizeof *ptr);
    double *y = malloc((size_t)s.rows * sizeof *y);
    mgv_data *data;
    for (int64_t i = 0; i < s.rows; i++) {
        double score[CLASSES] = {0};
        int64_t at = ptr[i], before = -1;
        for (int64_t t = 0; t < s.per_row; t++) {
            const double u = ((double)t + mgvi_rng_uniform(&rng)) / (double)s.per_row;
            const int64_t j = (int64_t)(u * u * u * (double)s.cols);
            if (j <= before)
                continue;
            const double x = 0.5 + mgvi_rng_uniform(&rng);
            idx[at] = (int32_t)(before = j);
            val[at++] = (float)x;
            for (int c = 0; c < (of == TEN ? CLASSES : 1); c++)
                score[c] += 0.3 * x * pull(c, j);
        }
        ptr[i + 1] = at;
        y[i] = label_of(&rng, of, score);
    }
    if (mgv_data_from_sparse(ctx, MGV_CSR, MGV_F32, val, ptr, idx, s.rows, s.cols, &data) !=
            MGV_OK ||
        mgv_data_set_labels(ctx, data, y) != MGV_OK)
        bench_fail(ctx, "a sparse table");
    return data;
}

static void write_labels(const mgv_data *data, const char *path)
{
    FILE *f = fopen(path, "w");
    for (int64_t i = 0; f && i < data->X.rows; i++)
        fprintf(f, "%.9g\n", data->labels[i]);
    if (!f || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

static void make_table(const row *r, shape s, const char *path, const char *labels)
{
    mgv_ctx *ctx;
    if (mgv_ctx_new(NULL, &ctx) != MGV_OK)
        exit(1);
    mgv_settings *settings = bench_settings(ctx, "");
    mgv_data *data =
        r->form == DENSE ? dense_table(ctx, s, r->target) : sparse_table(ctx, s, r->target);
    if (strcmp(r->format, "npy") == 0) {
        write_labels(data, labels);
        mgv_data_set_labels(ctx, data, NULL);
    }
    if (mgv_data_write(ctx, data, path, settings) != MGV_OK)
        bench_fail(ctx, path);
}

/* The bytes of the table as the command has it in memory. */
static double table_bytes(const char *path, const char *labels)
{
    mgv_ctx *ctx;
    mgv_data *data;
    if (mgv_ctx_new(NULL, &ctx) != MGV_OK)
        exit(1);
    mgv_settings *settings = bench_settings(ctx, "");
    if (labels)
        bench_set(ctx, settings, "labels", labels);
    if (mgv_data_read(ctx, path, settings, &data) != MGV_OK)
        bench_fail(ctx, path);
    const mgvi_matrix *X = &data->X;
    const double value = (double)mgvi_dtype_size(X->dtype), each = 8 * (double)X->rows;
    return (double)X->nnz * (X->layout == MGV_DENSE ? value : value + 4) +
           (X->layout == MGV_DENSE ? each : 2 * each);
}

/* ---- runs ------------------------------------------------------------------------------------ */

typedef struct task {
    char path[600], labels[640]; /* labels: "" where they are in the file */
    double bytes;
} task;

static bool exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

/* A child makes what is missing, and tells the size of what is there. */
static void prepare(const row *r, shape s, task *t)
{
    int ends[2];
    double bytes = 0;
    if (pipe(ends) != 0)
        exit(1);
    const pid_t child = fork();
    if (child == 0) {
        const bool apart = strcmp(r->format, "npy") == 0;
        if (!exists(t->path) || (apart && !exists(t->labels)))
            make_table(r, s, t->path, t->labels);
        bytes = table_bytes(t->path, apart ? t->labels : NULL);
        _exit(write(ends[1], &bytes, sizeof bytes) == sizeof bytes ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &t->bytes, sizeof t->bytes) != sizeof t->bytes)
        exit(1);
    close(ends[0]);
    waitpid(child, NULL, 0);
}

typedef struct outcome {
    double peak, seconds;
    int code;
} outcome;

static outcome run_command(const options *o, const row *r, const task *t)
{
    char line[2400];
    struct rusage used;
    int status;
    snprintf(line, sizeof line, "exec %s fit %s %s%s %s -q --no-model >/dev/null", o->command,
             t->path, t->labels[0] ? "--labels " : "", t->labels, r->options);
    const double start = mgvi_clock_seconds();
    const pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child)
        exit(1);
    return (outcome){.peak = (double)used.ru_maxrss * 1024,
                     .seconds = mgvi_clock_seconds() - start,
                     .code = WIFEXITED(status) ? WEXITSTATUS(status) : 128};
}

/* Whether the row is within what is allowed. */
static bool measure(const options *o, const row *r)
{
    static const char *const kinds[] = {"dense", "sparse"}, *const tasks[] = {"2", "10", "y"};
    static const double ALLOWANCE = 64 << 20, SHARE = 0.5, MB = 1e6;
    const sizes *size = o->full ? &full : &ordinary;
    const bool text =
        r->form == DENSE && strcmp(r->format, "mgd") != 0 && strcmp(r->format, "npy") != 0;
    const shape s = text ? size->text : r->form == DENSE ? size->dense : size->sparse;
    char name[200];
    task t = {.labels = ""};
    snprintf(name, sizeof name, "%s %s %s %s", kinds[r->form], tasks[r->target], r->format,
             r->options);
    if (o->only && !strstr(name, o->only))
        return true;
    snprintf(t.path, sizeof t.path, "%s/%s-%lld-%s.%s", o->folder, kinds[r->form],
             (long long)s.rows, tasks[r->target], r->format);
    if (strcmp(r->format, "npy") == 0)
        snprintf(t.labels, sizeof t.labels, "%s.labels", t.path);
    prepare(r, s, &t);
    const outcome out = run_command(o, r, &t);
    const double beyond = out.peak - t.bytes, allowed = SHARE * t.bytes + ALLOWANCE;
    const bool ended = out.code == 0 || out.code == 3, fine = beyond <= allowed && ended;
    bench_row_add((bench_row){.work = name,
                              .goal = "beyond its data",
                              .unit = "MB",
                              .ours = ended ? beyond / MB : NAN,
                              .bar = allowed / MB,
                              .on = BENCH_MOST});
    printf("%-62s %9.1f %9.1f %9.1f %9.1f %7.2f %8.1f  %s\n", name, t.bytes / MB, out.peak / MB,
           beyond / MB, allowed / MB, beyond / t.bytes, out.seconds,
           out.code != 0 && out.code != 3 ? "FAILED"
           : fine                         ? "ok"
                                          : "over");
    fflush(stdout);
    return fine;
}

int main(int argc, char **argv)
{
    options o = {.command = "build-bench/margrave", .folder = "build-bench/memory"};
    bool fine = true;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--full") == 0)
            o.full = true;
        else if (i + 1 < argc && strcmp(argv[i], "--only") == 0)
            o.only = argv[++i];
        else if (i + 1 < argc && strcmp(argv[i], "--command") == 0)
            o.command = argv[++i];
        else if (i + 1 < argc && strcmp(argv[i], "--folder") == 0)
            o.folder = argv[++i];
        else {
            fprintf(stderr, "usage: bench_memory [--full] [--only WORD] [--command FILE] "
                            "[--folder FOLDER]\n");
            return 2;
        }
    }
    mkdir(o.folder, 0777);
    printf("MB = 10^6 bytes; allowed: half of the data and 64 MiB\n%-62s %9s %9s %9s %9s %7s %8s\n",
           "kind, labels, format, options", "data MB", "peak MB", "beyond", "allowed", "ratio",
           "seconds");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        fine = measure(&o, &rows[k]) && fine;
    return fine ? 0 : 1;
}
