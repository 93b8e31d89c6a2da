/* test_iterates.c - iterates are shown as they are, and whether anybody looks changes nothing. */
#include "vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 60, COLS = 7, CLASSES = 3, LAST = 20 };

typedef struct table {
    double *X, *y;
} table;

/* Two classes with noise; `classes` > 2: clouds. */
static table make(int classes)
{
    table t;
    if (classes == 2) {
        mgv_random_set(5, ROWS, COLS, 0.3, &t.X, &t.y);
        return t;
    }
    t.X = malloc(ROWS * COLS * sizeof *t.X);
    t.y = malloc(ROWS * sizeof *t.y);
    mgv_clouds(t.X, t.y, ROWS, COLS, classes);
    return t;
}

static void drop(table t)
{
    free(t.X);
    free(t.y);
}

/* What a callback that asks everything has seen. */
typedef struct witness {
    mgv_ctx *ctx;
    mgv_data *data;
    int64_t seen, last;
    double *weights; /* of the last */
    int64_t count;
    double primal, dual, margin, margin_upper;
    int stop_at; /* 0: never */
    int every;
} witness;

static int look(void *user, const mgv_iterate *at)
{
    witness *w = user;
    mgv_certificate c = {.size = sizeof c};
    mgv_metrics m = {.size = sizeof m};
    mgv_model *model;
    double score;
    /* or another solver has taken over */
    CHECK_THAT(at->iteration == w->last + 1 || at->iteration == 1 || w->every > 1, "iteration %d",
               (int)at->iteration);
    CHECK_OK(w->ctx, mgv_iterate_certify(w->ctx, at, &c, &score));
    CHECK_OK(w->ctx, mgv_iterate_model(w->ctx, at, &model));
    CHECK_OK(w->ctx, mgv_model_evaluate(w->ctx, model, w->data, NULL, &m));
    CHECK_NEAR(isnan(m.accuracy) ? m.mse : m.accuracy, score, 1e-9 * (1 + fabs(score)), "score");
    mgv_model_free(w->ctx, model);
    CHECK_LE(c.dual, c.primal, "%d", (int)at->iteration);
    w->seen++;
    w->last = at->iteration;
    w->count = at->weight_count;
    w->weights = realloc(w->weights, (size_t)w->count * sizeof *w->weights);
    memcpy(w->weights, at->weights, (size_t)w->count * sizeof *w->weights);
    w->primal = c.primal;
    w->dual = c.dual;
    w->margin = c.margin;
    w->margin_upper = c.margin_upper;
    return w->stop_at && at->iteration >= w->stop_at;
}

static void fit_watched(mgv_fit *fit, table t, const char *options, witness *w)
{
    mgv_fit_start(fit, t.X, t.y, ROWS, COLS, options);
    if (w) {
        w->ctx = fit->ctx;
        w->data = fit->data;
        CHECK_OK(fit->ctx, mgv_ctx_on_iterate(fit->ctx, 1, look, w));
    }
    mgv_fit_solve(fit);
}

static const struct {
    int classes;
    const char *options;
} cases[] = {
    {2, "loss=hinge C=1 solver=dual_coordinate"},
    {2, "loss=hinge C=1 solver=newton"},
    {2, "loss=hinge C=1 solver=smsvm"},
    {2, "loss=logistic mu=0.02 solver=proximal_newton"},
    {2, "loss=logistic C=1 solver=cg_descent scale=std max_iter=200"},
    {2, "loss=hinge C=1 kernel=rbf"},
    {2, "loss=margin intercept=no kernel=rbf sigma2=0.1 solver=momentum_margin max_iter=60"},
    {2, "loss=margin intercept=no kernel=rbf sigma2=0.1 solver=dual_diagonal max_iter=60"},
    {2, "loss=squared task=regress mu=0.05 solver=primal_dual max_iter=300"},
    {2, "loss=squared task=regress lambda=0.05 solver=least_squares"},
    {CLASSES, "loss=softmax C=1"},
    {CLASSES, "loss=crammer_singer C=1"},
    {CLASSES, "loss=margin multiclass=joint solver=momentum_margin max_iter=50"},
};

