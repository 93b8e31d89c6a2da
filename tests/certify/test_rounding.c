/* test_rounding.c - certificates of columns far from 0: what is printed is true of the numbers
 * given, and rounding is owned up to. Values are recomputed here in long double. */
#include "quad.h"
#include "vectors.h"

#include "base/rng.h"
#include "loss/registry.h"
#include "model/model.h"

#include <math.h>
#include <string.h>

enum { N = 60, D = 4 };

/* Points on a grid of 1/64, so that they can be moved by whole numbers below 2^46 exactly. */
static void make(double X[N * D], double y[N], bool classes)
{
    mgvi_rng rng = mgvi_rng_seed(5);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < D; j++) {
            X[i * D + j] = round(64 * mgvi_rng_normal(&rng)) / 64;
            sum += X[i * D + j];
        }
        sum += mgvi_rng_normal(&rng);
        y[i] = classes ? (sum > 0 ? 1 : -1) : sum;
    }
}

static long double loss_of(const char *loss, long double z, long double y)
{
    if (strcmp(loss, "hinge") == 0)
        return fmaxl(0, 1 - y * z);
    if (strncmp(loss, "absolute", 8) == 0)
        return fabsl(z - y);
    if (strncmp(loss, "epsilon", 7) == 0)
        return fmaxl(0, fabsl(z - y) - 0.25L);
    return strcmp(loss, "logistic") == 0 ? log1pl(expl(-y * z)) : (z - y) * (z - y) / 2;
}

/* The objective of the model's weights on its data. */
static long double attained(const mgv_fit *fit, const mgv_model *m, const char *loss,
                            const double *X, const double *y)
{
    long double sum = 0;
    for (int i = 0; i < N; i++) {
        quad z = m->intercept[0]; /* long double would lose 1e-8 of scores that cancel */
        for (int j = 0; j < D; j++)
            z += (quad)X[i * D + j] * m->coef[j];
        sum += loss_of(loss, (long double)z, y[i]) / N;
    }
    for (int j = 0; j < D; j++) {
        const long double w = m->coef[j];
        sum += fit->problem->lambda / 2 * w * w + fit->problem->mu * fabsl(w);
    }
    return sum;
}

static bool is_quantity(const char *loss)
{
    return strncmp(loss, "absolute", 8) == 0 || strncmp(loss, "epsilon", 7) == 0 ||
           strcmp(loss, "squared") == 0;
}

/* Solves at an offset; false: not verified. The interval must hold the optimum, which lies in
 * [low, high]. */
static bool check_at(double offset, const char *loss, const char *strength, const char *tol,
                     double *low, double *high)
{
    double X[N * D], y[N];
    char options[160];
    mgv_fit fit;
    mgv_model *m;
    make(X, y, !is_quantity(loss));
    for (int i = 0; i < N * D; i++)
        X[i] += offset;
    snprintf(options, sizeof options, "loss=%s %s tol=%s max_iter=300", loss, strength, tol);
    mgv_fit_start(&fit, X, y, N, D, options);
    mgv_fit_solve(&fit);
    const mgv_certificate c = fit.certificate;
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
    const long double value = attained(&fit, m, loss, X, y);
    CHECK_THAT(value <= c.primal * (1 + 1e-15L), "%s at %g: %.17Lg is attained, not %.17g", options,
               offset, value, c.primal);
    CHECK_THAT(c.dual <= *high && c.primal >= *low && c.gap >= 0,
               "%s at %g: [%.17g, %.17g] beside [%.17g, %.17g]", options, offset, c.dual, c.primal,
               *low, *high);
    if (offset == 0) {
        *low = c.dual;
        *high = c.primal;
    }
    mgv_model_free(fit.ctx, m);
    mgv_fit_free(&fit);
    return c.verified;
}

TEST(intervals_hold_the_optimum_wherever_the_data_lies)
{
    static const char *const losses[] = {"hinge", "logistic", "squared", "absolute task=regress",
                                         "epsilon_insensitive epsilon=0.25 task=regress"};
    static const char *const strengths[] = {"lambda=0.01", "mu=0.01"};
    static const char *const tols[] = {"1e-4", "1e-6"};
    static const double offsets[] = {1e3, 1e6, 1e8, 1e10, 1e12, 3e13};
    for (int k = 0; k < 20; k++) {
        const char *loss = losses[k % 5], *strength = strengths[k / 5 % 2], *tol = tols[k / 10];
        double low = -INFINITY, high = INFINITY;
        CHECK(check_at(0, loss, strength, "1e-9", &low, &high));
        for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++)
            CHECK(check_at(offsets[o], loss, strength, tol, &low, &high) || offsets[o] > 1e6);
    }
}

