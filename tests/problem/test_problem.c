/* test_problem.c - strengths, weights, classes, and what is refused with which sentence. */
#include "vectors.h"

#include "problem/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 12, D = 3 };

static void start(mgv_fit *fit, const char *options)
{
    double *X, *y;
    mgv_random_set(21, N, D, 0.5, &X, &y);
    y[0] = 1;
    y[1] = -1;
    mgv_fit_start(fit, X, y, N, D, options);
    free(X);
    free(y);
}

static void bind(mgv_fit *fit)
{
    CHECK_OK(fit->ctx, mgv_problem_new(fit->ctx, fit->data, fit->settings, &fit->problem));
}

TEST(C_and_lambda_are_converted)
{
    mgv_fit a, b;
    start(&a, "C=0.5");
    bind(&a);
    CHECK_NEAR(a.problem->lambda, 1 / (0.5 * N), 1e-16, "lambda");
    start(&b, "C=0.5");
    double weights[N];
    for (int i = 0; i < N; i++)
        weights[i] = 3;
    CHECK_OK(b.ctx, mgv_data_set_weights(b.ctx, b.data, weights));
    bind(&b);
    CHECK_NEAR(b.problem->lambda, 1 / (0.5 * 3 * N), 1e-16, "lambda with weights");
    CHECK_NEAR(b.problem->row.scale.values[4], 1.0 / N, 1e-16, "mean");
    CHECK(strstr(mgv_problem_formula(b.problem), "weighted mean hinge(y (x.w + b))"));
    mgv_fit_free(&a);
    mgv_fit_free(&b);
}

TEST(class_weights_are_sample_weights)
{
    mgv_fit fit;
    start(&fit, "class_weight=-1:3,+1:0.5 lambda=1");
    bind(&fit);
    double total = 0;
    for (int i = 0; i < N; i++)
        total += fit.problem->view.sign[i] > 0 ? 0.5 : 3;
    for (int i = 0; i < N; i++)
        CHECK_NEAR(fit.problem->row.scale.values[i],
                   (fit.problem->view.sign[i] > 0 ? 0.5 : 3) / total, 1e-16, "row %d", i);
    mgv_fit_free(&fit);
    start(&fit, "class_weight=balanced lambda=1");
    bind(&fit);
    double side[2] = {0, 0};
    for (int i = 0; i < N; i++)
        side[fit.problem->view.sign[i] > 0] += fit.problem->row.scale.values[i];
    CHECK_NEAR(side[0], 0.5, 1e-15, "balanced");
    CHECK_NEAR(side[1], 0.5, 1e-15, "balanced");
    mgv_fit_free(&fit);
}

TEST(refusals_say_why)
{
    static const struct {
        const char *options;
        mgv_status status;
        const char *part;
    } cases[] = {
        {"C=1 lambda=1", MGV_E_ARG, "C or lambda, not both"},
        {"C=0", MGV_E_ARG, "C is 0"},
        {"loss=rabbit", MGV_E_ARG, "no loss 'rabbit'"},
        {"penalty=rabbit", MGV_E_ARG, "no penalty 'rabbit'"},
        {"loss=margin C=1", MGV_E_ARG, "is a constraint"},
        {"loss=hinge task=regress", MGV_E_ARG, "needs classes"},
        {"lambda=0 mu=0", MGV_E_ARG, "nothing is penalised"},
        {"p=1", MGV_E_ARG, "--penalty l1"},
        {"p=2.5", MGV_E_ARG, "p is 2.5"},
        {"p=thin", MGV_E_ARG, "p is thin"},
        {"p=1.5 penalty=enet", MGV_E_ARG, "penalty enet"},
        {"p=1.5 mu=1", MGV_E_ARG, "mu has no place"},
        {"class_weight=7:1", MGV_E_ARG, "class '7'"},
        {"class_weight=1:x", MGV_E_ARG, "is 'x'"},
        {"class_weight=heavy", MGV_E_ARG, "LABEL:W"},
        {"task=regress class_weight=balanced", MGV_E_ARG, "regression"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        mgv_fit fit;
        start(&fit, cases[k].options);
        CHECK_FAILS(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem),
                    cases[k].status, cases[k].part);
        CHECK(fit.problem == NULL);
        mgv_fit_free(&fit);
    }
}

