/* fuzz_checkpoint.c - states of runs, of every command that has them: what is accepted must go on
 * without harm. The problems are fixed, so that their fingerprints are those in the seeds. An empty
 * input writes the seeds, $MGV_FUZZ_SEED and names that begin so. */
#include "fuzz.h"

#include "restore/deblur.h"
#include "select/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Four rows of two numbers, classes -1 and 1, hinge with C = 1. */
static const double X[] = {1, 0.5, -1, 0.25, 0.5, -1, -0.5, 2};
static const double y[] = {1, -1, 1, -1};

static void must(mgv_status st)
{
    if (st != MGV_OK)
        abort();
}

/* Where a seed goes; NULL: no seeds are wanted. */
static const char *seed(const char *ending, char name[512])
{
    const char *begin = getenv("MGV_FUZZ_SEED");
    snprintf(name, 512, "%s%s", begin ? begin : "", ending);
    return begin ? name : NULL;
}

static int64_t some_more(int64_t iteration)
{
    return iteration < INT64_MAX - 5 ? iteration + 5 : INT64_MAX;
}

static void fit(mgv_ctx *ctx, const uint8_t *bytes, size_t size)
{
    char name[512];
    mgv_settings *settings;
    mgv_data *data;
    mgv_problem *problem;
    mgv_solver *solver;
    must(mgv_settings_new(ctx, &settings));
    must(mgv_settings_set(ctx, settings, "tol", "1e-12"));
    must(mgv_data_from_dense(ctx, MGV_F64, X, 4, 2, 2, 1, &data));
    must(mgv_data_set_labels(ctx, data, y));
    must(mgv_problem_new(ctx, data, settings, &problem));
    must(mgv_solver_new(ctx, problem, settings, &solver));
    if (size == 0) {
        solver->settings.max_iter = 5;
        must(mgv_solver_run(ctx, solver));
        if (seed("", name))
            must(mgv_solver_checkpoint(ctx, solver, name));
    } else if (mgvi_checkpoint_parse(solver, "fuzz", bytes, size) == MGV_OK) {
        solver->settings.max_iter = some_more(solver->run.iteration);
        mgv_solver_run(ctx, solver);
    }
    mgv_solver_free(ctx, solver);
    mgv_problem_free(ctx, problem);
    mgv_data_free(ctx, data);
    mgv_settings_free(ctx, settings);
}

static void deblur(mgv_ctx *ctx, const uint8_t *bytes, size_t size)
{
    static const double pixels[12] = {.1, .9, .4, .3, .2, .8, .5, .4, .1, .7, .6, .2};
    char name[512];
    mgv_settings *settings;
    mgv_image *image, *psf;
    mgv_deblur *d;
    must(mgv_settings_new(ctx, &settings));
    must(mgv_settings_set(ctx, settings, "noise", "0.01"));
    must(mgv_image_new(ctx, 3, 4, 1, pixels, &image));
    must(mgv_psf_gaussian(ctx, 0.3, &psf));
    must(mgv_deblur_new(ctx, image, psf, NULL, settings, &d));
    if (size == 0) {
        d->solver->settings.max_iter = 3;
        must(mgv_deblur_run(ctx, d));
        if (seed("-deblur", name))
            must(mgvi_checkpoint_write(d->solver, name));
    } else if (mgvi_checkpoint_parse(d->solver, "fuzz", bytes, size) == MGV_OK) {
        d->solver->settings.max_iter = some_more(d->solver->run.iteration);
        mgv_deblur_run(ctx, d);
    }
    mgv_deblur_free(ctx, d);
    mgv_image_free(ctx, psf);
    mgv_image_free(ctx, image);
    mgv_settings_free(ctx, settings);
}

/* Points of a path under way: at most two more. */
static void path(mgv_ctx *ctx, const uint8_t *bytes, size_t size)
{
    char name[512];
    mgv_settings *settings;
    mgv_data *data;
    mgv_path *p;
    const mgv_solver *solver;
    must(mgv_settings_new(ctx, &settings));
    must(mgv_settings_set(ctx, settings, "tol", "1e-9"));
    must(mgv_settings_set(ctx, settings, "solver", "dual_coordinate"));
    must(mgv_settings_set(ctx, settings, "max_iter", "50"));
    must(mgv_settings_set(ctx, settings, "strengths", "1,0.1,0.01"));
    must(mgv_data_from_dense(ctx, MGV_F64, X, 4, 2, 2, 1, &data));
    must(mgv_data_set_labels(ctx, data, y));
    if (size == 0 && seed("-path", name)) {
        must(mgv_settings_set(ctx, settings, "checkpoint", name));
        must(mgv_settings_set(ctx, settings, "every", "0"));
    }
    must(mgv_path_new(ctx, data, settings, &p));
    const mgv_settings any = *settings;
    p->print = mgvi_walk_print(p, &any);
    if (size == 0 || mgvi_walk_parse(p, "fuzz", bytes, size) == MGV_OK)
        for (int k = 0; k < 2; k++)
            if (mgv_path_next(ctx, p, &solver) != MGV_OK)
                break;
    mgv_path_free(ctx, p);
    mgv_data_free(ctx, data);
    mgv_settings_free(ctx, settings);
}