/* One row beside an intercept: the optimum is 0, which rounded weights miss by a hair. */
TEST(an_optimum_of_nothing_is_known)
{
    static const char *const options[] = {
        "loss=squared task=regress lambda=0.1", "loss=huber task=regress lambda=0.1",
        "loss=epsilon_insensitive task=regress mu=0.1", "loss=squared task=regress mu=0.1",
        "loss=squared task=regress lambda=0.1 kernel=rbf"};
    const double X[] = {0.1, -1.7, 3.3}, y[] = {12.3456789};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, 1, 3, options[k]);
        mgv_fit_solve(&fit);
        const mgv_certificate c = fit.certificate;
        CHECK_THAT(c.verified && c.dual <= c.primal && c.primal < 1e-25 && c.relative_gap <= 1e-12,
                   "%s: [%g, %g]", options[k], c.dual, c.primal);
        mgv_fit_free(&fit);
    }
}

/* Columns that are the same number in all rows, a large one: the room that is left for rounding
 * costs far more than the bound is worth, and must not take its digits. */
TEST(a_large_cost_of_rounding_takes_no_digits)
{
    enum { ROWS = 7 };
    const double column[D] = {42860, -853832, 69448, 4.59371964e16};
    const double y[ROWS] = {0, 1, 1, 1, 0, 1, 1}, s = 1.0 / ROWS;
    double X[ROWS * D];
    int32_t index[ROWS * D];
    int64_t start[ROWS + 1], count;
    const double *u;
    mgv_fit fit;
    for (int k = 0; k < ROWS * D; k++) {
        X[k] = column[k % D];
        index[k] = k % D;
    }
    for (int i = 0; i <= ROWS; i++)
        start[i] = i * D;
    mgv_fit_start(&fit, X, y, ROWS, D, "loss=logistic lambda=0.00536 mu=0.00183");
    mgv_data_free(fit.ctx, fit.data); /* by rows the columns' own sizes are not known at first */
    CHECK_OK(fit.ctx,
             mgv_data_from_sparse(fit.ctx, MGV_CSR, MGV_F64, X, start, index, ROWS, D, &fit.data));
    CHECK_OK(fit.ctx, mgv_data_set_labels(fit.ctx, fit.data, y));
    mgv_fit_solve(&fit);
    CHECK_OK(fit.ctx, mgv_solver_dual(fit.solver, &u, &count));
    long double proven = 0; /* u is balanced, so that A'u = 0 */
    for (int i = 0; i < ROWS; i++) {
        const long double h = fminl(-u[i] / s, 1 + u[i] / s);
        proven -= h > 0 ? s * (h * logl(h) + (1 - h) * log1pl(-h)) : 0;
    }
    CHECK_THAT(fit.certificate.dual <= (double)proven * (1 + 1e-12),
               "at least %.17g, u proves %.17Lg", fit.certificate.dual, proven);
    mgv_fit_free(&fit);
}

/* A hard margin under a penalty that is no norm: attained is what the model has, when its weights
 * were made longer to meet the margin. */
TEST(weights_made_longer_are_the_ones_judged)
{
    static const double offsets[] = {3e4, 8e5, 3e7};
    for (size_t k = 0; k < 3 * 4; k++) {
        enum { ROWS = 12, COLS = 30 };
        double X[ROWS * COLS], y[ROWS], least = INFINITY;
        mgvi_rng rng = mgvi_rng_seed(k);
        mgv_fit fit;
        mgv_model *m;
        for (int i = 0; i < ROWS; i++) {
            y[i] = i % 2 ? 1 : -1;
            for (int j = 0; j < COLS; j++)
                X[i * COLS + j] = offsets[k % 3] + mgvi_rng_normal(&rng);
        }
        mgv_fit_start(&fit, X, y, ROWS, COLS, "loss=margin penalty=enet lambda=1 mu=0.1 tol=1e-6");
        mgv_fit_solve(&fit);
        CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
        quad value = 0;
        for (int i = 0; i < ROWS; i++) {
            quad z = m->intercept[0];
            for (int j = 0; j < COLS; j++)
                z += (quad)X[i * COLS + j] * m->coef[j];
            least = fmin(least, (double)(y[i] * z));
        }
        for (int j = 0; j < COLS; j++)
            value += (quad)m->coef[j] * m->coef[j] / 2 + fabs(0.1 * m->coef[j]);
        CHECK_THAT(least >= 1 - 1e-15, "offset %g: a margin of %.17g", offsets[k % 3], least);
        CHECK_THAT((double)value <= fit.certificate.primal * (1 + 1e-15),
                   "offset %g: %.17g is attained, not %.17g", offsets[k % 3], (double)value,
                   fit.certificate.primal);
        mgv_model_free(fit.ctx, m);
        mgv_fit_free(&fit);
    }
}

