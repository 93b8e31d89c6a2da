/* test_family_save.c - checkpoints of many classes: a family broken off anywhere and continued, on
 * other threads, ends in the bits of an unbroken one; damaged files are refused. */
#include "vectors.h"

#include "base/rng.h"
#include "model/model.h"
#include "solver/classes/family.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 120, D = 5, K = 4 };

static void make(mgv_fit *fit, const char *options, int threads)
{
    mgvi_rng rng = mgvi_rng_seed(8);
    double X[N * D], y[N];
    for (int i = 0; i < N; i++) {
        y[i] = 3 * (i % K) - 4;
        for (int j = 0; j < D; j++)
            X[i * D + j] = mgvi_rng_normal(&rng) + cos((i % K) * (j + 1.3));
    }
    mgv_fit_start(fit, X, y, N, D, "task=classify tol=1e-6");
    mgv_fit_set(fit, options);
    CHECK_OK(fit->ctx, mgv_ctx_set_threads(fit->ctx, threads));
}

/* A whole run continues the file, if any. */
static void solve(mgv_fit *fit, const char *resume)
{
    CHECK_OK(fit->ctx, mgv_problem_new(fit->ctx, fit->data, fit->settings, &fit->problem));
    CHECK_OK(fit->ctx, mgv_solver_new(fit->ctx, fit->problem, fit->settings, &fit->solver));
    if (resume)
        CHECK_OK(fit->ctx, mgv_solver_resume(fit->ctx, fit->solver, resume));
    CHECK_OK(fit->ctx, mgv_solver_run(fit->ctx, fit->solver));
    fit->run.size = sizeof fit->run;
    fit->certificate.size = sizeof fit->certificate;
    mgv_solver_describe(fit->solver, &fit->run, &fit->certificate);
}

static void check_same(const mgv_fit *a, const mgv_fit *b, const char *what)
{
    mgv_model *first, *second;
    CHECK_OK(a->ctx, mgv_model_new(a->ctx, a->solver, &first));
    CHECK_OK(b->ctx, mgv_model_new(b->ctx, b->solver, &second));
    CHECK(first->outputs == second->outputs && first->support == second->support);
    const size_t size = (size_t)(first->outputs * mgvi_model_width(first)) * sizeof(double);
    CHECK_THAT(memcmp(first->coef, second->coef, size) == 0, "%s: weights", what);
    CHECK_THAT(
        memcmp(first->intercept, second->intercept, (size_t)first->outputs * sizeof(double)) == 0,
        "%s: intercepts", what);
    CHECK_THAT(a->run.iterations == b->run.iterations, "%s: %d and %d iterations", what,
               (int)a->run.iterations, (int)b->run.iterations);
    CHECK(a->run.stop == b->run.stop && a->certificate.primal == b->certificate.primal);
    mgv_model_free(a->ctx, first);
    mgv_model_free(b->ctx, second);
}

static const char *const forms[] = {
    "loss=hinge C=1 solver=dual_coordinate",
    "loss=hinge C=1 intercept=no",
    "loss=squared_hinge C=1 multiclass=ovo",
    "loss=hinge C=10 multiclass=ovo intercept=no",
    "loss=logistic C=1",
    "loss=hinge penalty=l1 mu=0.01",
    "loss=hinge C=1 kernel=rbf sigma2=3",
    "loss=hinge C=1 kernel=rbf sigma2=3 multiclass=ovo",
    "loss=margin kernel=rbf sigma2=0.5",
    "loss=softmax C=1",
    "loss=crammer_singer C=1 intercept=no",
    "loss=margin multiclass=joint intercept=no kernel=rbf sigma2=.5"};
enum { FORMS = sizeof forms / sizeof *forms };

