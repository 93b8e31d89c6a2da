/* penalty/enet.h - elastic net: r(w) = c |w| + a/2 w^2,  c = scale >= 0 and a >= 0, both already
 * multiplied by the coordinate's weight. Plain l1 where a = 0. docs/terms.md (P3). */
#ifndef MGVI_PENALTY_ENET_H
#define MGVI_PENALTY_ENET_H

#include "base/formula.h"

enum {
    enet_can = MGVI_VALUE | MGVI_GRAD | MGVI_CURV | MGVI_PROX | MGVI_KKT | MGVI_CONJ | MGVI_MIRROR |
               MGVI_DUAL_CLIP | MGVI_STRONG | MGVI_KINK | MGVI_EVEN | MGVI_SQUARE | MGVI_ABS
};

MGVI_FORMULA real enet_value(mgvi_coef c, real w)
{
    return (c.scale + c.a / 2 * r_abs(w)) * r_abs(w);
}
MGVI_FORMULA real enet_grad(mgvi_coef c, real w) { return c.scale * r_sign(w) + c.a * w; }
MGVI_FORMULA real enet_curv(mgvi_coef c, real w)
{
    (void)w;
    return c.a;
}

MGVI_FORMULA real enet_prox(mgvi_coef c, real w, real step)
{
    return r_copysign(r_max(0, r_abs(w) - step * c.scale), w) / (1 + step * c.a);
}

MGVI_FORMULA real enet_kkt(mgvi_coef c, real w, real g)
{
    return w == 0 ? r_max(0, r_abs(g) - c.scale) : r_abs(g + c.a * w + r_copysign(c.scale, w));
}

/* Infinite where a = 0 and |v| > c: l1's conjugate is an indicator. */
MGVI_FORMULA real enet_mirror(mgvi_coef c, real v)
{
    const real excess = r_max(0, r_abs(v) - c.scale);
    return excess == 0 ? 0 : r_copysign(excess / c.a, v);
}

MGVI_FORMULA real enet_conj(mgvi_coef c, real v)
{
    const real excess = r_max(0, r_abs(v) - c.scale);
    return excess == 0 ? 0 : excess / c.a * excess / 2;
}

MGVI_FORMULA real enet_dual_clip(mgvi_coef c, real v)
{
    return c.a > 0 ? v : r_clip(v, -c.scale, c.scale);
}
#endif
