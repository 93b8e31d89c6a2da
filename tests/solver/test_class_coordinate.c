/* test_class_coordinate.c - the loss crammer_singer by rows of dual variables. */
#include "vectors.h"

#include "base/rng.h"
#include "model/model.h"

#include <math.h>
#include <string.h>

enum { N = 120, D = 5, K = 4 };

static double objective(const mgv_model *m, const double *X, const double *y, double lambda)
{
    double f = 0;
    for (int t = 0; t < K * D; t++)
        f += 0.5 * lambda * m->coef[t] * m->coef[t];
    for (int i = 0; i < N; i++) {
        double z[K], worst = 0;
        const int own = (int)y[i];
        for (int c = 0; c < K; c++) {
            z[c] = m->intercept[c];
            for (int j = 0; j < D; j++)
                z[c] += m->coef[c * D + j] * X[i * D + j];
        }
        for (int c = 0; c < K; c++)
            worst = fmax(worst, c == own ? 0 : 1 + z[c] - z[own]);
        f += worst / N;
    }
    return f;
}

TEST(the_certificate_is_met_and_true)
{
    static const char *const options[] = {
        "loss=crammer_singer solver=class_coordinate intercept=no lambda=0.1 tol=1e-10",
        "loss=crammer_singer solver=class_coordinate intercept=no lambda=0.001 tol=1e-6 "
        "max_iter=200000",
        "loss=crammer_singer solver=class_coordinate intercept=no C=0.1 tol=1e-9"};
    double X[N * D], y[N];
    mgv_clouds(X, y, N, D, K);
    memset(X + 7 * D, 0, D * sizeof *X); /* a row of zeros: its loss is 1 whatever W is */
    for (int o = 0; o < 3; o++) {
        mgv_fit fit;
        mgv_model *m;
        mgv_fit_start(&fit, X, y, N, D, options[o]);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified, "%s",
                   options[o]);
        CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
        CHECK_NEAR(objective(m, X, y, fit.problem->lambda), fit.certificate.primal, 1e-12, "%s",
                   options[o]);
        CHECK_LE(fit.certificate.dual, fit.certificate.primal * (1 + 1e-12), "%s", options[o]);
        mgv_model_free(fit.ctx, m);
        mgv_fit_free(&fit);
    }
}

/* Two classes: w = w_1 - w_0 with half the strength is the hinge. */
TEST(two_classes_are_the_hinge)
{
    double X[N * D], y[N];
    mgv_clouds(X, y, N, D, 2);
    mgv_check_two_classes(
        X, y, N, D,
        "loss=crammer_singer solver=class_coordinate intercept=no lambda=0.02 tol=1e-11",
        "loss=hinge intercept=no lambda=0.01 tol=1e-11");
}

/* The linear kernel written as a kernel has the same optimum and the same scores; the lengths in
 * the model are those of its weights. */
TEST(the_linear_kernel_is_the_linear_form)
{
    double X[N * D], y[N], a[N * K], b[N * K];
    mgv_fit linear, kernel;
    mgv_model *m, *with;
    mgv_clouds(X, y, N, D, K);
    mgv_fit_start(&linear, X, y, N, D,
                  "loss=crammer_singer solver=class_coordinate intercept=no lambda=0.01 tol=1e-10");
    mgv_fit_start(&kernel, X, y, N, D,
                  "loss=crammer_singer solver=class_coordinate intercept=no lambda=0.01 tol=1e-10");
    mgv_fit_set(&kernel, "kernel=poly degree=1 offset=0 sigma2=1");
    mgv_fit_solve(&linear);
    mgv_fit_solve(&kernel);
    CHECK(kernel.run.stop == MGV_STOP_CERTIFIED && kernel.certificate.verified);
    CHECK_NEAR(linear.certificate.primal, kernel.certificate.primal, 1e-10, "objective");
    CHECK_OK(linear.ctx, mgv_model_new(linear.ctx, linear.solver, &m));
    CHECK_OK(kernel.ctx, mgv_model_new(kernel.ctx, kernel.solver, &with));
    CHECK_OK(linear.ctx, mgv_model_scores(linear.ctx, m, linear.data, a));
    CHECK_OK(kernel.ctx, mgv_model_scores(kernel.ctx, with, kernel.data, b));
    for (int t = 0; t < N * K; t++)
        CHECK_NEAR(a[t], b[t], 1e-4, "score %d", t);
    for (int c = 0; c < K; c++) {
        double square = 0;
        for (int j = 0; j < D; j++)
            square += m->coef[c * D + j] * m->coef[c * D + j];
        CHECK_NEAR(with->norm[c], sqrt(square), 1e-4, "length %d", c);
    }
    mgv_model_free(linear.ctx, m);
    mgv_model_free(kernel.ctx, with);
    mgv_fit_free(&linear);
    mgv_fit_free(&kernel);
}

