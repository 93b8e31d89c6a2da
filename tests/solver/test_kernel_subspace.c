/* test_kernel_subspace.c - softmax and the smooth losses with kernels: optimality from the
 * definition, other solvers and other forms of the same problem, laws at every certificate. */
#include "vectors.h"

#include "model/model.h"
#include "solver/driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 90, D = 3, K = 3 };

static double kernel_value(const char *name, const double *x, const double *z)
{
    double square = 0, product = 0;
    for (int j = 0; j < D; j++) {
        square += (x[j] - z[j]) * (x[j] - z[j]);
        product += x[j] * z[j];
    }
    return strcmp(name, "rbf") == 0       ? exp(-square / 4)
           : strcmp(name, "laplace") == 0 ? exp(-sqrt(square / 2))
                                          : pow(product / 2 + 1, 2);
}

/* F at the model's coefficients, and the largest violation of G (lambda c + s (p - e)) = 0 and of
 * sum_i s_i (p_i - e_i) = 0, from the definition. `G` is the Gram matrix. */
static double objective(const mgv_model *m, const double *G, const double *y, const double *s,
                        double lambda, bool intercept, double *worst)
{
    double f = 0, total = 0, balance[K] = {0}, slope[K][N];
    for (int i = 0; i < N; i++)
        total += s ? s[i] : 1;
    *worst = 0;
    for (int i = 0; i < N; i++) {
        double z[K], sum = 0;
        const double weight = (s ? s[i] : 1) / total;
        for (int c = 0; c < K; c++) {
            double h = 0;
            for (int j = 0; j < N; j++)
                h += m->coef[c * N + j] * G[i * N + j];
            f += 0.5 * lambda * m->coef[c * N + i] * h;
            z[c] = h + m->intercept[c];
            sum += exp(z[c]);
        }
        f += weight * (log(sum) - z[(int)y[i]]);
        for (int c = 0; c < K; c++) {
            const double u = weight * (exp(z[c]) / sum - (c == (int)y[i]));
            slope[c][i] = lambda * m->coef[c * N + i] + u;
            balance[c] += u;
        }
    }
    for (int t = 0; t < N * K; t++) {
        double sum = 0;
        for (int j = 0; j < N; j++)
            sum += G[t / K * N + j] * slope[t % K][j];
        *worst = fmax(*worst, fabs(sum));
    }
    for (int c = 0; c < K; c++)
        *worst = intercept ? fmax(*worst, fabs(balance[c])) : *worst;
    return f;
}

/* Every kernel, with and without the intercepts, dense and as a Gram matrix of its own. */
TEST(softmax_meets_its_optimality_condition)
{
    static const char *const names[] = {"rbf", "laplace", "poly"};
    double X[N * D], y[N], G[N * N], s[N], worst;
    mgv_clouds(X, y, N, D, K);
    for (int i = 0; i < N; i++)
        s[i] = 1 + i % 4;
    for (int k = 0; k < 12; k++) {
        char options[128];
        mgv_fit fit;
        mgv_model *m;
        const char *name = names[k % 3];
        const bool given = k >= 6, intercept = k / 3 % 2 == 0;
        for (int i = 0; i < N * N; i++)
            G[i] = kernel_value(name, X + i / N * D, X + i % N * D);
        snprintf(options, sizeof options,
                 "loss=softmax C=%d tol=1e-9 intercept=%s kernel=%s sigma2=2 degree=2 offset=1",
                 k % 2 ? 1 : 30, intercept ? "yes" : "no", given ? "precomputed" : name);
        mgv_fit_start(&fit, given ? G : X, y, N, given ? N : D, options);
        CHECK_OK(fit.ctx, mgv_data_set_weights(fit.ctx, fit.data, s));
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified, "%s: %s %g",
                   options, mgv_stop_name(fit.run.stop), fit.certificate.relative_gap);
        CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
        CHECK(m->outputs == K && (given || m->support == N));
        const double f = objective(m, G, y, s, fit.problem->lambda, intercept, &worst);
        CHECK_NEAR(f, fit.certificate.primal, 1e-8 * f, "%s", options);
        CHECK_LE(worst, 1e-5, "%s", options); /* about the root of the gap */
        mgv_model_free(fit.ctx, m);
        mgv_fit_free(&fit);
    }
}

