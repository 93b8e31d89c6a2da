/* test_family.c - more than two classes: one run per class against the rest. */
#include "api/ticking.h"
#include "vectors.h"

#include "solver/classes/family.h"

#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 90, D = 4, K = 3 };

static const char *file_name(void)
{
    static char name[64];
    snprintf(name, sizeof name, "test_family.%d.mgm", (int)getpid());
    return name;
}

/* Three clouds `apart` from each other, labelled 10, 20 and 30. */
static void clouds(double apart, double *X, double *y)
{
    mgvi_rng rng = mgvi_rng_seed(5);
    for (int i = 0; i < N; i++) {
        y[i] = 10 * (1 + i % K);
        for (int j = 0; j < D; j++)
            X[i * D + j] = mgvi_rng_normal(&rng) + (j == i % K ? apart : 0);
    }
}

/* Run side by side (no lock-step without shrinking), every member is the two-class fit of its class
 * against the rest, to the last bit. */
TEST(members_are_the_two_class_fits)
{
    static const char *const options[] = {
        "loss=hinge C=1 shrink=no", "loss=squared_hinge C=2 scale=std shrink=no",
        "loss=smooth_hinge lambda=0.01 tol=1e-6", "loss=logistic C=1 intercept=false shrink=no"};
    double X[N * D], y[N], sign[N];
    clouds(2, X, y);
    for (int o = 0; o < 4; o++) {
        mgv_fit all, one;
        mgv_model *m, *binary;
        mgv_fit_start(&all, X, y, N, D, options[o]);
        mgv_fit_solve(&all);
        CHECK_OK(all.ctx, mgv_model_new(all.ctx, all.solver, &m));
        CHECK(m->outputs == K && m->classes == K && all.run.runs == K);
        CHECK(all.run.stop == MGV_STOP_CERTIFIED && all.certificate.verified);
        double worst = 0, primal = 0;
        for (int c = 0; c < K; c++) {
            for (int i = 0; i < N; i++)
                sign[i] = y[i] == 10 * (c + 1) ? 1 : -1;
            mgv_fit_start(&one, X, sign, N, D, options[o]);
            mgv_fit_solve(&one);
            CHECK_OK(one.ctx, mgv_model_new(one.ctx, one.solver, &binary));
            CHECK_THAT(memcmp(m->coef + c * D, binary->coef, D * sizeof(double)) == 0,
                       "%s: class %d", options[o], c);
            CHECK(m->intercept[c] == binary->intercept[0] && m->norm[c] == binary->norm[0]);
            worst = fmax(worst, one.certificate.relative_gap);
            primal += one.certificate.primal;
            mgv_model_free(one.ctx, binary);
            mgv_fit_free(&one);
        }
        CHECK(all.certificate.relative_gap == worst);
        CHECK_NEAR(all.certificate.primal, primal, 1e-12, "sum of the objectives");
        mgv_model_free(all.ctx, m);
        mgv_fit_free(&all);
    }
}

TEST(the_largest_score_decides_and_files_keep_it)
{
    double X[N * D], y[N], scores[N * K], again[N * K];
    clouds(4, X, y);
    mgv_fit fit;
    mgv_model *a, *b;
    mgv_metrics metrics = {.size = sizeof metrics};
    mgv_fit_start(&fit, X, y, N, D, "loss=hinge C=1");
    mgv_fit_solve(&fit);
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &a));
    CHECK_OK(fit.ctx, mgv_model_save(fit.ctx, a, file_name()));
    CHECK_OK(fit.ctx, mgv_model_load(fit.ctx, file_name(), &b));
    CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, a, fit.data, scores));
    CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, b, fit.data, again));
    assert_memory_equal(scores, again, sizeof scores);
    double right = 0, by_class[K] = {0};
    for (int i = 0; i < N; i++) {
        int best = 0;
        for (int c = 0; c < K; c++) {
            double dot = a->intercept[c];
            for (int j = 0; j < D; j++)
                dot += X[i * D + j] * a->coef[c * D + j];
            CHECK_NEAR(scores[i * K + c], dot, 1e-12, "score");
            best = scores[i * K + c] > scores[i * K + best] ? c : best;
        }
        CHECK(mgv_model_decide(b, scores + i * K) == best);
        right += y[i] == 10 * (best + 1);
        by_class[i % K] += y[i] == 10 * (best + 1);
    }
    CHECK_OK(fit.ctx, mgv_model_evaluate(fit.ctx, b, fit.data, scores, &metrics));
    CHECK(right > 0.9 * N);
    CHECK_NEAR(metrics.accuracy, right / N, 1e-15, "accuracy");
    CHECK_NEAR(metrics.balanced_accuracy, (by_class[0] + by_class[1] + by_class[2]) / N, 1e-15,
               "balanced accuracy");
    CHECK(isnan(metrics.auc));
    mgv_model_free(fit.ctx, a);
    mgv_model_free(fit.ctx, b);
    mgv_fit_free(&fit);
    remove(file_name());
}

