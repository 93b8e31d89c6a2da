/* penalty/l1.h - r(w) = c |w|,  c = scale. No penalty where c = 0. docs/terms.md (P2). */
#ifndef MGVI_PENALTY_L1_H
#define MGVI_PENALTY_L1_H

#include "base/formula.h"

enum {
    l1_can = MGVI_VALUE | MGVI_GRAD | MGVI_CURV | MGVI_PROX | MGVI_KKT | MGVI_CONJ |
             MGVI_DUAL_CLIP | MGVI_NORM | MGVI_KINK | MGVI_EVEN | MGVI_ABS | MGVI_LENGTH
};

MGVI_FORMULA real l1_value(mgvi_coef c, real w) { return c.scale * r_abs(w); }
MGVI_FORMULA real l1_grad(mgvi_coef c, real w) { return c.scale * r_sign(w); }
MGVI_FORMULA real l1_curv(mgvi_coef c, real w)
{
    (void)c;
    (void)w;
    return 0;
}

/* Soft threshold. */
MGVI_FORMULA real l1_prox(mgvi_coef c, real w, real step)
{
    return r_copysign(r_max(0, r_abs(w) - step * c.scale), w);
}

MGVI_FORMULA real l1_kkt(mgvi_coef c, real w, real g)
{
    return w == 0 ? r_max(0, r_abs(g) - c.scale) : r_abs(g + r_copysign(c.scale, w));
}

MGVI_FORMULA real l1_conj(mgvi_coef c, real v) { return r_abs(v) <= c.scale ? 0 : R_INF; }
MGVI_FORMULA real l1_dual_clip(mgvi_coef c, real v) { return r_clip(v, -c.scale, c.scale); }
MGVI_ABSENT(l1, mirror) /* not strongly convex: its conjugate has no gradient */
#endif
