/* test_joint_intercepts.c - the hard margin of many classes with a free intercept for each: both
 * bounds computed here from the weights and the dual variables, the methods beside each other, two
 * classes beside the margin of two, and the three answers. */
#include "vectors.h"

#include "model/model.h"

#include <math.h>
#include <string.h>

enum { D = 3, K = 4, N = 60 };

/* Clouds around corners far from the origin, `wide` as their distance is 4; the last class has one
 * example. */
static void corners(uint64_t seed, double wide, double *X, double *y)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    for (int i = 0; i < N; i++) {
        const int c = i == 0 ? K - 1 : i % (K - 1);
        y[i] = c;
        for (int j = 0; j < D; j++)
            X[i * D + j] = 50 + 4 * (j == c) + wide * (mgvi_rng_uniform(&rng) - 0.5);
    }
}

static void start(mgv_fit *fit, const double *X, const double *y, const char *options)
{
    mgv_fit_start(fit, X, y, N, D, "loss=margin multiclass=joint");
    mgv_fit_set(fit, options);
}

/* The least difference of scores over |W|, from the model. */
static double lower_bound(const mgv_model *m, const double *X, const double *y)
{
    double least = INFINITY, square = 0;
    for (int t = 0; t < K * D; t++)
        square += m->coef[t] * m->coef[t];
    for (int i = 0; i < N; i++) {
        double z[K];
        for (int c = 0; c < K; c++) {
            z[c] = m->intercept[c];
            for (int j = 0; j < D; j++)
                z[c] += m->coef[c * D + j] * X[i * D + j];
        }
        for (int c = 0; c < K; c++)
            if (c != (int)y[i])
                least = fmin(least, z[(int)y[i]] - z[c]);
    }
    return least / sqrt(square);
}

/* |E'q| / sum q of a q that is a circulation, |E'q + Y'q| when `proof` is asked for. */
static double upper_bound(const mgv_fit *fit, const double *X, const double *y, bool proof)
{
    const double *u;
    int64_t count;
    double v[K][D] = {{0}}, flow[K] = {0}, sum = 0, square = 0;
    CHECK_OK(fit->ctx, mgv_solver_dual(fit->solver, &u, &count));
    CHECK(count == N * K);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < K; c++) {
            const double q = -u[i * K + c];
            CHECK(q >= 0 && (q == 0 || c != (int)y[i]));
            sum += q;
            flow[(int)y[i]] += q;
            flow[c] -= q;
            for (int j = 0; j < D; j++) {
                v[(int)y[i]][j] += q * (X[i * D + j] - 50);
                v[c][j] -= q * (X[i * D + j] - 50);
            }
        }
    for (int c = 0; c < K; c++) {
        CHECK_LE(fabs(flow[c]), 1e-13 * sum, "the flow of class %d", c);
        square += proof ? flow[c] * flow[c] : 0;
        for (int j = 0; j < D; j++)
            square += v[c][j] * v[c][j];
    }
    return sqrt(square) / sum;
}

TEST(both_bounds_are_true)
{
    static const char *const options[] = {
        "tol=1e-9",
        "tol=1e-8 scale=none kernel=poly degree=1 offset=0 sigma2=1e3", /* 50 away from 0 */
        "tol=1e-3 solver=momentum_margin",
        "tol=1e-3 solver=momentum_margin large_steps=no",
        "tol=3e-2 solver=momentum_margin sampling=yes",
        "tol=1e-2 solver=batch_perceptron",
        "tol=1e-2 solver=batch_perceptron perceptron_form=projected"};
    double X[N * D], y[N], best = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        corners(seed, 3.5, X, y);
        for (int o = 0; o < 7; o++) {
            mgv_fit fit;
            mgv_model *m;
            start(&fit, X, y, options[o]);
            mgv_fit_set(&fit, "max_iter=100000");
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified, "%s: %s %g",
                       options[o], mgv_stop_name(fit.run.stop), fit.certificate.relative_gap);
            CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
            if (o == 0)
                best = fit.certificate.margin;
            if (o != 1) {
                CHECK_NEAR(lower_bound(m, X, y), fit.certificate.margin, 1e-9, "%s", options[o]);
                CHECK_NEAR(upper_bound(&fit, X, y, false), fit.certificate.margin_upper, 1e-9, "%s",
                           options[o]);
            }
            const double unit = o == 1 ? sqrt(1e3) : 1; /* phi(x) = x / sqrt(sigma2) */
            CHECK_LE(unit * fit.certificate.margin, best * (1 + 1e-7), "%s", options[o]);
            CHECK_LE(best, unit * fit.certificate.margin_upper * (1 + 1e-7), "%s", options[o]);
            mgv_model_free(fit.ctx, m);
            mgv_fit_free(&fit);
        }
    }
}

