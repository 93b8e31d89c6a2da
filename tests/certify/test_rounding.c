/* test_rounding.c - certificates of columns far from 0: what is printed is true of the numbers
 * given, and rounding is owned up to. Values are recomputed here in long double. */
#include "vectors.h"

#include "base/rng.h"
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
    return strcmp(loss, "logistic") == 0 ? log1pl(expl(-y * z)) : (z - y) * (z - y) / 2;
}

/* The objective of the model's weights on its data. */
static long double attained(const mgv_fit *fit, const mgv_model *m, const char *loss,
                            const double *X, const double *y)
{
    long double sum = 0;
    for (int i = 0; i < N; i++) {
        __float128 z = m->intercept[0]; /* long double would lose 1e-8 of scores that cancel */
        for (int j = 0; j < D; j++)
            z += (__float128)X[i * D + j] * m->coef[j];
        sum += loss_of(loss, (long double)z, y[i]) / N;
    }
    for (int j = 0; j < D; j++) {
        const long double w = m->coef[j];
        sum += fit->problem->lambda / 2 * w * w + fit->problem->mu * fabsl(w);
    }
    return sum;
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
    make(X, y, strcmp(loss, "squared") != 0);
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
    static const char *const losses[] = {"hinge", "logistic", "squared"};
    static const char *const strengths[] = {"lambda=0.01", "mu=0.01"};
    static const char *const tols[] = {"1e-4", "1e-6"};
    static const double offsets[] = {1e3, 1e6, 1e8, 1e10, 1e12, 3e13};
    for (int k = 0; k < 12; k++) {
        const char *loss = losses[k % 3], *strength = strengths[k / 3 % 2], *tol = tols[k / 6];
        double low = -INFINITY, high = INFINITY;
        CHECK(check_at(0, loss, strength, "1e-9", &low, &high));
        for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++)
            CHECK(check_at(offsets[o], loss, strength, tol, &low, &high) || offsets[o] > 1e6);
    }
}

int main(void) { return RUN(intervals_hold_the_optimum_wherever_the_data_lies); }
