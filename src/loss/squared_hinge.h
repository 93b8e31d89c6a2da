/* loss/squared_hinge.h - G(z) = 1/2 max(0, 1 - z)^2,  z = y x.w. docs/terms.md (L2). */
#ifndef MGVI_LOSS_SQUARED_HINGE_H
#define MGVI_LOSS_SQUARED_HINGE_H

#include "base/formula.h"

enum {
    squared_hinge_can = MGVI_VALUE | MGVI_GRAD | MGVI_CURV | MGVI_PROX | MGVI_CONJ | MGVI_MIRROR |
                        MGVI_DUAL_CLIP | MGVI_SMOOTH | MGVI_MARGIN | MGVI_HALVED | MGVI_BENT |
                        MGVI_QUADRATIC_DUAL
};

MGVI_FORMULA real squared_hinge_value(mgvi_coef c, real z)
{
    const real slack = r_max(0, 1 - z);
    return c.scale / 2 * slack * slack;
}

MGVI_FORMULA real squared_hinge_grad(mgvi_coef c, real z) { return -c.scale * r_max(0, 1 - z); }
MGVI_FORMULA real squared_hinge_curv(mgvi_coef c, real z) { return z < 1 ? c.scale : 0; }

/* The slack shrinks by 1 + step s. */
MGVI_FORMULA real squared_hinge_prox(mgvi_coef c, real z, real step)
{
    return z >= 1 ? z : 1 - (1 - z) / (1 + step * c.scale);
}

/* u + u^2/(2 s) for u <= 0 */
MGVI_FORMULA real squared_hinge_conj(mgvi_coef c, real u)
{
    if (u == 0)
        return 0;
    return u < 0 && c.scale > 0 ? u * (1 + u / c.scale / 2) : R_INF;
}

MGVI_FORMULA real squared_hinge_mirror(mgvi_coef c, real u) { return 1 + r_ratio(u, c.scale); }

MGVI_FORMULA real squared_hinge_dual_clip(mgvi_coef c, real u)
{
    return c.scale > 0 ? r_min(0, u) : 0;
}

MGVI_FORMULA real squared_hinge_dual_step(mgvi_coef c, real u, real z, real r)
{
    if (c.scale == 0)
        return 0;
    return r_negative_part(u + (z - 1 - u / c.scale) / (r + 1 / c.scale), c.scale);
}
#endif
