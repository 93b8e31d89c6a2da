/* test_limits.c - a limit ends every solver, class form, selection and path soon after it strikes,
 * by the clock of ticking.h. */
#include "api/ticking.h"
#include "vectors.h"

#include "solver/driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool limited(mgv_stop stop) { return stop == MGV_STOP_TIME || stop == MGV_STOP_USER; }

typedef struct table {
    int64_t n, d;
    double *X, *y;
} table;

/* Two or three classes that overlap, or a quantity. */
static table table_new(int64_t n, int64_t d, int classes, double apart)
{
    mgvi_rng rng = mgvi_rng_seed((uint64_t)(n + classes));
    table t = {n, d, malloc((size_t)(n * d) * sizeof(double)), malloc((size_t)n * sizeof(double))};
    for (int64_t i = 0; i < n; i++) {
        t.y[i] = classes ? (double)(i % classes) : 0;
        for (int64_t j = 0; j < d; j++) {
            const double x = mgvi_rng_normal(&rng);
            t.X[i * d + j] = x + (classes && j == i % classes ? apart : 0);
            t.y[i] += classes ? 0 : x / (double)(1 + j);
        }
    }
    return t;
}

static void table_free(table *t)
{
    free(t->X);
    free(t->y);
}

/* ---- one run --------------------------------------------------------------------------------- */

static const double strikes[] = {0.02, 0.11, 0.4, 1.7, 8};

static bool finite_numbers(const double *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

/* A verified certificate is true, however the run ended: it holds the value of a fit to the end. */
static void check_certificate(const mgv_certificate *c, const mgv_certificate *whole,
                              const char *what)
{
    if (!c->verified || !whole->verified || !isfinite(whole->primal) || !isnan(whole->margin) ||
        strstr(what, "loss=equal")) /* whose w meets its constraints in the limit only */
        return;
    const double slack = 1e-6 * (1 + fabs(whole->primal));
    CHECK_LE(c->dual, whole->primal + slack, "%s: proven", what);
    CHECK_LE(whole->dual - slack, c->primal, "%s: attained", what);
}

static void check_run(const table *t, const char *options, double seconds,
                      const mgv_certificate *whole)
{
    ticking clock = {0};
    mgv_fit fit;
    mgv_fit_start(&fit, t->X, t->y, t->n, t->d, options);
    set_clock(fit.ctx, &clock);
    fit.settings->time_limit = seconds;
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    const long long first = atomic_load(&clock.looks);
    CHECK_OK(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver));
    CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
    fit.run.size = sizeof fit.run;
    fit.certificate.size = sizeof fit.certificate;
    mgv_solver_describe(fit.solver, &fit.run, &fit.certificate);
    if (limited(fit.run.stop))
        check_looks(&clock, first, seconds, options);
    const double *w;
    int64_t count;
    mgv_model *model;
    mgv_solver_weights(fit.solver, &w, &count);
    CHECK_THAT(finite_numbers(w, count), "%s", options);
    if (whole)
        check_certificate(&fit.certificate, whole, options);
    if (fit.run.stop != MGV_STOP_INFEASIBLE) {
        CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &model));
        mgv_model_free(fit.ctx, model);
    }
    mgv_fit_free(&fit);
}

/* The optimum by whatever solver; not verified: nothing to compare with. */
static mgv_certificate optimum(const table *t, const char *options)
{
    mgv_fit fit;
    char text[256];
    snprintf(text, sizeof text, "%s tol=1e-7 max_iter=1000 time_limit=2", options);
    mgv_fit_start(&fit, t->X, t->y, t->n, t->d, text);
    mgv_fit_solve(&fit);
    const mgv_certificate c = fit.certificate;
    mgv_fit_free(&fit);
    return c;
}

static bool runs(const table *t, const char *options)
{
    mgv_fit fit;
    mgv_fit_start(&fit, t->X, t->y, t->n, t->d, options);
    const bool there = mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem) == MGV_OK &&
                       mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver) == MGV_OK &&
                       !fit.solver->run.ops->primal_only;
    mgv_fit_free(&fit);
    return there;
}

