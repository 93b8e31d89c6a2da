/* loss/sqrt_hinge.h - the hinge smoothed by a square root of width alpha = b > 0:
 * G(z) = alpha psi((1 - z)/alpha),  psi(t) = (t + sqrt(1 + t^2))/2. docs/terms.md (L4).
 * With radius = sqrt(1 + t^2):  psi(t) = max(0, t) + 1/(2 (radius + |t|)) has no cancellation, and
 * psi'(t) is tail(-t) for t < 0 and 1 - tail(t) else, tail(y) = 1/(2 radius (radius + y)). */
#ifndef MGVI_LOSS_SQRT_HINGE_H
#define MGVI_LOSS_SQRT_HINGE_H

#include "base/formula.h"

enum {
    sqrt_hinge_can = MGVI_VALUE | MGVI_GRAD | MGVI_CURV | MGVI_PROX | MGVI_CONJ | MGVI_DUAL_CLIP |
                     MGVI_SMOOTH | MGVI_MARGIN | MGVI_WIDTH | MGVI_BOUNDED
};

MGVI_FORMULA real sqrt_hinge_value(mgvi_coef c, real z)
{
    const real t = r_abs(1 - z) / c.b;
    return c.scale * (r_max(0, 1 - z) + c.b * (0.5 / (sqrt(1 + t * t) + t)));
}

/* psi'(t) */
MGVI_FORMULA real sqrt_hinge_slope(real t)
{
    const real y = r_abs(t), radius = sqrt(1 + y * y);
    const real tail = 0.5 / (radius * (radius + y));
    return t < 0 ? tail : 1 - tail;
}

MGVI_FORMULA real sqrt_hinge_grad(mgvi_coef c, real z)
{
    return -c.scale * sqrt_hinge_slope((1 - z) / c.b);
}

MGVI_FORMULA real sqrt_hinge_curv(mgvi_coef c, real z)
{
    const real t = (1 - z) / c.b, radius = sqrt(1 + t * t);
    return c.scale / c.b * (0.5 / (radius * radius * radius));
}

/* A point y >= 0 with y - k tail(y) <= m, near the root: tail(y) >= 1/(4 (1 + y^2)) (L4c). */
MGVI_FORMULA real sqrt_hinge_start(real k, real m)
{
    const real cube = cbrt(k / 16);
    if (m < 0) {
        const real start = r_min(cube, sqrt(k / (-16 * m)));
        return start >= 1 ? start : 0;
    }
    return m + r_min(cube, k / (8 + 16 * m * m));
}

/* The root y >= 0 of y - k tail(y) = m, where m + k/2 >= 0. The left side is concave and
 * increasing: Newton climbs to the root from any point left of it. The error after a step d is at
 * most d^2 min(3/4, 3/(2 y)). */
MGVI_FORMULA real sqrt_hinge_root(real k, real m)
{
    real y = sqrt_hinge_start(k, m);
    for (int i = 0; i < R_NEWTON_MOST; i++) {
        const real radius = sqrt(1 + y * y);
        const real tail = 0.5 / (radius * (radius + y));
        const real step = (m - y + k * tail) / (1 + k * (0.5 / (radius * radius * radius)));
        if (!(y + step > y))
            break;
        y += step;
        if (step < 1e-8 * (1 + y))
            break;
    }
    return y;
}

/* The root t of t + k psi'(t) = m: prox and dual step in units of alpha (L4b). The two sides of
 * t = 0 are mirror images. */
MGVI_FORMULA real sqrt_hinge_solve(real k, real m)
{
    return m <= k / 2 ? -sqrt_hinge_root(k, -m) : sqrt_hinge_root(k, m - k);
}

MGVI_FORMULA real sqrt_hinge_prox(mgvi_coef c, real z, real step)
{
    return 1 - c.b * sqrt_hinge_solve(step * c.scale / c.b, (1 - z) / c.b);
}

/* u - alpha sqrt(-u (s + u)) on [-s, 0] */
MGVI_FORMULA real sqrt_hinge_conj(mgvi_coef c, real u)
{
    return -c.scale <= u && u <= 0 ? u - c.b * (sqrt(-u) * sqrt(c.scale + u)) : R_INF;
}

MGVI_FORMULA real sqrt_hinge_dual_clip(mgvi_coef c, real u) { return r_clip(u, -c.scale, 0); }

MGVI_FORMULA real sqrt_hinge_dual_step(mgvi_coef c, real u, real z, real r)
{
    const real slack = (1 - z - r * u) / c.b;
    return -c.scale * sqrt_hinge_slope(sqrt_hinge_solve(r * c.scale / c.b, slack));
}
MGVI_ABSENT(sqrt_hinge, mirror)
#endif
