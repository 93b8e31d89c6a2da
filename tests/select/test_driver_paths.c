/* test_driver_paths.c - paths through the driver: folds are fits on their rows, chosen iterations
 * are the iterations of the full fit. */
#include "choosing.h"

#include <string.h>

enum { N = 60, D = 5 };

static void make(mgv_fit *fit, uint64_t seed, bool classes, const char *options)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    double X[N * D], y[N];
    for (int i = 0; i < N; i++) {
        y[i] = 1 + 2 * mgvi_rng_normal(&rng);
        for (int j = 0; j < D; j++) {
            X[i * D + j] = mgvi_rng_normal(&rng);
            y[i] += (j + 1) * X[i * D + j];
        }
        y[i] = classes ? (y[i] > 0 ? 1 : -1) : y[i];
    }
    mgv_fit_start(fit, X, y, N, D, options);
}

/* The error of a fit on the rows lane l trains on, made from those rows alone. */
static double separate_error(const mgv_fit *fit, const mgv_selection *s, int l, double lambda)
{
    double X[N * D], y[N], coef[D], b, sum = 0;
    char options[100];
    int rows = 0, held = 0;
    for (int i = 0; i < N; i++)
        if (mgvi_split_trains(&s->split, i, l)) {
            memcpy(X + rows * D, fit->X + i * D, D * sizeof *X);
            y[rows++] = fit->data->labels[i];
        }
    snprintf(options, sizeof options, "task=regress loss=huber penalty=l2 lambda=%.17g tol=1e-8",
             lambda);
    mgv_fit own;
    mgv_fit_start(&own, X, y, rows, D, options);
    mgv_fit_solve(&own);
    mgvi_problem_user_weights(own.problem, mgv_fit_weights(&own), coef, &b);
    for (int i = 0; i < N; i++) {
        double z = b;
        for (int j = 0; j < D; j++)
            z += fit->X[i * D + j] * coef[j];
        if (!mgvi_split_trains(&s->split, i, l)) {
            sum += pow(z - fit->data->labels[i], 2);
            held++;
        }
    }
    mgv_fit_free(&own);
    return sum / held;
}

TEST(folds_are_fits_on_their_rows)
{
    mgv_fit fit;
    make(&fit, 1, false, "task=regress loss=huber penalty=l2 select=cv:3 tol=1e-3");
    mgv_selection *s = mgv_choose(&fit);
    const mgvi_path *path = mgvi_selection_path(s);
    CHECK(strcmp(path->by, "lambda") == 0 && path->count >= 5);
    for (int64_t k = 0; k < path->count; k += 2)
        for (int l = 0; l < 3; l++) {
            const double error = path->errors[k * MGVI_SPLIT_LANES + l];
            const double own = separate_error(&fit, s, l, path->point[k].lambda);
            CHECK_NEAR(error, own, .05 * own, "point %d, fold %d", (int)k, l);
        }
    CHECK(s->solver->stop == MGV_STOP_CERTIFIED);
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
}

TEST(the_chosen_iteration_is_that_of_the_full_fit)
{
    mgv_fit fit;
    make(&fit, 2, false, "task=regress loss=equal penalty=l2 select=cv:4 max_iter=40");
    mgv_selection *s = mgv_choose(&fit);
    const mgvi_path *path = mgvi_selection_path(s);
    const mgvi_path_point *p = mgvi_selection_point(s);
    double coef[D], again[D], b;
    CHECK(strcmp(path->by, "iteration") == 0 && p->iteration > 0);
    CHECK(s->solver->stop == MGV_STOP_SELECTED && s->solver->run.iteration == p->iteration);
    CHECK(mgvi_path_weights(path, path->chosen, D, coef));
    mgvi_problem_user_weights(s->problem, s->solver->answer.w.x, again, &b);
    assert_memory_equal(coef, again, sizeof coef);
    CHECK(b == p->intercept);
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
}

