/* stepping.h - for tests that look at every iterate of a solver. */
#ifndef MGV_TESTS_SOLVER_STEPPING_H
#define MGV_TESTS_SOLVER_STEPPING_H

#include "vectors.h"

#include "solver/driver.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A fit with the solver made and nothing run. */
static inline void open_rows(mgv_fit *fit, const double *X, const double *y, int64_t n, int64_t d,
                             const char *options)
{
    mgv_fit_start(fit, X, y, n, d, options);
    CHECK_OK(fit->ctx, mgv_problem_new(fit->ctx, fit->data, fit->settings, &fit->problem));
    CHECK_OK(fit->ctx, mgv_solver_new(fit->ctx, fit->problem, fit->settings, &fit->solver));
}

static inline void open_vector(mgv_fit *fit, const json_t *v, const char *options)
{
    int64_t n;
    double *X = mgv_vector_array(v, "X", NULL), *y = mgv_vector_array(v, "y", &n);
    open_rows(fit, X, y, n, json_integer_value(json_object_get(v, "d")), options);
    free(X);
    free(y);
}

/* Goes on to iteration t. */
static inline mgvi_iterate run_to(mgv_fit *fit, int64_t t)
{
    fit->solver->settings.max_iter = t;
    CHECK_OK(fit->ctx, mgv_solver_run(fit->ctx, fit->solver));
    CHECK(fit->solver->run.iteration == t);
    return fit->solver->run.ops->expose(&fit->solver->run);
}

/* The same without the driver, which would stop at a gap of 0. */
static inline mgvi_iterate step_to(mgv_fit *fit, int64_t t)
{
    mgvi_run *run = &fit->solver->run;
    for (; run->iteration < t; run->iteration++)
        CHECK_OK(fit->ctx, run->ops->step(run));
    return run->ops->expose(run);
}

/* Every step from `cut` to `last` of a run broken off at `cut` is that of the unbroken one, also
 * where that one has several threads. */
static inline void check_resumed_steps(const double *X, const double *y, int64_t n, int64_t d,
                                       const char *options, int64_t cut, int64_t last)
{
    char file[64];
    mgv_fit whole, part, rest;
    snprintf(file, sizeof file, "resumed_steps.%d", (int)getpid());
    open_rows(&whole, X, y, n, d, options);
    open_rows(&part, X, y, n, d, options);
    open_rows(&rest, X, y, n, d, options);
    CHECK_OK(whole.ctx, mgv_ctx_set_threads(whole.ctx, 3));
    step_to(&part, cut);
    CHECK_OK(part.ctx, mgv_solver_checkpoint(part.ctx, part.solver, file));
    CHECK_OK(rest.ctx, mgv_solver_resume(rest.ctx, rest.solver, file));
    for (int64_t t = cut; t <= last; t++) {
        const mgvi_iterate a = step_to(&whole, t), b = step_to(&rest, t);
        CHECK(memcmp(a.w->x, b.w->x, (size_t)a.w->n * sizeof(double)) == 0);
        CHECK(memcmp(a.u->x, b.u->x, (size_t)a.u->n * sizeof(double)) == 0);
    }
    remove(file);
    mgv_fit_free(&whole);
    mgv_fit_free(&part);
    mgv_fit_free(&rest);
}

static inline void describe(mgv_fit *fit)
{
    fit->certificate.size = sizeof fit->certificate;
    fit->run.size = sizeof fit->run;
    mgv_solver_describe(fit->solver, &fit->run, &fit->certificate);
}
#endif
