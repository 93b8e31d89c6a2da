/* loss/squared.h - G(z) = 1/2 (z - a)^2. docs/terms.md (L7). */
#ifndef MGVI_LOSS_SQUARED_H
#define MGVI_LOSS_SQUARED_H

#include "base/formula.h"

enum {
    squared_can = MGVI_VALUE | MGVI_GRAD | MGVI_CURV | MGVI_PROX | MGVI_CONJ | MGVI_DUAL_CLIP |
                  MGVI_SMOOTH | MGVI_STRONG | MGVI_HALVED | MGVI_QUADRATIC_DUAL
};

MGVI_FORMULA real squared_value(mgvi_coef c, real z) { return c.scale / 2 * (z - c.a) * (z - c.a); }
MGVI_FORMULA real squared_grad(mgvi_coef c, real z) { return c.scale * (z - c.a); }
MGVI_FORMULA real squared_curv(mgvi_coef c, real z)
{
    (void)z;
    return c.scale;
}

MGVI_FORMULA real squared_prox(mgvi_coef c, real z, real step)
{
    return c.scale == 0 ? z : c.a + (z - c.a) / (1 + step * c.scale);
}

/* a u + u^2/(2 s) */
MGVI_FORMULA real squared_conj(mgvi_coef c, real u)
{
    if (u == 0)
        return 0;
    return c.scale > 0 ? u * (c.a + u / c.scale / 2) : R_INF;
}

MGVI_FORMULA real squared_dual_clip(mgvi_coef c, real u) { return c.scale > 0 ? u : 0; }

MGVI_FORMULA real squared_dual_step(mgvi_coef c, real u, real z, real r)
{
    return c.scale == 0 ? 0 : u + (z - c.a - u / c.scale) / (r + 1 / c.scale);
}
MGVI_ABSENT(squared, mirror)
#endif