/* The state of a call, which is no object of its own: the bytes are a file in memory, the setting
 * `resume`; a seed goes to `checkpoint`. The file; -1: none. */
static int lend_file(mgv_ctx *ctx, mgv_settings *settings, const uint8_t *bytes, size_t size,
                     const char *ending)
{
    char name[512];
    if (size == 0) {
        if (seed(ending, name))
            must(mgv_settings_set(ctx, settings, "checkpoint", name));
        return -1;
    }
    const int file = memfd_create("state", 0);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size)
        abort();
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    must(mgv_settings_set(ctx, settings, "resume", name));
    return file;
}

/* Epochs of four classes, at most a few. */
static void epochs(mgv_ctx *ctx, const uint8_t *bytes, size_t size)
{
    enum { ROWS = 40, COLS = 3 };
    double x[ROWS * COLS], label[ROWS];
    mgv_settings *settings;
    mgv_data *data;
    mgv_selection *selection = NULL;
    for (int i = 0; i < ROWS; i++) {
        label[i] = i % 4;
        for (int j = 0; j < COLS; j++)
            x[i * COLS + j] = (double)((i * 7 + j * 5) % 11) / 11 + (j == i % 4);
    }
    must(mgv_settings_new(ctx, &settings));
    must(mgv_settings_set(ctx, settings, "select", "holdout:0.25"));
    must(mgv_settings_set(ctx, settings, "max_iter", size ? "8" : "3"));
    must(mgv_data_from_dense(ctx, MGV_F64, x, ROWS, COLS, COLS, 1, &data));
    must(mgv_data_set_labels(ctx, data, label));
    const int file = lend_file(ctx, settings, bytes, size, "-epochs");
    const mgv_status st = mgv_selection_run(ctx, data, settings, &selection);
    if (size == 0)
        must(st);
    mgv_selection_free(ctx, selection);
    mgv_data_free(ctx, data);
    mgv_settings_free(ctx, settings);
    if (file >= 0)
        close(file);
}

static void complete(mgv_ctx *ctx, const uint8_t *bytes, size_t size, const char *budget)
{
    enum { ROWS = 12, COLS = 9, COUNT = ROWS * COLS };
    int64_t row[COUNT], col[COUNT];
    double value[COUNT];
    char ending[64];
    mgv_settings *settings;
    mgv_triples *triples;
    mgv_completion *completion = NULL;
    for (int t = 0; t < COUNT; t++) {
        row[t] = t / COLS;
        col[t] = t % COLS;
        value[t] = (double)((row[t] * 5 + 3) % 7 - 3) * (double)(col[t] % 4 - 1) + 0.1 * (t % 3);
    }
    must(mgv_settings_new(ctx, &settings));
    must(mgv_settings_set(ctx, settings, "max_passes", budget));
    must(mgv_triples_new(ctx, COUNT, row, col, value, ROWS, COLS, &triples));
    snprintf(ending, sizeof ending, "-complete-%s", budget);
    const int file = lend_file(ctx, settings, bytes, size, ending);
    const mgv_status st = mgv_completion_run(ctx, triples, settings, &completion);
    if (size == 0)
        must(st);
    mgv_completion_free(ctx, completion);
    mgv_triples_free(ctx, triples);
    mgv_settings_free(ctx, settings);
    if (file >= 0)
        close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    mgv_ctx *ctx = fuzz_ctx();
    fit(ctx, bytes, size);
    deblur(ctx, bytes, size);
    path(ctx, bytes, size);
    epochs(ctx, bytes, size);
    if (size > 0)
        complete(ctx, bytes, size, "1000");
    for (int k = 0; size == 0 && k < 4; k++) { /* on the path, twice in the finish, and over */
        static const char *const budgets[] = {"20", "60", "72", "inf"};
        complete(ctx, bytes, size, budgets[k]);
    }
    fuzz_check_leaks();
    return 0;
}