TEST(separability_of_every_class_is_decided)
{
    double X[N * D], y[N];
    mgv_fit fit;
    clouds(30, X, y);
    mgv_fit_start(&fit, X, y, N, D, "loss=margin tol=1e-9");
    mgv_fit_solve(&fit);
    CHECK(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.separable == 1);
    CHECK(fit.certificate.margin > 0 && fit.run.impossible_class == -1);
    mgv_fit_free(&fit);

    clouds(30, X, y);
    memcpy(X + 1 * D, X + 4 * D, D * sizeof *X); /* one place, two classes: 20 and 30 */
    y[1] = 20;
    y[4] = 30;
    mgv_fit_start(&fit, X, y, N, D, "loss=margin");
    mgv_fit_solve(&fit);
    CHECK(fit.run.stop == MGV_STOP_INFEASIBLE && fit.certificate.separable == 0);
    CHECK(fit.run.impossible_class == 1 && fit.certificate.proof_norm < 1e-12);
    CHECK(fit.certificate.verified && fit.certificate.margin_upper < 1e-12);
    const double *q;
    int64_t n;
    CHECK_OK(fit.ctx, mgv_solver_dual(fit.solver, &q, &n));
    assert_int_equal(n, N);
    for (int j = 0; j <= D; j++) { /* the hulls of class 20 and of the rest meet */
        double sum = 0;
        for (int i = 0; i < N; i++)
            sum += q[i] * (y[i] == 20 ? 1 : -1) * (j < D ? X[i * D + j] : 1);
        CHECK_NEAR(sum, 0, 1e-11, "the combination");
    }
    mgv_fit_free(&fit);
}

/* The proof that counts is the first class's, however many classes ran beside it. */
TEST(one_and_eight_threads_give_the_same_bits)
{
    double X[N * D], y[N];
    for (int hard = 0; hard < 2; hard++) {
        mgv_fit fit[2];
        mgv_model *m[2];
        const double *q[2];
        int64_t n;
        clouds(hard ? 0.5 : 2, X, y);
        for (int t = 0; t < 2; t++) {
            mgv_fit_start(&fit[t], X, y, N, D, hard ? "loss=margin" : "loss=hinge C=1");
            CHECK_OK(fit[t].ctx, mgv_ctx_set_threads(fit[t].ctx, t ? 8 : 1));
            mgv_fit_solve(&fit[t]);
            CHECK_OK(fit[t].ctx, mgv_solver_dual(fit[t].solver, &q[t], &n));
            CHECK_OK(fit[t].ctx, mgv_model_new(fit[t].ctx, fit[t].solver, &m[t]));
        }
        CHECK(fit[0].run.stop == (hard ? MGV_STOP_INFEASIBLE : MGV_STOP_CERTIFIED));
        CHECK(fit[0].run.impossible_class == (hard ? 0 : -1));
        CHECK(fit[0].run.impossible_class == fit[1].run.impossible_class);
        CHECK(fit[0].run.iterations == fit[1].run.iterations);
        assert_memory_equal(m[0]->coef, m[1]->coef, K * D * sizeof(double));
        if (hard)
            assert_memory_equal(q[0], q[1], N * sizeof(double));
        for (int t = 0; t < 2; t++) {
            mgv_model_free(fit[t].ctx, m[t]);
            mgv_fit_free(&fit[t]);
        }
    }
}

/* Weights of a class are weights of its rows, whichever member they stand in. */
TEST(class_weights_are_row_weights)
{
    double X[N * D], y[N], weight[N];
    mgv_fit by_class, by_row;
    mgv_model *a, *b;
    clouds(1, X, y);
    mgv_fit_start(&by_class, X, y, N, D, "loss=hinge lambda=0.01 class_weight=10:3,30:0.5");
    mgv_fit_start(&by_row, X, y, N, D, "loss=hinge lambda=0.01");
    for (int i = 0; i < N; i++)
        weight[i] = y[i] == 10 ? 3 : y[i] == 30 ? 0.5 : 1;
    CHECK_OK(by_row.ctx, mgv_data_set_weights(by_row.ctx, by_row.data, weight));
    mgv_fit_solve(&by_class);
    mgv_fit_solve(&by_row);
    CHECK_OK(by_class.ctx, mgv_model_new(by_class.ctx, by_class.solver, &a));
    CHECK_OK(by_row.ctx, mgv_model_new(by_row.ctx, by_row.solver, &b));
    assert_memory_equal(a->coef, b->coef, K * D * sizeof(double));
    mgv_model_free(by_class.ctx, a);
    mgv_model_free(by_row.ctx, b);
    mgv_fit_free(&by_class);
    mgv_fit_free(&by_row);
}