TEST(every_solver_ends_soon_after_its_limit)
{
    static const struct {
        const char *options;
        int classes;
        int64_t rows;
        double apart;
    } cases[] = {{"loss=hinge lambda=0.01", 2, 600, 1},
                 {"loss=logistic penalty=l1 mu=0.01", 2, 600, 1},
                 {"loss=squared lambda=0.01", 0, 600, 1},
                 {"loss=squared penalty=l1 mu=0.1", 0, 600, 1},
                 {"loss=margin", 2, 300, 12},
                 {"loss=margin", 2, 300, 1},
                 {"loss=equal penalty=l1", 0, 15, 1},
                 {"loss=hinge kernel=rbf lambda=0.01", 2, 300, 1},
                 {"loss=softmax lambda=0.01", 3, 600, 1},
                 {"loss=crammer_singer lambda=0.01", 3, 600, 1}};
    int tried = 0;
    for (size_t c = 0; c < COUNT(cases); c++) {
        table t =
            table_new(cases[c].rows, cases[c].rows < 20 ? 20 : 8, cases[c].classes, cases[c].apart);
        const mgv_certificate whole = optimum(&t, cases[c].options);
        for (int k = 0; k < mgvi_solver_count(); k++) {
            char options[256];
            snprintf(options, sizeof options, "%s tol=1e-12 solver=%s", cases[c].options,
                     mgvi_solver_at(k)->name);
            if (!runs(&t, options))
                continue;
            tried++;
            for (size_t s = 0; s < COUNT(strikes); s++)
                check_run(&t, options, strikes[s], &whole);
        }
        table_free(&t);
    }
    CHECK(tried > 40);
}

TEST(every_form_of_classes_ends_soon_after_its_limit)
{
    static const char *const forms[] = {
        "loss=hinge multiclass=ovr C=1",
        "loss=hinge multiclass=ovo C=1",
        "loss=logistic multiclass=ovr penalty=l1 mu=0.001",
        "loss=margin multiclass=joint",
        "loss=hinge multiclass=ovr kernel=rbf C=1",
        "loss=hinge multiclass=ovr solver=dual_coordinate shrink=no C=1"};
    table t = table_new(600, 6, 5, 1);
    for (size_t f = 0; f < COUNT(forms); f++)
        for (size_t s = 0; s < COUNT(strikes); s++)
            check_run(&t, forms[f], strikes[s], NULL);
    table_free(&t);
}

/* ---- after a cut ----------------------------------------------------------------------------- */

/* The state that a run leaves in its checkpoint is of a whole iteration: resumed, it takes the
 * steps of a run that nobody cut. */
TEST(what_a_cut_run_leaves_goes_on_to_the_same_bits)
{
    static const char *const solvers[] = {"dual_coordinate", "newton", "mirror_coordinate",
                                          "cg_descent"};
    table t = table_new(700, 8, 2, 1);
    for (size_t k = 0; k < COUNT(solvers); k++)
        for (size_t s = 1; s < COUNT(strikes); s += 2) {
            char options[256], file[64];
            ticking clock = {0};
            mgv_fit part, whole, rest;
            snprintf(file, sizeof file, "limits.%d", (int)getpid());
            snprintf(options, sizeof options, "loss=hinge lambda=0.001 tol=1e-9 solver=%s",
                     solvers[k]);
            mgv_fit_start(&part, t.X, t.y, t.n, t.d, options);
            CHECK_OK(part.ctx, mgv_settings_set(part.ctx, part.settings, "checkpoint", file));
            set_clock(part.ctx, &clock);
            part.settings->time_limit = strikes[s];
            mgv_fit_solve(&part);
            mgv_fit_start(&whole, t.X, t.y, t.n, t.d, options);
            mgv_fit_set(&whole, "max_iter=30");
            mgv_fit_solve(&whole);
            mgv_fit_start(&rest, t.X, t.y, t.n, t.d, options);
            mgv_fit_set(&rest, "max_iter=30");
            CHECK_OK(rest.ctx, mgv_problem_new(rest.ctx, rest.data, rest.settings, &rest.problem));
            CHECK_OK(rest.ctx, mgv_solver_new(rest.ctx, rest.problem, rest.settings, &rest.solver));
            if (access(file, F_OK) == 0) {
                CHECK_OK(rest.ctx, mgv_solver_resume(rest.ctx, rest.solver, file));
                CHECK_OK(rest.ctx, mgv_solver_run(rest.ctx, rest.solver));
                if (part.run.iterations <= 30)
                    assert_memory_equal(mgv_fit_weights(&rest), mgv_fit_weights(&whole),
                                        (size_t)whole.solver->answer.w.n * sizeof(double));
            } else {
                CHECK(part.run.iterations == 0 && limited(part.run.stop));
            }
            remove(file);
            mgv_fit_free(&part);
            mgv_fit_free(&whole);
            mgv_fit_free(&rest);
        }
    table_free(&t);
}