/* A kernel that bends: certified, and worth it where planes are not. */
TEST(kernels_part_what_planes_cannot)
{
    double X[N * D] = {0}, y[N];
    mgv_fit fit;
    for (int i = 0; i < N; i++) { /* three rings */
        y[i] = i % 3;
        X[i * D] = (1 + y[i]) * cos(i);
        X[i * D + 1] = (1 + y[i]) * sin(i);
    }
    mgv_fit_start(&fit, X, y, N, D,
                  "loss=crammer_singer solver=class_coordinate intercept=no C=10 tol=1e-4 "
                  "kernel=rbf sigma2=0.5");
    mgv_fit_solve(&fit);
    CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified, "%s %g",
               mgv_stop_name(fit.run.stop), fit.certificate.relative_gap);
    CHECK_NEAR(fit.solver->answer_verdict.train_score, 1, 0, "accuracy");
    mgv_fit_free(&fit);
}

/* Scaling and centring change the data, not the method: the same as the scaled data itself. */
TEST(scaled_columns_are_columns)
{
    double X[N * D], Z[N * D], y[N], most[D] = {0};
    mgv_fit scaled, plain;
    mgv_clouds(X, y, N, D, K);
    for (int t = 0; t < N * D; t++)
        most[t % D] = fmax(most[t % D], fabs(X[t]));
    for (int t = 0; t < N * D; t++)
        Z[t] = X[t] / most[t % D];
    mgv_fit_start(&scaled, X, y, N, D,
                  "loss=crammer_singer solver=class_coordinate intercept=no lambda=0.01 "
                  "scale=maxabs tol=1e-9");
    mgv_fit_start(&plain, Z, y, N, D,
                  "loss=crammer_singer solver=class_coordinate intercept=no lambda=0.01 tol=1e-9");
    mgv_fit_solve(&scaled);
    mgv_fit_solve(&plain);
    CHECK_NEAR(scaled.certificate.primal, plain.certificate.primal, 1e-8, "objective");
    mgv_fit_free(&scaled);
    mgv_fit_free(&plain);
}

TEST(runs_have_the_same_bits)
{
    double X[N * D], y[N];
    mgv_clouds(X, y, N, D, K);
    mgv_check_same_bits(X, y, N, D,
                        "loss=crammer_singer solver=class_coordinate intercept=no lambda=1e-3 "
                        "tol=1e-14 max_iter=20",
                        10);
}

/* D(U) = -|X'U|^2/(2 lambda) - sum_i u_ic for a U in the simplices with sums of 0, all of it
 * computed here from the dual variables shown; the centre of the columns drops out of X'U. */
static double dual_value(const mgv_fit *fit, const double *X, const double *y)
{
    const double *u = fit->solver->answer.u.x;
    double value = 0;
    for (int c = 0; c < K; c++) {
        double sum = 0, v[D] = {0};
        for (int i = 0; i < N; i++) {
            CHECK_LE(-1e-15, u[i * K + c] + (c == (int)y[i] ? 1.0 / N : 0), "row %d", i);
            sum += u[i * K + c];
            value -= c == (int)y[i] ? u[i * K + c] : 0;
            for (int j = 0; j < D; j++)
                v[j] += u[i * K + c] * X[i * D + j];
        }
        CHECK_NEAR(sum, 0, 1e-14, "the sum of class %d", c);
        for (int j = 0; j < D; j++)
            value -= v[j] * v[j] / (2 * fit->problem->lambda);
    }
    return value;
}

