/* test_model.c - models: units, files, classes, predictions. */
#include "vectors.h"

#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *file_name(void)
{
    static char name[64];
    snprintf(name, sizeof name, "test_model.%d.mgm", (int)getpid());
    return name;
}

static void fit_random(mgv_fit *fit, const char *options)
{
    double *X, *y;
    mgv_random_set(11, 80, 5, 0.4, &X, &y);
    for (int i = 0; i < 80 * 5; i++)
        X[i] = X[i] * (1 + i % 5) + i % 5;
    mgv_fit_start(fit, X, y, 80, 5, options);
    mgv_fit_solve(fit);
    free(X);
    free(y);
}

TEST(a_saved_model_is_the_model)
{
    static const char *const scales[] = {"scale=none", "scale=std", "scale=maxabs",
                                         "scale=rownorm"};
    for (int k = 0; k < 4; k++) {
        mgv_fit fit;
        char options[96];
        snprintf(options, sizeof options, "loss=squared_hinge C=1 tol=1e-8 %s", scales[k]);
        fit_random(&fit, options);
        mgv_model *a, *b;
        CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &a));
        CHECK_OK(fit.ctx, mgv_model_save(fit.ctx, a, file_name()));
        CHECK_OK(fit.ctx, mgv_model_load(fit.ctx, file_name(), &b));
        mgv_model_info ia = {.size = sizeof ia}, ib = {.size = sizeof ib};
        mgv_model_describe(a, &ia);
        mgv_model_describe(b, &ib);
        CHECK(ia.features == 5 && ib.features == 5 && ib.classes == 2);
        assert_memory_equal(ia.coef, ib.coef, 5 * sizeof(double));
        CHECK(ia.intercept == ib.intercept);
        assert_string_equal(ia.metadata, ib.metadata);
        assert_string_equal(mgv_model_class(b, 0), "-1");
        CHECK(mgv_model_class(b, 2) == NULL);
        /* the model scores as the problem does: z = y (x.w + b) */
        double scores[80];
        CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, b, fit.data, scores));
        mgvi_vec z = mgvi_vec_wrap((double[80]){0}, 80, MGVI_ROWS);
        mgvi_op_mul(fit.problem->A, 1, &fit.solver->answer.w, 0, &z);
        for (int i = 0; i < 80; i++)
            CHECK_NEAR(scores[i] * fit.problem->view.sign[i], z.x[i], 1e-10, "%s row %d", scales[k],
                       i);
        mgv_metrics m = {.size = sizeof m};
        CHECK_OK(fit.ctx, mgv_model_evaluate(fit.ctx, b, fit.data, scores, &m));
        CHECK(m.accuracy > 0.7 && m.accuracy <= 1 && m.auc > 0.7 && isnan(m.mse));
        mgv_model_free(fit.ctx, a);
        mgv_model_free(fit.ctx, b);
        mgv_fit_free(&fit);
    }
    remove(file_name());
}

TEST(truncated_and_foreign_files_are_refused)
{
    mgv_fit fit;
    fit_random(&fit, "loss=hinge C=1");
    mgv_model *m;
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
    CHECK_OK(fit.ctx, mgv_model_save(fit.ctx, m, file_name()));
    mgv_model_free(fit.ctx, m);
    FILE *f = fopen(file_name(), "rb");
    static char bytes[1 << 16];
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    CHECK(size > 100 && size < sizeof bytes);
    for (size_t cut = 0; cut < size; cut++) {
        char *exact = malloc(cut ? cut : 1); /* a sanitizer sees reads beyond the cut */
        memcpy(exact, bytes, cut);
        CHECK_THAT(mgvi_model_parse(fit.ctx, "cut", exact, cut, &m) == MGV_E_INPUT, "cut at %zu",
                   cut);
        CHECK(m == NULL && mgv_ctx_error(fit.ctx)[0]);
        free(exact);
    }
    CHECK_OK(fit.ctx, mgvi_model_parse(fit.ctx, "whole", bytes, size, &m));
    mgv_model_free(fit.ctx, m);
    CHECK_OK(fit.ctx, mgv_solver_checkpoint(fit.ctx, fit.solver, file_name()));
    CHECK_FAILS(fit.ctx, mgv_model_load(fit.ctx, file_name(), &m), MGV_E_INPUT,
                "not a margrave model");
    CHECK_FAILS(fit.ctx, mgv_model_load(fit.ctx, "no/such/file", &m), MGV_E_IO, "no/such/file");
    remove(file_name());
    mgv_fit_free(&fit);
}

