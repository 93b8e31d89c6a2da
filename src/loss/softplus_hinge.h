/* loss/softplus_hinge.h - the hinge smoothed by a logarithm of width alpha = b > 0:
 * G(z) = alpha ln(1 + e^((1 - z)/alpha)), which is alpha times the logistic loss of
 * t = (z - 1)/alpha: its formulas are used in t. docs/terms.md (L12). */
#ifndef MGVI_LOSS_SOFTPLUS_HINGE_H
#define MGVI_LOSS_SOFTPLUS_HINGE_H

#include "loss/logistic.h"

/* bent: its curvature e^(-|t|)/alpha is 0 in numbers some hundred widths from the kink */
enum {
    softplus_hinge_can = MGVI_VALUE | MGVI_GRAD | MGVI_CURV | MGVI_PROX | MGVI_CONJ | MGVI_MIRROR |
                         MGVI_DUAL_CLIP | MGVI_SMOOTH | MGVI_MARGIN | MGVI_WIDTH | MGVI_BENT |
                         MGVI_BOUNDED
};

/* max(0, 1 - z) apart: no digit of it is divided by b and multiplied again */
MGVI_FORMULA real softplus_hinge_value(mgvi_coef c, real z)
{
    return c.scale * (r_max(0, 1 - z) + c.b * log1p(exp(-r_abs(1 - z) / c.b)));
}

MGVI_FORMULA real softplus_hinge_grad(mgvi_coef c, real z)
{
    return logistic_grad(c, (z - 1) / c.b);
}

MGVI_FORMULA real softplus_hinge_curv(mgvi_coef c, real z)
{
    return logistic_curv(c, (z - 1) / c.b) / c.b;
}

MGVI_FORMULA real softplus_hinge_prox(mgvi_coef c, real z, real step)
{
    return 1 + c.b * logistic_prox(c, (z - 1) / c.b, step / c.b);
}

MGVI_FORMULA real softplus_hinge_conj(mgvi_coef c, real u) { return u + c.b * logistic_conj(c, u); }

MGVI_FORMULA real softplus_hinge_mirror(mgvi_coef c, real u)
{
    return 1 + c.b * logistic_mirror(c, u);
}

MGVI_FORMULA real softplus_hinge_dual_clip(mgvi_coef c, real u) { return logistic_dual_clip(c, u); }

MGVI_FORMULA real softplus_hinge_dual_step(mgvi_coef c, real u, real z, real r)
{
    return logistic_dual_step(c, u, (z - 1) / c.b, r / c.b);
}
#endif
