/* test_eigen.c - S E = E diag(values), E'E = 1, values falling; also where S is singular or has
 * equal eigenvalues. */
#include "base/rng.h"
#include "check.h"
#include "linalg/eigen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* S = sum of `rank` random x x', times scale^k for the k-th. */
static void random_matrix(mgvi_rng *rng, int64_t n, int64_t rank, double scale, double *S)
{
    double x[64], weight = 1;
    memset(S, 0, (size_t)(n * n) * sizeof *S);
    for (int64_t k = 0; k < rank; k++, weight *= scale) {
        for (int64_t p = 0; p < n; p++)
            x[p] = mgvi_rng_normal(rng);
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = 0; q < n; q++)
                S[p * n + q] += weight * x[p] * x[q];
    }
}

static void check_law(const double *S, const double *E, const double *values, int64_t n)
{
    const double size = fmax(fabs(values[0]), fabs(values[n - 1]));
    for (int64_t p = 0; p < n; p++)
        for (int64_t q = 0; q < n; q++) {
            double product = 0, inner = 0;
            for (int64_t k = 0; k < n; k++) {
                product += S[p * n + k] * E[k * n + q];
                inner += E[k * n + p] * E[k * n + q];
            }
            CHECK_NEAR(product, E[p * n + q] * values[q], 1e-13 * (size + 1e-300), "n %d", (int)n);
            CHECK_NEAR(inner, p == q, 1e-13, "n %d", (int)n);
        }
    for (int64_t k = 1; k < n; k++)
        CHECK(values[k - 1] >= values[k]);
}

TEST(eigenvectors_and_values_meet_their_law)
{
    static const int64_t ranks[] = {1, 3, 64};
    mgvi_rng rng = mgvi_rng_seed(3);
    double S[64 * 64], copy[64 * 64], E[64 * 64], values[64];
    for (int64_t n = 1; n <= 33; n += 4)
        for (int k = 0; k < 6; k++) {
            random_matrix(&rng, n, ranks[k % 3], k < 3 ? 1 : 0.1, S);
            memcpy(copy, S, sizeof S);
            mgvi_eigen_symmetric(n, copy, E, values);
            check_law(S, E, values, n);
        }
}

TEST(zero_and_unit_matrices_are_their_own)
{
    double S[16] = {0}, E[16], values[4];
    mgvi_eigen_symmetric(4, S, E, values);
    for (int k = 0; k < 4; k++)
        CHECK(values[k] == 0 && E[5 * k] == 1);
    for (int k = 0; k < 4; k++)
        S[5 * k] = k == 2 ? -3 : 1;
    mgvi_eigen_symmetric(4, S, E, values);
    CHECK(values[0] == 1 && values[2] == 1 && values[3] == -3 && fabs(E[2 * 4 + 3]) == 1);
}

int main(void)
{
    return RUN(eigenvectors_and_values_meet_their_law, zero_and_unit_matrices_are_their_own);
}
