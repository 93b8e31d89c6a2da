/* penalty/nonneg.h - r(w) = 0 if w >= 0, else infinite. No constraint where scale = 0.
 * docs/terms.md (P7). */
#ifndef MGVI_PENALTY_NONNEG_H
#define MGVI_PENALTY_NONNEG_H

#include "base/formula.h"

enum {
    nonneg_can =
        MGVI_VALUE | MGVI_PROX | MGVI_KKT | MGVI_CONJ | MGVI_DUAL_CLIP | MGVI_HARD | MGVI_KINK
};

MGVI_FORMULA real nonneg_value(mgvi_coef c, real w) { return c.scale == 0 || w >= 0 ? 0 : R_INF; }
MGVI_FORMULA real nonneg_prox(mgvi_coef c, real w, real step)
{
    (void)step;
    return c.scale == 0 ? w : r_max(0, w);
}

MGVI_FORMULA real nonneg_kkt(mgvi_coef c, real w, real g)
{
    if (c.scale == 0 || w > 0)
        return r_abs(g);
    return w == 0 ? r_max(0, -g) : R_INF;
}

MGVI_FORMULA real nonneg_conj(mgvi_coef c, real v)
{
    return v == 0 || (v < 0 && c.scale != 0) ? 0 : R_INF;
}

MGVI_FORMULA real nonneg_dual_clip(mgvi_coef c, real v) { return c.scale == 0 ? 0 : r_min(0, v); }
MGVI_ABSENT(nonneg, grad)
MGVI_ABSENT(nonneg, curv)
MGVI_ABSENT(nonneg, mirror)
#endif
