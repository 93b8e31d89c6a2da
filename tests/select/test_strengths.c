/* test_strengths.c - paths and selections of every penalty that has a strength, strengths that are
 * given, and grids that are asked for. */
#include "vectors.h"

#include "select/selection.h"
#include "select/strength.h"
#include "select/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60, D = 6 };

static const int64_t group[D] = {0, 0, 1, 1, 2, 2};

static void make(mgv_fit *fit, const char *options)
{
    double *X, *y;
    mgv_random_set(41, N, D, 0.7, &X, &y);
    mgv_fit_start(fit, X, y, N, D, options);
    CHECK_OK(fit->ctx, mgv_data_set_groups(fit->ctx, fit->data, group));
    free(X);
    free(y);
}

static const char *const penalties[] = {
    "group", "owl", "linf", "nuclear shape=2x3", "tv1d", "tv2d shape=2x3", "l1_nonneg"};
enum { PENALTIES = sizeof penalties / sizeof *penalties };

/* At the first point nothing is left but the intercept (and a constant, which total variations do
 * not see); every point is a fit of its own, certified but for total variations. */
TEST(paths_along_mu_of_every_norm)
{
    for (int k = 0; k < PENALTIES; k++) {
        char options[200];
        mgv_fit fit;
        mgv_path *path;
        const mgv_solver *solver = NULL;
        double first = 0;
        snprintf(options, sizeof options,
                 "loss=logistic penalty=%s path_points=4 path_end=0.1 max_iter=3000 tol=1e-4",
                 penalties[k]);
        make(&fit, options);
        CHECK_OK(fit.ctx, mgv_path_new(fit.ctx, fit.data, fit.settings, &path));
        for (int t = 0; t < 4; t++) {
            CHECK_OK(fit.ctx, mgv_path_next(fit.ctx, path, &solver));
            const mgv_problem *p = solver->run.problem;
            const double *w = solver->answer.w.x;
            mgvi_arena arena;
            mgvi_penalty penalty;
            double value[2];
            mgvi_arena_init(&arena, fit.ctx);
            CHECK_OK(fit.ctx, mgvi_problem_penalty(p, &arena, &penalty));
            const mgvi_vec part = mgvi_vec_wrap((double *)(uintptr_t)w, D, MGVI_COLS);
            mgvi_penalty_value(&penalty, &part, value);
            first = t == 0 ? value[0] / p->mu : first;
            if (t == 3) /* R(w) at mu_max is 0 but for the tolerance */
                CHECK_LE(10 * first, value[0] / p->mu, "%s", options);
            CHECK_THAT(p->split.D || solver->stop == MGV_STOP_CERTIFIED, "%s, point %d: %s",
                       options, t, mgv_stop_name(solver->stop));
            mgvi_arena_free(&arena);
        }
        mgv_path_free(fit.ctx, path);
        mgv_fit_free(&fit);
    }
}

TEST(selections_of_every_norm)
{
    for (int k = 0; k < PENALTIES; k++)
        for (int held = 0; held < 2; held++) {
            char options[200];
            mgv_fit fit;
            mgv_selection *s;
            mgv_selection_info info = {.size = sizeof info};
            snprintf(options, sizeof options,
                     "loss=%s penalty=%s select=%s path_points=5 path_end=0.01 max_iter=4000",
                     held ? "squared task=regress" : "logistic", penalties[k],
                     held ? "holdout:0.3" : "cv:3");
            make(&fit, options);
            CHECK_THAT(mgv_selection_run(fit.ctx, fit.data, fit.settings, &s) == MGV_OK, "%s: %s",
                       options, mgv_ctx_error(fit.ctx));
            CHECK_OK(fit.ctx, mgv_selection_describe(s, &info));
            const mgv_problem *p = mgv_selection_problem(s);
            CHECK_THAT(strncmp(p->penalty->name, penalties[k], strlen(p->penalty->name)) == 0,
                       "%s: %s", options, p->penalty->name);
            CHECK_THAT(info.points >= 2 && info.points <= 5 && info.score > 0.1, "%s: %d points",
                       options, (int)info.points);
            CHECK_NEAR(p->mu, s->path[0].point[info.point].mu, 1e-15, "%s", options);
            mgv_selection_free(fit.ctx, s);
            mgv_fit_free(&fit);
        }
}

/* A constraint has no strength, and the sentence does not send the reader in a circle. */
TEST(constraints_have_none_to_choose)
{
    static const char *const options[] = {"loss=logistic penalty=nonneg select=cv:3",
                                          "loss=logistic penalty=box low=-1 high=1 select=cv:3"};
    for (int k = 0; k < 2; k++) {
        mgv_fit fit;
        mgv_selection *s;
        mgv_path *path;
        make(&fit, options[k]);
        CHECK_FAILS(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &s), MGV_E_ARG,
                    "a constraint without a strength");
        mgv_fit_set(&fit, "select=none");
        CHECK_FAILS(fit.ctx, mgv_path_new(fit.ctx, fit.data, fit.settings, &path), MGV_E_ARG,
                    "no strength to follow");
        mgv_fit_free(&fit);
    }
}

/* The penalty of a path in a norm is that norm's: |w|_1.5 is not turned into |w|^2. */
TEST(other_norms_stay_what_they_are)
{
    mgv_fit fit;
    mgv_selection *s;
    make(&fit, "loss=logistic p=1.5 select=cv:3");
    CHECK_OK(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &s));
    CHECK(strcmp(mgv_selection_problem(s)->penalty->name, "lp") == 0);
    CHECK(s->solver->stop == MGV_STOP_CERTIFIED);
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
}

