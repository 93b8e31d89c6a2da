/* loss/absolute.h - G(z) = |z - a|. docs/terms.md (L15). */
#ifndef MGVI_LOSS_ABSOLUTE_H
#define MGVI_LOSS_ABSOLUTE_H

#include "base/formula.h"

enum {
    absolute_can = MGVI_VALUE | MGVI_GRAD | MGVI_CURV | MGVI_PROX | MGVI_CONJ | MGVI_MIRROR |
                   MGVI_DUAL_CLIP | MGVI_BENT | MGVI_QUADRATIC_DUAL | MGVI_LINEAR_DUAL |
                   MGVI_BOUNDED
};

MGVI_FORMULA real absolute_value(mgvi_coef c, real z) { return c.scale * r_abs(z - c.a); }
MGVI_FORMULA real absolute_grad(mgvi_coef c, real z) { return c.scale * r_sign(z - c.a); }
MGVI_FORMULA real absolute_curv(mgvi_coef c, real z)
{
    (void)c;
    (void)z;
    return 0;
}

MGVI_FORMULA real absolute_prox(mgvi_coef c, real z, real step)
{
    const real e = z - c.a, move = step * c.scale;
    if (move == 0)
        return z;
    return r_abs(e) <= move ? c.a : z - r_copysign(move, e);
}

/* a u on [-s, s] */
MGVI_FORMULA real absolute_conj(mgvi_coef c, real u)
{
    return r_abs(u) <= c.scale ? c.a * u : R_INF;
}
MGVI_FORMULA real absolute_mirror(mgvi_coef c, real u)
{
    (void)u;
    return c.a;
}
MGVI_FORMULA real absolute_dual_clip(mgvi_coef c, real u) { return r_clip(u, -c.scale, c.scale); }

/* r = 0: -s below the target, s above, u at it. */
MGVI_FORMULA real absolute_dual_step(mgvi_coef c, real u, real z, real r)
{
    return absolute_dual_clip(c, u + r_ratio(z - c.a, r));
}
#endif
