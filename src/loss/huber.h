/* loss/huber.h - with e = z - a and the threshold b > 0:
 * G(z) = e^2/2 if |e| <= b,  b |e| - b^2/2 else. docs/terms.md (L8). */
#ifndef MGVI_LOSS_HUBER_H
#define MGVI_LOSS_HUBER_H

#include "base/formula.h"

enum {
    huber_can = MGVI_VALUE | MGVI_GRAD | MGVI_CURV | MGVI_PROX | MGVI_CONJ | MGVI_DUAL_CLIP |
                MGVI_SMOOTH | MGVI_BENT | MGVI_QUADRATIC_DUAL | MGVI_BOUNDED
};

MGVI_FORMULA real huber_value(mgvi_coef c, real z)
{
    const real e = r_abs(z - c.a);
    return c.scale * (e <= c.b ? e * e / 2 : c.b * (e - c.b / 2));
}

MGVI_FORMULA real huber_grad(mgvi_coef c, real z) { return c.scale * r_clip(z - c.a, -c.b, c.b); }
MGVI_FORMULA real huber_curv(mgvi_coef c, real z) { return r_abs(z - c.a) < c.b ? c.scale : 0; }

MGVI_FORMULA real huber_prox(mgvi_coef c, real z, real step)
{
    const real e = z - c.a, k = step * c.scale;
    if (k == 0)
        return z;
    return r_abs(e) <= c.b * (1 + k) ? c.a + e / (1 + k) : z - r_copysign(k * c.b, e);
}

/* a u + u^2/(2 s) for |u| <= s b */
MGVI_FORMULA real huber_conj(mgvi_coef c, real u)
{
    if (u == 0)
        return 0;
    return r_abs(u) <= c.scale * c.b ? u * (c.a + u / c.scale / 2) : R_INF;
}

MGVI_FORMULA real huber_dual_clip(mgvi_coef c, real u)
{
    return r_clip(u, -c.scale * c.b, c.scale * c.b);
}

MGVI_FORMULA real huber_dual_step(mgvi_coef c, real u, real z, real r)
{
    if (c.scale == 0)
        return 0;
    return huber_dual_clip(c, u + (z - c.a - u / c.scale) / (r + 1 / c.scale));
}
MGVI_ABSENT(huber, mirror)
#endif
