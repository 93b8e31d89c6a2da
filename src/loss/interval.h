/* loss/interval.h - hard: G(z) = 0 if a <= z <= b, else infinite; the ends may be infinite.
 * No constraint where s = 0, whose other values do not matter. docs/terms.md (L9). */
#ifndef MGVI_LOSS_INTERVAL_H
#define MGVI_LOSS_INTERVAL_H

#include "base/formula.h"
#include "penalty/box.h" /* the same indicator */

enum {
    interval_can = MGVI_VALUE | MGVI_PROX | MGVI_CONJ | MGVI_DUAL_CLIP | MGVI_HARD | MGVI_BETWEEN
};

MGVI_FORMULA real interval_value(mgvi_coef c, real z) { return box_value(c, z); }
MGVI_FORMULA real interval_prox(mgvi_coef c, real z, real step) { return box_prox(c, z, step); }
MGVI_FORMULA real interval_conj(mgvi_coef c, real u) { return box_conj(c, u); }
MGVI_FORMULA real interval_dual_clip(mgvi_coef c, real u) { return box_dual_clip(c, u); }

/* At most one of the two terms differs from 0. r = 0: infinite outside the interval, 0 inside; at
 * an end what u has of the right sign. */
MGVI_FORMULA real interval_dual_step(mgvi_coef c, real u, real z, real r)
{
    if (c.scale == 0)
        return 0;
    return r_max(0, u + r_ratio(z - c.b, r)) + r_min(0, u + r_ratio(z - c.a, r));
}

MGVI_ABSENT(interval, grad)
MGVI_ABSENT(interval, curv)
MGVI_ABSENT(interval, mirror)
#endif
