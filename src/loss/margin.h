/* loss/margin.h - hard margin: G(z) = 0 if z >= 1, else infinite,  z = y x.w.
 * No constraint where s = 0, whose other values do not matter. docs/terms.md (L11). */
#ifndef MGVI_LOSS_MARGIN_H
#define MGVI_LOSS_MARGIN_H

#include "base/formula.h"

enum {
    margin_can = MGVI_VALUE | MGVI_PROX | MGVI_CONJ | MGVI_DUAL_CLIP | MGVI_HARD | MGVI_MARGIN |
                 MGVI_QUADRATIC_DUAL | MGVI_LINEAR_DUAL
};

MGVI_FORMULA real margin_value(mgvi_coef c, real z) { return c.scale == 0 || z >= 1 ? 0 : R_INF; }
MGVI_FORMULA real margin_prox(mgvi_coef c, real z, real step)
{
    (void)step;
    return c.scale == 0 ? z : r_max(1, z);
}

/* u for u <= 0 */
MGVI_FORMULA real margin_conj(mgvi_coef c, real u)
{
    return u == 0 || (u < 0 && c.scale != 0) ? u : R_INF;
}

MGVI_FORMULA real margin_dual_clip(mgvi_coef c, real u) { return c.scale == 0 ? 0 : r_min(0, u); }

/* r = 0 (a row of zeros): -infinity when z < 1, the constraint cannot hold. */
MGVI_FORMULA real margin_dual_step(mgvi_coef c, real u, real z, real r)
{
    return c.scale == 0 ? 0 : r_negative_part(u + r_ratio(z - 1, r), c.scale);
}

MGVI_ABSENT(margin, grad)
MGVI_ABSENT(margin, curv)
MGVI_ABSENT(margin, mirror)
#endif
