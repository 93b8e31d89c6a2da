/* fuzz_checkpoint.c - states of runs: what is accepted must go on without harm. The problem is
 * fixed, so that its fingerprint is the one in the seeds. */
#include "fuzz.h"

#include "solver/driver.h"

#include <stdlib.h>

/* Four rows of two numbers, classes -1 and 1, hinge with C = 1. */
static const double X[] = {1, 0.5, -1, 0.25, 0.5, -1, -0.5, 2};
static const double y[] = {1, -1, 1, -1};

static void must(mgv_status st)
{
    if (st != MGV_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    mgv_ctx *ctx = fuzz_ctx();
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
    if (size == 0) { /* how seeds are made: an empty input writes one */
        solver->settings.max_iter = 5;
        must(mgv_solver_run(ctx, solver));
        const char *path = getenv("MGV_FUZZ_SEED");
        if (path)
            must(mgv_solver_checkpoint(ctx, solver, path));
    } else if (mgvi_checkpoint_parse(solver, "fuzz", bytes, size) == MGV_OK) {
        solver->settings.max_iter =
            solver->run.iteration < INT64_MAX - 5 ? solver->run.iteration + 5 : INT64_MAX;
        mgv_solver_run(ctx, solver);
    }
    mgv_solver_free(ctx, solver);
    mgv_problem_free(ctx, problem);
    mgv_data_free(ctx, data);
    mgv_settings_free(ctx, settings);
    fuzz_check_leaks();
    return 0;
}
