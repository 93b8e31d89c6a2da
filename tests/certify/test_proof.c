/* test_proof.c - `not separable` is said of the numbers given: what is zero up to rounding only is
 * not believed, whoever brings it; what is exactly zero is, however the columns depend. */
#include "judging.h"

#include "certify/residues.h"

#include <math.h>
#include <string.h>

/* What the judge makes of u: 1 proven, 0 not, -1 not but nearly. */
static int verdict_on(const double *X, const double *y, int64_t n, int64_t d, const double *u,
                      const char *options)
{
    mgv_judged j;
    mgvi_verdict verdict = mgvi_verdict_none();
    mgv_judged_open(&j, X, y, n, d, options);
    memcpy(j.u.x, u, (size_t)n * sizeof *u);
    const bool proven = mgvi_judge_prove(j.judge, &j.u, 50, &verdict);
    CHECK(proven == (verdict.certificate.separable == 0));
    const int out = proven ? 1 : mgvi_judge_nearly_proven(j.judge) ? -1 : 0;
    mgv_judged_close(&j);
    return out;
}

#define MARGIN "loss=margin scale=none "

/* torture D2: w = (1e-12/2, 1) separates them; the sum of the rows is 1e-12 of their length. */
TEST(a_small_column_beside_a_large_one_counts)
{
    const double X[] = {1e12, 0, 1e12, -1}, y[] = {1, -1}, u[] = {-0.5, -0.5};
    CHECK(verdict_on(X, y, 2, 2, u, MARGIN "intercept=no") < 1);
    const double large[] = {1e16, 1e16 + 2};
    CHECK(verdict_on(large, y, 2, 1, u, MARGIN) < 1); /* two numbers, one threshold */
    const double same[] = {1e16 + 2, 1e16 + 2};
    CHECK(verdict_on(same, y, 2, 1, u, MARGIN) == 1);
}

/* Large whole numbers beside a column equal to the label, as many rows as one likes. */
TEST(a_column_equal_to_the_label_separates)
{
    enum { N = 12, D = 4 };
    double X[N * D], y[N], u[N];
    mgvi_rng rng = mgvi_rng_seed(1);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < N; i++) {
            y[i] = i % 2 ? 1 : -1;
            u[i] = -(double)(1 + mgvi_rng_below(&rng, 100));
            for (int j = 0; j < D; j++)
                X[i * D + j] = rint(pow(10, 12 + 4 * mgvi_rng_uniform(&rng)));
            X[i * D + D - 1] = y[i];
        }
        CHECK(verdict_on(X, y, N, D, u, MARGIN) < 1);
        CHECK(verdict_on(X, y, N, D, u, MARGIN "intercept=no") < 1);
    }
}

/* Two indicators of two values each, and their exclusive or: the columns sum to the intercept. */
TEST(dependent_columns_are_no_obstacle)
{
    double X[] = {1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1}, y[] = {1, -1, -1, 1};
    const double u[] = {-1, -1, -1, -1}, start[] = {-1, -0.8, -1.1, -0.9};
    CHECK(verdict_on(X, y, 4, 4, u, MARGIN) == 1);
    CHECK(verdict_on(X, y, 4, 4, start, MARGIN) == 1);
    CHECK(verdict_on(X, y, 4, 4, u, MARGIN "intercept=no") == 1);
    for (int i = 0; i < 4; i++) /* any size, any offset */
        X[i * 4] = X[i * 4] * 0x1p40 + 1e15;
    CHECK(verdict_on(X, y, 4, 4, u, MARGIN) == 1);
    CHECK(verdict_on(X, y, 4, 4, u, "loss=margin scale=std") == 1);
    X[0] += 0.125; /* the last bit: the four rows are independent */
    CHECK(verdict_on(X, y, 4, 4, u, MARGIN) < 1);
    CHECK(verdict_on(X, y, 4, 4, u, "loss=margin scale=std") < 1);
}

/* More rows than columns: an exact proof lies near one that is rounded. */
TEST(rounded_weights_of_real_columns_are_believed)
{
    enum { N = 40, D = 5 };
    static const char *const options[] = {MARGIN, MARGIN "intercept=no", "loss=margin scale=std",
                                          "loss=margin scale=rownorm",
                                          "loss=margin scale=rownorm intercept=no"};
    double X[N * D], y[N], u[N];
    mgvi_rng rng = mgvi_rng_seed(2);
    for (int i = 0; i < N; i++) {
        y[i] = i % 2 ? 1 : -1;
        u[i] = -1;
        for (int j = 0; j < D; j++)
            X[i * D + j] = pow(10, 4 * j) * (mgvi_rng_normal(&rng) + (j == 2 ? 1e6 : 0));
    }
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        CHECK_THAT(verdict_on(X, y, N, D, u, options[k]) == 1, "%s", options[k]);
}

/* Columns that lie on one side, which no proof can weigh: rows that are in them have no weight but
 * rounding. The others come in pairs x, 2 x of different labels. */