TEST(p_chooses_the_penalty)
{
    static const struct {
        const char *options, *penalty, *formula;
        double p;
    } cases[] = {
        {"loss=margin", "l2", "min 1/2 |w|^2 subject", 2},
        {"loss=margin p=2.0", "l2", "min 1/2 |w|^2 subject", 2},
        {"loss=margin p=1.5", "lp", "min 1/2 |w|_1.5^2 subject", 1.5},
        {"loss=equal p=1.5", "lp", "min 1/1.5 |w|_1.5^1.5 subject", 1.5},
        {"loss=margin penalty=lp", "l2", "min 1/2 |w|^2 subject", 2},
        {"loss=margin p=sparse", "lp", "min 1/2 |w|_", 1 + 1 / log(D)},
        {"lambda=3 p=1.2", "lp", "min 3/1.2 |w|_1.2^1.2", 1.2},
        {"penalty=entropy", "entropy", "w log(d w) over the simplex", NAN},
        {"mu=1", "l1", "|w|_1", 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        mgv_fit fit;
        start(&fit, cases[k].options);
        bind(&fit);
        const mgv_problem *p = fit.problem;
        CHECK_THAT(strcmp(p->penalty->name, cases[k].penalty) == 0, "%s: %s", cases[k].options,
                   p->penalty->name);
        CHECK_THAT(strstr(p->formula, cases[k].formula), "%s: %s", cases[k].options, p->formula);
        CHECK_THAT(p->p == cases[k].p || (isnan(p->p) && isnan(cases[k].p)), "%s: %.17g",
                   cases[k].options, p->p);
        mgv_fit_free(&fit);
    }
}

TEST(labels_decide_the_task)
{
    double X[N * D] = {0}, one[N], three[N], quantity[N];
    for (int i = 0; i < N; i++) {
        X[i * D] = i;
        one[i] = 4;
        three[i] = i % 3;
        quantity[i] = 0.25 * i;
    }
    mgv_fit fit;
    mgv_fit_start(&fit, X, one, N, D, "");
    CHECK_FAILS(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem),
                MGV_E_INPUT, "every label is '4'");
    mgv_fit_free(&fit);
    mgv_fit_start(&fit, X, three, N, D, "");
    bind(&fit);
    CHECK(fit.problem->many && strstr(fit.problem->formula, "for each of 3 classes"));
    mgv_fit_free(&fit);
    mgv_fit_start(&fit, X, quantity, N, D, "");
    bind(&fit);
    CHECK(!fit.problem->classify && strcmp(fit.problem->loss->name, "squared") == 0);
    mgv_fit_free(&fit);
    double X60[60] = {0}, counts[60];
    for (int once = 0; once < 2; once++) { /* a stray label does not turn the task over */
        for (int i = 0; i < 60; i++) {
            X60[i] = i;
            counts[i] = i == 59 && once ? 99 : i % 12;
        }
        mgv_fit_start(&fit, X60, counts, 60, 1, "");
        bind(&fit);
        CHECK(fit.problem->classify && fit.data->classes == 12 + once);
        CHECK(strstr(mgv_problem_task(fit.problem), once ? "into 13 classes (whole numbers, each "
                                                           "4.62 times on average"
                                                         : "into 12 classes"));
        mgv_fit_free(&fit);
        mgv_fit_start(&fit, X60, counts, 60, 1, "task=regress");
        bind(&fit);
        CHECK(!fit.problem->classify);
        CHECK(strstr(mgv_problem_task(fit.problem), "regression (as asked for; labels from 0 to "));
        mgv_fit_free(&fit);
    }
    mgv_fit_start(&fit, X, quantity, N, D, "");
    bind(&fit);
    CHECK(strstr(mgv_problem_task(fit.problem), "regression (labels from 0 to 2.75, few of which "
                                                "repeat, taken for a quantity; --task classify"));
    mgv_fit_free(&fit);
    mgv_fit_start(&fit, X, quantity, N, D, "");
    CHECK_OK(fit.ctx, mgv_data_set_labels(fit.ctx, fit.data, NULL));
    CHECK_FAILS(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem),
                MGV_E_INPUT, "no labels");
    mgv_fit_free(&fit);
}

/* Above a hundred: numbered from 0 or 1 without a gap and few of them alone. */
TEST(very_many_classes_are_numbered)
{
    enum { MANY = 130, ROWS = 3 * MANY };
    static const struct {
        double first, gap;
        int alone;
        bool classify;
    } cases[] = {{0, 0, 0, true},  {1, 0, 0, true}, {2, 0, 0, false},
                 {0, 1, 0, false}, {0, 0, 1, true}, {0, 0, 30, false}};
    static double X[ROWS], y[ROWS];
    for (int t = 0; t < 6; t++) {
        mgv_fit fit;
        for (int i = 0; i < ROWS; i++) {
            const int c = i >= MANY ? i % (MANY - cases[t].alone) : i;
            y[i] = cases[t].first + c + (c > 50 ? cases[t].gap : 0);
        }
        mgv_fit_start(&fit, X, y, ROWS, 1, "");
        CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
        CHECK_THAT(fit.problem->classify == cases[t].classify, "case %d", t);
        mgv_fit_free(&fit);
    }
}

TEST(solvers_say_what_a_problem_lacks)
{
    mgv_fit fit;
    start(&fit, "mu=0.1 solver=dual_coordinate");
    bind(&fit);
    CHECK(strcmp(fit.problem->penalty->name, "l1") == 0 && fit.problem->lambda == 0);
    CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                MGV_E_UNSUPPORTED, "l1");
    CHECK_OK(fit.ctx, mgv_settings_set(fit.ctx, fit.settings, "solver", "rabbit"));
    CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver), MGV_E_ARG,
                "no solver 'rabbit'");
    mgv_fit_free(&fit);
}

int main(void)
{
    return RUN(C_and_lambda_are_converted, class_weights_are_sample_weights, refusals_say_why,
               p_chooses_the_penalty, labels_decide_the_task, very_many_classes_are_numbered,
               solvers_say_what_a_problem_lacks);
}
