/* test_registry.c - what every registered solver must say of a problem. */
#include "vectors.h"

#include "solver/driver.h"

#include <math.h>
#include <stdlib.h>

/* Weights of the penalty: a solver that knows them meets its certificate, one that does not says
 * so, and auto takes one that does. */
TEST(penalty_weights_are_met_or_refused)
{
    static const char *const losses[] = {"hinge", "logistic", "squared"};
    double *X, *y, weight[4] = {1, 100, 0.01, 3};
    mgv_random_set(9, 60, 4, 0.3, &X, &y);
    for (int l = 0; l < 3; l++) {
        double primal = NAN;
        for (int k = -1; k < mgvi_solver_count(); k++) {
            char options[200];
            mgv_fit fit;
            snprintf(options, sizeof options, "loss=%s lambda=0.01 tol=1e-6 solver=%s", losses[l],
                     k < 0 ? "auto" : mgvi_solver_at(k)->name);
            mgv_fit_start(&fit, X, y, 60, 4, options);
            CHECK_OK(fit.ctx, mgv_data_set_penalty_weights(fit.ctx, fit.data, weight));
            CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
            if (mgvi_driver_new(fit.ctx, fit.problem, fit.settings, &fit.solver) == MGV_OK &&
                (k < 0 || mgvi_solver_at(k)->cost)) {
                CHECK_OK(fit.ctx, mgvi_driver_run(fit.solver));
                CHECK_THAT(fit.solver->stop == MGV_STOP_CERTIFIED, "%s", options);
                primal = k < 0 ? fit.solver->answer_verdict.certificate.primal : primal;
                CHECK_NEAR(fit.solver->answer_verdict.certificate.primal, primal, 1e-5, "%s",
                           options);
            }
            CHECK_THAT(k >= 0 || fit.solver, "%s: %s", options, mgv_ctx_error(fit.ctx));
            mgv_fit_free(&fit);
        }
    }
    free(X);
    free(y);
}

TEST(margins_take_no_penalty_weights)
{
    double *X, *y, weight[4] = {1, 1, 2, 1};
    mgv_fit fit;
    mgv_random_set(9, 20, 4, 0, &X, &y);
    mgv_fit_start(&fit, X, y, 20, 4, "loss=margin");
    CHECK_OK(fit.ctx, mgv_data_set_penalty_weights(fit.ctx, fit.data, weight));
    CHECK_FAILS(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem), MGV_E_ARG,
                "in one norm");
    mgv_fit_free(&fit);
    free(X);
    free(y);
}

int main(void) { return RUN(penalty_weights_are_met_or_refused, margins_take_no_penalty_weights); }
