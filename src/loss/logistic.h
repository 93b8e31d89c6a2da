/* loss/logistic.h - G(z) = log(1 + e^-z),  z = y x.w. docs/terms.md (L5). */
#ifndef MGVI_LOSS_LOGISTIC_H
#define MGVI_LOSS_LOGISTIC_H

#include "base/formula.h"

enum {
    logistic_can = MGVI_VALUE | MGVI_GRAD | MGVI_CURV | MGVI_PROX | MGVI_CONJ | MGVI_MIRROR |
                   MGVI_DUAL_CLIP | MGVI_SMOOTH | MGVI_MARGIN | MGVI_LIKELIHOOD | MGVI_BOUNDED
};

MGVI_FORMULA real logistic_value(mgvi_coef c, real z)
{
    return c.scale * (r_max(0, -z) + log1p(exp(-r_abs(z))));
}

MGVI_FORMULA real logistic_grad(mgvi_coef c, real z) { return -c.scale / (1 + exp(z)); }

MGVI_FORMULA real logistic_curv(mgvi_coef c, real z)
{
    const real e = exp(-r_abs(z));
    return c.scale * (e / ((1 + e) * (1 + e)));
}

/* A point p >= 0 with p - k/(1 + e^p) <= m, near the root (L5c). */
MGVI_FORMULA real logistic_start(real k, real m)
{
    if (m < 0)
        return k <= 1 ? 0 : r_max(0, log(k / (1 + 2 * (log(k) - m))));
    const real e = exp(-m), pull = k * (e / (1 + e));
    return pull > 3 ? m + log(pull / log(pull)) : m;
}

/* The root p >= 0 of p - k/(1 + e^p) = m, where m + k/2 >= 0. The left side is concave and
 * increasing: Newton climbs to the root from any point left of it. The error after a step d is at
 * most d^2/2. */
MGVI_FORMULA real logistic_root(real k, real m)
{
    real p = logistic_start(k, m);
    for (int i = 0; i < R_NEWTON_MOST; i++) {
        const real e = exp(-p), tail = e / (1 + e);
        const real step = (m - p + k * tail) / (1 + k * (tail / (1 + e)));
        if (!(p + step > p))
            break;
        p += step;
        if (step < 1e-8)
            break;
    }
    return p;
}

/* The root p of p - k/(1 + e^p) = z, k = step s (L5b); p -> -p maps one half to the other. */
MGVI_FORMULA real logistic_prox(mgvi_coef c, real z, real step)
{
    const real k = step * c.scale;
    return z + k / 2 >= 0 ? logistic_root(k, z) : -logistic_root(k, -z - k);
}

/* s (h log h + (1 - h) log(1 - h)), h the smaller of -u/s and 1 + u/s */
MGVI_FORMULA real logistic_conj(mgvi_coef c, real u)
{
    if (!(-c.scale <= u && u <= 0))
        return R_INF;
    const real small = r_min(-u, c.scale + u);
    if (small == 0)
        return 0;
    const real h = small / c.scale;
    return c.scale * (h * log(h) + (1 - h) * log1p(-h));
}

/* infinite at the ends of -s <= u <= 0 */
MGVI_FORMULA real logistic_mirror(mgvi_coef c, real u) { return log((c.scale + u) / -u); }

MGVI_FORMULA real logistic_dual_clip(mgvi_coef c, real u) { return r_clip(u, -c.scale, 0); }

MGVI_FORMULA real logistic_dual_step(mgvi_coef c, real u, real z, real r)
{
    return logistic_grad(c, logistic_prox(c, z + r * u, r));
}
#endif