/* Three classes by the first feature, some of them wrong. */
static void fit_three(mgv_fit *fit, const char *options)
{
    double *X, *y;
    mgv_random_set(14, 90, 4, 0.4, &X, &y);
    for (int i = 0; i < 90; i++)
        y[i] = i % 9 == 0 ? i % 3 : X[4 * i] < -0.4 ? 0 : X[4 * i] < 0.4 ? 1 : 2;
    mgv_fit_start(fit, X, y, 90, 4, options);
    mgv_fit_solve(fit);
    free(X);
    free(y);
}

/* The probability of class k of `classes` by (M1) to (M3), written down naively. */
static double plain_probability(const double *z, int64_t outputs, int64_t classes, bool softmax,
                                int64_t k)
{
    double sum = 0;
    if (outputs == 1)
        return 1 / (1 + exp(k == 1 ? -z[0] : z[0]));
    for (int64_t j = 0; j < classes; j++)
        sum += softmax ? exp(z[j]) : 1 / (1 + exp(-z[j]));
    return (softmax ? exp(z[k]) : 1 / (1 + exp(-z[k]))) / sum;
}

TEST(probabilities_follow_from_the_scores)
{
    static const char *const kinds[] = {"loss=logistic", "loss=logistic", "loss=softmax"};
    for (int kind = 0; kind < 3; kind++) {
        mgv_fit fit;
        double scores[270], p[270], total = 0;
        const int64_t n = kind == 0 ? 80 : 90, classes = kind == 0 ? 2 : 3;
        const int64_t outputs = kind == 0 ? 1 : 3;
        (kind == 0 ? fit_random : fit_three)(&fit, kinds[kind]);
        mgv_model *a, *b;
        CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &a));
        CHECK_OK(fit.ctx, mgv_model_save(fit.ctx, a, file_name()));
        CHECK_OK(fit.ctx, mgv_model_load(fit.ctx, file_name(), &b));
        CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, b, fit.data, scores));
        CHECK_OK(fit.ctx, mgv_model_probabilities(fit.ctx, b, n, scores, p));
        for (int64_t i = 0; i < n; i++) {
            for (int64_t k = 0; k < classes; k++)
                CHECK_NEAR(p[i * classes + k],
                           plain_probability(scores + i * outputs, outputs, classes, kind == 2, k),
                           1e-14, "%s row %d", kinds[kind], (int)i);
            const int64_t c = mgvi_data_class_of(fit.data, fit.data->labels[i]);
            total -= log(p[i * classes + c]) / (double)n;
        }
        mgv_metrics m = {.size = sizeof m};
        CHECK_OK(fit.ctx, mgv_model_evaluate(fit.ctx, b, fit.data, scores, &m));
        CHECK_NEAR(m.log_loss, total, 1e-14, "%s", kinds[kind]);
        const double far[3] = {-2000, -1000, 1000}; /* no overflow, no 0/0 */
        CHECK_OK(fit.ctx, mgv_model_probabilities(fit.ctx, b, 1, far, p));
        CHECK(outputs == 1 ? p[0] == 1 && p[1] == 0 : p[0] == 0 && p[2] == 1);
        mgv_model_free(fit.ctx, a);
        mgv_model_free(fit.ctx, b);
        mgv_fit_free(&fit);
    }
    remove(file_name());
}

TEST(the_confusion_table_counts_every_row)
{
    mgv_fit fit;
    double scores[270], p[270], f1 = 0;
    int64_t counts[9], all = 0, right = 0;
    fit_three(&fit, "loss=hinge");
    mgv_model *model;
    mgv_metrics m = {.size = sizeof m};
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &model));
    CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, model, fit.data, scores));
    CHECK_OK(fit.ctx, mgv_model_evaluate(fit.ctx, model, fit.data, scores, &m));
    CHECK_OK(fit.ctx, mgv_model_confusion(fit.ctx, model, fit.data, scores, counts));
    for (int t = 0; t < 3; t++) {
        int64_t row = 0, column = 0;
        for (int k = 0; k < 3; k++) {
            row += counts[3 * t + k];
            column += counts[3 * k + t];
        }
        all += row;
        right += counts[4 * t];
        f1 += 2.0 * (double)counts[4 * t] / (double)(row + column) / 3;
    }
    CHECK(all == 90 && right > 45 && right < 90);
    CHECK_NEAR(m.accuracy, (double)right / 90, 1e-15, "accuracy");
    CHECK_NEAR(m.f1, f1, 1e-15, "mean F1");
    CHECK(isnan(m.log_loss));
    CHECK_FAILS(fit.ctx, mgv_model_probabilities(fit.ctx, model, 90, scores, p), MGV_E_INPUT,
                "gives no probabilities");
    mgv_model_free(fit.ctx, model);
    mgv_fit_free(&fit);
}