TEST(rows_of_no_weight_are_left_out)
{
    enum { N = 60, D = 25, ONE_SIDED = 20, ROWS = 16 };
    double X[N * D] = {0}, y[N], u[N];
    mgvi_rng rng = mgvi_rng_seed(7);
    for (int i = 0; i < N; i++) {
        y[i] = i % 2 ? 1 : -1;
        u[i] = i < ROWS ? -1e-17 * mgvi_rng_uniform(&rng) : i % 2 ? -0.5 : -1;
        for (int j = 0; j < D; j++)
            if (j >= ONE_SIDED)
                X[i * D + j] = i % 2 ? 2 * X[(i - 1) * D + j] : mgvi_rng_normal(&rng);
            else if (i < ROWS && (i == j % ROWS || i == (j * 5 + 3) % ROWS))
                X[i * D + j] = y[i] * (1 + mgvi_rng_uniform(&rng));
    }
    CHECK(verdict_on(X, y, N, D, u, MARGIN "intercept=no") == 1);
}

/* Equal examples with different labels prove it, whatever u is; an ulp apart they prove nothing. */
TEST(twins_are_found)
{
    enum { N = 6, D = 8 };
    double X[N * D], y[] = {1, -1, 1, -1, 1, -1};
    const double u[] = {-1, 0, 0, 0, 0, -1e-9};
    mgvi_rng rng = mgvi_rng_seed(3);
    for (int k = 0; k < N * D; k++)
        X[k] = mgvi_rng_normal(&rng);
    memcpy(X + 4 * D, X + 1 * D, D * sizeof *X);
    CHECK(verdict_on(X, y, N, D, u, MARGIN) == 1);
    CHECK(verdict_on(X, y, N, D, u, "loss=margin scale=rownorm") == 1);
    X[4 * D + 3] = nextafter(X[4 * D + 3], INFINITY);
    CHECK(verdict_on(X, y, N, D, u, MARGIN) < 1);
}

/* Rows of unit length: two on one ray are one point. */
TEST(rays_are_points_once_rows_have_unit_length)
{
    enum { N = 5, D = 3 };
#define UNIT_ROWS "loss=margin scale=rownorm"
    double X[N * D], y[] = {1, -1, 1, -1, 1};
    const double u[] = {-1, 0, 0, 0, -1}, line[] = {4.9, 2.7, 3.6, 0.1, 1e-310};
    CHECK(verdict_on(line, y, N, 1, u, UNIT_ROWS) == 1);
    CHECK(verdict_on(line, y, N, 1, u, MARGIN) < 1);
    mgvi_rng rng = mgvi_rng_seed(5);
    for (int k = 0; k < N * D; k++)
        X[k] = rint(1e6 * mgvi_rng_normal(&rng));
    for (int j = 0; j < D; j++)
        X[3 * D + j] = 3 * 0x1p-700 * X[j];
    CHECK(verdict_on(X, y, N, D, u, UNIT_ROWS) == 1);
    CHECK(verdict_on(X, y, N, D, u, MARGIN) < 1);
    for (int j = 0; j < D; j++)
        X[3 * D + j] *= -1; /* the other way */
    CHECK(verdict_on(X, y, N, D, u, UNIT_ROWS) < 1);
    for (int j = 0; j < D; j++)
        X[3 * D + j] *= -1;
    X[3 * D + 1] = nextafter(X[3 * D + 1], 0);
    CHECK(verdict_on(X, y, N, D, u, UNIT_ROWS) < 1);
}

/* x w = y twice: contradictory where the targets differ by an ulp. */
TEST(equalities_and_intervals)
{
    const double u[] = {1, -1}, e = 0x1p-52, x[] = {3, 3}, apart[] = {3, 3 + 4 * e};
    const double near[] = {1, 1 + e}, far[] = {1, 1.5};
#define EQUAL "loss=equal intercept=no scale=none task=regress "
#define WITHIN "loss=interval epsilon=0.125 intercept=no scale=none task=regress "
    const double down[] = {-1, 1};
    CHECK(verdict_on(x, near, 2, 1, down, EQUAL) == 0); /* the support value is positive */
    CHECK(verdict_on(x, near, 2, 1, u, EQUAL) == 1);
    CHECK(verdict_on(apart, near, 2, 1, u, EQUAL) < 1); /* -u would be one */
    CHECK(verdict_on(apart, far, 2, 1, u, EQUAL) == 1);
    const double two[] = {3, 1, 3 + 4 * e, 1}; /* two unknowns, about 1e15 */
    CHECK(verdict_on(two, far, 2, 2, u, EQUAL) < 1);
    CHECK(verdict_on(x, far, 2, 1, u, WITHIN) == 1);
    CHECK(verdict_on(x, near, 2, 1, u, WITHIN) < 1);
    const double touch[] = {1, 1.25};
    CHECK(verdict_on(x, touch, 2, 1, u, WITHIN) < 1); /* w = 1.125/3 meets both */
}

/* ---- residues -------------------------------------------------------------------------------- */

