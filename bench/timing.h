/* timing.h - our side of a comparison: settings, and the fastest of several fits. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include "base/clock.h"
#include "data/data.h"
#include "row.h"
#include "solver/driver.h"

#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A process that fits many models keeps its memory: repeats should not pay for fresh pages. */
static inline void bench_keep_memory(void)
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

static inline void bench_fail(const mgv_ctx *ctx, const char *what)
{
    fprintf(stderr, "bench: %s: %s\n", what, mgv_ctx_error(ctx));
    exit(1);
}

static inline void bench_set(mgv_ctx *ctx, mgv_settings *s, const char *name, const char *value)
{
    if (mgv_settings_set(ctx, s, name, value) != MGV_OK)
        bench_fail(ctx, name);
}

static inline void bench_set_number(mgv_ctx *ctx, mgv_settings *s, const char *name, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    bench_set(ctx, s, name, text);
}

/* Settings from "name=value name=value"; freed by the caller. */
static inline mgv_settings *bench_settings(mgv_ctx *ctx, const char *options)
{
    char copy[512], *rest = copy, *item;
    mgv_settings *s;
    if (mgv_settings_new(ctx, &s) != MGV_OK)
        bench_fail(ctx, "settings");
    snprintf(copy, sizeof copy, "%s", options);
    while ((item = strsep(&rest, " "))) {
        char *equals = strchr(item, '=');
        if (!equals)
            continue;
        *equals = 0;
        bench_set(ctx, s, item, equals + 1);
    }
    return s;
}

typedef struct bench_timing {
    double seconds, primal, gap, passes;
    char solver[32], stop[24];
    bool certified;
} bench_timing;

/* The fastest of `repeats`, from the data in memory to the certificate, problem and solver made
 * anew each time. */
static inline bench_timing bench_fit(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                                     int repeats)
{
    bench_timing best = {.seconds = INFINITY};
    for (int r = 0; r < repeats; r++) {
        mgv_problem *problem;
        mgv_solver *solver;
        const double start = mgvi_clock_seconds();
        if (mgv_problem_new(ctx, data, settings, &problem) != MGV_OK ||
            mgv_solver_new(ctx, problem, settings, &solver) != MGV_OK ||
            mgv_solver_run(ctx, solver) != MGV_OK)
            bench_fail(ctx, "fit");
        const double seconds = mgvi_clock_seconds() - start;
        mgv_certificate c = {.size = sizeof c};
        mgv_run_info info = {.size = sizeof info};
        mgv_solver_describe(solver, &info, &c);
        if (seconds < best.seconds) {
            best = (bench_timing){.seconds = seconds,
                                  .primal = c.primal,
                                  .gap = c.relative_gap,
                                  .passes = info.passes,
                                  .certified = info.stop == MGV_STOP_CERTIFIED};
            snprintf(best.solver, sizeof best.solver, "%s", info.solver);
            snprintf(best.stop, sizeof best.stop, "%s", mgv_stop_name(info.stop));
        }
        mgv_solver_free(ctx, solver);
        mgv_problem_free(ctx, problem);
    }
    return best;
}

/* With 1 and 2 threads: out[0], out[1]. */
static inline void bench_fit_threads(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                                     int repeats, bench_timing out[2])
{
    for (int threads = 1; threads <= 2; threads++) {
        mgv_ctx_set_threads(ctx, threads);
        out[threads - 1] = bench_fit(ctx, data, settings, repeats);
    }
}

/* NAME, packed or not, from FOLDER; NULL and a sentence when it is not there. */
static inline mgv_data *bench_read(mgv_ctx *ctx, const char *folder, const char *name)
{
    static const char *const endings[] = {"", ".bz2", ".xz", ".gz", ".zst"};
    for (size_t e = 0; folder && e < sizeof endings / sizeof *endings; e++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s%s", folder, name, endings[e]);
        FILE *f = fopen(path, "rb");
        if (!f)
            continue;
        fclose(f);
        mgv_settings *s = bench_settings(ctx, "");
        mgv_data *data;
        if (mgv_data_read(ctx, path, s, &data) != MGV_OK)
            bench_fail(ctx, path);
        mgv_settings_free(ctx, s);
        return data;
    }
    printf("\n%s: left out, it is not in %s\n", name, folder ? folder : "MARGRAVE_DATA (not set)");
    return NULL;
}
#endif
