/* test_column_generation.c - the hinge with l1, l2 and both on small and wide data: known optima,
 * certificates recomputed by plain loops, every storage, weights, same bits, failing memory. */
#include "failing_memory.h"

#include "base/rng.h"
#include "solver/driver.h"

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
    CHECK_LE(primal, f.certificate.primal * (1 + 1e-15), "%s", options);
    CHECK_LE(f.certificate.primal, primal * (1 + 1e-10), "%s", options);
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

/* Whole numbers in few values: many ties, equal rows and columns, no unique solution. */
TEST(ties_and_equal_columns_do_no_harm)
{
    enum { N = 40, D = 24 };
    static const char *const options[] = {"mu=0.02", "mu=0.1", "mu=0.02 lambda=0.001",
                                          "lambda=0.05"};
    for (uint64_t seed = 1; seed <= 5; seed++)
        for (size_t t = 0; t < sizeof options / sizeof *options; t++) {
            double X[N * D], y[N], primal, dual;
            mgvi_rng rng = mgvi_rng_seed(seed);
            for (int i = 0; i < N; i++) {
                for (int j = 0; j < D; j++)
                    X[i * D + j] =
                        j < D / 2 ? (double)mgvi_rng_below(&rng, 3) : X[i * D + j - D / 2];
                y[i] = X[i * D] + X[i * D + 1] > X[i * D + 2] + (i % 5 == 0) ? 1 : -1;
            }
            mgv_fit f;
            mgv_fit_start(&f, X, y, N, D, "solver=column_generation tol=1e-9");
            mgv_fit_set(&f, options[t]);
            mgv_fit_solve(&f);
            CHECK_THAT(f.run.stop == MGV_STOP_CERTIFIED, "seed %d, %s: %s at %g", (int)seed,
                       options[t], mgv_stop_name(f.run.stop), f.certificate.relative_gap);
            plain_values(&f, y, NULL, N, D, &primal, &dual);
            CHECK_LE(primal - dual, 2e-9 * primal, "%s", options[t]);
            mgv_fit_free(&f);
        }
}

/* ---- the edges ------------------------------------------------------------------------------- */

TEST(no_weights_are_needed_beyond_the_largest_mu)
{
    double *X, *y;
    mgv_random_set(3, 30, 50, 0.5, &X, &y);
    double most = 0;
    for (int j = 0; j < 50; j++) {
        double sum = 0;
        for (int i = 0; i < 30; i++)
            sum += y[i] * X[i * 50 + j] / 30;
        most = fmax(most, fabs(sum));
    }
    for (int above = 0; above < 2; above++) {
        char options[128];
        snprintf(options, sizeof options,
                 "solver=column_generation intercept=no tol=1e-12 mu=%.17g",
                 most * (above ? 1 + 1e-9 : 1 - 1e-9));
        mgv_fit f;
        mgv_fit_start(&f, X, y, 30, 50, options);
        mgv_fit_solve(&f);
        CHECK_LE(f.certificate.relative_gap, 1e-12, "%s", options);
        CHECK((f.run.nonzeros == 0) == above);
        CHECK(!above || (f.certificate.primal >= 1 && f.certificate.primal <= 1 + 1e-12));
        mgv_fit_free(&f);
    }
    free(X);
    free(y);
}

/* The best intercept alone, where it is not the middle: 3 of 4 rows are of one class. */
TEST(no_weights_of_bent_hinges_have_their_best_intercept)
{
    static const char *const options[] = {"loss=squared_hinge mu=50", "loss=smooth_hinge mu=50",
                                          "loss=squared_hinge mu=50 lambda=0.1"};
    double X[8] = {1, 2, 3, 4, 5, 6, 7, 9}, y[8] = {1, 1, 1, -1, 1, 1, -1, 1};
    for (size_t t = 0; t < sizeof options / sizeof *options; t++) {
        mgv_fit f;
        mgv_fit_start(&f, X, y, 8, 1, "solver=column_generation tol=1e-10");
        mgv_fit_set(&f, options[t]);
        mgv_fit_solve(&f);
        CHECK_THAT(f.run.stop == MGV_STOP_CERTIFIED && f.run.nonzeros == 0, "%s: %s at %g",
                   options[t], mgv_stop_name(f.run.stop), f.certificate.relative_gap);
        mgv_fit_free(&f);
    }
}

