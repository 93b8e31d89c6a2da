/* test_column_generation.c - the hinge with l1, l2 and both on small and wide data: known optima,
 * certificates recomputed by plain loops, every storage, weights, same bits, failing memory. */
#include "base/rng.h"
#include "solver/driver.h"
#include "vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the vectors ----------------------------------------------------------------------------- */

static void check_vector(const json_t *k)
{
    int64_t n, d;
    char options[160];
    const char *id = json_string_value(json_object_get(k, "id"));
    double *X = mgv_vector_array(k, "X", NULL), *y = mgv_vector_array(k, "y", &n);
    double *w = mgv_vector_array(k, "w", &d), *theta = mgv_vector_array(k, "theta", NULL);
    const double lambda = mgv_vector_number(json_object_get(k, "lam"));
    const double mu = mgv_vector_number(json_object_get(k, "mu"));
    const bool bias = mgv_vector_number(json_object_get(k, "bias")) != 0;
    snprintf(options, sizeof options,
             "solver=column_generation lambda=%.17g mu=%.17g intercept=%s tol=1e-12", lambda, mu,
             bias ? "yes" : "no");
    mgv_fit f;
    mgv_fit_start(&f, X, y, n, d, options);
    mgv_fit_solve(&f);
    CHECK_LE(f.certificate.relative_gap, 1e-12, "%s", id);
    const double best = mgv_vector_number(json_object_get(k, "objective"));
    CHECK_NEAR(f.certificate.primal, best, 1e-10 * best, "%s", id);
    double *coef = calloc((size_t)d, sizeof *coef), intercept;
    mgvi_problem_user_weights(f.problem, mgv_fit_weights(&f), coef, &intercept);
    for (int64_t j = 0; j < d; j++)
        CHECK_NEAR(coef[j], w[j], 1e-9, "%s: w[%d]", id, (int)j);
    if (bias)
        CHECK_NEAR(intercept, mgv_vector_number(json_object_get(k, "b")), 1e-9, "%s: b", id);
    const double *u;
    int64_t rows;
    mgv_solver_dual(f.solver, &u, &rows);
    for (int64_t i = 0; i < n; i++)
        CHECK_NEAR(-u[i] * (double)n, theta[i], 1e-9, "%s: theta[%d]", id, (int)i);
    mgv_fit_free(&f);
    free(coef);
    free(X);
    free(y);
    free(w);
    free(theta);
}

TEST(every_known_optimum_is_met)
{
    json_t *file = mgv_vector_load("sparse_svm_hinge");
    const json_t *cases = json_object_get(file, "cases");
    size_t index;
    json_t *k;
    json_array_foreach(cases, index, k) check_vector(k);
    CHECK(index >= 10);
    json_decref(file);
}

/* ---- random problems ------------------------------------------------------------------------- */

/* P(w) and D(u) by plain loops from the definition; weights per row, already divided. */
static void plain_values(const mgv_fit *f, const double *y, const double *weight, int64_t n,
                         int64_t d, double *primal, double *dual)
{
    const double lambda = f->problem->lambda, mu = f->problem->mu;
    double *coef = calloc((size_t)d, sizeof *coef), b;
    const double *u;
    int64_t rows;
    mgvi_problem_user_weights(f->problem, mgv_fit_weights(f), coef, &b);
    mgv_solver_dual(f->solver, &u, &rows);
    double P = 0, D = 0, balance = 0, total = 0;
    for (int64_t i = 0; i < n; i++)
        total += weight ? weight[i] : 1;
    for (int64_t i = 0; i < n; i++) {
        const double s = (weight ? weight[i] : 1) / total;
        double score = b;
        for (int64_t j = 0; j < d; j++)
            score += f->X[i * d + j] * coef[j];
        P += s * fmax(0, 1 - y[i] * score);
        CHECK(u[i] <= 0 && -u[i] <= s * (1 + 1e-14));
        D -= u[i];
        balance -= y[i] * u[i];
    }
    for (int64_t j = 0; j < d; j++) {
        double v = 0;
        for (int64_t i = 0; i < n; i++)
            v -= y[i] * u[i] * f->X[i * d + j];
        P += (lambda / 2 * fabs(coef[j]) + mu) * fabs(coef[j]);
        const double excess = fmax(fabs(v) - mu, 0);
        if (lambda > 0)
            D -= excess * excess / (2 * lambda);
        else
            CHECK_LE(excess, 1e-12 * mu, "column %d", (int)j);
    }
    if (f->problem->free_cols)
        CHECK_NEAR(balance, 0, 1e-12, "the intercept's equation");
    *primal = P;
    *dual = D;
    free(coef);
}