TEST(regression_predicts_quantities)
{
    enum { N = 60, D = 3 };
    double X[N * D], y[N], *junk, *labels;
    mgv_random_set(12, N, D, 0, &junk, &labels);
    for (int i = 0; i < N; i++) {
        memcpy(X + i * D, junk + i * D, D * sizeof *X);
        y[i] = 2 * X[i * D] - X[i * D + 1] + 5;
    }
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, N, D, "loss=squared lambda=1e-8 tol=1e-9 max_iter=100000");
    mgv_fit_solve(&fit);
    mgv_model *m;
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
    mgv_model_info info = {.size = sizeof info};
    mgv_model_describe(m, &info);
    CHECK_NEAR(info.coef[0], 2, 1e-4, "slope");
    CHECK_NEAR(info.intercept, 5, 1e-4, "intercept");
    double scores[N];
    mgv_metrics metrics = {.size = sizeof metrics};
    CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, m, fit.data, scores));
    CHECK_OK(fit.ctx, mgv_model_evaluate(fit.ctx, m, fit.data, scores, &metrics));
    CHECK(metrics.mse < 1e-7 && metrics.r2 > 0.999999 && isnan(metrics.accuracy));
    mgv_model_free(fit.ctx, m);
    mgv_fit_free(&fit);
    free(junk);
    free(labels);
}

/* The file says what the run said, and names the weights that say most. */
TEST(a_saved_model_tells_where_it_comes_from)
{
    mgv_fit fit;
    fit_random(&fit, "loss=squared_hinge C=1 tol=1e-8");
    mgv_model *made, *m;
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &made));
    CHECK_OK(fit.ctx, mgv_model_save(fit.ctx, made, file_name()));
    CHECK_OK(fit.ctx, mgv_model_load(fit.ctx, file_name(), &m));
    mgv_run_info run = {.size = sizeof run};
    mgv_certificate c = {.size = sizeof c};
    CHECK_OK(fit.ctx, mgv_solver_describe(fit.solver, &run, &c));
    mgv_model_origin o = {.size = sizeof o};
    CHECK_OK(fit.ctx, mgv_model_made_by(m, &o));
    assert_string_equal(o.formula, mgv_problem_formula(fit.problem));
    assert_string_equal(o.solver, run.solver);
    assert_string_equal(o.stop, mgv_stop_name(run.stop));
    assert_string_equal(o.loss, "squared_hinge");
    CHECK(o.primal == c.primal && o.dual == c.dual && o.relative_gap == c.relative_gap);
    CHECK(o.verified && o.iterations == run.iterations && o.runs == 1);
    CHECK(isnan(o.margin_upper) && !o.rule && o.points == 0 && o.point == -1);
    mgv_path_point point = {.size = sizeof point};
    CHECK_FAILS(fit.ctx, mgv_model_point(m, 0, &point), MGV_E_ARG, "the path has 0");
    mgv_model_info info = {.size = sizeof info};
    mgv_model_describe(m, &info);
    int64_t feature[9], found, few;
    CHECK_OK(fit.ctx, mgv_model_largest(fit.ctx, m, 0, 9, feature, &found));
    CHECK(found == info.nonzeros);
    for (int64_t k = 1; k < found; k++)
        CHECK(fabs(info.coef[feature[k - 1]]) >= fabs(info.coef[feature[k]]));
    CHECK_OK(fit.ctx, mgv_model_largest(fit.ctx, m, 0, 2, feature, &few));
    CHECK(few == 2);
    CHECK_FAILS(fit.ctx, mgv_model_largest(fit.ctx, m, 1, 2, feature, &few), MGV_E_ARG,
                "there is no output 1");
    mgv_model_free(fit.ctx, made);
    mgv_model_free(fit.ctx, m);
    mgv_fit_free(&fit);
    unlink(file_name());
}

/* Whatever stands under `model`, the model is read; what cannot be understood is not said. */
TEST(a_strange_origin_is_no_origin)
{
    static const char *const texts[] = {"",
                                        "no JSON",
                                        "[1, 2]",
                                        "{\"formula\": 7, \"primal\": \"x\", \"iterations\": -4}",
                                        "{\"point\": 99999999999999999999}",
                                        "{\"verified\": 1, \"runs\": 1e300}"};
    mgv_fit fit;
    fit_random(&fit, "loss=hinge C=1");
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        mgvi_about a;
        CHECK_OK(fit.ctx, mgvi_about_read(&fit.solver->arena, texts[k], &a));
        CHECK(!a.formula && isnan(a.primal) && a.iterations == -1 && a.runs == -1);
        CHECK(a.point == -1 && !a.verified);
    }
    mgv_fit_free(&fit);
}

