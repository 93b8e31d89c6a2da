/* penalty/l1_nonneg.h - r(w) = c w if w >= 0, else infinite,  c = scale. No penalty and no
 * constraint where c = 0. docs/terms.md (P11). */
#ifndef MGVI_PENALTY_L1_NONNEG_H
#define MGVI_PENALTY_L1_NONNEG_H

#include "base/formula.h"

enum {
    l1_nonneg_can = MGVI_VALUE | MGVI_PROX | MGVI_KKT | MGVI_CONJ | MGVI_DUAL_CLIP | MGVI_HARD |
                    MGVI_NORM | MGVI_KINK
};

MGVI_FORMULA real l1_nonneg_value(mgvi_coef c, real w)
{
    return c.scale == 0 ? 0 : w >= 0 ? c.scale * w : R_INF;
}

MGVI_FORMULA real l1_nonneg_prox(mgvi_coef c, real w, real step)
{
    return c.scale == 0 ? w : r_max(0, w - step * c.scale);
}

/* The subdifferential is {c} where w > 0, everything up to c at 0; empty below. */
MGVI_FORMULA real l1_nonneg_kkt(mgvi_coef c, real w, real g)
{
    if (c.scale == 0 || w > 0)
        return r_abs(g + c.scale);
    return w == 0 ? r_max(0, -g - c.scale) : R_INF;
}

MGVI_FORMULA real l1_nonneg_conj(mgvi_coef c, real v)
{
    return v == 0 || (v <= c.scale && c.scale != 0) ? 0 : R_INF;
}

MGVI_FORMULA real l1_nonneg_dual_clip(mgvi_coef c, real v)
{
    return c.scale == 0 ? 0 : r_min(c.scale, v);
}
MGVI_ABSENT(l1_nonneg, grad)
MGVI_ABSENT(l1_nonneg, curv)
MGVI_ABSENT(l1_nonneg, mirror)
#endif
