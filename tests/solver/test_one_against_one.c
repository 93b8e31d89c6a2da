/* test_one_against_one.c - every two classes: members are the fits of their rows alone, votes are
 * counted as LIBSVM counts them, models come back from their files. */
#include "vectors.h"

#include "model/model.h"
#include "problem/member.h"
#include "solver/classes/family.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 120, D = 4, K = 5, PAIRS = K * (K - 1) / 2 };

/* Clouds of K classes labelled -2.5, -1, 0.5, 2, 3.5 that overlap when `apart` is small. */
static void clouds(double apart, double *X, double *y)
{
    mgvi_rng rng = mgvi_rng_seed(5);
    for (int i = 0; i < N; i++) {
        const int own = i % K;
        y[i] = -2.5 + 1.5 * own;
        for (int j = 0; j < D; j++)
            X[i * D + j] = mgvi_rng_normal(&rng) + apart * cos(own * (j + 1.3));
    }
}

TEST(pairs_are_in_order)
{
    int64_t at = 0;
    for (int64_t a = 0; a < 7; a++)
        for (int64_t b = a + 1; b < 7; b++, at++) {
            const mgvi_class_pair pair = mgvi_class_pair_at(7, at);
            CHECK(pair.first == a && pair.second == b);
        }
    CHECK(at == mgvi_class_pairs(7));
}

/* Side by side, the weights of a pair are those of a fit to its rows alone. */
TEST(members_are_fits_of_their_rows)
{
    static const char *const options[] = {
        "loss=hinge C=1 shrink=no", "loss=squared_hinge C=2 scale=rownorm shrink=no",
        "loss=logistic lambda=0.01 tol=1e-7", "loss=hinge C=1 intercept=no shrink=no"};
    double X[N * D], y[N], part[N * D], label[N];
    clouds(1, X, y);
    for (int o = 0; o < 4; o++) {
        mgv_fit all, one;
        mgv_model *m, *binary;
        mgv_fit_start(&all, X, y, N, D, options[o]);
        mgv_fit_set(&all, "multiclass=ovo");
        mgv_fit_solve(&all);
        CHECK(all.run.stop == MGV_STOP_CERTIFIED && all.run.runs == PAIRS);
        CHECK_OK(all.ctx, mgv_model_new(all.ctx, all.solver, &m));
        CHECK(m->pairwise && m->outputs == PAIRS && m->classes == K);
        for (int c = 0; c < PAIRS; c += 3) {
            const mgvi_class_pair pair = mgvi_class_pair_at(K, c);
            int n = 0;
            for (int i = 0; i < N; i++)
                if (i % K == pair.first || i % K == pair.second) {
                    memcpy(part + n * D, X + i * D, D * sizeof *X);
                    label[n++] = y[i];
                }
            mgv_fit_start(&one, part, label, n, D, options[o]);
            mgv_fit_solve(&one);
            CHECK_OK(one.ctx, mgv_model_new(one.ctx, one.solver, &binary));
            for (int j = 0; j < D; j++)
                CHECK_NEAR(m->coef[c * D + j], binary->coef[j], 1e-12, "%s: pair %d", options[o],
                           c);
            CHECK_NEAR(m->intercept[c], binary->intercept[0], 1e-12, "%s: pair %d", options[o], c);
            mgv_model_free(one.ctx, binary);
            mgv_fit_free(&one);
        }
        mgv_model_free(all.ctx, m);
        mgv_fit_free(&all);
    }
}

/* Votes counted the plain way; of equals the first class. */
static int64_t reference_vote(const double *scores)
{
    int votes[K] = {0}, best = 0;
    for (int a = 0, at = 0; a < K; a++)
        for (int b = a + 1; b < K; b++, at++)
            votes[scores[at] > 0 ? b : a]++;
    for (int c = 1; c < K; c++)
        best = votes[c] > votes[best] ? c : best;
    return best;
}

TEST(votes)
{
    double X[N * D], y[N], scores[N * PAIRS], again[N * PAIRS];
    static const char *const options[] = {"loss=hinge C=1", "loss=hinge C=1 kernel=rbf scale=std",
                                          "loss=margin kernel=rbf sigma2=0.2"};
    char name[64];
    snprintf(name, sizeof name, "test_one_against_one.%d.mgm", (int)getpid());
    clouds(0.7, X, y);
    for (int o = 0; o < 3; o++) {
        mgv_fit fit;
        mgv_model *m, *loaded;
        mgv_metrics metrics = {.size = sizeof metrics};
        double right = 0;
        mgv_fit_start(&fit, X, y, N, D, options[o]);
        mgv_fit_set(&fit, "multiclass=ovo");
        mgv_fit_solve(&fit);
        CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
        CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, m, fit.data, scores));
        for (int i = 0; i < N; i++) {
            CHECK(mgv_model_decide(m, scores + i * PAIRS) == reference_vote(scores + i * PAIRS));
            right += reference_vote(scores + i * PAIRS) == i % K;
        }
        CHECK_OK(fit.ctx, mgv_model_evaluate(fit.ctx, m, fit.data, scores, &metrics));
        CHECK_NEAR(metrics.accuracy, right / N, 1e-12, "%s", options[o]);
        CHECK_OK(fit.ctx, mgv_model_save(fit.ctx, m, name));
        CHECK_OK(fit.ctx, mgv_model_load(fit.ctx, name, &loaded));
        CHECK(loaded->pairwise);
        CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, loaded, fit.data, again));
        CHECK(memcmp(scores, again, sizeof scores) == 0);
        mgv_model_free(fit.ctx, loaded);
        mgv_model_free(fit.ctx, m);
        mgv_fit_free(&fit);
        unlink(name);
    }
}

