/* bench_complete.c - matrix completion on generated entries, from triples in memory to the model
 * that the held-out entries chose; errors on fresh entries with the same noise. usage:
 * bench_complete FOLDER   (leaves the first set there for bench/peer_complete.py)
 *
 * Memory is the peak of a process of its own, beside the triples at 12 bytes each. */
#include "base/clock.h"
#include "base/rng.h"
#include "row.h"

#include <margrave/margrave.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct set {
    const char *name;
    int64_t rows, cols, rank, count;
    double noise;
    bool ratings; /* whole numbers from 1 to 5 around biases */
    int repeats;
    double most_error, most_memory, most_seconds; /* bars; 0: none */
} set;

static const set sets[] = {
    {"500 x 500, rank 5, 20 % seen, noise .1", 500, 500, 5, 50000, 0.1, false, 7, 0, 0, 0},
    {"500 x 500, rank 5, 20 % seen, noise .5", 500, 500, 5, 50000, 0.5, false, 7, 0, 0, 0},
    {"500 x 500, rank 5, 5 % seen, noise .1", 500, 500, 5, 12500, 0.1, false, 7, 0, 0, 0},
    {"400 x 3000, rank 20, 10 % seen, noise .2", 400, 3000, 20, 120000, 0.2, false, 3, 0, 0, 0},
    {"6000 x 4000 ratings 1 to 5, 1e6 seen", 6000, 4000, 8, 1000000, 0.7, true, 1, 0, 6, 0},
    {"20,000 x 5,000, rank 10, 2e6 seen, noise .1", 20000, 5000, 10, 2000000, 0.1, false, 1, 0.11,
     6, 10}};

typedef struct sample {
    int64_t count, fresh; /* the fresh ones lie behind the others */
    int64_t *row, *col;
    double *value;
} sample;

static mgv_ctx *ctx;

static void must(mgv_status st, const char *what)
{
    if (st == MGV_OK)
        return;
    fprintf(stderr, "bench_complete: %s: %s\n", what, mgv_ctx_error(ctx));
    exit(1);
}

/* Different places, a tenth more of them for the test. */
static sample make_sample(const set *s)
{
    mgvi_rng rng = mgvi_rng_seed(20);
    sample x = {.count = s->count, .fresh = s->count / 10};
    const int64_t lines = s->rows + s->cols, all = x.count + x.fresh;
    double *factor = malloc((size_t)(lines * s->rank) * sizeof *factor);
    double *bias = malloc((size_t)lines * sizeof *bias);
    unsigned char *taken = calloc((size_t)(s->rows * s->cols / 8 + 1), 1);
    x.row = malloc((size_t)all * sizeof *x.row);
    x.col = malloc((size_t)all * sizeof *x.col);
    x.value = malloc((size_t)all * sizeof *x.value);
    for (int64_t k = 0; k < lines * s->rank; k++)
        factor[k] = mgvi_rng_normal(&rng) / pow((double)s->rank, 0.25);
    for (int64_t k = 0; k < lines; k++)
        bias[k] = 0.4 * mgvi_rng_normal(&rng);
    for (int64_t k = 0; k < all;) {
        const int64_t i = mgvi_rng_below(&rng, (uint32_t)s->rows);
        const int64_t j = mgvi_rng_below(&rng, (uint32_t)s->cols), at = i * s->cols + j;
        if (taken[at / 8] >> at % 8 & 1)
            continue;
        taken[at / 8] |= (unsigned char)(1 << at % 8);
        double v = s->noise * mgvi_rng_normal(&rng);
        const double scale = s->ratings ? 0.4 : 1;
        for (int64_t c = 0; c < s->rank; c++)
            v += scale * factor[i * s->rank + c] * factor[(s->rows + j) * s->rank + c];
        if (s->ratings)
            v = fmin(fmax(round(3.5 + bias[i] + bias[s->rows + j] + v), 1), 5);
        x.row[k] = i;
        x.col[k] = j;
        x.value[k++] = v;
    }
    free(taken);
    free(bias);
    free(factor);
    return x;
}

static double test_error(mgv_completion *c, const sample *x)
{
    double sum = 0, *values = malloc((size_t)x->fresh * sizeof *values);
    mgv_triples *pairs;
    must(mgv_triples_new(ctx, x->fresh, x->row + x->count, x->col + x->count, NULL, 0, 0, &pairs),
         "pairs");
    must(mgv_completion_predict(ctx, c, pairs, 0, values), "predictions");
    for (int64_t k = 0; k < x->fresh; k++)
        sum += pow(values[k] - x->value[x->count + k], 2);
    mgv_triples_free(ctx, pairs);
    free(values);
    return sqrt(sum / (double)x->fresh);
}

