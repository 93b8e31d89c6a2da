/* test_registry.c - what every registered solver must say of a problem. */
#include "vectors.h"

#include "solver/driver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The settings that a solver calls its own are settings. */
TEST(own_settings_exist)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_settings *settings;
    int seen = 0;
    CHECK_OK(ctx, mgv_settings_new(ctx, &settings));
    for (int k = 0; k < mgvi_solver_count(); k++) {
        char name[64], value[64];
        for (int i = 0; mgvi_solver_setting(mgvi_solver_at(k), i, name); i++, seen++)
            CHECK_OK(ctx, mgv_settings_get(ctx, settings, name, value, sizeof value));
    }
    CHECK(seen > 20);
    mgv_settings_free(ctx, settings);
    mgv_ctx_free(ctx);
}

/* ---- terms that nobody has heard of ---------------------------------------------------------- */

enum { ROWS = 40, COLS = 4 };

/* A small problem with both terms; false: they do not go together. */
static bool bind(mgv_fit *fit, const double *X, const double *y, const mgvi_loss_ops *loss,
                 const mgvi_penalty_ops *penalty, const char *more)
{
    static const int64_t group[COLS] = {0, 0, 1, 1};
    const bool hard = loss->can & MGVI_HARD, net = !strcmp(penalty->name, "enet");
    const char *strength = net                        ? "mu=0.02 lambda=0.05"
                           : penalty->can & MGVI_NORM ? "mu=0.02"
                           : hard                     ? ""
                                                      : "lambda=0.05";
    char options[300];
    snprintf(options, sizeof options, "loss=%s penalty=%s %s %s%s%s", loss->name, penalty->name,
             strength, !strcmp(penalty->name, "lp") ? "p=1.5 " : "",
             !strcmp(penalty->name, "box") ? "low=-1 high=1 " : "", more);
    if (!strcmp(penalty->name, "nuclear") || !strcmp(penalty->name, "tv2d"))
        strcat(options, " shape=2x2");
    mgv_fit_start(fit, X, y, ROWS, COLS, options);
    CHECK_OK(fit->ctx, mgv_data_set_groups(fit->ctx, fit->data, group));
    if (mgv_problem_new(fit->ctx, fit->data, fit->settings, &fit->problem) == MGV_OK)
        return true;
    mgv_fit_free(fit);
    return false;
}

/* What every solver says of a problem, as bits. */
static uint64_t takers(mgv_fit *fit)
{
    uint64_t all = 0;
    for (int k = 0; k < mgvi_solver_count(); k++) {
        const bool fits = mgvi_solver_fits(fit->ctx, mgvi_solver_at(k), fit->problem) == MGV_OK;
        all |= (uint64_t)fits << k;
    }
    return all;
}

/* The primal value that comes out, and by whom. */
static double solve(mgv_fit *fit, const char **solver)
{
    mgv_certificate c = {.size = sizeof c};
    mgv_run_info info = {.size = sizeof info};
    CHECK_OK(fit->ctx, mgv_solver_new(fit->ctx, fit->problem, fit->settings, &fit->solver));
    CHECK_OK(fit->ctx, mgv_solver_run(fit->ctx, fit->solver));
    mgv_solver_describe(fit->solver, &info, &c);
    *solver = info.solver;
    return c.primal;
}

/* Every loss and penalty under a name that nobody knows, with the same formulas and bits: the same
 * solvers take it, `auto` the same one, to the same bits. So no solver goes by names, and a new
 * term gets what its traits say. */
