/* items_mistakes.c - figures of Emirahmetoglu et al., Raj and Bach, and Ji, Srebro, Telgarsky. */
#include "study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SMOOTHING                                                                                  \
    "I. Emirahmetoglu, J. Hajewski, S. Oliveira, D. Stewart: A smoothing algorithm for l1 "        \
    "support "                                                                                     \
    "vector machines"
#define DUALITY                                                                                    \
    "A. Raj, F. Bach: Explicit regularization of stochastic gradient methods through duality"
#define MOMENTUM "Z. Ji, N. Srebro, M. Telgarsky: Fast margin maximization via dual acceleration"

/* ---- the mean hinge over one weight -------------------------------------------------------------- */

static void make_mean_hinge(study *s)
{
    enum { STEPS = 200 };
    mgv_ctx *ctx = s->c->ctx;
    study_set set;
    mgv_settings *settings = NULL;
    mgv_problem *problem = NULL;
    double value[STEPS + 1] = {0}, largest = 0;
    if (!study_generate(s, &set, "line", "seed=1", false, false))
        return;
    study_chart *chart = study_new_chart(s, "Mean hinge of 200 points", "w", "mean hinge", "");
    study_curve *curve = study_new_curve(s, chart, "mean of (1 - y x w)+");
    bool done = study_ok(s, mgv_settings_new(ctx, &settings)) &&
                study_ok(s, mgv_settings_set(ctx, settings, "lambda", "1e-300")) &&
                study_ok(s, mgv_settings_set(ctx, settings, "intercept", "no")) &&
                study_ok(s, mgv_problem_new(ctx, set.data, settings, &problem));
    for (int k = 0; k <= STEPS && done; k++) {
        const double w = 10. * k / STEPS, none = 0;
        mgv_certificate c = {.size = sizeof c};
        done = study_ok(s, mgv_problem_certify(ctx, problem, &w, &none, NULL, &c));
        value[k] = c.primal;
        study_add(s, curve, w, value[k]);
    }
    mgv_problem_free(ctx, problem);
    mgv_settings_free(ctx, settings);
    study_free_set(s, &set);
    for (int k = 1; k < STEPS; k++)
        largest = fmax(largest, value[k + 1] - 2 * value[k] + value[k - 1]);
    const double all = (value[STEPS] - value[STEPS - 1]) - (value[1] - value[0]);
    study_find(s, largest < 0.1 * all ? MGV_MARK_GOOD : MGV_MARK_BAD,
               "of the change of the slope over the whole range no step of 0.05 has more than %.1f "
               "%%, although the function is a broken line of 200 pieces.",
               100 * largest / all);
}

/* ---- mistakes of perceptrons ----------------------------------------------------------------------- */

typedef struct mistakes {
    mgv_data *train, *test;
    study_curve *on_train, *on_test;
} mistakes;

static void count_mistakes(study *s, void *user, const mgv_iterate *at)
{
    const mistakes *m = user;
    const double passes = at->passes > 0 ? at->passes : (double)at->iteration;
    study_add(s, m->on_train, passes, study_iterate_error(s, at, m->train));
    study_add(s, m->on_test, passes, study_iterate_error(s, at, m->test));
}

typedef struct contest {
    const char *set, *more; /* options of every method */
    int first;              /* of the methods: the perceptron is for p = 2 alone */
} contest;

static void run_contest(study *s, const contest *c)
{
    static const char *const names[] = {
        "perceptron", "stochastic mirror descent (10)", "dual coordinate ascent, Algorithm 1",
        "accelerated, Algorithm 2", "margrave: exact steps, shrinking"};
    static const char *const options[] = {"solver=perceptron", "preset=raj-bach-mirror-sgd",
                                          "preset=raj-bach-alg1", "preset=raj-bach-alg2",
                                          "solver=mirror_coordinate"};
    enum { METHODS = 5 };
    double train[METHODS] = {0}, test[METHODS] = {0};
    study_set set;
    if (!study_generate(s, &set, c->set, "seed=1", true, false))
        return;
    study_chart *on_train = study_new_chart(s, "Mistakes on training rows", "passes", "share", "");
    study_chart *on_test = study_new_chart(s, "Mistakes on test rows", "passes", "share", "");
    for (int k = c->first; k < METHODS && study_goes_on(s); k++) {
        char all[300];
        mistakes m = {.train = set.data, .test = set.test};
        m.on_train = study_new_curve(s, on_train, names[k]);
        m.on_test = study_new_curve(s, on_test, names[k]);
        snprintf(all, sizeof all, "loss=margin intercept=no %s %s tol=0 max_iter=20", options[k],
                 c->more);
        study_run run = {
            .name = names[k], .options = all, .watch = count_mistakes, .user = &m, .every = true};
        if (study_solve(s, set.data, &run))
            mgv_model_free(s->c->ctx, run.model);
        double sum = 0; /* of the first ten passes */
        for (int64_t i = 0; m.on_train && i < m.on_train->count && m.on_train->x[i] < 10.5; i++)
            sum += m.on_train->y[i];
        train[k] = sum;
        test[k] = study_last(m.on_test);
    }
    study_free_set(s, &set);
    const bool first =
        train[3] <= train[2] && train[3] <= train[1] && (c->first > 0 || train[3] <= train[0]);
    const bool held = test[3] <= test[1] + 0.01 && (c->first > 0 || test[3] <= test[0] + 0.01);
    study_find(s,
               first && held   ? MGV_MARK_GOOD
               : first || held ? MGV_MARK_HALF
                               : MGV_MARK_BAD,
               "mistakes on training rows, added up over the first ten passes: %.2f accelerated, "
               "%.2f Algorithm 1, %.2f mirror descent%s%.2f; at the end on test rows %.3f, %.3f, "
               "%.3f%s%.3f. One point a pass: the paper's first pass is not shown.",
               train[3], train[2], train[1],
               c->first ? ", with exact steps and shrinking " : ", perceptron ",
               c->first ? train[4] : train[0], test[3], test[2], test[1],
               c->first ? " and " : " and ", c->first ? test[4] : test[0]);
}