/* ---- a strength that is given ---------------------------------------------------------------- */

TEST(a_given_strength_is_judged_as_it_is)
{
    static const char *const given[] = {
        "loss=hinge C=1", "loss=squared_hinge lambda=0.01", "loss=logistic penalty=l1 mu=0.02",
        "loss=squared task=regress C=0.5", "loss=logistic penalty=enet C=2"};
    for (int k = 0; k < 5; k++) {
        mgv_fit fit, alone;
        mgv_selection *s;
        mgv_selection_info info = {.size = sizeof info};
        make(&fit, given[k]);
        make(&alone, given[k]);
        mgv_fit_set(&fit, "select=cv:5 tol=1e-8");
        mgv_fit_set(&alone, "tol=1e-8");
        CHECK_OK(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &s));
        CHECK_OK(fit.ctx, mgv_selection_describe(s, &info));
        mgv_fit_solve(&alone);
        CHECK_THAT(strcmp(info.method, "given strength") == 0 && info.points == 1, "%s: %s",
                   given[k], info.method);
        CHECK_THAT(isfinite(info.score) && info.score_se >= 0, "%s", given[k]);
        CHECK(s->solver->stop == MGV_STOP_CERTIFIED);
        CHECK_NEAR(s->solver->answer_verdict.certificate.primal, alone.certificate.primal, 1e-7,
                   "%s", given[k]);
        CHECK_NEAR(mgvi_problem_C(s->problem), mgvi_problem_C(alone.problem), 1e-12, "%s",
                   given[k]);
        mgv_selection_free(fit.ctx, s);
        mgv_fit_free(&alone);
        mgv_fit_free(&fit);
    }
}

/* Folds have the C, hence a lambda of their own rows: the score is that of fits without them. */
TEST(folds_have_the_same_C)
{
    mgv_fit fit;
    mgv_selection *s;
    make(&fit, "loss=squared_hinge C=3 select=cv:4 intercept=no tol=1e-9");
    CHECK_OK(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &s));
    double errors[4];
    for (int l = 0; l < 4; l++) {
        double weights[N], wrong = 0, held = 0;
        mgv_fit part;
        make(&part, "loss=squared_hinge C=3 intercept=no tol=1e-3");
        for (int i = 0; i < N; i++)
            weights[i] = mgvi_split_trains(&s->split, i, l);
        CHECK_OK(part.ctx, mgv_data_set_weights(part.ctx, part.data, weights));
        mgv_fit_solve(&part);
        for (int i = 0; i < N; i++) {
            double z = 0;
            for (int j = 0; j < D; j++)
                z += part.X[i * D + j] * mgv_fit_weights(&part)[j];
            wrong += weights[i] == 0 && z * (part.data->labels[i] > 0 ? 1 : -1) <= 0;
            held += weights[i] == 0;
        }
        errors[l] = wrong / held;
        CHECK_NEAR(s->path[0].errors[l], errors[l], 1e-12, "fold %d", l);
        mgv_fit_free(&part);
    }
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
}

/* ---- grids ----------------------------------------------------------------------------------- */

TEST(grids_are_as_fine_and_as_long_as_asked)
{
    static const char *const problems[] = {
        "loss=hinge select=cv:3", "loss=logistic penalty=l1 select=cv:3",
        "loss=squared task=regress select=cv:3 penalty=l2",
        "loss=squared task=regress select=cv:3 penalty=l1",
        "loss=logistic penalty=group select=holdout:0.3 max_iter=200"};
    for (int k = 0; k < 5; k++) {
        mgv_fit fit;
        mgv_selection *s;
        make(&fit, problems[k]);
        mgv_fit_set(&fit, "path_points=21 path_end=0.04 patience_points=1000");
        CHECK_OK(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &s));
        const mgvi_path *path = mgvi_selection_path(s);
        const mgvi_path_point *first = &path->point[0], *last = &path->point[path->count - 1];
        CHECK_THAT(path->count == 21, "%s: %d points", problems[k], (int)path->count);
        const double span = first->mu > 0 ? last->mu / first->mu : last->lambda / first->lambda;
        CHECK_NEAR(span, 0.04, 1e-9, "%s", problems[k]);
        mgv_selection_free(fit.ctx, s);
        mgv_fit_free(&fit);
    }
}

/* Weights of the penalty take part in every point. */
TEST(penalty_weights_count_along_strengths)
{
    static const double weight[D] = {1, 50, 50, 50, 50, 50};
    mgv_fit fit;
    mgv_selection *s;
    make(&fit,
         "loss=logistic penalty=l1 select=cv:3 path_points=6 path_end=0.05 patience_points=100");
    CHECK_OK(fit.ctx, mgv_data_set_penalty_weights(fit.ctx, fit.data, weight));
    CHECK_OK(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &s));
    const mgvi_path *path = mgvi_selection_path(s);
    CHECK(path->point[0].nonzeros == 0);
    CHECK(path->point[5].nonzeros == 1);
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
}

int main(void)
{
    return RUN(paths_along_mu_of_every_norm, selections_of_every_norm,
               constraints_have_none_to_choose, other_norms_stay_what_they_are,
               a_given_strength_is_judged_as_it_is, folds_have_the_same_C,
               grids_are_as_fine_and_as_long_as_asked, penalty_weights_count_along_strengths);
}