TEST(intercepts_are_free_and_proven_best)
{
    static const char *const options[] = {
        "loss=crammer_singer solver=class_coordinate lambda=0.1 tol=1e-9",
        "loss=crammer_singer C=1 tol=1e-6",
        "loss=crammer_singer solver=class_coordinate lambda=0.001 tol=1e-5 max_iter=100000",
        "loss=crammer_singer solver=class_coordinate lambda=1000 tol=1e-6"};
    double X[N * D], y[N];
    mgv_clouds(X, y, N, D, K);
    for (int i = 0; i < N; i++) /* far from the origin, and the first class has most rows */
        for (int j = 0; j < D; j++) {
            X[i * D + j] += 40;
            y[i] = i % 3 ? 0 : y[i];
        }
    for (int o = 0; o < 4; o++) {
        mgv_fit fit;
        mgv_model *m;
        mgv_fit_start(&fit, X, y, N, D, options[o]);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified, "%s",
                   options[o]);
        CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
        CHECK_NEAR(objective(m, X, y, fit.problem->lambda), fit.certificate.primal, 1e-10, "%s",
                   options[o]);
        CHECK_NEAR(dual_value(&fit, X, y), fit.certificate.dual, 1e-10, "%s", options[o]);
        mgv_model_free(fit.ctx, m);
        mgv_fit_free(&fit);
    }
}

/* Two classes with intercepts are the hinge with one; where the data lies does not matter. */
TEST(intercepts_of_two_classes_are_the_hinges)
{
    double X[N * D], y[N];
    mgv_fit joint, single;
    mgv_model *a, *b;
    mgv_clouds(X, y, N, D, 2);
    for (int t = 0; t < N * D; t++)
        X[t] += t % D;
    mgv_fit_start(&joint, X, y, N, D,
                  "loss=crammer_singer solver=class_coordinate lambda=0.02 tol=1e-9");
    mgv_fit_start(&single, X, y, N, D, "loss=hinge lambda=0.01 tol=1e-9");
    mgv_fit_solve(&joint);
    mgv_fit_solve(&single);
    CHECK_OK(joint.ctx, mgv_model_new(joint.ctx, joint.solver, &a));
    CHECK_OK(single.ctx, mgv_model_new(single.ctx, single.solver, &b));
    for (int j = 0; j < D; j++)
        CHECK_NEAR(a->coef[D + j] - a->coef[j], b->coef[j], 1e-3, "weight %d", j);
    CHECK_NEAR(joint.certificate.primal, single.certificate.primal, 1e-8, "objective");
    mgv_model_free(joint.ctx, a);
    mgv_model_free(single.ctx, b);
    mgv_fit_free(&joint);
    mgv_fit_free(&single);
}

/* A kernel has the same intercepts, weights count as so many rows, and the bits are the same on
 * any number of threads and across a checkpoint. */
