/* test_short_proof.c - inseparability proven by few examples. */
#include "vectors.h"

#include "solver/shorten.h"

#include <math.h>
#include <stdlib.h>

/* Checks the dual of `fit` as convex weights with A'q = 0 and y'q = 0; returns the support. */
static int64_t check_proof(const mgv_fit *fit, const double *X, const double *y, int64_t n,
                           int64_t d, bool intercept, const char *what)
{
    const double *u;
    int64_t count, support = 0;
    double sum = 0, balance = 0, longest = 0;
    double *total = calloc((size_t)d, sizeof *total);
    mgv_solver_dual(fit->solver, &u, &count);
    CHECK(count == n);
    for (int64_t i = 0; i < n; i++) {
        double square = 0;
        CHECK(u[i] <= 0);
        support += u[i] != 0;
        sum -= u[i];
        balance -= u[i] * y[i];
        for (int64_t j = 0; j < d; j++) {
            total[j] -= u[i] * y[i] * X[i * d + j];
            square += X[i * d + j] * X[i * d + j];
        }
        longest = fmax(longest, sqrt(square));
    }
    CHECK_NEAR(sum, 1, 1e-12, "%s: convex weights", what);
    if (intercept)
        CHECK_LE(fabs(balance), 1e-12, "%s: balance", what);
    for (int64_t j = 0; j < d; j++)
        CHECK_LE(fabs(total[j]), 1e-11 * longest, "%s: column %d", what, (int)j);
    free(total);
    return support;
}

static int64_t prove(const double *X, const double *y, int64_t n, int64_t d, bool intercept,
                     bool brief, const char *what)
{
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, n, d, "loss=margin");
    mgv_fit_set(&fit, intercept ? "intercept=yes" : "intercept=no");
    mgv_fit_set(&fit, brief ? "short_proof=yes" : "short_proof=no");
    mgv_fit_solve(&fit);
    CHECK_THAT(fit.run.stop == MGV_STOP_INFEASIBLE, "%s: %s", what, mgv_stop_name(fit.run.stop));
    const int64_t support = check_proof(&fit, X, y, n, d, intercept, what);
    mgv_fit_free(&fit);
    return support;
}

TEST(at_most_one_row_more_than_conditions)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        const int64_t n = 120 + 60 * (int64_t)seed, d = 2 + 3 * (int64_t)seed;
        const bool intercept = seed % 2;
        double *X, *y;
        mgv_random_set(seed, n, d, 1, &X, &y);
        const int64_t brief = prove(X, y, n, d, intercept, true, "random");
        CHECK_THAT(brief <= d + 1 + intercept, "seed %d: %d examples in %d columns", (int)seed,
                   (int)brief, (int)d);
        prove(X, y, n, d, intercept, false, "random, as found");
        free(X);
        free(y);
    }
}

/* Columns that are zero, repeated, or used by few rows; rows that repeat; scales far apart. */
TEST(dependent_columns_and_rows)
{
    const int64_t n = 900, d = 40;
    double *X, *y;
    mgv_random_set(77, n, d, 1, &X, &y);
    for (int64_t i = 0; i < n; i++) {
        double *x = X + i * d;
        x[3] = 0;
        x[5] = x[4];
        x[7] = x[6] - 2 * x[8];
        x[9] = i % 97 ? 0 : x[9]; /* rare, and often of one sign */
        x[10] *= 1e5;
        x[11] *= 1e-5;
        if (i % 9 == 8)
            for (int64_t j = 0; j < d; j++)
                x[j] = X[(i - 1) * d + j];
    }
    for (int intercept = 0; intercept < 2; intercept++) {
        const int64_t brief = prove(X, y, n, d, intercept, true, "dependent");
        CHECK_LE((double)brief, (double)(d + 1 + intercept - 3), "three columns say nothing new");
    }
    free(X);
    free(y);
}

/* More columns than examples: the copies of one example with both labels, and a few others. */
TEST(wide_sets)
{
    const int64_t n = 50, d = 120;
    double *X, *y;
    mgv_random_set(5, n, d, 1, &X, &y);
    for (int64_t j = 0; j < d; j++)
        X[7 * d + j] = X[j];
    y[0] = 1;
    y[7] = -1;
    CHECK(prove(X, y, n, d, false, true, "wide") == 2);
    CHECK(prove(X, y, n, d, true, true, "wide, intercept") == 2);
    free(X);
    free(y);
}

/* The reduction alone, from weights nobody would choose: 0 is the mean of n rows and their
 * negatives, the weights are spread over six orders of magnitude. */
TEST(from_any_weights)
{
    enum { N = 400, D = 6 };
    double X[2 * N * D], y[2 * N];
    mgvi_rng rng = mgvi_rng_seed(3);
    mgv_fit fit;
    for (int i = 0; i < N; i++) {
        y[i] = y[N + i] = i % 2 ? 1 : -1;
        for (int j = 0; j < D; j++)
            X[(N + i) * D + j] = -(X[i * D + j] = mgvi_rng_normal(&rng));
    }
    mgv_fit_start(&fit, X, y, 2 * N, D, "loss=margin intercept=no");
    mgv_fit_solve(&fit);
    mgvi_arena arena;
    mgvi_vec q, v;
    mgvi_arena_init(&arena, fit.ctx);
    CHECK_OK(fit.ctx, mgvi_vec_new(&arena, MGVI_ROWS, 2 * N, 1, &q));
    CHECK_OK(fit.ctx, mgvi_vec_new(&arena, MGVI_COLS, D, 1, &v));
    double sum = 0, norm, after = 0;
    for (int i = 0; i < N; i++)
        sum += 2 * (q.x[i] = q.x[N + i] = pow(10, -6 * mgvi_rng_uniform(&rng)));
    CHECK_OK(fit.ctx, mgvi_shorten_proof(fit.problem, &q));
    int support = 0;
    for (int i = 0; i < 2 * N; i++) {
        CHECK(q.x[i] >= 0);
        support += q.x[i] > 0;
        after += q.x[i];
    }
    CHECK(support <= D + 1);
    CHECK_NEAR(after, sum, 1e-12 * sum, "the sum is kept");
    mgvi_op_mul_t(fit.problem->A, 1, &q, 0, &v);
    mgvi_vec_norm2(fit.ctx, &v, &norm);
    CHECK_LE(norm, 1e-12 * sum, "A'q");
    mgvi_arena_free(&arena);
    mgv_fit_free(&fit);
}

int main(void)
{
    return RUN(at_most_one_row_more_than_conditions, dependent_columns_and_rows, wide_sets,
               from_any_weights);
}
