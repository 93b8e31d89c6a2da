/* regression.h - random sparse regressions for the tests of iterative regularisation. */
#ifndef MGV_TESTS_SOLVER_REGRESSION_H
#define MGV_TESTS_SOLVER_REGRESSION_H

#include "stepping.h"

#include <math.h>
#include <string.h>

static inline double distance(const double *x, const double *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}

static inline double length(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

typedef struct regression {
    int64_t n, d;
    double *X, *y, *w, *noise;
} regression;

/* y = X w + noise of length |X w| / snr, `k` weights are 1 or -1. */
static inline regression regression_new(uint64_t seed, int64_t n, int64_t d, int64_t k, double snr)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    regression r = {.n = n, .d = d};
    r.X = calloc((size_t)(n * d), sizeof *r.X);
    r.y = calloc((size_t)n, sizeof *r.y);
    r.w = calloc((size_t)d, sizeof *r.w);
    r.noise = calloc((size_t)n, sizeof *r.noise);
    for (int64_t i = 0; i < n * d; i++)
        r.X[i] = mgvi_rng_normal(&rng);
    for (int64_t j = 0; j < k; j++)
        r.w[mgvi_rng_below(&rng, (uint32_t)d)] = j % 2 ? 1 : -1;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < d; j++)
            r.y[i] += r.X[i * d + j] * r.w[j];
        r.noise[i] = mgvi_rng_normal(&rng);
    }
    const double scale = isinf(snr) ? 0 : length(r.y, n) / length(r.noise, n) / snr;
    for (int64_t i = 0; i < n; i++) {
        r.noise[i] *= scale;
        r.y[i] += r.noise[i];
    }
    return r;
}

static inline void regression_free(regression *r)
{
    free(r->X), free(r->y), free(r->w), free(r->noise);
}

#define PLAIN "task=regress loss=equal penalty=l1 solver=primal_dual intercept=no "

static inline void solve(mgv_fit *fit, const regression *r, const char *options)
{
    mgv_fit_start(fit, r->X, r->y, r->n, r->d, options);
    mgv_fit_solve(fit);
}
#endif
