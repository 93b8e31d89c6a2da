/* penalty/box.h - r(w) = 0 if a <= w <= b, else infinite; the ends may be infinite, a <= b.
 * No constraint where scale = 0, whose other values do not matter. docs/terms.md (P6). */
#ifndef MGVI_PENALTY_BOX_H
#define MGVI_PENALTY_BOX_H

#include "base/formula.h"

enum {
    box_can =
        MGVI_VALUE | MGVI_PROX | MGVI_KKT | MGVI_CONJ | MGVI_DUAL_CLIP | MGVI_HARD | MGVI_BETWEEN
};

MGVI_FORMULA real box_value(mgvi_coef c, real w)
{
    return c.scale == 0 || (c.a <= w && w <= c.b) ? 0 : R_INF;
}

MGVI_FORMULA real box_prox(mgvi_coef c, real w, real step)
{
    (void)step;
    return c.scale == 0 ? w : r_clip(w, c.a, c.b);
}

/* The subdifferential is {0} inside, a half-line at an end, the line where a = b; empty outside. */
MGVI_FORMULA real box_kkt(mgvi_coef c, real w, real g)
{
    if (c.scale == 0)
        return r_abs(g);
    if (!(c.a <= w && w <= c.b))
        return R_INF;
    return r_max(w < c.b ? -g : 0, w > c.a ? g : 0);
}

/* max(a v, b v), where 0 times infinity is 0. */
MGVI_FORMULA real box_conj(mgvi_coef c, real v)
{
    if (v == 0)
        return 0;
    return c.scale == 0 ? R_INF : v * (v > 0 ? c.b : c.a);
}

MGVI_FORMULA real box_dual_clip(mgvi_coef c, real v)
{
    const bool open = c.scale == 0 || (v > 0 ? c.b == R_INF : c.a == -R_INF);
    return open ? 0 : v;
}

MGVI_ABSENT(box, grad) /* a constraint: empty outside, not unique at the ends */
MGVI_ABSENT(box, curv)
MGVI_ABSENT(box, mirror) /* the conjugate has a kink at 0 */
#endif
