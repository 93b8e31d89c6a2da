/* loss/epsilon_insensitive.h - G(z) = max(0, a - z, z - b): how far z is from the interval [a, b],
 * whose ends may be infinite. Around a target y it is [y - epsilon, y + epsilon], and
 * G(z) = max(0, |z - y| - epsilon). docs/terms.md (L16). */
#ifndef MGVI_LOSS_EPSILON_INSENSITIVE_H
#define MGVI_LOSS_EPSILON_INSENSITIVE_H

#include "base/formula.h"

enum {
    epsilon_insensitive_can = MGVI_VALUE | MGVI_GRAD | MGVI_CURV | MGVI_PROX | MGVI_CONJ |
                              MGVI_MIRROR | MGVI_DUAL_CLIP | MGVI_BENT | MGVI_BETWEEN | MGVI_BOUNDED
};

MGVI_FORMULA real epsilon_insensitive_value(mgvi_coef c, real z)
{
    return c.scale * r_max(0, r_max(c.a - z, z - c.b));
}

MGVI_FORMULA real epsilon_insensitive_grad(mgvi_coef c, real z)
{
    return z > c.b ? c.scale : z < c.a ? -c.scale : 0;
}

MGVI_FORMULA real epsilon_insensitive_curv(mgvi_coef c, real z)
{
    (void)c;
    (void)z;
    return 0;
}

MGVI_FORMULA real epsilon_insensitive_prox(mgvi_coef c, real z, real step)
{
    const real move = step * c.scale;
    if (move == 0)
        return z;
    return z > c.b ? r_max(c.b, z - move) : z < c.a ? r_min(c.a, z + move) : z;
}

/* u pulls towards one end: b u where it is above 0, a u below. No pull towards an end at infinity.
 */
MGVI_FORMULA real epsilon_insensitive_conj(mgvi_coef c, real u)
{
    if (u == 0)
        return 0;
    return r_abs(u) <= c.scale ? u * (u > 0 ? c.b : c.a) : R_INF;
}

/* 0 is a kink of the conjugate: any place of the interval is a slope there. */
MGVI_FORMULA real epsilon_insensitive_mirror(mgvi_coef c, real u)
{
    return u > 0 ? c.b : u < 0 ? c.a : r_clip(0, c.a, c.b);
}

MGVI_FORMULA real epsilon_insensitive_dual_clip(mgvi_coef c, real u)
{
    const real low = c.a == -R_INF ? 0 : -c.scale, high = c.b == R_INF ? 0 : c.scale;
    return r_clip(u, low, high);
}

/* At most one of the two terms differs from 0. r = 0: the slope at z; at an end what u has of the
 * right sign. */
MGVI_FORMULA real epsilon_insensitive_dual_step(mgvi_coef c, real u, real z, real r)
{
    const real pull = r_max(0, u + r_ratio(z - c.b, r)) + r_min(0, u + r_ratio(z - c.a, r));
    return epsilon_insensitive_dual_clip(c, pull);
}
#endif