static double optimum(const double *X, const double *y, int64_t n, int64_t d, const char *options,
                      const char *more, double *scores)
{
    mgv_fit fit;
    mgv_model *m;
    mgv_fit_start(&fit, X, y, n, d, options);
    mgv_fit_set(&fit, more);
    mgv_fit_solve(&fit);
    CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified, "%s %s: %s %g",
               options, more, mgv_stop_name(fit.run.stop), fit.certificate.relative_gap);
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
    mgv_metrics metrics = {.size = sizeof metrics};
    if (scores) {
        CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, m, fit.data, scores));
        CHECK_OK(fit.ctx, mgv_model_evaluate(fit.ctx, m, fit.data, scores, &metrics));
        CHECK(m->classes == 2 ? metrics.auc > 0.5 : isnan(metrics.auc));
    }
    const double value = fit.certificate.primal;
    mgv_model_free(fit.ctx, m);
    mgv_fit_free(&fit);
    return value;
}

/* The linear kernel written as a kernel is the linear problem. */
TEST(the_linear_kernel_is_the_linear_form)
{
    static const char *const options[] = {
        "loss=softmax C=1 tol=1e-10", "loss=softmax C=10 tol=1e-10 intercept=no",
        "loss=logistic C=1 tol=1e-10 multiclass=ovr", "loss=squared C=1 tol=1e-10 multiclass=ovr"};
    double X[N * D], y[N], a[N * K], b[N * K];
    mgv_clouds(X, y, N, D, K);
    for (int o = 0; o < 4; o++) {
        const double linear = optimum(X, y, N, D, options[o], "max_iter=100000", a);
        const double kernel =
            optimum(X, y, N, D, options[o], "kernel=poly degree=1 offset=0 sigma2=1", b);
        CHECK_NEAR(linear, kernel, 1e-10 * linear, "%s", options[o]);
        for (int t = 0; t < N * K; t++)
            CHECK_NEAR(a[t], b[t], 1e-4, "%s: score %d", options[o], t);
    }
}

/* Two classes: the same optimum and the same odds as the logistic loss of half the strength. */
TEST(two_classes_are_the_logistic_loss)
{
    double X[N * D], y[N], a[N * 2], b[N];
    mgv_clouds(X, y, N, D, 2);
    const double joint =
        optimum(X, y, N, D, "loss=softmax kernel=rbf sigma2=2 lambda=0.02 tol=1e-10", "", a);
    const double single =
        optimum(X, y, N, D, "loss=logistic kernel=rbf sigma2=2 lambda=0.01 tol=1e-10", "", b);
    CHECK_NEAR(joint, single, 1e-10, "objective");
    for (int i = 0; i < N; i++)
        CHECK_NEAR(a[2 * i + 1] - a[2 * i], b[i], 1e-4, "score %d", i);
}

/* Coordinate ascent, which knows rows of K one at a time, finds the same optima. */
TEST(other_losses_agree_with_coordinate_ascent)
{
    static const char *const losses[] = {"logistic",      "squared",           "smooth_hinge",
                                         "sqrt_hinge",    "squared_hinge",     "huber",
                                         "squared C=100", "smooth_hinge C=20", "logistic C=50"};
    double X[N * D], y[N], quantity[N];
    mgv_clouds(X, y, N, D, 2);
    for (int i = 0; i < N; i++)
        quantity[i] = 40 + 5 * sin(X[i * D]) + X[i * D + 1];
    for (int l = 0; l < 9; l++)
        for (int intercept = 0; intercept < 2; intercept++) {
            char options[160];
            const bool regress = strstr(losses[l], "huber") || strcmp(losses[l], "squared") == 0;
            snprintf(options, sizeof options,
                     "kernel=rbf sigma2=2 smoothing=0.5 tol=1e-8 max_iter=100000 intercept=%s "
                     "loss=%s",
                     intercept ? "yes" : "no", losses[l]);
            const double *labels = regress ? quantity : y;
            const double ours = optimum(X, labels, N, D, options, "solver=kernel_subspace", NULL);
            const double theirs = optimum(X, labels, N, D, options, "solver=dual_coordinate", NULL);
            CHECK_NEAR(ours, theirs, 1e-8 * theirs, "%s", options);
        }
}