TEST(a_strange_name_changes_nothing)
{
    double *X, *y;
    int bound = 0, solved = 0;
    mgv_random_set(11, ROWS, COLS, 0.2, &X, &y);
    for (int l = 0; l < mgvi_loss_count(); l++)
        for (int r = 0; r < mgvi_penalty_count(); r++) {
            mgvi_loss_ops loss = *mgvi_loss_at(l);
            mgvi_penalty_ops penalty = *mgvi_penalty_at(r);
            const bool fast = penalty.can & (MGVI_SQUARE | MGVI_ABS);
            const char *said = "tol=1e-5 max_iter=500", *by[2];
            mgv_fit known, strange;
            if (!bind(&known, X, y, &loss, &penalty, said))
                continue;
            CHECK(bind(&strange, X, y, &loss, &penalty, said));
            loss.name = "stranger";
            penalty.name = "newcomer";
            strange.problem->loss = &loss;
            strange.problem->penalty = &penalty;
            CHECK_THAT(takers(&known) == takers(&strange), "%s with %s", known.problem->loss->name,
                       known.problem->penalty->name);
            bound++;
            if (fast && takers(&known)) {
                const double want = solve(&known, &by[0]), got = solve(&strange, &by[1]);
                CHECK_THAT(want == got && !strcmp(by[0], by[1]), "%s with %s: %s %.17g, %s %.17g",
                           known.problem->loss->name, known.problem->penalty->name, by[0], want,
                           by[1], got);
                solved++;
            }
            mgv_fit_free(&known);
            mgv_fit_free(&strange);
        }
    CHECK_THAT(bound > 100 && solved > 25, "%d bound, %d solved", bound, solved);
    free(X);
    free(y);
}

/* A refusal names the solvers that do fit, and only those. */
TEST(refusals_name_who_fits)
{
    double *X, *y;
    mgv_random_set(12, ROWS, COLS, 0.2, &X, &y);
    for (int k = 0; k < mgvi_solver_count(); k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, ROWS, COLS, "loss=logistic penalty=l1 mu=0.01");
        CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
        if (mgvi_solver_fits(fit.ctx, mgvi_solver_at(k), fit.problem) != MGV_OK) {
            const char *list = strstr(mgv_ctx_error(fit.ctx), "; these fit: ");
            CHECK_THAT(list, "%s", mgv_ctx_error(fit.ctx));
            CHECK_THAT(strstr(list, "proximal_newton") && strstr(list, "primal_dual"), "%s", list);
            CHECK_THAT(!strstr(list, "dual_coordinate") && !strstr(list, "lbfgs"), "%s", list);
        }
        mgv_fit_free(&fit);
    }
    free(X);
    free(y);
}

/* `select` last ends every solver of a hard margin where max_iter does, not before and with w. */
TEST(every_margin_solver_shows_its_last_iterate)
{
    double *X, *y;
    int seen = 0;
    mgv_random_set(13, ROWS, COLS, 0, &X, &y);
    for (int k = 0; k < mgvi_solver_count(); k++) {
        char options[200];
        mgv_fit fit;
        mgv_selection *s = NULL;
        mgv_run_info info = {.size = sizeof info};
        const double *w;
        int64_t count;
        double square = 0;
        snprintf(options, sizeof options,
                 "loss=margin intercept=no select=last max_iter=3 tol=0 solver=%s",
                 mgvi_solver_at(k)->name);
        mgv_fit_start(&fit, X, y, ROWS, COLS, options);
        CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
        if (mgvi_solver_suits(fit.ctx, mgvi_solver_at(k), fit.problem)) {
            CHECK_OK(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &s));
            mgv_solver_describe(mgv_selection_solver(s), &info, NULL);
            mgv_solver_weights(mgv_selection_solver(s), &w, &count);
            for (int64_t j = 0; j < count; j++)
                square += w[j] * w[j];
            CHECK_THAT(info.iterations >= 1 && info.iterations <= 3 && square > 0, "%s: %d, %g",
                       options, (int)info.iterations, square);
            seen++;
        }
        mgv_selection_free(fit.ctx, s);
        mgv_fit_free(&fit);
    }
    CHECK_THAT(seen >= 8, "%d", seen);
    free(X);
    free(y);
}

int main(void)
{
    return RUN(penalty_weights_are_met_or_refused, margins_take_no_penalty_weights,
               own_settings_exist, a_strange_name_changes_nothing, refusals_name_who_fits,
               every_margin_solver_shows_its_last_iterate);
}