static int stop_at_second_class(void *user, const mgv_event *event)
{
    int *classes = user;
    *classes += event->kind == MGV_EVENT_LOG && event->text && strstr(event->text, "against");
    return *classes >= 2;
}

/* Members of a kernel share its rows; they are the two-class fits all the same. */
TEST(kernel_members_share_rows)
{
    static const char *const options[] = {
        "kernel=rbf sigma2=3 loss=hinge C=2", "kernel=rbf loss=squared_hinge C=1 scale=std",
        "kernel=poly degree=2 loss=hinge C=0.5", "kernel=rbf sigma2=3 loss=hinge C=2 cache=0.01"};
    double X[N * D], y[N], sign[N], first[K * N];
    clouds(1, X, y);
    for (int o = 0; o < 4; o++)
        for (int threads = 1; threads <= 3; threads += 2) {
            mgv_fit all, one;
            mgv_fit_start(&all, X, y, N, D, options[o]);
            CHECK_OK(all.ctx, mgv_ctx_set_threads(all.ctx, threads));
            mgv_fit_solve(&all);
            CHECK(all.run.stop == MGV_STOP_CERTIFIED && all.certificate.verified);
            const mgvi_family *f = all.solver->family;
            if (threads == 1)
                memcpy(first, f->coef, sizeof first);
            CHECK_THAT(memcmp(first, f->coef, sizeof first) == 0, "%s", options[o]);
            for (int c = 0; c < K && threads == 1; c++) {
                for (int i = 0; i < N; i++)
                    sign[i] = y[i] == 10 * (c + 1) ? 1 : -1;
                mgv_fit_start(&one, X, sign, N, D, options[o]);
                mgv_fit_solve(&one);
                CHECK_LE(f->member[c].certificate.dual, one.certificate.primal * (1 + 1e-12), "%s",
                         options[o]);
                CHECK_LE(one.certificate.dual, f->member[c].certificate.primal * (1 + 1e-12), "%s",
                         options[o]);
                mgv_fit_free(&one);
            }
            mgv_fit_free(&all);
        }
}

/* What was not reached wins no row, and the rest of the model stands. */
TEST(an_interrupted_family_keeps_what_it_has)
{
    double X[N * D], y[N], scores[N * K];
    int classes = 0;
    clouds(4, X, y);
    mgv_fit fit;
    mgv_model *m;
    mgv_fit_start(&fit, X, y, N, D, "loss=hinge C=1 tol=1e-12");
    CHECK_OK(fit.ctx, mgv_ctx_set_threads(fit.ctx, 1)); /* others would have gone ahead */
    mgv_ctx_on_event(fit.ctx, stop_at_second_class, &classes);
    mgv_fit_solve(&fit);
    mgv_ctx_on_event(fit.ctx, NULL, NULL);
    CHECK(fit.run.stop == MGV_STOP_USER);
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
    CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, m, fit.data, scores));
    for (int i = 0; i < N; i++)
        CHECK(mgv_model_decide(m, scores + i * K) != 2);
    mgv_model_free(fit.ctx, m);
    mgv_fit_free(&fit);
}

/* A limit that strikes is shared: no member that never ends takes it all. By a clock that counts
 * looks, so that a slow machine has as many. */
TEST(members_take_turns_under_a_time_limit)
{
    static ticking clock;
    double X[N * D], y[N];
    clouds(4, X, y);
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, N, D,
                  "loss=hinge C=1 tol=0 solver=adam time_limit=20 max_iter=1000000000");
    CHECK_OK(fit.ctx, mgv_ctx_set_threads(fit.ctx, 1));
    set_clock(fit.ctx, &clock);
    mgv_fit_solve(&fit);
    const mgvi_family *f = fit.solver->family;
    CHECK(fit.run.stop == MGV_STOP_TIME);
    for (int c = 0; c < K; c++)
        CHECK_THAT(f->intercept[c] != MGVI_NOT_REACHED && f->member[c].iterations > 0, "class %d",
                   c);
    mgv_fit_free(&fit);
}

int main(void)
{
    return RUN(members_are_the_two_class_fits, the_largest_score_decides_and_files_keep_it,
               separability_of_every_class_is_decided, one_and_eight_threads_give_the_same_bits,
               class_weights_are_row_weights, kernel_members_share_rows,
               an_interrupted_family_keeps_what_it_has, members_take_turns_under_a_time_limit);
}