/* The linear kernel, computed or given as numbers, is the linear fit. */
TEST(kernels_agree_with_the_linear_fit)
{
    double X[N * D], y[N], G[N * N], want[N * PAIRS], got[N * PAIRS];
    clouds(1, X, y);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            G[i * N + j] = 0;
            for (int t = 0; t < D; t++)
                G[i * N + j] += X[i * D + t] * X[j * D + t];
        }
    static const char *const options[] = {"", "kernel=poly degree=1 offset=0 sigma2=1",
                                          "kernel=precomputed"};
    for (int o = 0; o < 3; o++) {
        mgv_fit fit;
        mgv_model *m;
        mgv_fit_start(&fit, o == 2 ? G : X, y, N, o == 2 ? N : D,
                      "loss=hinge C=1 tol=1e-10 multiclass=ovo");
        mgv_fit_set(&fit, options[o]);
        mgv_fit_solve(&fit);
        CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
        CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, m, fit.data, o ? got : want));
        for (int i = 0; o && i < N * PAIRS; i++)
            CHECK_NEAR(got[i], want[i], 2e-3, "%s: score %d", options[o], i);
        mgv_model_free(fit.ctx, m);
        mgv_fit_free(&fit);
    }
}

/* A proof names the pair, and lies on rows of the whole. */
TEST(an_inseparable_pair)
{
    double X[N * D], y[N], sum[D + 1] = {0};
    const double *q;
    int64_t count;
    mgv_fit fit;
    clouds(0.3, X, y);
    mgv_fit_start(&fit, X, y, N, D, "loss=margin multiclass=ovo");
    mgv_fit_solve(&fit);
    CHECK(fit.run.stop == MGV_STOP_INFEASIBLE && fit.certificate.separable == 0);
    const int64_t a = fit.run.impossible_class, b = fit.run.impossible_rival;
    CHECK(a == 0 && b > a && b < K);
    CHECK_OK(fit.ctx, mgv_solver_dual(fit.solver, &q, &count));
    CHECK(count == N);
    for (int i = 0; i < N; i++) {
        const double s = i % K == b ? 1 : -1;
        CHECK(q[i] == 0 || i % K == a || i % K == b);
        for (int j = 0; j < D; j++)
            sum[j] += q[i] * s * X[i * D + j];
        sum[D] += q[i] * s;
    }
    for (int j = 0; j <= D; j++)
        CHECK_LE(fabs(sum[j]), 1e-11, "column %d", j);
    mgv_fit_free(&fit);
}

/* Class and sample weights are those of the whole; a weight of 2 is the row twice. */
TEST(weights)
{
    double X[2 * N * D], y[2 * N];
    mgv_fit twice, weighted;
    int n = N;
    clouds(0.7, X, y);
    for (int i = 0; i < N; i++)
        if (i % K == 1) {
            memcpy(X + n * D, X + i * D, D * sizeof *X);
            y[n++] = y[i];
        }
    mgv_fit_start(&weighted, X, y, N, D,
                  "loss=hinge C=1 tol=1e-10 multiclass=ovo class_weight=-1:2");
    mgv_fit_solve(&weighted);
    mgv_fit_start(&twice, X, y, n, D, "loss=hinge C=1 tol=1e-10 multiclass=ovo");
    mgv_fit_solve(&twice);
    for (int c = 0; c < PAIRS * D; c++)
        CHECK_NEAR(weighted.solver->family->coef[c], twice.solver->family->coef[c], 1e-4, "%d", c);
    mgv_fit_free(&weighted);
    mgv_fit_free(&twice);
}

TEST(same_bits_for_any_number_of_threads)
{
    double X[N * D], y[N];
    clouds(0.7, X, y);
    mgv_fit fit[2];
    for (int t = 0; t < 2; t++) {
        mgv_fit_start(&fit[t], X, y, N, D, "loss=hinge C=1 multiclass=ovo kernel=rbf");
        CHECK_OK(fit[t].ctx, mgv_ctx_set_threads(fit[t].ctx, t ? 4 : 1));
        mgv_fit_solve(&fit[t]);
    }
    CHECK(memcmp(fit[0].solver->family->coef, fit[1].solver->family->coef,
                 PAIRS * N * sizeof(double)) == 0);
    mgv_fit_free(&fit[0]);
    mgv_fit_free(&fit[1]);
}

int main(void)
{
    return RUN(pairs_are_in_order, members_are_fits_of_their_rows, votes,
               kernels_agree_with_the_linear_fit, an_inseparable_pair, weights,
               same_bits_for_any_number_of_threads);
}