typedef struct regime {
    int64_t n, d;
    double lambda, mu, noise; /* mu as a part of |A's|_inf, roughly 1 */
} regime;

static const regime regimes[] = {
    {20, 60, 0, 0.1, 0.1},     {20, 60, 0, 0.01, 0.1},  {20, 60, 0.01, 0, 0.1},
    {20, 60, 0.01, 0.05, 0.1}, {20, 60, 1e-4, 0.02, 1}, {30, 400, 0, 0.02, 0.5},
    {30, 400, 0.1, 0.1, 0.5},  {30, 400, 1e-5, 0, 0.5}, {60, 20, 0, 0.05, 1},
    {60, 20, 0.01, 0.02, 1},   {60, 20, 0.02, 0, 1},    {50, 50, 0, 0.003, 2},
    {50, 50, 1e-3, 0.003, 2},  {2, 5, 0, 0.1, 0},       {2, 5, 1, 1, 0},
    {25, 1, 0, 0.2, 1},        {25, 1, 0.3, 0, 1},      {40, 300, 0, 2, 1}};

static void check_regime(const regime *r, uint64_t seed, bool intercept, bool weighted)
{
    double *X, *y, *weight = NULL, primal, dual;
    char options[160];
    mgv_random_set(seed, r->n, r->d, r->noise, &X, &y);
    y[0] = -y[1]; /* two classes */
    snprintf(options, sizeof options,
             "solver=column_generation lambda=%g mu=%g intercept=%s tol=1e-10", r->lambda, r->mu,
             intercept ? "yes" : "no");
    mgv_fit f;
    mgv_fit_start(&f, X, y, r->n, r->d, options);
    if (weighted) {
        weight = malloc((size_t)r->n * sizeof *weight);
        for (int64_t i = 0; i < r->n; i++)
            weight[i] = i % 4 == 3 ? 0 : (double)(1 + i % 3);
        CHECK_OK(f.ctx, mgv_data_set_weights(f.ctx, f.data, weight));
    }
    mgv_fit_solve(&f);
    CHECK_THAT(f.run.stop == MGV_STOP_CERTIFIED, "%d x %d, %s: %s at %g", (int)r->n, (int)r->d,
               options, mgv_stop_name(f.run.stop), f.certificate.relative_gap);
    plain_values(&f, y, weight, r->n, r->d, &primal, &dual);
    CHECK_NEAR(primal, f.certificate.primal, 1e-11 * primal, "%s", options);
    CHECK_LE(primal - dual, 2e-10 * primal, "%s", options);
    mgv_fit_free(&f);
    free(X);
    free(y);
    free(weight);
}

TEST(every_regime_reaches_its_certificate)
{
    for (size_t t = 0; t < sizeof regimes / sizeof *regimes; t++)
        for (uint64_t seed = 1; seed <= 4; seed++)
            for (int kind = 0; kind < 4; kind++)
                check_regime(&regimes[t], seed, kind & 1, kind & 2 && regimes[t].n > 4);
}

int main(void)
{
    return RUN(every_known_optimum_is_met, every_regime_reaches_its_certificate);
}