static double peak_megabytes(void)
{
    char line[128];
    double kilobytes = NAN;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "VmHWM: %lf", &kilobytes);
    if (status)
        fclose(status);
    return kilobytes / 1e3;
}

typedef struct result {
    double seconds, error, held_out, megabytes;
    int64_t rank;
} result;

/* The entries are handed over and freed before the run, as the command line has them. */
static result run(const set *s, sample *x, bool consume)
{
    result r = {.seconds = INFINITY};
    mgv_settings *settings;
    must(mgv_settings_new(ctx, &settings), "settings");
    for (int k = 0; k < s->repeats; k++) {
        mgv_triples *triples;
        mgv_completion *c;
        mgv_completion_info info = {.size = sizeof info};
        must(mgv_triples_new(ctx, x->count, x->row, x->col, x->value, s->rows, s->cols, &triples),
             "triples");
        if (consume) { /* what is left are the fresh entries */
            const size_t bytes = (size_t)x->fresh * sizeof *x->row;
            memmove(x->row, x->row + x->count, bytes);
            memmove(x->col, x->col + x->count, bytes);
            memmove(x->value, x->value + x->count, bytes);
            x->row = realloc(x->row, bytes);
            x->col = realloc(x->col, bytes);
            x->value = realloc(x->value, bytes);
            x->count = 0;
        }
        const double before = mgvi_clock_seconds();
        must(mgv_completion_run(ctx, triples, settings, &c), "completion");
        r.seconds = fmin(r.seconds, mgvi_clock_seconds() - before);
        mgv_completion_describe(c, &info);
        r.megabytes = peak_megabytes();
        r.rank = info.rank;
        r.held_out = info.held_out_error;
        r.error = test_error(c, x);
        mgv_completion_free(ctx, c);
        mgv_triples_free(ctx, triples);
    }
    mgv_settings_free(ctx, settings);
    return r;
}

static void write_array(const char *folder, const char *name, const void *data, size_t bytes)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

/* For the peers: the entries, and what they are beside. */
static void hand_over(const char *folder, const set *s, const sample *x, const result *r)
{
    const size_t all = (size_t)(x->count + x->fresh);
    const int64_t shape[] = {s->rows, s->cols, x->count, x->fresh};
    const double own[] = {r->seconds, r->error};
    write_array(folder, "shape", shape, sizeof shape);
    write_array(folder, "row", x->row, all * sizeof *x->row);
    write_array(folder, "col", x->col, all * sizeof *x->col);
    write_array(folder, "value", x->value, all * sizeof *x->value);
    write_array(folder, "own", own, sizeof own);
}

/* A row of the results; bar 0: none. */
static void note(const set *s, const char *unit, double value, double bar)
{
    bench_row_add((bench_row){.work = s->name,
                              .unit = unit,
                              .ours = value,
                              .bar = bar,
                              .on = bar > 0 ? BENCH_MOST : BENCH_RATIO});
}

static void bench(const set *s, const char *folder)
{
    sample x = make_sample(s);
    const double triples = 12e-6 * (double)s->count;
    const bool first = s == sets;
    const result r = run(s, &x, !first && s->repeats == 1);
    printf("%-46s %8.3f s  rank %3d  held out %.4f  test %.4f", s->name, r.seconds, (int)r.rank,
           r.held_out, r.error);
    note(s, "s", r.seconds, s->most_seconds);
    note(s, "test error", r.error, s->most_error);
    if (s->most_memory > 0) {
        printf("  %.0f MB = %.1f x the triples", r.megabytes, r.megabytes / triples);
        note(s, "x the triples' memory", r.megabytes / triples, s->most_memory);
    }
    putchar('\n');
    fflush(stdout);
    if (first && folder)
        hand_over(folder, s, &x, &r);
    free(x.row);
    free(x.col);
    free(x.value);
}

int main(int argc, char **argv)
{
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        const pid_t child = fork(); /* so that the peak of memory is the set's own */
        if (child == 0) {
            if (mgv_ctx_new(NULL, &ctx) != MGV_OK)
                exit(1);
            bench(&sets[k], argc > 1 ? argv[1] : NULL);
            mgv_ctx_free(ctx);
            exit(0);
        }
        int status;
        if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
            return 1;
    }
    return 0;
}
