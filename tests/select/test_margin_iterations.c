/* test_margin_iterations.c - the iterations of a method for the hard margin as a path: what is
 * said of every point is what a run of its own makes of the same rows, intercepts included, for two
 * classes and for the joint margin of many. */
#include "choosing.h"

#include "model/model.h"

#include <string.h>

enum { N = 60, D = 4, MOST = 40 };

/* Overlapping classes of unequal sizes, away from 0 where there are intercepts. */
static void make(mgv_fit *fit, int classes, const char *options)
{
    mgvi_rng rng = mgvi_rng_seed(9);
    const double centre = strstr(options, "intercept=no") ? 0 : 3;
    double X[N * D], y[N];
    for (int i = 0; i < N; i++) {
        const int c = i % 5 ? i % classes : 0;
        y[i] = c;
        for (int j = 0; j < D; j++)
            X[i * D + j] = centre + (j == c ? 1.5 : 0) + 0.7 * mgvi_rng_normal(&rng);
    }
    mgv_fit_start(fit, X, y, N, D, "task=classify loss=margin");
    mgv_fit_set(fit, options);
}

/* The share misclassified, of the rows lane l does not train on, after so many iterations. */
static double separate_error(const mgv_fit *fit, const mgv_selection *s, int l, const char *options,
                             int64_t iteration)
{
    double X[N * D], y[N], scores[N * 3], wrong = 0;
    char steps[64];
    int rows = 0, held = 0;
    mgv_fit own;
    mgv_model *m;
    for (int i = 0; i < N; i++)
        if (mgvi_split_trains(&s->split, i, l)) {
            memcpy(X + rows * D, fit->X + i * D, D * sizeof *X);
            y[rows++] = fit->data->labels[i];
        }
    mgv_fit_start(&own, X, y, rows, D, "task=classify loss=margin");
    mgv_fit_set(&own, options);
    snprintf(steps, sizeof steps, "select=last tol=0 max_iter=%d", (int)iteration);
    mgv_fit_set(&own, steps);
    mgv_fit_solve(&own);
    CHECK(own.run.iterations == iteration);
    CHECK_OK(own.ctx, mgv_model_new(own.ctx, own.solver, &m));
    CHECK_OK(own.ctx, mgv_model_scores(own.ctx, m, fit->data, scores));
    for (int i = 0; i < N; i++)
        if (!mgvi_split_trains(&s->split, i, l)) {
            const int64_t c = mgv_model_decide(m, scores + i * m->outputs);
            wrong += own.data->class_value[c] != fit->data->labels[i];
            held++;
        }
    mgv_model_free(own.ctx, m);
    mgv_fit_free(&own);
    return wrong / held;
}

static void check_path(int classes, const char *options, const char *rule)
{
    mgv_fit fit;
    make(&fit, classes, options);
    char more[96];
    snprintf(more, sizeof more, "%s max_iter=%d patience_iterations=1000 tol=0", rule, MOST);
    mgv_fit_set(&fit, more);
    mgv_selection *s = mgv_choose(&fit);
    const mgvi_path *path = mgvi_selection_path(s);
    double least = INFINITY, most = 0;
    CHECK_THAT(strcmp(path->by, "iteration") == 0 && path->count == MOST, "%s %s: %d points",
               options, rule, (int)path->count);
    for (int64_t k = 0; k < path->count; k += 3) {
        for (int l = 0; l < path->full; l++) {
            const double error = path->errors[k * MGVI_SPLIT_LANES + l];
            const double own = separate_error(&fit, s, l, options, path->point[k].iteration);
            CHECK_NEAR(error, own, 1e-12, "%d classes, %s %s: point %d, fold %d", classes, options,
                       rule, (int)k, l);
        }
        least = fmin(least, path->point[k].error);
        most = fmax(most, path->point[k].error);
    }
    CHECK_THAT(least < most || strstr(rule, "holdout"), "%s %s: every point is %g", options, rule,
               most);
    CHECK(s->solver->stop == MGV_STOP_SELECTED);
    CHECK(s->solver->run.iteration == mgvi_selection_point(s)->iteration);
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
}

TEST(points_are_runs_of_their_own)
{
    static const char *const options[] = {
        "solver=momentum_margin large_steps=no",
        "solver=momentum_margin large_steps=no intercept=no",
        "solver=batch_perceptron perceptron_form=projected",
        "solver=normalized_gd theta_schedule=sqrt intercept=no",
        "solver=momentum_margin large_steps=no intercept=no kernel=rbf sigma2=2",
        "solver=batch_perceptron intercept=no kernel=rbf sigma2=2",
    };
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        char joint[128];
        snprintf(joint, sizeof joint, "multiclass=joint %s", options[k]);
        check_path(2, options[k], "select=cv:3");
        check_path(3, joint, "select=cv:3");
        check_path(3, joint, "select=holdout:0.4");
    }
}

/* A class without weight, and rows without, are nobody's rivals. */
TEST(examples_without_weight_are_not_there)
{
    mgv_fit fit;
    make(&fit, 3, "solver=momentum_margin multiclass=joint intercept=no class_weight=2:0");
    mgv_fit_set(&fit, "select=holdout:0.4 max_iter=10");
    mgv_selection *s = mgv_choose(&fit);
    CHECK(s->e[0] == 1);
    for (int64_t i = 0; i < N; i++)
        CHECK_THAT(s->e[i] == (fit.data->labels[i] != 2), "row %d", (int)i);
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
}

/* The last iterate, as it is. */
TEST(the_last_iterate_of_the_joint_margin)
{
    mgv_fit fit, steps;
    make(&fit, 3, "solver=normalized_gd multiclass=joint intercept=no");
    mgv_fit_set(&fit, "select=last max_iter=15");
    mgv_selection *s = mgv_choose(&fit);
    CHECK(mgvi_selection_point(s)->iteration == 15);
    make(&steps, 3, "solver=normalized_gd multiclass=joint intercept=no");
    CHECK_OK(steps.ctx, mgv_problem_new(steps.ctx, steps.data, steps.settings, &steps.problem));
    CHECK_OK(steps.ctx, mgv_solver_new(steps.ctx, steps.problem, steps.settings, &steps.solver));
    for (int t = 0; t < 15; t++)
        CHECK_OK(steps.ctx, mgvi_driver_step(steps.solver));
    mgvi_run *run = &steps.solver->run;
    const mgvi_vec *w = run->ops->expose(run).w;
    assert_memory_equal(w->x, s->solver->answer.w.x, (size_t)w->n * sizeof *w->x);
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
    mgv_fit_free(&steps);
}

int main(void)
{
    return RUN(points_are_runs_of_their_own, examples_without_weight_are_not_there,
               the_last_iterate_of_the_joint_margin);
}
