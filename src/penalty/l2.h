/* penalty/l2.h - r(w) = c/2 w^2,  c = scale. No penalty where c = 0. docs/terms.md (P1). */
#ifndef MGVI_PENALTY_L2_H
#define MGVI_PENALTY_L2_H

#include "base/formula.h"

enum {
    l2_can = MGVI_VALUE | MGVI_GRAD | MGVI_CURV | MGVI_PROX | MGVI_KKT | MGVI_CONJ | MGVI_MIRROR |
             MGVI_DUAL_CLIP | MGVI_SMOOTH | MGVI_STRONG | MGVI_EVEN | MGVI_SQUARE | MGVI_LENGTH
};

MGVI_FORMULA real l2_value(mgvi_coef c, real w) { return c.scale / 2 * w * w; }
MGVI_FORMULA real l2_grad(mgvi_coef c, real w) { return c.scale * w; }
MGVI_FORMULA real l2_curv(mgvi_coef c, real w)
{
    (void)w;
    return c.scale;
}
MGVI_FORMULA real l2_prox(mgvi_coef c, real w, real step) { return w / (1 + step * c.scale); }
MGVI_FORMULA real l2_kkt(mgvi_coef c, real w, real g) { return r_abs(g + c.scale * w); }

/* Infinite, or of infinite slope, where c = 0 and v != 0. */
MGVI_FORMULA real l2_mirror(mgvi_coef c, real v) { return v == 0 ? 0 : v / c.scale; }
MGVI_FORMULA real l2_conj(mgvi_coef c, real v) { return l2_mirror(c, v) * v / 2; }
MGVI_FORMULA real l2_dual_clip(mgvi_coef c, real v) { return c.scale > 0 ? v : 0; }
#endif