TEST(intercepts_with_kernels_weights_and_checkpoints)
{
    static const char *const options =
        "loss=crammer_singer solver=class_coordinate lambda=0.01 tol=1e-8";
    double X[N * D], y[N];
    mgv_fit fit[2];
    mgv_clouds(X, y, N, D, K);
    for (int t = 0; t < 2; t++)
        mgv_fit_start(&fit[t], X, y, N, D, options);
    mgv_fit_set(&fit[1], "kernel=poly degree=1 offset=0 sigma2=1");
    mgv_fit_solve(&fit[0]);
    mgv_fit_solve(&fit[1]);
    CHECK(fit[1].run.stop == MGV_STOP_CERTIFIED && fit[1].certificate.verified);
    CHECK_NEAR(fit[0].certificate.primal, fit[1].certificate.primal, 2e-8, "objective");
    for (int t = 0; t < 2; t++)
        mgv_fit_free(&fit[t]);
    for (int t = 0; t < 2; t++) { /* class 1 counts three times, once by copies of its rows */
        double Z[2 * N * D], label[2 * N];
        int rows = 0;
        for (int i = 0; i < N; i++)
            for (int copy = 0; copy < (t && y[i] == 1 ? 3 : 1); copy++, rows++) {
                memcpy(Z + rows * D, X + i * D, D * sizeof *X);
                label[rows] = y[i];
            }
        mgv_fit_start(&fit[t], Z, label, rows, D, options);
        mgv_fit_set(&fit[t], t ? "" : "class_weight=1:3");
        mgv_fit_solve(&fit[t]);
    }
    CHECK_NEAR(fit[0].certificate.primal, fit[1].certificate.primal, 2e-8, "weighted");
    for (int t = 0; t < 2; t++)
        mgv_fit_free(&fit[t]);
    mgv_check_same_bits(
        X, y, N, D, "loss=crammer_singer solver=class_coordinate lambda=1e-3 tol=1e-14 max_iter=20",
        10);
}

/* Rows that are few for the columns, at a strength that is nearly a hard margin: what some lack of
 * theirs is small beside the margin, but not beside an optimum of 1e-6. */
TEST(nearly_hard_margins_end_soon)
{
    enum { ROWS = 90, COLS = 300, FEW = 4 };
    static double X[ROWS * COLS];
    double y[ROWS];
    mgvi_rng rng = mgvi_rng_seed(3);
    mgv_fit fit;
    for (int t = 0; t < ROWS * COLS; t++)
        X[t] = mgvi_rng_below(&rng, 8) ? 0 : 60 + 20 * mgvi_rng_normal(&rng);
    for (int i = 0; i < ROWS; i++)
        y[i] = i % FEW;
    mgv_fit_start(&fit, X, y, ROWS, COLS, "loss=crammer_singer solver=class_coordinate C=100");
    mgv_fit_solve(&fit);
    CHECK(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified);
    CHECK_LE(fit.run.passes, 150, "over all rows and those that move");
    mgv_fit_free(&fit);
}

/* Raw intensities of genes: lambda is 1e-12 of the rows' squares, multipliers are nothing beside
 * the rows' weights. What is certified by every solver must be one number, to its digits. */
TEST(multipliers_keep_digits_beside_the_weights)
{
    enum { ROWS = 150, COLS = 4000 };
    static const char *const losses[] = {"loss=crammer_singer tol=1e-3", "loss=softmax tol=1e-4"};
    static double X[ROWS * COLS];
    double y[ROWS];
    mgvi_rng rng = mgvi_rng_seed(31);
    for (int i = 0; i < ROWS; i++) {
        y[i] = i % 3;
        for (int j = 0; j < COLS; j++)
            X[i * COLS + j] =
                exp(5 + 1.5 * mgvi_rng_normal(&rng) + (j < 20 ? 0.8 * (y[i] - 1) : 0));
    }
    for (int t = 0; t < 2; t++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, ROWS, COLS, losses[t]);
        mgv_fit_solve(&fit);
        const mgv_certificate *c = &fit.certificate;
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && c->verified, "%s: %s after %s", losses[t],
                   mgv_stop_name(fit.run.stop), fit.run.solver);
        CHECK_LE(c->primal - c->dual, 0.01 * c->primal, "%s", losses[t]);
        CHECK_LE(fit.run.passes, 2000, "%s", losses[t]);
        mgv_fit_free(&fit);
    }
}

int main(void)
{
    return RUN(the_certificate_is_met_and_true, nearly_hard_margins_end_soon,
               multipliers_keep_digits_beside_the_weights, two_classes_are_the_hinge,
               scaled_columns_are_columns, the_linear_kernel_is_the_linear_form,
               kernels_part_what_planes_cannot, runs_have_the_same_bits,
               intercepts_are_free_and_proven_best, intercepts_of_two_classes_are_the_hinges,
               intercepts_with_kernels_weights_and_checkpoints);
}