/* lower <= optimum <= upper at every certificate; a row twice is a row of weight 2. */
static double best_dual, least_primal;
static int watch(void *user, const mgv_event *e)
{
    (void)user;
    if (e->kind == MGV_EVENT_TRACE) {
        best_dual = fmax(best_dual, e->dual);
        least_primal = fmin(least_primal, e->primal);
    }
    return 0;
}

TEST(certificates_bracket_the_optimum_and_weights_are_rows)
{
    const char *const options = "loss=softmax kernel=rbf sigma2=2 lambda=0.001 tol=1e-10";
    double X[N * D], y[N], twice[2 * N * D], labels[2 * N], weight[N];
    int64_t rows = 0;
    mgv_fit by_weight;
    mgv_clouds(X, y, N, D, K);
    for (int i = 0; i < N; i++) {
        y[i] = i / 3 % K;
        weight[i] = i % 3; /* some count for nothing */
        for (int r = 0; r < weight[i]; r++, rows++) {
            memcpy(twice + rows * D, X + i * D, D * sizeof *X);
            labels[rows] = y[i];
        }
    }
    best_dual = -INFINITY;
    least_primal = INFINITY;
    mgv_fit_start(&by_weight, X, y, N, D, options);
    CHECK_OK(by_weight.ctx, mgv_data_set_weights(by_weight.ctx, by_weight.data, weight));
    mgv_ctx_on_event(by_weight.ctx, watch, NULL);
    mgv_fit_solve(&by_weight);
    const double by_rows = optimum(twice, labels, rows, D, options, "", NULL);
    CHECK_NEAR(by_weight.certificate.primal, by_rows, 1e-9 * by_rows, "objective");
    CHECK_LE(best_dual, by_rows * (1 + 1e-12), "dual");
    CHECK_LE(by_rows * (1 - 1e-9), least_primal, "primal");
    mgv_fit_free(&by_weight);
}

/* Threads and a checkpoint change nothing, whether the matrix fits the cache or not; the cache
 * changes rounding only. */
TEST(runs_have_the_same_bits)
{
    static const char *const options[] = {
        "loss=softmax kernel=rbf C=100 tol=1e-14 max_iter=8",
        "loss=softmax kernel=rbf C=100 tol=1e-14 max_iter=8 cache=0.5",
        "loss=logistic kernel=laplace C=100 tol=1e-14 max_iter=8",
        "loss=logistic kernel=laplace C=100 tol=1e-14 max_iter=8 cache=0.5"};
    enum { ROWS = 560 };
    double *X = malloc(ROWS * D * sizeof *X), y[ROWS], kept[4];
    for (int o = 0; o < 4; o++) {
        mgv_clouds(X, y, ROWS, D, o < 2 ? K : 2);
        mgv_check_same_bits(X, y, ROWS, D, options[o], 3);
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, ROWS, D, options[o]);
        mgv_fit_set(&fit, "tol=1e-8 max_iter=10000");
        mgv_fit_solve(&fit);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
        kept[o] = fit.certificate.primal;
        mgv_fit_free(&fit);
    }
    CHECK_NEAR(kept[0], kept[1], 1e-8 * kept[0], "softmax");
    CHECK_NEAR(kept[2], kept[3], 1e-8 * kept[2], "logistic");
    free(X);
}