TEST(classes_are_chosen_by_accuracy)
{
    static const char *const options[] = {
        "loss=hinge select=cv:4", "loss=hinge penalty=l1 select=cv:4",
        "loss=logistic select=holdout:.3", "loss=squared select=cv:4",
        "loss=hinge C=1 solver=newton select=cv:4"};
    for (int k = 0; k < 5; k++) {
        mgv_fit fit;
        make(&fit, 3, true, options[k]);
        mgv_selection *s = mgv_choose(&fit);
        mgv_selection_info info = {.size = sizeof info};
        mgv_selection_describe(s, &info);
        CHECK_THAT(info.classify && info.score > .75 && info.score <= 1, "%s: %g", options[k],
                   info.score);
        CHECK((k == 4) == (strcmp(info.by, "iteration") == 0));
        mgv_selection_free(fit.ctx, s);
        mgv_fit_free(&fit);
    }
}

/* The context is told to stop while folds run: what is there is used. */
static int stop_at_third(void *user, const mgv_event *event)
{
    int *seen = user;
    *seen += event->kind == MGV_EVENT_TRACE;
    return *seen >= 3;
}

TEST(an_interrupt_ends_with_the_best_so_far)
{
    static const char *const options[] = {"loss=hinge select=cv:4",
                                          "task=regress penalty=l1 select=cv:4",
                                          "task=regress loss=equal penalty=l2 select=cv:4"};
    for (int k = 0; k < 3; k++) {
        mgv_fit fit;
        int seen = 0;
        make(&fit, 4, k == 0, options[k]);
        mgv_ctx_on_event(fit.ctx, stop_at_third, &seen);
        mgv_selection *s = mgv_choose(&fit);
        CHECK_THAT(mgvi_selection_path(s)->count == 3, "%s: %d", options[k],
                   (int)mgvi_selection_path(s)->count);
        mgv_selection_free(fit.ctx, s);
        mgv_fit_free(&fit);
    }
}

/* On rows that no plane separates the solver's guess of the gap may be anything, far below 0 too:
 * it was believed, and the path ended after two or three iterations. */
TEST(a_wrong_guess_of_the_gap_ends_no_path)
{
    enum { ROWS = 600, COLS = 30 };
    static double X[ROWS * COLS], y[ROWS];
    for (uint64_t seed = 1; seed <= 3; seed++) {
        mgvi_rng rng = mgvi_rng_seed(seed);
        mgv_fit fit;
        for (int i = 0; i < ROWS; i++) {
            y[i] = i % 3 == 0 ? -1 : 1;
            for (int j = 0; j < COLS; j++)
                X[i * COLS + j] = mgvi_rng_uniform(&rng) - 0.5 + (j % 3 == i % 3 ? 0.1 : 0);
        }
        mgv_fit_start(&fit, X, y, ROWS, COLS,
                      "loss=margin solver=dual_coordinate "
                      "select=holdout:0.3");
        mgv_selection *s = mgv_choose(&fit);
        CHECK_THAT(mgvi_selection_path(s)->count >= 20, "%d iterations",
                   (int)mgvi_selection_path(s)->count);
        mgv_selection_free(fit.ctx, s);
        mgv_fit_free(&fit);
    }
}

static int count_words(void *user, const mgv_event *event)
{
    if (event->kind == MGV_EVENT_PROGRESS && event->text && strstr(event->text, "fold 2 of 4"))
        ++*(int *)user;
    return 0;
}

TEST(a_selection_says_where_it_is)
{
    mgv_fit fit;
    int seen = 0;
    make(&fit, 4, true, "loss=hinge select=cv:4");
    mgv_ctx_on_event(fit.ctx, count_words, &seen);
    mgv_selection *s = mgv_choose(&fit);
    CHECK(seen == mgvi_selection_path(s)->count);
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
}

int main(void)
{
    return RUN(folds_are_fits_on_their_rows, the_chosen_iteration_is_that_of_the_full_fit,
               classes_are_chosen_by_accuracy, an_interrupt_ends_with_the_best_so_far,
               a_wrong_guess_of_the_gap_ends_no_path, a_selection_says_where_it_is);
}