/* Equalities between large columns and small targets: what is missed is not taken for rounding. */
TEST(small_targets_are_met)
{
    const double X[] = {17270.992362457153, -577859.62447983946, 27330.695263384139,
                        51261.989521710137};
    const double y[] = {2.3870437938260448e-05, 4.6062748456555075e-05};
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, 2, 2, "loss=equal task=regress penalty=l2 tol=1e-6");
    mgv_fit_solve(&fit);
    CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.relative_gap <= 1e-6,
               "%s, gap %g", mgv_stop_name(fit.run.stop), fit.certificate.relative_gap);
    mgv_fit_free(&fit);
}

/* A column of one number is nothing once it is centred, however large: it costs no digits. */
TEST(a_constant_column_costs_no_digits)
{
    enum { ROWS = 3, COLS = 2 };
    const double X[ROWS * COLS] = {984842562790.58215, 1,  984842562790.58215, -2,
                                   984842562790.58215, 0.5},
                          y[ROWS] = {2.5, -1, 3};
    for (int rows = 1; rows <= ROWS; rows += 2) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, rows, COLS,
                      "loss=squared task=regress lambda=0.005 intercept=no scale=std tol=1e-9");
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.certificate.verified && fit.certificate.relative_gap <= 1e-9, "%d rows: %g",
                   rows, fit.certificate.relative_gap);
        mgv_fit_free(&fit);
    }
}

/* One centred row has no length to step along: a constant meets it. */
TEST(one_row_is_met_by_a_constant)
{
    static const char *const options[] = {"loss=equal task=regress penalty=l2",
                                          "loss=interval task=regress penalty=l2 epsilon=0.01",
                                          "loss=equal task=regress penalty=entropy"};
    const double X[] = {1891466448.4719553, 1639347910.2278581, -1568405163.6175027},
                 y[] = {697907};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, 1, 3, options[k]);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fabs(fit.certificate.primal) < 1e-5,
                   "%s: %s, %g", options[k], mgv_stop_name(fit.run.stop), fit.certificate.primal);
        mgv_fit_free(&fit);
    }
}

/* The entropy of weights that are nearly equal is nearly 0, but for rounding of its own factor's
 * size, however small the loss is beside it. */
TEST(an_entropy_of_nothing_is_known)
{
    enum { WIDE = 20 };
    const double X[WIDE] = {-2, 1, 1, -3, 1, 1, 0, -3, 0, 1, 3, 0, -3, -1, 1, -2, 3, 2, 0, 3},
                 y[] = {3.2240804526679202e-06};
    mgv_fit fit;
    mgv_fit_start(
        &fit, X, y, 1, WIDE,
        "loss=squared task=regress penalty=entropy lambda=0.073218321166578434 scale=std");
    mgv_fit_solve(&fit);
    CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified &&
                   fit.certificate.primal >= 0 && fit.certificate.primal < 1e-13,
               "%s, %g", mgv_stop_name(fit.run.stop), fit.certificate.primal);
    mgv_fit_free(&fit);
}

/* log(1 + e^-40) of scores that are 40 apart. */
TEST(a_class_far_ahead_keeps_the_digits_of_its_loss)
{
    const mgvi_joint_ops *joint = mgvi_loss_find("softmax")->joint;
    const double z[] = {40, 0}, u[] = {-1e-18, 1e-18};
    CHECK_NEAR(joint->value(1, z, 2, 0) / exp(-40), 1, 1e-14, "value");
    CHECK_NEAR(joint->conj(1, u, 2, 0) / (1e-18 * (log(1e-18) - 1)), 1, 1e-14, "conjugate");
}

/* A total variation so dear that all weights are equal: two unknowns, their sum's and the
 * intercept's, found here in long double by Newton's method. */
static long double least_of_a_constant(const double *X, const double *y, int d)
{
    long double t = 0, b = 0, value = 0;
    for (int k = 0; k < 60; k++) {
        long double g[2] = {0, 0}, h[3] = {0, 0, 0};
        value = 0;
        for (int i = 0; i < N; i++) {
            long double s = 0;
            for (int j = 0; j < d; j++)
                s += X[i * d + j];
            const long double z = y[i] * (s * t + b), p = 1 / (1 + expl(z));
            value += log1pl(expl(-z)) / N;
            g[0] -= p * y[i] * s / N;
            g[1] -= p * y[i] / N;
            h[0] += p * (1 - p) * s * s / N;
            h[1] += p * (1 - p) * s / N;
            h[2] += p * (1 - p) / N;
        }
        const long double det = h[0] * h[2] - h[1] * h[1];
        t -= (h[2] * g[0] - h[1] * g[1]) / det;
        b -= (h[0] * g[1] - h[1] * g[0]) / det;
    }
    return value;
}

