/* test_draws.c - methods that draw rows take the same steps, however many of them an iteration has. */
#include "solver/driver.h"
#include "vectors.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { ROWS = 24, COLS = 5, PASSES = 30 }; /* beyond a refresh */

static const char *const options[] = {
    "solver=mirror_coordinate exact_steps=no shrink=no row_order=draw",
    "solver=mirror_coordinate exact_steps=no shrink=no row_order=importance p=1.5",
    "solver=mirror_coordinate exact_steps=no shrink=no row_order=draw iterate=average",
    "solver=accelerated_coordinate accelerated_coordinate.restart=no",
    "solver=accelerated_coordinate p=1.5",
    "solver=mirror_sgd",
    "solver=mirror_sgd p=1.5 iterate=average",
    "solver=perceptron mistake=hinge iterate=average",
};

static void make(double *X, double *y)
{
    mgvi_rng rng = mgvi_rng_seed(8);
    for (int i = 0; i < ROWS; i++) {
        y[i] = i % 2 ? 1 : -1;
        for (int j = 0; j < COLS; j++)
            X[i * COLS + j] = mgvi_rng_normal(&rng) + y[i];
    }
}

static void start(mgv_fit *fit, const double *X, const double *y, const char *own, int draws)
{
    char all[256];
    snprintf(all, sizeof all, "loss=margin intercept=no tol=0 %s draws=%d", own, draws);
    mgv_fit_start(fit, X, y, ROWS, COLS, all);
    CHECK_OK(fit->ctx, mgv_problem_new(fit->ctx, fit->data, fit->settings, &fit->problem));
    CHECK_OK(fit->ctx, mgv_solver_new(fit->ctx, fit->problem, fit->settings, &fit->solver));
}

static const double *after(mgv_fit *fit, int64_t iterations)
{
    while (fit->solver->run.iteration < iterations)
        CHECK_OK(fit->ctx, mgvi_driver_step(fit->solver));
    return fit->solver->run.ops->expose(&fit->solver->run).w->x;
}

TEST(an_iteration_has_as_many_draws_as_it_is_told)
{
    double X[ROWS * COLS], y[ROWS];
    make(X, y);
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        static const int draws[] = {1, 3, ROWS, 1000};
        mgv_fit whole;
        start(&whole, X, y, options[k], 0);
        const double *w = after(&whole, PASSES);
        for (int t = 0; t < 4; t++) {
            const int each = draws[t] < ROWS ? draws[t] : ROWS;
            mgv_fit parts;
            start(&parts, X, y, options[k], draws[t]);
            const double *v = after(&parts, PASSES * ROWS / each);
            for (int j = 0; j < COLS; j++)
                CHECK_NEAR(v[j], w[j], 1e-11 * (1 + fabs(w[j])), "%s, draws %d, column %d",
                           options[k], draws[t], j);
            mgv_fit_free(&parts);
        }
        mgv_fit_free(&whole);
    }
}

TEST(methods_that_draw_nothing_refuse)
{
    static const char *const shuffled[] = {"solver=perceptron", "solver=mirror_coordinate"};
    double X[ROWS * COLS], y[ROWS];
    make(X, y);
    for (int k = 0; k < 2; k++) {
        mgv_fit fit;
        char all[128];
        snprintf(all, sizeof all, "loss=margin intercept=no %s draws=1", shuffled[k]);
        mgv_fit_start(&fit, X, y, ROWS, COLS, all);
        CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
        CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                    MGV_E_ARG, "got draws=1");
        mgv_fit_free(&fit);
    }
}

int main(void)
{
    return RUN(an_iteration_has_as_many_draws_as_it_is_told, methods_that_draw_nothing_refuse);
}