/* The same numbers as CSR, CSC, Fortran order and float32: one problem, one answer. */
TEST(every_storage_gives_the_same_optimum)
{
    enum { N = 24, D = 90 };
    static double dense[N * D], other[N * D];
    static float narrow[N * D];
    static int64_t ptr[D + 1], row_ptr[N + 1];
    static int32_t idx[N * D], row_idx[N * D];
    double *X, *y, first = NAN;
    mgv_random_set(8, N, D, 0.2, &X, &y);
    for (int t = 0; t < N * D; t++)
        dense[t] = narrow[t] = (float)(t % 3 ? 0 : X[t]);
    for (int form = 0; form < 5; form++) {
        mgv_fit f;
        mgv_data *data = NULL;
        int64_t at = 0;
        mgv_fit_start(&f, dense, y, N, D, "solver=column_generation mu=0.004 scale=std tol=1e-11");
        if (form == 1) {
            for (int i = 0; i < N; i++) {
                for (int j = 0; j < D; j++)
                    if (dense[i * D + j] != 0) {
                        other[at] = dense[i * D + j];
                        row_idx[at++] = j;
                    }
                row_ptr[i + 1] = at;
            }
            CHECK_OK(f.ctx, mgv_data_from_sparse(f.ctx, MGV_CSR, MGV_F64, other, row_ptr, row_idx,
                                                 N, D, &data));
        } else if (form == 2) {
            for (int j = 0; j < D; j++) {
                for (int i = 0; i < N; i++)
                    if (dense[i * D + j] != 0) {
                        other[at] = dense[i * D + j];
                        idx[at++] = i;
                    }
                ptr[j + 1] = at;
            }
            CHECK_OK(f.ctx,
                     mgv_data_from_sparse(f.ctx, MGV_CSC, MGV_F64, other, ptr, idx, N, D, &data));
        } else if (form == 3) {
            for (int i = 0; i < N; i++)
                for (int j = 0; j < D; j++)
                    other[j * N + i] = dense[i * D + j];
            CHECK_OK(f.ctx, mgv_data_from_dense(f.ctx, MGV_F64, other, N, D, 1, N, &data));
        } else if (form == 4) {
            CHECK_OK(f.ctx, mgv_data_from_dense(f.ctx, MGV_F32, narrow, N, D, D, 1, &data));
        }
        if (data) {
            mgv_data_free(f.ctx, f.data);
            f.data = data;
            CHECK_OK(f.ctx, mgv_data_set_labels(f.ctx, data, y));
        }
        mgv_fit_solve(&f);
        CHECK(f.run.stop == MGV_STOP_CERTIFIED);
        if (form == 0)
            first = f.certificate.primal;
        CHECK_NEAR(f.certificate.primal, first, 1e-11 * first, "form %d", form);
        mgv_fit_free(&f);
    }
    free(X);
    free(y);
}

/* Columns many orders beyond mu, as raw measurements are: the interior point finds its way. */
TEST(weak_l1_on_large_columns)
{
    static const char *const losses[] = {"loss=squared_hinge", "loss=smooth_hinge", "loss=hinge"};
    double *X, *y;
    mgv_random_set(31, 38, 300, 0.5, &X, &y);
    for (int t = 0; t < 38 * 300; t++)
        X[t] = 2e3 * X[t] + 500;
    for (size_t t = 0; t < sizeof losses / sizeof *losses; t++)
        for (int intercept = 0; intercept < 2; intercept++) {
            mgv_fit f;
            mgv_fit_start(&f, X, y, 38, 300,
                          "solver=column_generation penalty=l1 mu=1e-5 tol=1e-7");
            mgv_fit_set(&f, losses[t]);
            mgv_fit_set(&f, intercept ? "intercept=yes" : "intercept=no");
            mgv_fit_solve(&f);
            CHECK_THAT(f.run.stop == MGV_STOP_CERTIFIED && f.certificate.verified, "%s: %s, %g",
                       losses[t], mgv_stop_name(f.run.stop), f.certificate.relative_gap);
            mgv_fit_free(&f);
        }
    free(X);
    free(y);
}

