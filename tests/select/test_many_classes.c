/* test_many_classes.c - choosing one strength for all classes: folds are fits on their rows, votes
 * are those of the models, every form has its path, its model and its file. */
#include "choosing.h"

#include "model/model.h"
#include "solver/classes/family.h"

#include <string.h>
#include <unistd.h>

enum { N = 150, D = 6, K = MGV_CLOUDS };

static void make(mgv_fit *fit, uint64_t seed, const char *options)
{
    mgv_cloud_set(fit, seed, N, D, options);
}

/* The share misclassified by a fit of its own on the rows that lane l trains on. */
static double separate_error(const mgv_fit *fit, const mgv_selection *s, int l, const char *options,
                             const mgvi_path_point *point)
{
    double X[N * D], y[N], wrong = 0;
    char strength[100];
    int rows = 0, held = 0;
    for (int i = 0; i < N; i++)
        if (mgvi_split_trains(&s->split, i, l)) {
            memcpy(X + rows * D, fit->X + i * D, D * sizeof *X);
            y[rows++] = fit->data->labels[i];
        }
    mgv_fit own;
    mgv_model *m;
    mgv_fit_start(&own, X, y, rows, D, "task=classify");
    mgv_fit_set(&own, options);
    snprintf(strength, sizeof strength, "select=none tol=1e-5 %s=%.17g",
             isnan(point->mu) ? "lambda" : "mu", isnan(point->mu) ? point->lambda : point->mu);
    mgv_fit_set(&own, strength);
    mgv_fit_solve(&own);
    CHECK_OK(own.ctx, mgv_model_new(own.ctx, own.solver, &m));
    double *scores = malloc((size_t)(N * m->outputs) * sizeof *scores);
    CHECK_OK(own.ctx, mgv_model_scores(own.ctx, m, fit->data, scores));
    for (int i = 0; i < N; i++)
        if (!mgvi_split_trains(&s->split, i, l)) {
            const int64_t c = mgv_model_decide(m, scores + i * m->outputs);
            wrong += fit->data->class_value[c] != fit->data->labels[i];
            held++;
        }
    free(scores);
    mgv_model_free(own.ctx, m);
    mgv_fit_free(&own);
    return wrong / held;
}

/* A fold's run is loose: a row or two may lie on the other side. */
static void check_folds(const char *options)
{
    mgv_fit fit;
    make(&fit, 1, options);
    mgv_fit_set(&fit, "select=cv:3");
    mgv_selection *s = mgv_choose(&fit);
    const mgvi_path *path = mgvi_selection_path(s);
    const char *by = strstr(options, "penalty=l1") ? "mu" : "lambda";
    CHECK_THAT(path->count >= 5 && path->full == 3 && strcmp(path->by, by) == 0,
               "%s: %d points, %d runs, by %s", options, (int)path->count, (int)path->full,
               path->by);
    for (int64_t k = 1; k < path->count; k += 3)
        for (int l = 0; l < 3; l++) {
            const double error = path->errors[k * MGVI_SPLIT_LANES + l];
            const double own = separate_error(&fit, s, l, options, &path->point[k]);
            CHECK_NEAR(error, own, 2.01 / (N / 3 - 1), "%s: point %d, fold %d", options, (int)k, l);
        }
    CHECK(s->solver->stop == MGV_STOP_CERTIFIED && s->problem->classify);
    CHECK_THAT(mgvi_selection_point(s)->error < .45, "%s: %g", options,
               mgvi_selection_point(s)->error);
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
}

static const char *const forms[] = {"loss=hinge",
                                    "loss=hinge multiclass=ovo scale=std",
                                    "loss=logistic scale=rownorm",
                                    "loss=squared_hinge penalty=l1",
                                    "loss=logistic penalty=l1 multiclass=ovo",
                                    "loss=softmax",
                                    "loss=crammer_singer intercept=no",
                                    "loss=squared multiclass=ovo",
                                    "loss=hinge kernel=rbf sigma2=3",
                                    "loss=hinge kernel=rbf sigma2=3 multiclass=ovo"};
enum { FORMS = sizeof forms / sizeof *forms };

TEST(folds_are_fits_on_their_rows)
{
    for (int f = 0; f < FORMS; f++)
        check_folds(forms[f]);
}

/* Every part has its share of every class. */
TEST(parts_are_stratified)
{
    mgv_fit fit;
    make(&fit, 2, "loss=hinge select=cv:5");
    mgv_selection *s = mgv_choose(&fit);
    for (int c = 0; c < K; c++) {
        int all = 0, part[5] = {0};
        for (int i = 0; i < N; i++)
            if (fit.data->labels[i] == fit.data->class_value[c]) {
                all++;
                part[s->split.code[i]]++;
            }
        for (int l = 0; l < 5; l++)
            CHECK(part[l] == all / 5 || part[l] == all / 5 + 1);
    }
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
}