TEST(nobody_sees_that_somebody_looks)
{
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const table t = make(cases[k].classes);
        witness w = {.seen = 0};
        mgv_fit alone, watched;
        fit_watched(&alone, t, cases[k].options, NULL);
        fit_watched(&watched, t, cases[k].options, &w);
        const double *a, *b;
        int64_t m, n;
        CHECK_OK(alone.ctx, mgv_solver_weights(alone.solver, &a, &m));
        CHECK_OK(watched.ctx, mgv_solver_weights(watched.solver, &b, &n));
        CHECK_THAT(w.seen >= watched.run.iterations && w.last == watched.run.iterations,
                   "%s: %d seen, the last is %d of %d", cases[k].options, (int)w.seen, (int)w.last,
                   (int)watched.run.iterations);
        CHECK_THAT(m == n && memcmp(a, b, (size_t)n * sizeof *a) == 0, "%s: weights",
                   cases[k].options);
        CHECK_THAT(alone.run.passes == watched.run.passes, "%s: %.17g and %.17g passes",
                   cases[k].options, alone.run.passes, watched.run.passes);
        CHECK_THAT(alone.certificate.dual == watched.certificate.dual, "%s: dual value",
                   cases[k].options);
        free(w.weights);
        mgv_fit_free(&alone);
        mgv_fit_free(&watched);
        drop(t);
    }
}

/* `select last` has the last iterate for its answer. */
TEST(the_last_one_shown_is_the_last_iterate)
{
    const table t = make(2);
    witness w = {.every = 4};
    mgv_fit fit;
    mgv_selection *selection;
    const double *answer;
    int64_t n;
    mgv_fit_start(&fit, t.X, t.y, ROWS, COLS,
                  "task=regress loss=equal penalty=l1 intercept=no solver=primal_dual select=last "
                  "max_iter=20");
    w.ctx = fit.ctx;
    w.data = fit.data;
    CHECK_OK(fit.ctx, mgv_ctx_on_iterate(fit.ctx, w.every, look, &w));
    CHECK_OK(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &selection));
    CHECK_OK(fit.ctx, mgv_solver_weights(mgv_selection_solver(selection), &answer, &n));
    CHECK_THAT(w.seen == LAST / 4 && w.last == LAST, "%d seen, %d", (int)w.seen, (int)w.last);
    CHECK_THAT(n == w.count && memcmp(answer, w.weights, (size_t)n * sizeof *answer) == 0,
               "the last");
    free(w.weights);
    mgv_selection_free(fit.ctx, selection);
    mgv_fit_free(&fit);
    drop(t);
}

TEST(a_callback_can_end_the_run)
{
    const table t = make(2);
    witness w = {.stop_at = 7};
    mgv_fit fit;
    fit_watched(&fit, t, "loss=hinge C=1 solver=dual_coordinate tol=1e-12", &w);
    CHECK_THAT(fit.run.stop == MGV_STOP_USER && w.last == 7 && fit.run.iterations == 7,
               "stop %d after %d", (int)fit.run.stop, (int)w.last);
    free(w.weights);
    mgv_fit_free(&fit);
    drop(t);
}

/* ---- from a pair ----------------------------------------------------------------------------- */

typedef struct measured {
    mgv_ctx *ctx;
    const mgv_model *from;
    const double *optimum;
    bool ridge;
    double last;
} measured;

/* Of 1/2 |w|^2 the divergence is 1/2 |w - w*|^2 where -A'u* = w*. */
static int measure(void *user, const mgv_iterate *at)
{
    measured *m = user;
    double half_square = 0;
    CHECK_OK(m->ctx, mgv_iterate_divergence(m->ctx, at, m->from, &m->last));
    CHECK_LE(-1e-9, m->last, "a divergence is not negative");
    for (int64_t j = 0; j < COLS; j++)
        half_square += (at->weights[j] - m->optimum[j]) * (at->weights[j] - m->optimum[j]) / 2;
    if (m->ridge)
        CHECK_NEAR(m->last, half_square, 1e-7 * (1 + half_square), "%d", (int)at->iteration);
    return 0;
}

