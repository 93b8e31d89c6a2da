/* test_operator.c - a caller's operator: every solver solves the problem over it as it would solve
 * that of the stored table, or refuses it with a sentence; none looks for rows that are not there.
 */
#include "vectors.h"

#include "loss/registry.h"
#include "op/op.h"
#include "penalty/registry.h"
#include "solver/driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 14, SHORT = 6 };

typedef struct table {
    int n, d;
    double X[LONG * SHORT], y[LONG];
} table;

static void fill(table *t, int n, int d)
{
    mgvi_rng rng = mgvi_rng_seed(21);
    *t = (table){.n = n, .d = d};
    for (int i = 0; i < n; i++) {
        t->y[i] = 0.1 * mgvi_rng_normal(&rng);
        for (int j = 0; j < d; j++) {
            t->X[i * d + j] = mgvi_rng_normal(&rng);
            t->y[i] += j < 2 ? 0.4 * t->X[i * d + j] : 0;
        }
    }
}

static int times(void *user, const double *x, double *y)
{
    const table *t = user;
    for (int i = 0; i < t->n; i++) {
        y[i] = 0;
        for (int j = 0; j < t->d; j++)
            y[i] += t->X[i * t->d + j] * x[j];
    }
    return 0;
}

static int times_transposed(void *user, const double *u, double *g)
{
    const table *t = user;
    memset(g, 0, (size_t)t->d * sizeof *g);
    for (int i = 0; i < t->n; i++)
        for (int j = 0; j < t->d; j++)
            g[j] += t->X[i * t->d + j] * u[i];
    return 0;
}

static const int64_t group[LONG] = {0, 0, 1, 1, 2, -1, 2, 3, 3, 3, -1, 4, 5, 5};

static void choose(mgv_fit *fit, const table *t, const char *solver, const mgvi_loss_ops *loss,
                   const mgvi_penalty_ops *penalty)
{
    char options[200];
    const char *strength = loss->can & MGVI_HARD            ? ""
                           : penalty->can & MGVI_NORM       ? "mu=0.05"
                           : !strcmp(penalty->name, "enet") ? "mu=0.02 lambda=0.03"
                                                            : "lambda=0.05";
    snprintf(options, sizeof options,
             "task=regress intercept=no solver=%s loss=%s penalty=%s p=%s %s shape=2x%d "
             "max_iter=2000 tol=1e-5",
             solver, loss->name, penalty->name, strcmp(penalty->name, "lp") ? "2" : "1.5", strength,
             t->d / 2);
    mgv_fit_set(fit, options);
    if (strcmp(penalty->name, "box") == 0)
        mgv_fit_set(fit, "low=-1 high=1");
}

static void start(mgv_fit *fit, const table *t)
{
    mgv_fit_start(fit, t->X, t->y, t->n, t->d, "");
    CHECK_OK(fit->ctx, mgv_data_set_groups(fit->ctx, fit->data, group));
}

/* The objective that `auto` certifies for the stored table; NaN: none. */
static double stored_primal(const table *t, const mgvi_loss_ops *loss,
                            const mgvi_penalty_ops *penalty)
{
    mgv_fit fit;
    double primal = NAN;
    start(&fit, t);
    choose(&fit, t, "auto", loss, penalty);
    if (mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem) == MGV_OK &&
        mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver) == MGV_OK) {
        CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
        fit.certificate.size = sizeof fit.certificate;
        mgv_solver_describe(fit.solver, NULL, &fit.certificate);
        primal = fit.solver->stop == MGV_STOP_CERTIFIED ? fit.certificate.primal : NAN;
    }
    mgv_fit_free(&fit);
    return primal;
}

/* What the run says of itself: the stored table's value, or bounds on both sides of it and why there
 * is no more; hard losses have a primal value of weights that may miss the constraints. */
static void look_at_bounds(const mgv_fit *fit, const table *t, const char *what, double primal)
{
    const mgv_certificate *c = &fit->certificate;
    const mgv_stop stop = fit->solver->stop;
    const double allowed = 3e-5 * fmax(1e-3, fabs(primal));
    const bool hard = fit->problem->loss->can & MGVI_HARD;
    CHECK_THAT(stop != MGV_STOP_NONE && stop != MGV_STOP_USER && mgv_stop_name(stop)[0], "%s: %d",
               what, (int)stop);
    CHECK_THAT((stop == MGV_STOP_CERTIFIED) <= c->verified, "%s: certified, not verified", what);
    if (isnan(primal))
        return;
    CHECK_THAT(stop != MGV_STOP_INFEASIBLE, "%s: proven that there are no such weights", what);
    CHECK_THAT(!(c->verified && c->dual > primal + allowed),
               "%s: at least %.9g, but %.9g is attained", what, c->dual, primal);
    CHECK_THAT(hard || !(c->primal < primal - allowed), "%s: %.9g attained, the optimum is %.9g",
               what, c->primal, primal);
    if (stop == MGV_STOP_CERTIFIED)
        CHECK_NEAR(c->primal, primal, allowed, "%s, %d x %d", what, t->n, t->d);
}