TEST(wider_data_than_the_model_is_refused)
{
    mgv_fit fit, wide;
    fit_random(&fit, "loss=hinge C=1");
    double *X, *y, scores[80];
    mgv_random_set(13, 80, 6, 0.4, &X, &y);
    mgv_fit_start(&wide, X, y, 80, 6, "");
    mgv_model *m;
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
    CHECK_FAILS(fit.ctx, mgv_model_scores(fit.ctx, m, wide.data, scores), MGV_E_INPUT,
                "6 features, the model knows 5");
    mgv_model_free(fit.ctx, m);
    mgv_fit_free(&wide);
    mgv_fit_free(&fit);
    free(X);
    free(y);
}

/* Metrics are of the rows whose label the model knows, and say how many those are. */
TEST(labels_the_model_has_never_seen_are_left_out)
{
    mgv_fit fit;
    mgv_model *m;
    double scores[80], labels[80];
    int right = 0;
    fit_random(&fit, "loss=logistic C=1");
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
    CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, m, fit.data, scores));
    for (int known = 80; known >= 0; known -= 40) {
        mgv_metrics metrics = {.size = sizeof metrics};
        right = 0;
        for (int i = 0; i < 80; i++) {
            labels[i] = i < known ? (i % 2 ? 1 : -1) : 7 + i % 2;
            right += i < known && (scores[i] > 0) == i % 2;
        }
        CHECK_OK(fit.ctx, mgv_data_set_labels(fit.ctx, fit.data, labels));
        CHECK_OK(fit.ctx, mgv_model_evaluate(fit.ctx, m, fit.data, scores, &metrics));
        CHECK(metrics.rows == 80 && metrics.known == known);
        if (known)
            CHECK_NEAR(metrics.accuracy, (double)right / known, 1e-15, "%d known", known);
        else
            CHECK(isnan(metrics.accuracy) && isnan(metrics.auc) && isnan(metrics.f1) &&
                  isnan(metrics.balanced_accuracy) && isnan(metrics.log_loss));
        CHECK(mgv_model_class_of(m, fit.data, 0) == (known ? 0 : -1));
        CHECK(mgv_model_class_of(m, fit.data, 99) == -1);
    }
    mgv_model_free(fit.ctx, m);
    mgv_fit_free(&fit);
}

/* x.w of two terms +inf and -inf, or a score beyond the largest number. */
TEST(scores_that_are_not_finite_are_told)
{
    mgv_fit fit, far;
    fit_random(&fit, "loss=hinge C=1");
    double *X, *y, scores[80];
    mgv_random_set(13, 80, 5, 0.4, &X, &y);
    for (int j = 0; j < 5; j++)
        X[3 * 5 + j] = 1.7e308;
    mgv_fit_start(&far, X, y, 80, 5, "");
    mgv_model *m;
    mgv_metrics metrics = {.size = sizeof metrics};
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
    for (int64_t j = 0; j < 5; j++)
        m->coef[j] = j % 2 ? -7 : 9;
    CHECK_FAILS(fit.ctx, mgv_model_scores(fit.ctx, m, far.data, scores), MGV_E_NUMERIC,
                "the score of row 4 is ");
    CHECK_FAILS(fit.ctx, mgv_model_evaluate(fit.ctx, m, far.data, NULL, &metrics), MGV_E_NUMERIC,
                "the score of row 4 is ");
    for (int i = 0; i < 80; i++) /* scores of the caller's own come to an end too */
        scores[i] = NAN;
    CHECK_OK(fit.ctx, mgv_model_evaluate(fit.ctx, m, fit.data, scores, &metrics));
    mgv_model_free(fit.ctx, m);
    mgv_fit_free(&far);
    mgv_fit_free(&fit);
    free(X);
    free(y);
}

int main(void)
{
    return RUN(scores_that_are_not_finite_are_told, labels_the_model_has_never_seen_are_left_out,
               a_saved_model_is_the_model, a_saved_model_tells_where_it_comes_from,
               a_strange_origin_is_no_origin, truncated_and_foreign_files_are_refused,
               probabilities_follow_from_the_scores, the_confusion_table_counts_every_row,
               regression_predicts_quantities, wider_data_than_the_model_is_refused);
}