static void make_perceptrons(study *s) { run_contest(s, &(contest){"halfspace", "", 0}); }
static void make_sparse_perceptrons(study *s)
{
    run_contest(s, &(contest){"sparse_halfspace", "p=sparse", 1});
}

/* ---- margins along the iterations -------------------------------------------------------------------- */

static void measure_margin(study *s, void *user, const mgv_iterate *at)
{
    mgv_certificate c = {.size = sizeof c};
    if (study_ok(s, mgv_iterate_certify(s->c->ctx, at, &c, NULL)))
        study_add(s, user, (double)at->iteration, c.margin);
}

static void make_margins(study *s)
{
    static const char *const names[] = {"momentum, Algorithm 1",
                                        "normalized gradient descent, theta = 1",
                                        "normalized gradient descent, 1/sqrt t",
                                        "gradient descent",
                                        "batch perceptron",
                                        "margrave: momentum with large steps"};
    static const char *const options[] = {"preset=ji-alg1",
                                          "preset=normalised-gd",
                                          "preset=normalised-gd-sqrt",
                                          "preset=gd-exponential",
                                          "preset=batch-perceptron-projected",
                                          "loss=margin intercept=no solver=momentum_margin"};
    enum { METHODS = 6, OWN = METHODS - 1 };
    double last[METHODS] = {0};
    study_set set;
    study_run best = {.name = "the best margin", .options = "loss=margin intercept=no"};
    const bool real = study_read(s, &set, "train-images-idx3-ubyte.gz", "classes=0,1");
    if (!real && !study_generate(s, &set, "halfspace", "rows=300 columns=600 seed=1", false, false))
        return;
    study_chart *chart = study_new_chart(s, "Margin of the iterates", "iteration t", "margin", "x");
    bool done = study_solve(s, set.data, &best);
    for (int k = 0; k < METHODS && done; k++) {
        char all[200];
        study_curve *curve = study_new_curve(s, chart, names[k]);
        snprintf(all, sizeof all, "%s tol=0 max_iter=%d", options[k], real ? 500 : 2000);
        study_run run = {.name = names[k], .options = all, .watch = measure_margin, .user = curve};
        done = study_solve(s, set.data, &run);
        mgv_model_free(s->c->ctx, run.model);
        last[k] = study_last(curve) / best.certificate.margin;
    }
    mgv_model_free(s->c->ctx, best.model);
    study_free_set(s, &set);
    bool first = true;
    for (int k = 1; k < OWN; k++)
        first = first && last[0] > last[k];
    study_find(
        s,
        first && real ? MGV_MARK_GOOD
        : first       ? MGV_MARK_HALF
                      : MGV_MARK_BAD,
        "at the end momentum has %.3f of the best margin, normalized gradient descent %.3f and "
        "%.3f (1/sqrt t), gradient descent %.3f, the batch perceptron %.3f, momentum with "
        "large steps %.3f. %s",
        last[0], last[1], last[2], last[3], last[4], last[OWN],
        real ? "On MNIST's 0 and 1, 500 iterations."
             : "On generated rows that a plane separates, 2,000 iterations: the paper has "
               "MNIST's 0 and 1, and so has this item where MARGRAVE_DATA is their folder.");
}

const study_item study_mistake_items[] = {
    {"emirahmetoglu-1", SMOOTHING, "Figure 1",
     "the mean hinge of 200 points on a line, a broken line, usually appears to be very smooth.",
     make_mean_hinge},
    {"raj-bach-1", DUALITY, "Figure 1",
     "accelerated dual coordinate ascent makes fewer mistakes in training than the primal methods "
     "and "
     "the perceptron, and gains on test rows, too (p = 2).",
     make_perceptrons},
    {"raj-bach-2", DUALITY, "Figure 2", "the same for the sparse perceptron, p = 1 + 1/log d.",
     make_sparse_perceptrons},
    {"ji-1", MOMENTUM, "Figure 1",
     "the momentum method attains larger margins than normalized gradient descent, gradient "
     "descent "
     "and the batch perceptron.",
     make_margins},
    {NULL, NULL, NULL, NULL, NULL}};
