/* test_twofold.c - twofold numbers hold what a double loses, within their bounds. */
#include "check.h"

#include "base/rng.h"
#include "base/twofold.h"

static bool is(mgvi_two a, double hi, double lo) { return a.hi == hi && a.lo == lo; }

TEST(sums_and_products_of_two_doubles_are_exact)
{
    CHECK(is(mgvi_two_sum(1e16, 1), 1e16, 1));
    CHECK(is(mgvi_two_sum(1, 1e16), 1e16, 1));
    CHECK(is(mgvi_two_sum(1e300, -1e-300), 1e300, -1e-300));
    const double e = 0x1p-52;
    CHECK(is(mgvi_two_prod(1 + e, 1 + e), 1 + 2 * e, e * e));
    const mgvi_two square = mgvi_two_prod(1e16, 1e16);
    CHECK(is(mgvi_two_prod(1e16 + 2, 1e16 - 2), square.hi, square.lo - 4));
}

/* Integers of 80 bits, as exact sums of two parts: (h 2^40 + l), |h|, |l| < 2^40. */
static mgvi_two wide(mgvi_rng *rng, double *h, double *l)
{
    *h = (double)(int64_t)(mgvi_rng_u64(rng) >> 24) - 0x1p39;
    *l = (double)(int64_t)(mgvi_rng_u64(rng) >> 24) - 0x1p39;
    return mgvi_two_sum(*h * 0x1p40, *l);
}

TEST(wide_integers_add_exactly)
{
    mgvi_rng rng = mgvi_rng_seed(5);
    for (int i = 0; i < 10000; i++) {
        double ah, al, bh, bl;
        const mgvi_two a = wide(&rng, &ah, &al), b = wide(&rng, &bh, &bl);
        const mgvi_two s = mgvi_two_add(a, b), want = mgvi_two_sum((ah + bh) * 0x1p40, al + bl);
        CHECK(is(s, want.hi, want.lo));
        const mgvi_two back = mgvi_two_sub(s, b);
        CHECK(is(back, a.hi, a.lo));
        const mgvi_two r = mgvi_two_add_real(a, bl), sum = mgvi_two_sum(ah * 0x1p40, al + bl);
        CHECK(is(r, sum.hi, sum.lo));
    }
}

/* (a + b)(a - b) = a^2 - b^2, by two ways that round differently. */
TEST(products_err_by_their_bound)
{
    mgvi_rng rng = mgvi_rng_seed(6);
    for (int i = 0; i < 10000; i++) {
        double h, l;
        const mgvi_two a = wide(&rng, &h, &l), b = wide(&rng, &h, &l);
        const mgvi_two left = mgvi_two_mul(mgvi_two_add(a, b), mgvi_two_sub(a, b));
        const mgvi_two aa = mgvi_two_mul(a, a), bb = mgvi_two_mul(b, b);
        const double apart = fabs(mgvi_two_real(mgvi_two_sub(left, mgvi_two_sub(aa, bb))));
        CHECK_LE(apart, 4 * MGVI_TWO_UNIT * (aa.hi + bb.hi), "case %d", i);
        const mgvi_two third = mgvi_two_mul_real(a, 3),
                       thrice = mgvi_two_add(a, mgvi_two_add(a, a));
        CHECK_LE(fabs(mgvi_two_real(mgvi_two_sub(third, thrice))),
                 3 * MGVI_TWO_UNIT * fabs(thrice.hi), "case %d", i);
    }
}

/* What a plain sum loses altogether: 1e16 (1e16 + 2) - 1e16^2 - 2e16 + 1 = 1. */
TEST(an_inner_product_that_cancels)
{
    const double x[] = {1e16, 1e16, 2e16, 1}, y[] = {1e16 + 2, -1e16, -1, 1};
    mgvi_two s = {0, 0};
    for (int i = 0; i < 4; i++)
        s = mgvi_two_fma(s, x[i], y[i]);
    CHECK(is(s, 1, 0));
    CHECK(mgvi_two_down(s) < 1);
}

int main(void)
{
    return RUN(sums_and_products_of_two_doubles_are_exact, wide_integers_add_exactly,
               products_err_by_their_bound, an_inner_product_that_cancels);
}