TEST(a_cut_run_can_be_run_again)
{
    static const char *const cases[] = {
        "loss=hinge lambda=0.01 solver=dual_coordinate", "loss=hinge lambda=0.01 solver=newton",
        "loss=squared penalty=l1 mu=0.01", "loss=hinge lambda=0.01 kernel=rbf"};
    table t = table_new(400, 8, 2, 1);
    for (size_t k = 0; k < COUNT(cases); k++)
        for (size_t s = 0; s < COUNT(strikes); s += 2) {
            ticking clock = {0};
            mgv_fit fit;
            mgv_fit_start(&fit, t.X, t.y, t.n, t.d, cases[k]);
            set_clock(fit.ctx, &clock);
            fit.settings->time_limit = strikes[s];
            mgv_fit_solve(&fit);
            fit.solver->settings.time_limit = INFINITY;
            fit.ctx->own_limit.clock = NULL;
            fit.solver->stop = MGV_STOP_NONE;
            CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
            CHECK_THAT(fit.solver->stop == MGV_STOP_CERTIFIED, "%s: %s", cases[k],
                       mgv_stop_name(fit.solver->stop));
            mgv_fit_free(&fit);
        }
    table_free(&t);
}

/* ---- selections and paths -------------------------------------------------------------------- */

static void check_selection(const table *t, const char *options, double seconds)
{
    ticking clock = {0};
    mgv_selection *selection;
    mgv_model *model;
    mgv_run_info run = {.size = sizeof run};
    mgv_fit fit;
    mgv_fit_start(&fit, t->X, t->y, t->n, t->d, options);
    set_clock(fit.ctx, &clock);
    fit.settings->time_limit = seconds;
    const mgv_status st = mgv_selection_run(fit.ctx, fit.data, fit.settings, &selection);
    if (st == MGV_E_LIMIT) { /* before there was anything to choose from */
        CHECK_LE(seconds, 1, "%s: %s", options, mgv_ctx_error(fit.ctx));
        CHECK(strstr(mgv_ctx_error(fit.ctx), "time_limit was over before"));
        check_looks(&clock, 0, seconds, options);
        mgv_fit_free(&fit);
        return;
    }
    CHECK_OK(fit.ctx, st);
    mgv_solver_describe(mgv_selection_solver(selection), &run, NULL);
    const bool spent = (double)atomic_load(&clock.looks) * TICK > seconds;
    CHECK_THAT(limited(run.stop) == spent || run.stop == MGV_STOP_CERTIFIED ||
                   run.stop == MGV_STOP_SELECTED,
               "%s, %g s: %s", options, seconds, mgv_stop_name(run.stop));
    if (spent)
        check_looks(&clock, 0, seconds, options);
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, mgv_selection_solver(selection), &model));
    mgv_metrics m = {.size = sizeof m};
    CHECK_OK(fit.ctx, mgv_model_evaluate(fit.ctx, model, fit.data, NULL, &m));
    CHECK_THAT(isfinite(m.accuracy) || isfinite(m.mse), "%s, %g s", options, seconds);
    mgv_model_free(fit.ctx, model);
    mgv_selection_free(fit.ctx, selection);
    mgv_fit_free(&fit);
}