/* Sparse rows of a text: kept sparse, rows come to rest, columns join in rounds; the same optimum
 * as of the dense numbers. */
static void check_sparse(uint64_t seed, int64_t n, int64_t d, const char *options)
{
    double *X = calloc((size_t)(n * d), sizeof *X), *y = calloc((size_t)n, sizeof *y);
    double *val = calloc((size_t)(n * d), sizeof *val), first = NAN;
    int64_t *ptr = calloc((size_t)n + 1, sizeof *ptr), at = 0;
    int32_t *idx = calloc((size_t)(n * d), sizeof *idx);
    mgvi_rng rng = mgvi_rng_seed(seed);
    for (int64_t i = 0; i < n; i++) {
        double score = 0.3 * mgvi_rng_normal(&rng);
        for (int64_t j = 0; j < d; j++)
            if (mgvi_rng_uniform(&rng) < (j == 0 ? 0.9 : 0.04)) {
                X[i * d + j] = val[at] = 1 + (double)mgvi_rng_below(&rng, 3);
                idx[at++] = (int32_t)j;
                score += j % 3 == 1 ? 1 : j % 3 == 2 ? -1 : 0;
            }
        ptr[i + 1] = at;
        y[i] = i < 2 ? (double)(2 * i - 1) : score > 0.5 ? 1 : -1;
    }
    for (int form = 0; form < 2; form++) {
        mgv_fit f;
        mgv_data *data = NULL;
        mgv_fit_start(&f, X, y, n, d, options);
        if (form == 1) {
            CHECK_OK(f.ctx,
                     mgv_data_from_sparse(f.ctx, MGV_CSR, MGV_F64, val, ptr, idx, n, d, &data));
            CHECK_OK(f.ctx, mgv_data_set_labels(f.ctx, data, y));
            mgv_data_free(f.ctx, f.data);
            f.data = data;
        }
        mgv_fit_solve(&f);
        CHECK_THAT(f.run.stop == MGV_STOP_CERTIFIED, "%d x %d, %s, form %d: %s at %g", (int)n,
                   (int)d, options, form, mgv_stop_name(f.run.stop), f.certificate.relative_gap);
        if (form == 1)
            CHECK_NEAR(f.certificate.primal, first, 2e-8 * first, "%d x %d, %s", (int)n, (int)d,
                       options);
        first = f.certificate.primal;
        mgv_fit_free(&f);
    }
    free(X);
    free(y);
    free(val);
    free(ptr);
    free(idx);
}

TEST(sparse_columns_stay_sparse_and_end_in_the_same_optimum)
{
    static const char *const options[] = {
        "solver=column_generation tol=1e-8 scale=std mu=0.01",
        "solver=column_generation tol=1e-8 scale=std mu=0.0005",
        "solver=column_generation tol=1e-8 mu=0.003 lambda=0.001",
        "solver=column_generation tol=1e-8 scale=std mu=0.003 lambda=0.001 intercept=no",
        "solver=column_generation tol=1e-8 loss=squared_hinge mu=0.002"};
    for (size_t t = 0; t < sizeof options / sizeof *options; t++) {
        check_sparse(t + 1, 60, 300, options[t]);
        check_sparse(t + 1, 400, 90, options[t]);
        check_sparse(t + 1, 2, 40, options[t]);
    }
}

TEST(threads_and_resuming_do_not_change_the_bits)
{
    static const char *const options[] = {"mu=0.005", "mu=0.005 lambda=0.01", "lambda=0.01"};
    double *X, *y;
    mgv_random_set(4, 60, 300, 0.5, &X, &y);
    for (size_t t = 0; t < sizeof options / sizeof *options; t++) {
        char all[100];
        snprintf(all, sizeof all, "solver=column_generation tol=1e-11 %s", options[t]);
        mgv_check_same_bits(X, y, 60, 300, all, 1);
    }
    free(X);
    free(y);
}

