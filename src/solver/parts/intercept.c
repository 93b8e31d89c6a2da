/* intercept.c - minimises the loss along the intercept. */
#include "solver/parts/intercept.h"

#include <math.h>

/* d/dt sum_i s_i G_i(z_i + a_i0 t): increasing in t. */
static double slope(const mgv_problem *p, const mgvi_vec *z, double t)
{
    double sum = 0;
    for (int64_t i = 0; i < z->n; i++) {
        const double entry = mgvi_problem_free_entry(p, i);
        sum += entry * p->loss->grad(mgvi_coefs_at(&p->row, i, 0), z->x[i] + entry * t);
    }
    return sum;
}

void mgvi_intercept_improve(const mgv_problem *p, mgvi_vec *w, mgvi_vec *z)
{
    if (!p->free_cols || (p->loss->can & MGVI_HARD) || !(p->loss->can & MGVI_GRAD))
        return;
    mgvi_op_mul(p->A, 1, w, 0, z);
    const double at_zero = slope(p, z, 0);
    if (at_zero == 0)
        return;
    /* Grow a bracket [near, far] on the side where the loss falls. */
    const double side = at_zero > 0 ? -1 : 1;
    double near = 0, far = 1e-3;
    while (side * slope(p, z, side * far) < 0 && far < 1e6) {
        near = far;
        far *= 4;
    }
    while (far - near > 1e-12 * (1 + far)) {
        const double middle = 0.5 * (near + far);
        if (middle == near || middle == far)
            break;
        if (side * slope(p, z, side * middle) < 0)
            near = middle;
        else
            far = middle;
    }
    w->x[w->n - 1] += side * near;
}
