/* loss/smooth_hinge.h - the hinge with its kink replaced by a parabola of width g = b > 0:
 * G(z) = 0 if z >= 1,  1 - z - g/2 if z <= 1 - g,  (1 - z)^2/(2 g) between. docs/terms.md (L3). */
#ifndef MGVI_LOSS_SMOOTH_HINGE_H
#define MGVI_LOSS_SMOOTH_HINGE_H

#include "base/formula.h"

enum {
    smooth_hinge_can = MGVI_VALUE | MGVI_GRAD | MGVI_CURV | MGVI_PROX | MGVI_CONJ | MGVI_MIRROR |
                       MGVI_DUAL_CLIP | MGVI_SMOOTH | MGVI_MARGIN | MGVI_BENT |
                       MGVI_QUADRATIC_DUAL | MGVI_WIDTH | MGVI_BOUNDED
};

MGVI_FORMULA real smooth_hinge_value(mgvi_coef c, real z)
{
    const real slack = r_max(0, 1 - z);
    return c.scale * (slack >= c.b ? slack - c.b / 2 : slack * slack / (2 * c.b));
}

MGVI_FORMULA real smooth_hinge_grad(mgvi_coef c, real z)
{
    return -c.scale * r_clip((1 - z) / c.b, 0, 1);
}

MGVI_FORMULA real smooth_hinge_curv(mgvi_coef c, real z)
{
    return z < 1 && 1 - z < c.b ? c.scale / c.b : 0;
}

MGVI_FORMULA real smooth_hinge_prox(mgvi_coef c, real z, real step)
{
    const real slack = 1 - z, move = step * c.scale;
    if (slack <= 0)
        return z;
    return slack >= c.b + move ? z + move : 1 - slack * (c.b / (c.b + move));
}

/* u + g u^2/(2 s) on [-s, 0] */
MGVI_FORMULA real smooth_hinge_conj(mgvi_coef c, real u)
{
    if (u == 0)
        return 0;
    return -c.scale <= u && u < 0 ? u * (1 + c.b * (u / c.scale) / 2) : R_INF;
}

MGVI_FORMULA real smooth_hinge_mirror(mgvi_coef c, real u) { return 1 + c.b * r_ratio(u, c.scale); }

MGVI_FORMULA real smooth_hinge_dual_clip(mgvi_coef c, real u) { return r_clip(u, -c.scale, 0); }

MGVI_FORMULA real smooth_hinge_dual_step(mgvi_coef c, real u, real z, real r)
{
    if (c.scale == 0)
        return 0;
    const real step = (z - 1 - c.b * (u / c.scale)) / (r + c.b / c.scale);
    return r_negative_part(r_max(-c.scale, u + step), c.scale);
}
#endif
