/* test_scales.c - scales of a kernel's points are measured where long double is asked for: a hard
 * margin whose multipliers are a million keeps nine digits with --scale std. */
#include "vectors.h"

#include <math.h>

enum { N = 40 };

TEST(standard_deviations_are_known_to_their_last_bits)
{
    static const double X[N] = {41063,  434,     125972, 78562,   -127146, 8061,   29923,   -957,
                                118771, -139860, 120544, -167319, -18801,  33493,  -102464, -129540,
                                67275,  -154198, 46930,  -85121,  -53175,  -26226, -7744,   -54125,
                                -18025, -230404, -13112, 10004,   61111,   -92203, -136660, -24880,
                                107960, 43824,   6555,   -34792,  -21063,  22182,  83875,   -27719};
    double y[N];
    mgv_fit fit;
    for (int i = 0; i < N; i++)
        y[i] = X[i] >= 0 && i > 0 ? 1 : -1;
    mgv_fit_start(&fit, X, y, N, 1,
                  "loss=margin kernel=rbf sigma2=0.39142453795 scale=std intercept=0 tol=1e-9");
    mgv_fit_solve(&fit);
    CHECK_THAT(fit.certificate.verified && fit.certificate.relative_gap <= 1e-9, "%g",
               fit.certificate.relative_gap);
    CHECK(fabs(fit.certificate.margin - 0.0011418387) < 1e-9);
    mgv_fit_free(&fit);
}

int main(void) { return RUN(standard_deviations_are_known_to_their_last_bits); }