TEST(every_allocation_may_fail)
{
    static const char *const options[] = {"mu=0.02", "lambda=0.1", "mu=0.01 lambda=0.1"};
    double *X, *y;
    mgv_random_set(12, 9, 40, 0.5, &X, &y);
    y[0] = -y[1];
    for (size_t t = 0; t < sizeof options / sizeof *options; t++)
        failing_memory_check(X, y, 9, 40, "solver=column_generation tol=1e-10", options[t]);
    free(X);
    free(y);
}

TEST(refusals_say_why)
{
    const double X[] = {1e200, -1e200, 2e200}, y[] = {1, -1, 1};
    mgv_fit f;
    mgv_fit_start(&f, X, y, 3, 1, "solver=column_generation");
    CHECK_OK(f.ctx, mgv_problem_new(f.ctx, f.data, f.settings, &f.problem));
    CHECK_OK(f.ctx, mgv_solver_new(f.ctx, f.problem, f.settings, &f.solver));
    CHECK_FAILS(f.ctx, mgv_solver_run(f.ctx, f.solver), MGV_E_INPUT, "row 1 is too large");
    mgv_fit_free(&f);
    mgv_fit_start(&f, X, y, 3, 1, "solver=column_generation loss=exponential");
    CHECK_OK(f.ctx, mgv_problem_new(f.ctx, f.data, f.settings, &f.problem));
    CHECK_FAILS(f.ctx, mgv_solver_new(f.ctx, f.problem, f.settings, &f.solver), MGV_E_UNSUPPORTED,
                "works with loss hinge");
    mgv_fit_free(&f);
}

/* Squared and smooth hinges: the optima of a method that shares nothing with this one. */
TEST(bent_hinges_are_those_of_newton_steps)
{
    static const char *const losses[] = {"squared_hinge", "smooth_hinge smoothing=0.3"};
    static const char *const terms[] = {"lambda=0.05", "mu=0.03", "lambda=0.02 mu=0.02"};
    static const int64_t shapes[][2] = {{20, 45}, {50, 6}};
    for (int k = 0; k < 2 * 3 * 2 * 2; k++) {
        const int64_t n = shapes[k / 12][0], d = shapes[k / 12][1];
        double *X, *y, weight[50], primal[2];
        mgv_random_set(40 + (uint64_t)k, n, d, 0.6, &X, &y);
        for (int64_t i = 0; i < n; i++)
            weight[i] = (double)(i % 3);
        for (int method = 0; method < 2; method++) {
            char options[200];
            snprintf(options, sizeof options, "loss=%s %s intercept=%s tol=1e-9 solver=%s",
                     losses[k % 2], terms[k / 2 % 3], k / 6 % 2 ? "yes" : "no",
                     method ? "column_generation" : "proximal_newton");
            mgv_fit f;
            mgv_fit_start(&f, X, y, n, d, options);
            CHECK_OK(f.ctx, mgv_data_set_weights(f.ctx, f.data, weight));
            mgv_fit_solve(&f);
            CHECK_THAT(f.run.stop == MGV_STOP_CERTIFIED && f.certificate.verified, "%s: gap %g",
                       options, f.certificate.relative_gap);
            primal[method] = f.certificate.primal;
            mgv_fit_free(&f);
        }
        CHECK_NEAR(primal[0], primal[1], 2e-9 * primal[0], "%s %s", losses[k % 2],
                   terms[k / 2 % 3]);
        free(X);
        free(y);
    }
}

int main(void)
{
    return RUN(no_weights_of_bent_hinges_have_their_best_intercept,
               sparse_columns_stay_sparse_and_end_in_the_same_optimum,
               bent_hinges_are_those_of_newton_steps, every_known_optimum_is_met,
               every_regime_reaches_its_certificate, ties_and_equal_columns_do_no_harm,
               no_weights_are_needed_beyond_the_largest_mu, every_storage_gives_the_same_optimum,
               weak_l1_on_large_columns, threads_and_resuming_do_not_change_the_bits,
               every_allocation_may_fail, refusals_say_why);
}