/* Begun at the answer, a run is there at once; begun at that of another strength, sooner. */
TEST(a_run_begins_where_another_ended)
{
    static const char *const strengths[] = {"C=20", "C=10"};
    double X[N * D], y[N];
    mgv_clouds(X, y, N, D, 2);
    for (int joint = 0; joint < 2; joint++) {
        mgv_fit first, next[2];
        const char *const options =
            joint ? "loss=softmax kernel=rbf tol=1e-8" : "loss=logistic kernel=rbf tol=1e-8";
        mgv_fit_start(&first, X, y, N, D, options);
        mgv_fit_set(&first, strengths[0]);
        mgv_fit_solve(&first);
        for (int t = 0; t < 2; t++) {
            mgv_fit *f = &next[t];
            mgv_fit_start(f, X, y, N, D, options);
            mgv_fit_set(f, strengths[t]);
            CHECK_OK(f->ctx, mgv_problem_new(f->ctx, f->data, f->settings, &f->problem));
            CHECK_OK(f->ctx, mgv_solver_new(f->ctx, f->problem, f->settings, &f->solver));
            CHECK_OK(f->ctx, mgvi_driver_follow(f->solver, first.solver));
            CHECK_OK(f->ctx, mgv_solver_run(f->ctx, f->solver));
            f->run.size = sizeof f->run;
            mgv_solver_describe(f->solver, &f->run, NULL);
            CHECK(f->run.stop == MGV_STOP_CERTIFIED);
            CHECK_LE((double)f->run.iterations, t ? (double)first.run.iterations - 1 : 2, "%s",
                     strengths[t]);
            mgv_fit_free(f);
        }
        mgv_fit_free(&first);
    }
}

TEST(what_does_not_fit_gets_a_sentence)
{
    static const struct {
        const char *options, *part;
    } wrong[] = {
        {"loss=softmax solver=kernel_subspace", "operator"},
        {"loss=softmax kernel=rbf solver=lbfgs", "kernel_subspace"},
        {"loss=softmax kernel=rbf solver=kernel_svm",
         "of all classes at once; these fit: kernel_subspace"},
        {"loss=crammer_singer kernel=rbf intercept=no solver=kernel_subspace", "works with loss"},
        {"loss=logistic kernel=rbf solver=primal_dual", "kernel_subspace"}};
    double X[N * D], y[N];
    mgv_clouds(X, y, N, D, 2);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, wrong[k].options);
        CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
        CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                    MGV_E_UNSUPPORTED, wrong[k].part);
        mgv_fit_free(&fit);
    }
}

/* More rows than K is kept for: products of float32 values, corrected in float64, reach tolerances
 * near float32; few of them, because the metric sees the curvature. Some rows are alike. */
TEST(many_rows_need_few_products)
{
    static const char *const losses[] = {"squared", "logistic", "squared_hinge", "huber"};
    enum { ROWS = 4200 };
    double *X = malloc(ROWS * D * sizeof *X), y[ROWS];
    mgv_clouds(X, y, ROWS, D, 2);
    memcpy(X, X + 7 * D, D * sizeof *X);
    for (int l = 0; l < 4; l++)
        for (int fine = 0; fine < 2; fine++) {
            char options[128];
            mgv_fit fit;
            snprintf(options, sizeof options,
                     "loss=%s kernel=rbf sigma2=2 C=%s tol=%s solver=kernel_subspace task=%s",
                     losses[l], fine ? "1" : "0.01", fine ? "1e-7" : "1e-4",
                     l == 3 ? "regress" : "classify");
            mgv_fit_start(&fit, X, y, ROWS, D, options);
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified, "%s: %s %g",
                       options, mgv_stop_name(fit.run.stop), fit.certificate.relative_gap);
            CHECK_LE(fit.run.passes, fine ? 60 : 12, "%s", options);
            mgv_fit_free(&fit);
        }
    free(X);
}

int main(void)
{
    return RUN(softmax_meets_its_optimality_condition, the_linear_kernel_is_the_linear_form,
               two_classes_are_the_logistic_loss, other_losses_agree_with_coordinate_ascent,
               certificates_bracket_the_optimum_and_weights_are_rows, runs_have_the_same_bits,
               a_run_begins_where_another_ended, what_does_not_fit_gets_a_sentence,
               many_rows_need_few_products);
}
