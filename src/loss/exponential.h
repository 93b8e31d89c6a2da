/* loss/exponential.h - G(z) = e^-z,  z = y x.w. docs/terms.md (L6). */
#ifndef MGVI_LOSS_EXPONENTIAL_H
#define MGVI_LOSS_EXPONENTIAL_H

#include "base/formula.h"

enum {
    exponential_can =
        MGVI_VALUE | MGVI_GRAD | MGVI_CURV | MGVI_PROX | MGVI_CONJ | MGVI_DUAL_CLIP | MGVI_MARGIN
};

/* e^-z overflows early: a row of weight 0 stays 0. */
MGVI_FORMULA real exponential_value(mgvi_coef c, real z)
{
    return c.scale == 0 ? 0 : c.scale * exp(-z);
}

MGVI_FORMULA real exponential_grad(mgvi_coef c, real z) { return -exponential_value(c, z); }
MGVI_FORMULA real exponential_curv(mgvi_coef c, real z) { return exponential_value(c, z); }

/* Lambert's W(e^l): the root y of y = e^(l - y). y - e^(l - y) is concave and increasing: Newton
 * climbs to the root from any point left of it; the error after a step d is at most d^2/2. */
MGVI_FORMULA real exponential_lambert(real l)
{
    const real e0 = l > 1 ? 0 : exp(l);
    real y = l > 1 ? l - log(l) : e0 / (1 + e0);
    for (int i = 0; i < R_NEWTON_MOST; i++) {
        const real e = exp(l - y), step = (e - y) / (1 + e);
        if (!(y + step > y))
            break;
        y += step;
        if (step < 1e-8 * r_min(1, y))
            break;
    }
    return y;
}

/* p = z + y, y = W(k e^-z), k = step s (L6b). As y = k e^-p, p is also log(k/y), which does not
 * cancel where z is far below 0. */
MGVI_FORMULA real exponential_prox(mgvi_coef c, real z, real step)
{
    const real log_k = log(step) + log(c.scale), y = exponential_lambert(log_k - z);
    return y < 1 ? z + y : log_k - log(y);
}

/* (-u) (log(-u/s) - 1) for u <= 0 */
MGVI_FORMULA real exponential_conj(mgvi_coef c, real u)
{
    if (u == 0)
        return 0;
    return u < 0 && c.scale > 0 ? -u * (log(-u / c.scale) - 1) : R_INF;
}

MGVI_FORMULA real exponential_dual_clip(mgvi_coef c, real u)
{
    return c.scale > 0 ? r_min(0, u) : 0;
}

/* At the prox p of m = z + r u the new point is -s e^-p = -(p - m)/r. */
MGVI_FORMULA real exponential_dual_step(mgvi_coef c, real u, real z, real r)
{
    const real m = z + r * u, y = exponential_lambert(log(r) + log(c.scale) - m);
    return y < 1 ? exponential_grad(c, m + y) : -y / r;
}
MGVI_ABSENT(exponential, mirror)
#endif