TEST(bounds_hold_where_the_level_of_the_weights_is_free)
{
    for (int k = 0; k < 40; k++) {
        mgvi_rng rng = mgvi_rng_seed(100 + (uint64_t)k);
        const int d = 1 + k % 9;
        double X[N * 9], y[N];
        mgv_fit fit;
        for (int i = 0; i < N; i++) {
            y[i] = i % 3 == 0 ? 1 : -1;
            for (int j = 0; j < d; j++)
                X[i * d + j] = mgvi_rng_normal(&rng) + 0.3 * y[i] + k % 2;
        }
        const long double least = least_of_a_constant(X, y, d);
        mgv_fit_start(&fit, X, y, N, d,
                      k % 4 < 2 ? "loss=logistic penalty=tv1d mu=1e6 tol=1e-2"
                                : "loss=logistic penalty=tv1d mu=1e6 tol=1e-6");
        mgv_fit_solve(&fit);
        const mgv_certificate c = fit.certificate;
        CHECK_THAT(c.dual <= least && least <= c.primal && c.dual > 0.9L * least,
                   "d = %d: [%.17g, %.17g] beside %.17Lg", d, c.dual, c.primal, least);
        mgv_fit_free(&fit);
    }
}

/* Rows of one 1 add up to the intercept's column, and no bound is lost for it. */
TEST(an_exact_sum_of_columns_is_no_other_constraint)
{
    double X[N * D] = {0}, y[N];
    mgv_fit fit;
    for (int i = 0; i < N; i++) {
        X[i * D + i % D] = 1;
        y[i] = i % D + 0.1 * (i % 7);
    }
    mgv_fit_start(&fit, X, y, N, D, "loss=squared penalty=tv1d mu=0.01 tol=1e-6");
    mgv_fit_solve(&fit);
    CHECK_THAT(fit.certificate.verified && fit.certificate.relative_gap <= 1e-6, "%g",
               fit.certificate.relative_gap);
    mgv_fit_free(&fit);
}

/* Weights within a box have a value of 0 or none: a bound above 0 is a proof. */
TEST(a_box_too_small_for_its_margin_is_proven)
{
    const double X[] = {1, -1, 2, -3}, y[] = {1, -1, 1, -1};
    static const char *const options[] = {"loss=margin penalty=box low=-0.5 high=0.5",
                                          "loss=margin penalty=box low=-2 high=2"};
    for (int k = 0; k < 2; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, 4, 1, options[k]);
        mgv_fit_solve(&fit);
        CHECK_THAT((fit.certificate.separable == 0) == (k == 0), "%s: %d, %s", options[k],
                   fit.certificate.separable, mgv_stop_name(fit.run.stop));
        mgv_fit_free(&fit);
    }
}

/* Prices of houses: a weak mu beside columns and residuals of 1e4. What balancing leaves of the sum
 * of u is measured; a bound of it would cost most of mu. */
TEST(a_weak_strength_beside_an_intercept_is_met)
{
    enum { ROWS = 2000, COLS = 6 };
    static double X[ROWS * COLS], y[ROWS];
    mgvi_rng rng = mgvi_rng_seed(8);
    for (int i = 0; i < ROWS; i++) {
        y[i] = 5e4 + 6e4 * mgvi_rng_normal(&rng);
        for (int j = 0; j < COLS; j++) {
            const double x = mgvi_rng_normal(&rng);
            X[i * COLS + j] = j < 3 ? 2000 * x * x : 40 + x;
            y[i] += (j < 3 ? 20 : 1000) * X[i * COLS + j];
        }
    }
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, ROWS, COLS, "loss=squared penalty=l1 mu=2e-5");
    mgv_fit_solve(&fit);
    const mgv_certificate *c = &fit.certificate;
    CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && c->verified, "%s, gap %g",
               mgv_stop_name(fit.run.stop), c->relative_gap);
    CHECK_LE(c->dual, c->primal, "order");
    mgv_fit_free(&fit);
}

int main(void)
{
    return RUN(a_weak_strength_beside_an_intercept_is_met, a_constant_column_costs_no_digits,
               a_box_too_small_for_its_margin_is_proven,
               bounds_hold_where_the_level_of_the_weights_is_free,
               an_exact_sum_of_columns_is_no_other_constraint, small_targets_are_met,
               one_row_is_met_by_a_constant, an_entropy_of_nothing_is_known,
               a_class_far_ahead_keeps_the_digits_of_its_loss,
               intervals_hold_the_optimum_wherever_the_data_lies, an_optimum_of_nothing_is_known,
               a_large_cost_of_rounding_takes_no_digits, weights_made_longer_are_the_ones_judged);
}
