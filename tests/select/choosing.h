/* choosing.h - the sets that the tests of paths and selections share. */
#ifndef MGV_TESTS_SELECT_CHOOSING_H
#define MGV_TESTS_SELECT_CHOOSING_H

#include "vectors.h"

#include "base/rng.h"
#include "select/selection.h"

#include <math.h>
#include <stdlib.h>

/* Regression: y = 3 + sum_j weight(j) x_j + noise of size 1, columns correlated with the one before
 * them by `kin`, the first with a mean of 2 kin. */
static inline void mgv_planted_set(mgv_fit *fit, uint64_t seed, int64_t n, int64_t d, double kin,
                                   double (*weight)(int64_t j), const char *options)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    double *X = malloc((size_t)(n * d) * sizeof *X), *y = malloc((size_t)n * sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        y[i] = 3 + mgvi_rng_normal(&rng);
        for (int64_t j = 0; j < d; j++) {
            X[i * d + j] = mgvi_rng_normal(&rng) + kin * (j ? X[i * d + j - 1] : 2);
            y[i] += weight(j) * X[i * d + j];
        }
    }
    mgv_fit_start(fit, X, y, n, d, options);
    free(X);
    free(y);
}

/* Overlapping clouds of four classes labelled -7, 0, 2.5 and 100; columns from the fifth on are
 * noise. */
enum { MGV_CLOUDS = 4 };
static inline void mgv_cloud_set(mgv_fit *fit, uint64_t seed, int64_t n, int64_t d,
                                 const char *options)
{
    static const double label[MGV_CLOUDS] = {-7, 0, 2.5, 100};
    mgvi_rng rng = mgvi_rng_seed(seed);
    double *X = malloc((size_t)(n * d) * sizeof *X), *y = malloc((size_t)n * sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        const int own = (int)((i * 7 + i / 5) % MGV_CLOUDS);
        y[i] = label[own];
        for (int64_t j = 0; j < d; j++)
            X[i * d + j] = mgvi_rng_normal(&rng) + (j < 4 ? 1.6 * cos(own * ((double)j + 1.3)) : 0);
    }
    mgv_fit_start(fit, X, y, n, d, "task=classify");
    mgv_fit_set(fit, options);
    free(X);
    free(y);
}

static inline mgv_selection *mgv_choose(mgv_fit *fit)
{
    mgv_selection *s;
    CHECK_OK(fit->ctx, mgv_selection_run(fit->ctx, fit->data, fit->settings, &s));
    return s;
}
#endif
