/* penalty/lp.h - r(w) = c/p |w|^p,  c = scale, 1 < p = a <= 2. No penalty where c = 0.
 * With q = p/(p-1): r*(v) = c/q (|v|/c)^q and its gradient, the mirror map, |v/c|^(1/(p-1)) sign v.
 * docs/terms.md (P4). */
#ifndef MGVI_PENALTY_LP_H
#define MGVI_PENALTY_LP_H

#include "base/formula.h"

enum {
    lp_can = MGVI_VALUE | MGVI_GRAD | MGVI_CURV | MGVI_PROX | MGVI_KKT | MGVI_CONJ | MGVI_MIRROR |
             MGVI_DUAL_CLIP | MGVI_EVEN | MGVI_LENGTH
};

MGVI_FORMULA real lp_value(mgvi_coef c, real w) { return c.scale / c.a * pow(r_abs(w), c.a); }
MGVI_FORMULA real lp_grad(mgvi_coef c, real w)
{
    return r_copysign(c.scale * pow(r_abs(w), c.a - 1), w);
}

/* Infinite at w = 0 when p < 2. */
MGVI_FORMULA real lp_curv(mgvi_coef c, real w)
{
    return c.scale > 0 ? c.scale * (c.a - 1) * pow(r_abs(w), c.a - 2) : 0;
}

/* The root l <= 0 of e^l + e^(k + t l) = 1, 0 < t <= 1 (P5). Convex and increasing: Newton from a
 * point right of the root descends to it. The start lies on the smaller of the two asymptotes; the
 * error after a step d is at most d^2/2. */
MGVI_FORMULA real lp_log_shrink(real k, real t)
{
    real l = k <= 0 ? 0 : -k / t;
    for (int i = 0; i < R_NEWTON_MOST; i++) {
        const real first = exp(l), second = exp(k + t * l);
        const real step = (first + second - 1) / (first + t * second);
        if (!(l - step < l))
            break;
        l -= step;
        if (step < 1e-8)
            break;
    }
    return l;
}

/* v + step c v^(p-1) = w for w > 0, solved for log(v/w): no power of w overflows. */
MGVI_FORMULA real lp_prox(mgvi_coef c, real w, real step)
{
    const real strength = step * c.scale;
    if (c.a == 2)
        return w / (1 + strength);
    if (w == 0 || strength == 0)
        return w;
    const real k = log(strength) - (2 - c.a) * log(r_abs(w));
    const real half = exp(lp_log_shrink(k, c.a - 1) / 2); /* twice: w e^l may not underflow */
    return w * half * half;
}

MGVI_FORMULA real lp_kkt(mgvi_coef c, real w, real g) { return r_abs(g + lp_grad(c, w)); }

/* Infinite where c = 0 and v != 0. */
MGVI_FORMULA real lp_mirror(mgvi_coef c, real v)
{
    return v == 0 ? 0 : r_copysign(pow(r_abs(v) / c.scale, 1 / (c.a - 1)), v);
}

MGVI_FORMULA real lp_conj(mgvi_coef c, real v) { return (1 - 1 / c.a) * v * lp_mirror(c, v); }
MGVI_FORMULA real lp_dual_clip(mgvi_coef c, real v) { return c.scale > 0 ? v : 0; }
#endif