/* The chosen model is the fit at the chosen strength; the file has the path's models. */
TEST(the_model_is_that_of_the_chosen_strength)
{
    static const char *const options[] = {"loss=logistic penalty=l1 select=cv:3 one_se=yes",
                                          "loss=hinge multiclass=ovo select=holdout:0.3",
                                          "loss=softmax select=cv:3"};
    char name[] = "test_many_classes.XXXXXX";
    close(mkstemp(name));
    for (int o = 0; o < 3; o++) {
        mgv_fit fit, own;
        mgv_model *chosen, *fitted, *loaded;
        char strength[200];
        make(&fit, 3, options[o]);
        make(&own, 3, options[o]);
        mgv_selection *s = mgv_choose(&fit);
        const mgvi_path_point *p = mgvi_selection_point(s);
        const mgvi_path *path = mgvi_selection_path(s);
        snprintf(strength, sizeof strength, "select=none one_se=no %s=%.17g",
                 isnan(p->mu) ? "lambda" : "mu", isnan(p->mu) ? p->lambda : p->mu);
        mgv_fit_set(&own, strength);
        mgv_fit_solve(&own);
        CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, mgv_selection_solver(s), &chosen));
        CHECK_OK(own.ctx, mgv_model_new(own.ctx, own.solver, &fitted));
        const size_t weights = (size_t)(chosen->outputs * D) * sizeof(double);
        assert_memory_equal(chosen->coef, fitted->coef, weights);
        CHECK_OK(fit.ctx, mgv_model_save(fit.ctx, chosen, name));
        CHECK_OK(fit.ctx, mgv_model_load(fit.ctx, name, &loaded));
        CHECK(loaded->path.count == path->count && loaded->path.outputs == chosen->outputs);
        CHECK(path->outputs == chosen->outputs && loaded->path.entries > 0);
        for (int64_t k = 0; k < path->count; k++) { /* near the chosen one where it is that one */
            double *coef = malloc(weights);
            CHECK(mgvi_path_weights(path, k, chosen->outputs * D, coef));
            double apart = 0, length = 0;
            for (int64_t t = 0; k == path->chosen && t < chosen->outputs * D; t++) {
                apart += pow(coef[t] - chosen->coef[t], 2);
                length += pow(chosen->coef[t], 2);
            }
            CHECK_LE(apart, .01 * length, "%s", options[o]);
            for (int64_t t = loaded->path.first[k]; t < loaded->path.first[k + 1]; t++)
                CHECK(coef[loaded->path.index[t]] == loaded->path.value[t]);
            for (int64_t c = 0; c < chosen->outputs; c++)
                CHECK(loaded->path.intercept[k * chosen->outputs + c] ==
                      path->intercepts[k * chosen->outputs + c]);
            free(coef);
        }
        mgv_model_free(fit.ctx, loaded);
        mgv_model_free(fit.ctx, chosen);
        mgv_model_free(own.ctx, fitted);
        mgv_selection_free(fit.ctx, s);
        mgv_fit_free(&own);
        mgv_fit_free(&fit);
    }
    unlink(name);
}

TEST(threads_change_no_bit)
{
    for (int f = 0; f < FORMS; f++) {
        double coef[2][6 * N];
        double errors[2] = {0, 0};
        for (int t = 0; t < 2; t++) {
            mgv_fit fit;
            mgv_model *m;
            make(&fit, 4, forms[f]);
            mgv_fit_set(&fit, "select=cv:3 patience_points=2");
            CHECK_OK(fit.ctx, mgv_ctx_set_threads(fit.ctx, t ? 3 : 1));
            mgv_selection *s = mgv_choose(&fit);
            const mgvi_path *path = mgvi_selection_path(s);
            for (int64_t k = 0; k < path->count; k++)
                errors[t] += (double)(k + 1) * path->point[k].error;
            CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, mgv_selection_solver(s), &m));
            memcpy(coef[t], m->coef, (size_t)(m->outputs * mgvi_model_width(m)) * sizeof(double));
            CHECK(memcmp(coef[0], m->coef, (size_t)(m->outputs * mgvi_model_width(m)) * 8) == 0);
            mgv_model_free(fit.ctx, m);
            mgv_selection_free(fit.ctx, s);
            mgv_fit_free(&fit);
        }
        CHECK_THAT(errors[0] == errors[1], "%s", forms[f]);
    }
}

static int stop_at_third(void *user, const mgv_event *event)
{
    int *seen = user;
    *seen += event->kind == MGV_EVENT_TRACE;
    return *seen >= 3;
}

TEST(an_interrupt_ends_with_the_best_so_far)
{
    mgv_fit fit;
    int seen = 0;
    make(&fit, 5, "loss=hinge select=cv:4");
    mgv_ctx_on_event(fit.ctx, stop_at_third, &seen);
    mgv_selection *s = mgv_choose(&fit);
    CHECK(mgvi_selection_path(s)->count == 3 && s->solver->stop == MGV_STOP_USER);
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
}

/* A class of one row is missing from the fold that judges it, a pair of such classes may be without
 * weight: nothing breaks. */
TEST(a_class_may_be_missing_from_a_fold)
{
    static const char *const options[] = {"loss=hinge",
                                          "loss=hinge multiclass=ovo",
                                          "loss=logistic",
                                          "loss=squared_hinge intercept=no",
                                          "loss=hinge multiclass=ovo class_weight=balanced",
                                          "loss=softmax",
                                          "loss=hinge kernel=rbf sigma2=3"};
    for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
        mgv_fit fit;
        make(&fit, 6, options[o]);
        mgv_fit_set(&fit, "select=cv:3 patience_points=2");
        double y[N];
        memcpy(y, fit.data->labels, sizeof y);
        y[17] = 999;
        y[44] = 1000;
        y[99] = 1001;
        y[120] = 1002;
        CHECK_OK(fit.ctx, mgv_data_set_labels(fit.ctx, fit.data, y));
        mgv_selection *s = mgv_choose(&fit);
        CHECK_THAT(mgvi_selection_point(s)->error < .65, "%s: %g", options[o],
                   mgvi_selection_point(s)->error);
        mgv_selection_free(fit.ctx, s);
        mgv_fit_free(&fit);
    }
}

int main(void)
{
    return RUN(folds_are_fits_on_their_rows, parts_are_stratified,
               the_model_is_that_of_the_chosen_strength, threads_change_no_bit,
               an_interrupt_ends_with_the_best_so_far, a_class_may_be_missing_from_a_fold);
}
