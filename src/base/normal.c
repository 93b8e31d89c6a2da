/* normal.c - normal numbers that are the same bits on every machine.
 * By the inverse distribution function (Wichura's AS 241, PPND16: relative error 1e-16) and a
 * logarithm, both of sums, products, quotients and square roots alone, which IEEE 754 rounds one
 * way; the library's log and cos may differ in their last bit from one processor to the next. */
#include "base/rng.h"

#include <math.h>

/* ln x = e ln 2 + 2 (s + s^3/3 + ... + s^25/25 + ...), s = (m - 1)/(m + 1), x = m 2^e, m from
 * sqrt(1/2) to sqrt 2: s <= 0.172, so that what is left out is below 2e-22. */
static double plain_log(double x)
{
    int e;
    double m = frexp(x, &e), sum = 0;
    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    const double s = (m - 1) / (m + 1), square = s * s;
    for (int k = 13; k >= 0; k--)
        sum = sum * square + 1.0 / (2 * k + 1);
    return e * 0.69314718055994530942 + 2 * s * sum;
}

/* A quotient of two polynomials of degree 7, lowest coefficients first. */
static double quotient(const double over[8], const double under[8], double x)
{
    double a = 0, b = 0;
    for (int k = 7; k >= 0; k--) {
        a = a * x + over[k];
        b = b * x + under[k];
    }
    return a / b;
}

double mgvi_normal_quantile(double p)
{
    static const double a[8] = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                                1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double b[8] = {1.0,
                                4.2313330701600911252e+1,
                                6.8718700749205790830e+2,
                                5.3941960214247511077e+3,
                                2.1213794301586595867e+4,
                                3.9307895800092710610e+4,
                                2.8729085735721942674e+4,
                                5.2264952788528545610e+3};
    static const double c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                5.76949722146069140550e0,  3.64784832476320460504e0,
                                1.27045825245236838258e0,  2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[8] = {1.0,
                                2.05319162663775882187e0,
                                1.67638483018380384940e0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9};
    static const double e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                1.78482653991729133580e0,  2.96560571828504891230e-1,
                                2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[8] = {1.0,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
    const double q = p - 0.5;
    if (fabs(q) <= 0.425)
        return q * quotient(a, b, 0.180625 - q * q);
    const double r = sqrt(-plain_log(q < 0 ? p : 1 - p));
    const double x = r <= 5 ? quotient(c, d, r - 1.6) : quotient(e, f, r - 5);
    return q < 0 ? -x : x;
}

/* The middle of one of 2^52 equal parts of (0, 1): never 0 or 1, and exact. */
double mgvi_rng_exact_normal(mgvi_rng *rng)
{
    return mgvi_normal_quantile(((double)(mgvi_rng_u64(rng) >> 12) + 0.5) * 0x1p-52);
}
