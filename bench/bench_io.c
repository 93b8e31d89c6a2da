/* bench_io.c - seconds to get data into memory: ours beside a reader written like LIBLINEAR's.
 *   bench_io THREADS REPEATS NAME FILE CACHE.mgd SKLEARN
 * prints one line of io.sh's table: the smallest seconds of our text reader, of the LIBLINEAR-like
 * reader and of opening CACHE.mgd (made here from the text), beside SKLEARN, the seconds of
 * scikit-learn ("": not there).
 *
 * LIBLINEAR's reader is in its command line tool, not in its library, and the tool prints no
 * reading time. Timing `train` with a loose tolerance would add a training run to the peer's
 * seconds. So read_like_liblinear() below does what read_problem() in its train.c does (two passes
 * with fgets, strtok, strtol and strtod into (index, value) nodes), written by us, and without its
 * bookkeeping. How far that is from `train` itself has not been measured. */
#include "base/clock.h"
#include "io/io.h"
#include "row.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct node {
    int index;
    double value;
} node;

typedef struct line {
    char *text;
    int capacity;
} line;

static bool read_line(line *l, FILE *f)
{
    if (!fgets(l->text, l->capacity, f))
        return false;
    while (!strrchr(l->text, '\n')) {
        l->capacity *= 2;
        l->text = realloc(l->text, (size_t)l->capacity);
        const int length = (int)strlen(l->text);
        if (!fgets(l->text + length, l->capacity - length, f))
            break;
    }
    return true;
}

static void count(FILE *f, line *l, int64_t *rows, int64_t *nodes)
{
    for (*rows = *nodes = 0; read_line(l, f); ++*rows) {
        strtok(l->text, " \t");
        for (;; ++*nodes) {
            const char *p = strtok(NULL, " \t");
            if (!p || *p == '\n')
                break;
        }
        ++*nodes; /* the end mark */
    }
}

static int64_t read_like_liblinear(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f)
        return -1;
    line l = {.text = malloc(1024), .capacity = 1024};
    int64_t rows, nodes, at = 0, read = 0;
    count(f, &l, &rows, &nodes);
    rewind(f);
    double *label = malloc((size_t)rows * sizeof *label);
    node **row = malloc((size_t)rows * sizeof *row);
    node *all = malloc((size_t)nodes * sizeof *all);
    for (int64_t i = 0; i < rows && read_line(&l, f); i++) {
        char *end;
        row[i] = &all[at];
        label[i] = strtod(strtok(l.text, " \t\n"), &end);
        for (;;) {
            const char *index = strtok(NULL, ":"), *value = strtok(NULL, " \t");
            if (!value)
                break;
            errno = 0;
            all[at].index = (int)strtol(index, &end, 10);
            errno = 0;
            all[at++].value = strtod(value, &end);
            read++;
        }
        all[at++].index = -1;
    }
    free(label);
    free(row);
    free(all);
    free(l.text);
    fclose(f);
    return read;
}

static void stop(mgv_ctx *ctx, mgv_status st)
{
    if (st == MGV_OK)
        return;
    fprintf(stderr, "bench_io: %s\n", mgv_ctx_error(ctx));
    exit(1);
}

static double smaller(double a, double b) { return a < b ? a : b; }

static double seconds_of_reading(mgv_ctx *ctx, const char *path, const mgv_settings *settings,
                                 mgv_data_info *info)
{
    mgv_data *data;
    const double start = mgvi_clock_seconds();
    stop(ctx, mgvi_read_file(ctx, path, settings, &data));
    const double seconds = mgvi_clock_seconds() - start;
    info->rows = data->X.rows;
    info->nonzeros = data->X.nnz;
    mgvi_data_free(ctx, data);
    return seconds;
}

static double seconds_of_peer(const char *path)
{
    const double start = mgvi_clock_seconds();
    if (read_like_liblinear(path) < 0)
        exit(1);
    return mgvi_clock_seconds() - start;
}

/* theirs / ours, and a row of the results; the peer may be missing. */
static void print_ratio(const char *name, const char *peer, double ours, double theirs, double bar)
{
    char work[64];
    snprintf(work, sizeof work, "reading %s", name);
    bench_row_add((bench_row){.work = work,
                              .goal = "libsvm text",
                              .peer = peer,
                              .ours = ours,
                              .theirs = theirs,
                              .bar = bar});
    if (theirs > 0)
        printf(" | %6.1f ms %6.1fx", 1e3 * theirs, theirs / ours);
    else
        printf(" | %9s %7s", "absent", "-");
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: bench_io THREADS REPEATS NAME FILE CACHE.mgd SKLEARN\n");
        return 2;
    }
    mgv_ctx *ctx;
    mgv_settings *settings;
    mgv_data *data;
    if (mgv_ctx_new(NULL, &ctx) != MGV_OK)
        return 1;
    stop(ctx, mgv_ctx_set_threads(ctx, atoi(argv[1])));
    stop(ctx, mgv_settings_new(ctx, &settings));
    const int repeats = atoi(argv[2]);
    const char *name = argv[3], *text = argv[4], *cache = argv[5];
    mgv_data_info info = {.size = sizeof info}, from_cache = info;
    stop(ctx, mgvi_read_file(ctx, text, settings, &data));
    stop(ctx, mgvi_write_file(ctx, data, cache, settings));
    mgvi_data_free(ctx, data);
    double ours = 1e300, peer = 1e300, opened = 1e300;
    for (int i = 0; i < repeats; i++) { /* in turns: a busy machine disturbs all alike */
        ours = smaller(ours, seconds_of_reading(ctx, text, settings, &info));
        opened = smaller(opened, seconds_of_reading(ctx, cache, settings, &from_cache));
        peer = smaller(peer, seconds_of_peer(text));
    }
    struct stat file;
    if (stat(text, &file) != 0)
        return 1;
    printf("%-10s %9lld %10lld %9.1f | %6.2f ms", name, (long long)info.rows,
           (long long)info.nonzeros, 1e-6 * (double)file.st_size, 1e3 * ours);
    print_ratio(name, "scikit-learn", ours, strtod(argv[6], NULL), 20);
    print_ratio(name, "LIBLINEAR's way", ours, peer, 6);
    printf(" | %6.3f ms %6.0fx\n", 1e3 * opened, ours / opened);
    char work[64];
    snprintf(work, sizeof work, "opening %s", name);
    bench_row_add((bench_row){.work = work,
                              .goal = ".mgd",
                              .peer = "our text reader",
                              .ours = opened,
                              .theirs = ours,
                              .bar = 100});
    mgv_settings_free(ctx, settings);
    mgv_ctx_free(ctx);
    return 0;
}
