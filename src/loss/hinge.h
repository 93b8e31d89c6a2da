/* loss/hinge.h - G(z) = max(0, 1 - z),  z = y x.w. docs/terms.md (L1). */
#ifndef MGVI_LOSS_HINGE_H
#define MGVI_LOSS_HINGE_H

#include "base/formula.h"

enum {
    hinge_can = MGVI_VALUE | MGVI_GRAD | MGVI_CURV | MGVI_PROX | MGVI_CONJ | MGVI_MIRROR |
                MGVI_DUAL_CLIP | MGVI_MARGIN | MGVI_BENT | MGVI_QUADRATIC_DUAL | MGVI_LINEAR_DUAL |
                MGVI_BOUNDED
};

MGVI_FORMULA real hinge_value(mgvi_coef c, real z) { return c.scale * r_max(0, 1 - z); }
MGVI_FORMULA real hinge_grad(mgvi_coef c, real z) { return z < 1 ? -c.scale : 0; }
MGVI_FORMULA real hinge_curv(mgvi_coef c, real z)
{
    (void)c;
    (void)z;
    return 0;
}

MGVI_FORMULA real hinge_prox(mgvi_coef c, real z, real step)
{
    return z >= 1 ? z : r_min(1, z + step * c.scale);
}

/* u on [-s, 0] */
MGVI_FORMULA real hinge_conj(mgvi_coef c, real u) { return -c.scale <= u && u <= 0 ? u : R_INF; }
MGVI_FORMULA real hinge_mirror(mgvi_coef c, real u)
{
    (void)c;
    (void)u;
    return 1;
}
MGVI_FORMULA real hinge_dual_clip(mgvi_coef c, real u) { return r_clip(u, -c.scale, 0); }

/* r = 0: -s below the margin, 0 above, u at the margin. */
MGVI_FORMULA real hinge_dual_step(mgvi_coef c, real u, real z, real r)
{
    return r_negative_part(r_max(-c.scale, u + r_ratio(z - 1, r)), c.scale);
}
#endif
