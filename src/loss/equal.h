/* loss/equal.h - hard: G(z) = 0 if z = a, else infinite.
 * No constraint where s = 0, whose other values do not matter. docs/terms.md (L10). */
#ifndef MGVI_LOSS_EQUAL_H
#define MGVI_LOSS_EQUAL_H

#include "base/formula.h"

enum {
    equal_can = MGVI_VALUE | MGVI_PROX | MGVI_CONJ | MGVI_DUAL_CLIP | MGVI_HARD |
                MGVI_QUADRATIC_DUAL | MGVI_LINEAR_DUAL
};

MGVI_FORMULA real equal_value(mgvi_coef c, real z) { return c.scale == 0 || z == c.a ? 0 : R_INF; }
MGVI_FORMULA real equal_prox(mgvi_coef c, real z, real step)
{
    (void)step;
    return c.scale == 0 ? z : c.a;
}

MGVI_FORMULA real equal_conj(mgvi_coef c, real u)
{
    if (u == 0)
        return 0;
    return c.scale == 0 ? R_INF : c.a * u;
}

MGVI_FORMULA real equal_dual_clip(mgvi_coef c, real u) { return c.scale == 0 ? 0 : u; }

/* r = 0: infinite with the sign of z - a, or u when z = a. */
MGVI_FORMULA real equal_dual_step(mgvi_coef c, real u, real z, real r)
{
    return c.scale == 0 ? 0 : u + r_ratio(z - c.a, r);
}

MGVI_ABSENT(equal, grad)
MGVI_ABSENT(equal, curv)
MGVI_ABSENT(equal, mirror)
#endif