TEST(divergences_are_those_of_the_penalty)
{
    static const char *const exact[] = {"loss=logistic lambda=1 tol=1e-12 penalty=l2",
                                        "loss=logistic mu=0.02 tol=1e-12 penalty=l1"};
    static const char *const watched[] = {
        "loss=logistic lambda=1 solver=dual_coordinate penalty=l2 tol=1e-9",
        "loss=logistic mu=0.02 solver=proximal_newton penalty=l1"};
    const table t = make(2);
    for (int k = 0; k < 2; k++) {
        mgv_fit best, fit;
        mgv_model *made, *model;
        mgv_fit_start(&best, t.X, t.y, ROWS, COLS, exact[k]);
        mgv_fit_solve(&best);
        CHECK_OK(best.ctx, mgv_model_new(best.ctx, best.solver, &made));
        CHECK_OK(best.ctx, mgv_model_keep_pair(best.ctx, made, best.solver));
        CHECK_OK(best.ctx, mgv_model_save(best.ctx, made, "pair.mgm"));
        CHECK_OK(best.ctx, mgv_model_load(best.ctx, "pair.mgm", &model));
        mgv_fit_start(&fit, t.X, t.y, ROWS, COLS, watched[k]);
        measured m = {fit.ctx, model, mgv_fit_weights(&best), k == 0, NAN};
        CHECK_OK(fit.ctx, mgv_ctx_on_iterate(fit.ctx, 1, measure, &m));
        mgv_fit_solve(&fit);
        CHECK_THAT(m.last >= -1e-9 && m.last < 1e-2, "%g at the end", m.last);
        mgv_model_free(best.ctx, made);
        mgv_model_free(best.ctx, model);
        mgv_fit_free(&fit);
        mgv_fit_free(&best);
    }
    remove("pair.mgm");
    drop(t);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static mgv_iterate kept;

static int keep(void *user, const mgv_iterate *at)
{
    (void)user;
    kept = *at;
    return 0;
}

TEST(an_iterate_is_there_during_its_callback)
{
    const table t = make(2);
    mgv_fit fit;
    mgv_certificate c = {.size = sizeof c};
    mgv_model *model;
    double d;
    mgv_fit_start(&fit, t.X, t.y, ROWS, COLS, "loss=hinge C=1 solver=dual_coordinate");
    CHECK_FAILS(fit.ctx, mgv_ctx_on_iterate(fit.ctx, 0, keep, NULL), MGV_E_ARG, "every 0");
    CHECK_OK(fit.ctx, mgv_ctx_on_iterate(fit.ctx, 1, keep, NULL));
    mgv_fit_solve(&fit);
    CHECK_FAILS(fit.ctx, mgv_iterate_certify(fit.ctx, &kept, &c, NULL), MGV_E_ARG, "gone");
    CHECK_FAILS(fit.ctx, mgv_iterate_model(fit.ctx, &kept, &model), MGV_E_ARG, "gone");
    CHECK_THAT(model == NULL, "no model");
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &model));
    CHECK_FAILS(fit.ctx, mgv_iterate_divergence(fit.ctx, &kept, model, &d), MGV_E_ARG, "gone");
    CHECK_FAILS(fit.ctx, mgv_iterate_certify(fit.ctx, NULL, &c, NULL), MGV_E_ARG,
                "iterate is NULL");
    mgv_model_free(fit.ctx, model);
    mgv_fit_free(&fit);
    drop(t);
}

TEST(many_runs_have_no_iterates_of_one)
{
    const table t = make(CLASSES);
    mgv_fit fit;
    mgv_selection *selection;
    mgv_fit_start(&fit, t.X, t.y, ROWS, COLS, "loss=hinge C=1 multiclass=ovr");
    CHECK_OK(fit.ctx, mgv_ctx_on_iterate(fit.ctx, 1, keep, NULL));
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_OK(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver));
    CHECK_FAILS(fit.ctx, mgv_solver_run(fit.ctx, fit.solver), MGV_E_UNSUPPORTED, "one run (got 3");
    mgv_model *model;
    CHECK_OK(fit.ctx, mgv_ctx_on_iterate(fit.ctx, 1, NULL, NULL));
    CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &model));
    CHECK_FAILS(fit.ctx, mgv_model_keep_pair(fit.ctx, model, fit.solver), MGV_E_UNSUPPORTED,
                "many classes");
    CHECK_OK(fit.ctx, mgv_ctx_on_iterate(fit.ctx, 1, keep, NULL));
    CHECK_OK(fit.ctx, mgv_settings_set(fit.ctx, fit.settings, "select", "cv:3"));
    CHECK_FAILS(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &selection),
                MGV_E_UNSUPPORTED, "select");
    mgv_model_free(fit.ctx, model);
    mgv_fit_free(&fit);
    drop(t);
}

int main(void)
{
    return RUN(nobody_sees_that_somebody_looks, the_last_one_shown_is_the_last_iterate,
               a_callback_can_end_the_run, divergences_are_those_of_the_penalty,
               an_iterate_is_there_during_its_callback, many_runs_have_no_iterates_of_one);
}