static bool holds(int64_t m, int64_t c, const double *a, const int8_t *sign)
{
    mgv_ctx *ctx = mgv_check_ctx();
    const double target[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const mgvi_dependency d = {.m = m, .c = c, .a = a, .sign = sign, .target = target};
    bool out;
    CHECK_OK(ctx, mgvi_dependency_prove(ctx, &d, 1e9, &out));
    mgv_ctx_free(ctx);
    return out;
}

TEST(the_sign_of_a_dependency_is_exact)
{
    const int8_t minus[] = {-1, -1, -1};
    const double a[] = {1e300, 0, -1e300, 1e-300, 0, -1e-300}; /* r + s + t = 0 */
    CHECK(holds(3, 2, a, minus));
    const double b[] = {1e300, 0, 1e300, 1e-300, 0, -1e-300}; /* r - s - t = 0 */
    CHECK(!holds(3, 2, b, minus));
    const double c[] = {1, 0, 0, 1, -1, -0x1p-1074}; /* r + 2^-1074 s + t = 0 */
    CHECK(holds(3, 2, c, minus));
    const double d[] = {1, 0, 0, 1, -1, 0x1p-1074};
    CHECK(!holds(3, 2, d, minus));
    const double e[] = {1, 0, 0, 1, 0, 0, -1, -1, 0x1p-1074}; /* independent */
    CHECK(!holds(3, 3, e, minus));
    const double f[] = {1, 1, -1, -1, 2, 2}; /* two dependencies */
    CHECK(!holds(3, 2, f, minus));
}

/* v'A = 0 with random whole v > 0: many primes, and a single unit in a single entry undoes it. */
TEST(long_integers)
{
    enum { M = 12, C = 14 };
    double a[M * C];
    int8_t minus[M];
    mgvi_rng rng = mgvi_rng_seed(4);
    for (int round = 0; round < 10; round++) {
        double v[M];
        for (int i = 0; i < M; i++) {
            minus[i] = -1;
            v[i] = 1 + mgvi_rng_below(&rng, 1 << 10);
            for (int j = 0; j < C; j++)
                a[i * C + j] = (double)mgvi_rng_below(&rng, 1 << 30) - 0x1p29;
        }
        v[M - 1] = 1;
        for (int j = 0; j < C; j++) {
            double sum = 0;
            for (int i = 0; i < M - 1; i++)
                sum += v[i] * a[i * C + j]; /* below 2^44: exact */
            a[(M - 1) * C + j] = -sum;
        }
        CHECK(holds(M, C, a, minus));
        minus[3] = 1;
        CHECK(!holds(M, C, a, minus));
        minus[3] = -1;
        a[5 * C + 7] += 1;
        CHECK(!holds(M, C, a, minus));
    }
}

TEST(columns_that_imply_the_others)
{
    mgv_ctx *ctx = mgv_check_ctx();
    double a[] = {1, 0, 1, 1e16, 0, 1, 1, 2e16, 1, 1, 2, 3e16, 2, 1, 3, 4e16};
    int32_t col[4];
    int64_t count;
    CHECK_OK(ctx, mgvi_columns_prove(ctx, 4, 4, a, 1e9, col, &count));
    CHECK(count == 2); /* the third is a sum, the fourth 1e16 (first + 2 second) */
    a[15] = nextafter(a[15], INFINITY);
    CHECK_OK(ctx, mgvi_columns_prove(ctx, 4, 4, a, 1e9, col, &count));
    CHECK(count == 3);
    CHECK_OK(ctx, mgvi_columns_prove(ctx, 4, 4, a, 10, col, &count));
    CHECK(count == 0);
    mgv_ctx_free(ctx);
}

/* Without an intercept a row of zeros has no margin, in any norm and for any number of classes. */
TEST(a_row_of_zeros_is_the_proof)
{
    static const char *const options[] = {
        "loss=margin intercept=no", "loss=margin intercept=no p=1.5",
        "loss=margin intercept=no multiclass=joint",
        "loss=margin intercept=no multiclass=joint p=1.5",
        "loss=margin intercept=no solver=mirror_coordinate max_iter=5"};
    const double X[] = {1, 0.1, 0.9, -0.2, -1, 0.3, -0.8, 0.1, 0, 0, 0.1, 1, -0.1, 0.8};
    const double y[] = {0, 0, 1, 1, 0, 2, 2};
    for (int k = 0; k < 5; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, k == 2 || k == 3 ? 7 : 5, 2, options[k]);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.certificate.separable == 0, "%s: %d, %s", options[k],
                   fit.certificate.separable, mgv_stop_name(fit.run.stop));
        mgv_fit_free(&fit);
    }
}

int main(void)
{
    return RUN(a_row_of_zeros_is_the_proof, a_small_column_beside_a_large_one_counts,
               a_column_equal_to_the_label_separates, dependent_columns_are_no_obstacle,
               rounded_weights_of_real_columns_are_believed, rows_of_no_weight_are_left_out,
               twins_are_found, rays_are_points_once_rows_have_unit_length,
               equalities_and_intervals, the_sign_of_a_dependency_is_exact, long_integers,
               columns_that_imply_the_others);
}