/* Broken off by a budget of iterations, one after the other. */
TEST(a_budget_may_be_raised_again_and_again)
{
    char name[] = "test_family_save.XXXXXX", options[200];
    close(mkstemp(name));
    for (int f = 0; f < FORMS; f++) {
        mgv_fit whole;
        make(&whole, forms[f], 1);
        solve(&whole, NULL);
        CHECK_THAT(whole.run.stop == MGV_STOP_CERTIFIED, "%s", forms[f]);
        for (int sitting = 0, cut = 1; sitting < 3; sitting++, cut *= 4) {
            mgv_fit part;
            make(&part, forms[f], 1 + sitting);
            snprintf(options, sizeof options, "checkpoint=%s max_iter=%d", name,
                     sitting == 2 ? 1000000 : cut);
            mgv_fit_set(&part, options);
            solve(&part, sitting ? name : NULL);
            if (sitting == 2)
                check_same(&whole, &part, forms[f]);
            mgv_fit_free(&part);
        }
        mgv_fit again; /* it is done, and stays so */
        make(&again, forms[f], 2);
        solve(&again, name);
        check_same(&whole, &again, forms[f]);
        mgv_fit_free(&again);
        mgv_fit_free(&whole);
    }
    unlink(name);
}

static int stop_after(void *user, const mgv_event *event)
{
    int *left = user;
    *left -= event->kind == MGV_EVENT_TRACE || event->kind == MGV_EVENT_PROGRESS;
    return *left < 0;
}

/* Broken off by the world at any moment. */
TEST(an_interrupted_family_goes_on)
{
    char name[] = "test_family_save.XXXXXX", options[200];
    close(mkstemp(name));
    for (int f = 0; f < FORMS; f++) {
        mgv_fit whole;
        make(&whole, forms[f], 2);
        solve(&whole, NULL);
        for (int moment = 0; moment < 12; moment += 3) {
            int left = moment;
            mgv_fit part, rest;
            make(&part, forms[f], 2);
            snprintf(options, sizeof options, "checkpoint=%s", name);
            mgv_fit_set(&part, options);
            mgv_ctx_on_event(part.ctx, stop_after, &left);
            solve(&part, NULL);
            make(&rest, forms[f], 3);
            solve(&rest, name);
            check_same(&whole, &rest, forms[f]);
            mgv_fit_free(&rest);
            mgv_fit_free(&part);
        }
        mgv_fit_free(&whole);
    }
    unlink(name);
}

/* A file of other data, another form or another strength is refused, and so is a damaged one. */
TEST(wrong_files_are_refused)
{
    static const char *const others[] = {"loss=hinge C=2", "loss=hinge C=1 multiclass=ovo",
                                         "loss=hinge C=1 seed=4", "loss=squared_hinge C=1"};
    char name[] = "test_family_save.XXXXXX", options[200];
    mgv_fit fit;
    close(mkstemp(name));
    make(&fit, "loss=hinge C=1 max_iter=3 tol=1e-6 solver=dual_coordinate shrink=no", 1);
    snprintf(options, sizeof options, "checkpoint=%s", name);
    mgv_fit_set(&fit, options);
    solve(&fit, NULL);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        mgv_fit other;
        make(&other, others[k], 1);
        CHECK_OK(other.ctx, mgv_problem_new(other.ctx, other.data, other.settings, &other.problem));
        CHECK_OK(other.ctx,
                 mgv_solver_new(other.ctx, other.problem, other.settings, &other.solver));
        CHECK_THAT(mgv_solver_resume(other.ctx, other.solver, name) == MGV_E_INPUT, "%s",
                   others[k]);
        mgv_fit_free(&other);
    }
    char *bytes = malloc(1 << 20);
    FILE *file = fopen(name, "rb");
    const size_t size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    int refused = 0;
    for (size_t at = 8; at < size; at += 1 + at / 50) { /* no byte makes it crash */
        const char old = bytes[at];
        bytes[at] = (char)(old ^ 0x55);
        mgv_solver *solver;
        CHECK_OK(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &solver));
        fit.ctx->on_event = NULL;
        const mgv_status st = mgvi_checkpoint_parse(solver, "bytes", bytes, size);
        CHECK(st == MGV_OK || st == MGV_E_INPUT);
        refused += st == MGV_E_INPUT;
        if (st == MGV_OK) { /* the states of members are looked at when they run */
            const mgv_status ran = mgv_solver_run(fit.ctx, solver);
            CHECK(ran == MGV_OK || ran == MGV_E_INPUT || ran == MGV_E_NUMERIC);
        }
        mgv_solver_free(fit.ctx, solver);
        bytes[at] = old;
    }
    CHECK(refused > 5);
    free(bytes);
    unlink(name);
    mgv_fit_free(&fit);
}

int main(void)
{
    return RUN(a_budget_may_be_raised_again_and_again, an_interrupted_family_goes_on,
               wrong_files_are_refused);
}