/* Whatever can be asked of the run of an operator. */
static void look(mgv_fit *fit, const table *t, const char *what, double primal)
{
    const double *w, *u;
    int64_t count;
    char *json = NULL;
    mgv_model *model = NULL;
    fit->certificate.size = sizeof fit->certificate;
    mgv_solver_describe(fit->solver, NULL, &fit->certificate);
    look_at_bounds(fit, t, what, primal);
    CHECK_OK(fit->ctx, mgv_solver_weights(fit->solver, &w, &count));
    CHECK_THAT(count == t->d, "%s: %d weights", what, (int)count);
    for (int64_t j = 0; j < count; j++)
        CHECK_THAT(isfinite(w[j]), "%s: weight %d", what, (int)j);
    CHECK_OK(fit->ctx, mgv_solver_dual(fit->solver, &u, &count));
    CHECK_THAT(count == t->n, "%s: %d dual variables", what, (int)count);
    for (int64_t i = 0; i < count; i++)
        CHECK_THAT(!isnan(u[i]), "%s: dual variable %d", what, (int)i);
    CHECK_OK(fit->ctx, mgv_model_new(fit->ctx, fit->solver, &model));
    CHECK_OK(fit->ctx, mgv_report_fit(fit->ctx, fit->solver, model, NULL, NULL, &json));
    mgv_string_free(fit->ctx, json);
    mgv_model_free(fit->ctx, model);
}

/* One solver on one problem; true when it took it. */
static bool try_solver(mgv_fit *fit, const mgv_operator *op, const table *t, const char *what,
                       double primal)
{
    fit->problem = NULL;
    fit->solver = NULL;
    mgv_status st =
        mgv_problem_from_operator(fit->ctx, op, t->y, group, fit->settings, &fit->problem);
    if (st == MGV_OK)
        st = mgv_solver_new(fit->ctx, fit->problem, fit->settings, &fit->solver);
    if (st == MGV_OK)
        st = mgv_solver_run(fit->ctx, fit->solver);
    if (st == MGV_OK)
        look(fit, t, what, primal);
    else
        CHECK_THAT((st == MGV_E_ARG || st == MGV_E_UNSUPPORTED) && mgv_ctx_error(fit->ctx)[0],
                   "%s: %s: %s", what, mgv_status_name(st), mgv_ctx_error(fit->ctx));
    mgv_solver_free(fit->ctx, fit->solver);
    mgv_problem_free(fit->ctx, fit->problem);
    fit->problem = NULL;
    fit->solver = NULL;
    return st == MGV_OK;
}

/* Every solver, and auto, for one loss and penalty; how many took it. */
static int try_all(table *t, const mgvi_loss_ops *loss, const mgvi_penalty_ops *penalty)
{
    mgv_fit fit;
    const mgv_operator op = {.size = sizeof op,
                             .rows = t->n,
                             .cols = t->d,
                             .user = t,
                             .mul = times,
                             .mul_t = times_transposed};
    const double primal = stored_primal(t, loss, penalty);
    int taken = 0;
    start(&fit, t);
    for (int k = -1; k < mgvi_solver_count(); k++) {
        const char *name = k < 0 ? "auto" : mgvi_solver_at(k)->name;
        char what[160];
        snprintf(what, sizeof what, "%s, %s, %s", name, loss->name, penalty->name);
        choose(&fit, t, name, loss, penalty);
        taken += try_solver(&fit, &op, t, what, primal);
    }
    mgv_fit_free(&fit);
    return taken;
}

TEST(every_solver_solves_an_operator_or_refuses_it)
{
    static const int shape[][2] = {{LONG, SHORT}, {SHORT, LONG}};
    table t;
    for (int k = 0; k < 2; k++) {
        int taken = 0;
        fill(&t, shape[k][0], shape[k][1]);
        for (int l = 0; l < mgvi_loss_count(); l++)
            for (int p = 0; p < mgvi_penalty_count(); p++)
                taken += try_all(&t, mgvi_loss_at(l), mgvi_penalty_at(p));
        CHECK_THAT(taken >= 100, "%d", taken);
    }
}

/* A solver that walks rows says that it needs them: where it does not, it solves the stored problem
 * when neither rows nor the matrix can be seen. */
static void hide_rows(mgv_fit *fit)
{
    mgv_problem *p = fit->problem;
    CHECK_OK(fit->ctx, mgvi_op_repeat(fit->ctx, p->A, 1, p->A->lanes, &p->A));
    p->data->X = (mgvi_matrix){.rows = p->data->X.rows, .cols = p->data->X.cols};
}

TEST(needs_are_declared)
{
    static const char *const problems[] = {"loss=hinge",
                                           "loss=squared_hinge",
                                           "loss=logistic",
                                           "loss=squared",
                                           "loss=huber",
                                           "loss=margin",
                                           "loss=softmax",
                                           "loss=crammer_singer",
                                           "loss=smooth_hinge",
                                           "loss=margin penalty=l1",
                                           "loss=logistic penalty=l1 mu=0.01",
                                           "loss=exponential",
                                           "loss=crammer_singer intercept=no",
                                           "loss=hinge intercept=no",
                                           "loss=equal penalty=l1"};
    double *X, *y;
    int taken = 0;
    mgv_random_set(5, 24, 4, 0.2, &X, &y);
    for (size_t t = 0; t < sizeof problems / sizeof *problems; t++)
        for (int k = 0; k < mgvi_solver_count(); k++) {
            const mgvi_solver_ops *ops = mgvi_solver_at(k);
            char options[200];
            mgv_fit fit;
            snprintf(options, sizeof options, "%s solver=%s max_iter=30", problems[t], ops->name);
            mgv_fit_start(&fit, X, y, 24, 4, options);
            CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
            hide_rows(&fit);
            if (mgvi_solver_fits(fit.ctx, ops, fit.problem) == MGV_OK) {
                CHECK_OK(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver));
                CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
                taken++;
            }
            mgv_fit_free(&fit);
        }
    CHECK_THAT(taken >= 10, "%d", taken);
    free(X);
    free(y);
}

int main(void) { return RUN(every_solver_solves_an_operator_or_refuses_it, needs_are_declared); }