/* Of two classes the joint margin is that of two, |w| = |w_1 - w_0| = sqrt 2 |W|: the third class
 * of weight 0 is no class, and where the data lies does not matter. */
TEST(a_class_without_weight_leaves_the_margin_of_two)
{
    double X[N * D], y[N], Z[N * D], two[N];
    int rows = 0;
    mgv_fit joint, single;
    corners(5, 3.5, X, y);
    for (int i = 0; i < N; i++)
        if (y[i] < 2) {
            memcpy(Z + rows * D, X + i * D, D * sizeof *X);
            two[rows++] = y[i];
        }
    start(&joint, X, y, "class_weight=2:0,3:0 tol=1e-9");
    mgv_fit_start(&single, Z, two, rows, D, "loss=margin tol=1e-9");
    mgv_fit_solve(&joint);
    mgv_fit_solve(&single);
    CHECK(joint.run.stop == MGV_STOP_CERTIFIED && single.run.stop == MGV_STOP_CERTIFIED);
    /* z_1 - z_0 >= 1 for one and <= -1 for the other: two halves */
    CHECK_NEAR(joint.certificate.margin, sqrt(2) * single.certificate.margin, 1e-8, "margin");
    mgv_fit_free(&joint);
    mgv_fit_free(&single);
}

/* One intercept of two classes, for the methods that had none. */
TEST(methods_for_two_classes_agree)
{
    static const char *const options[] = {"tol=1e-9", "tol=1e-3 solver=momentum_margin",
                                          "tol=1e-2 solver=batch_perceptron"};
    double X[N * D], y[N], best = 0;
    corners(7, 3.5, X, y);
    for (int i = 0; i < N; i++)
        y[i] = y[i] == 1;
    for (int o = 0; o < 3; o++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, "loss=margin max_iter=100000");
        mgv_fit_set(&fit, options[o]);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s: %g", options[o],
                   fit.certificate.relative_gap);
        best = o == 0 ? fit.certificate.margin : best;
        CHECK_LE(fit.certificate.margin, best * (1 + 1e-8), "%s", options[o]);
        CHECK_LE(best, fit.certificate.margin_upper * (1 + 1e-8), "%s", options[o]);
        mgv_fit_free(&fit);
    }
}

/* Wide clouds overlap: a convex combination of contrasts that vanishes, intercepts included. */
TEST(inseparable_classes_are_proven)
{
    static const char *const options[] = {"tol=1e-6", "tol=1e-6 short_proof=yes",
                                          "tol=1e-6 solver=momentum_margin max_iter=20000"};
    double X[N * D], y[N];
    corners(9, 14, X, y);
    for (int o = 0; o < 3; o++) {
        mgv_fit fit;
        start(&fit, X, y, options[o]);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_INFEASIBLE && fit.certificate.separable == 0, "%s",
                   options[o]);
        CHECK_LE(upper_bound(&fit, X, y, true), 1e-11, "%s", options[o]);
        mgv_fit_free(&fit);
    }
}

/* Planes through the origin cannot part what these can. */
TEST(intercepts_part_what_planes_through_the_origin_cannot)
{
    double X[N * D] = {0}, y[N];
    mgv_fit with, without;
    for (int i = 0; i < N; i++) {
        y[i] = i % K;
        X[i * D] = y[i] * y[i]; /* on a curve through the origin */
        X[i * D + 1] = y[i];
    }
    start(&with, X, y, "tol=1e-9");
    start(&without, X, y, "tol=1e-9 intercept=no");
    mgv_fit_solve(&with);
    mgv_fit_solve(&without);
    CHECK(with.run.stop == MGV_STOP_CERTIFIED && with.certificate.separable == 1);
    CHECK(without.run.stop == MGV_STOP_INFEASIBLE && without.certificate.separable == 0);
    mgv_fit_free(&with);
    mgv_fit_free(&without);
}

TEST(runs_have_the_same_bits)
{
    double X[N * D], y[N];
    corners(11, 3.5, X, y);
    mgv_check_same_bits(X, y, N, D, "loss=margin multiclass=joint tol=1e-14 max_iter=6", 2);
    mgv_check_same_bits(X, y, N, D, "loss=margin multiclass=joint tol=1e-14 max_iter=6 kernel=rbf",
                        2);
    mgv_check_same_bits(X, y, N, D,
                        "loss=margin multiclass=joint tol=1e-14 max_iter=60 solver=momentum_margin",
                        25);
    mgv_check_same_bits(
        X, y, N, D, "loss=margin multiclass=joint tol=1e-14 max_iter=60 solver=batch_perceptron",
        25);
}

int main(void)
{
    return RUN(both_bounds_are_true, a_class_without_weight_leaves_the_margin_of_two,
               methods_for_two_classes_agree, inseparable_classes_are_proven,
               intercepts_part_what_planes_through_the_origin_cannot, runs_have_the_same_bits);
}