TEST(a_selection_ends_soon_after_its_limit)
{
    static const struct {
        const char *options;
        int classes;
    } cases[] = {{"select=cv:3 loss=hinge", 2},
                 {"select=cv:3 loss=logistic penalty=l1", 2},
                 {"select=cv:3 loss=hinge C=1 solver=dual_coordinate", 2},
                 {"select=cv:3 loss=hinge kernel=rbf", 2},
                 {"select=holdout:0.3 loss=hinge", 2},
                 {"select=cv:3", 0},
                 {"select=cv:3 penalty=l1", 0},
                 {"select=cv:3 penalty=l1 debias=yes", 0},
                 {"select=cv:3 penalty=l2 one_se=yes", 0},
                 {"select=cv:3 loss=equal penalty=l1", 0},
                 {"select=cv:3 loss=hinge", 4},
                 {"select=cv:3 loss=softmax", 4},
                 {"select=holdout:0.3", 4}};
    static const double seconds[] = {0.02, 0.3, 2, 12};
    for (size_t c = 0; c < COUNT(cases); c++) {
        table t = table_new(cases[c].classes == 2 ? 300 : 240, 6, cases[c].classes, 1);
        for (size_t s = 0; s < COUNT(seconds); s++)
            check_selection(&t, cases[c].options, seconds[s]);
        table_free(&t);
    }
}

TEST(a_path_ends_soon_after_its_limit)
{
    static const char *const cases[] = {"loss=hinge", "loss=logistic penalty=l1"};
    table t = table_new(400, 12, 2, 1);
    for (size_t c = 0; c < COUNT(cases); c++)
        for (size_t s = 0; s < COUNT(strikes); s++) {
            ticking clock = {0};
            mgv_path *path;
            const mgv_solver *solver;
            mgv_fit fit;
            int64_t points = 0;
            mgv_fit_start(&fit, t.X, t.y, t.n, t.d, cases[c]);
            set_clock(fit.ctx, &clock);
            fit.settings->time_limit = strikes[s];
            CHECK_OK(fit.ctx, mgv_path_new(fit.ctx, fit.data, fit.settings, &path));
            do {
                CHECK_OK(fit.ctx, mgv_path_next(fit.ctx, path, &solver));
                points += solver != NULL;
            } while (solver && solver->stop == MGV_STOP_CERTIFIED);
            CHECK(points > 0);
            check_looks(&clock, 0, strikes[s], cases[c]);
            mgv_path_free(fit.ctx, path);
            mgv_fit_free(&fit);
        }
    table_free(&t);
}

/* max_passes is for the whole call: all lanes and strengths, all classes. */
TEST(passes_are_counted_over_all_runs_of_a_call)
{
    static const struct {
        const char *options;
        int classes;
    } cases[] = {{"select=cv:3 loss=hinge solver=dual_coordinate max_passes=40", 2},
                 {"select=none loss=hinge solver=dual_coordinate shrink=no C=100 tol=1e-9 "
                  "max_passes=60",
                  4}};
    for (size_t c = 0; c < COUNT(cases); c++) {
        table t = table_new(300, 8, cases[c].classes, 1);
        mgv_fit fit;
        mgv_fit_start(&fit, t.X, t.y, t.n, t.d, cases[c].options);
        mgv_selection *selection = NULL;
        mgv_run_info run = {.size = sizeof run};
        if (c == 0) {
            CHECK_OK(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &selection));
            mgv_solver_describe(mgv_selection_solver(selection), &run, NULL);
        } else {
            mgv_fit_solve(&fit);
            run = fit.run;
            CHECK_LE(run.passes, 1.5 * 60, "passes");
        }
        CHECK_THAT(run.stop == MGV_STOP_MAX_PASSES, "%s: %s", cases[c].options,
                   mgv_stop_name(run.stop));
        mgv_selection_free(fit.ctx, selection);
        mgv_fit_free(&fit);
        table_free(&t);
    }
}

int main(void)
{
    return RUN(every_solver_ends_soon_after_its_limit,
               every_form_of_classes_ends_soon_after_its_limit,
               what_a_cut_run_leaves_goes_on_to_the_same_bits, a_cut_run_can_be_run_again,
               a_selection_ends_soon_after_its_limit, a_path_ends_soon_after_its_limit,
               passes_are_counted_over_all_runs_of_a_call);
}
