/* gauge.c - what a penalty's subdifferential at 0 holds. */
#include "backend/terms.h"

#include <math.h>

/* One coordinate. Powers of two bracket the boundary, t v inside and 2 t v outside; there the
 * distance to the subdifferential gives it without cancellation. */
static double gauge_at(const mgvi_penalty *r, int64_t j, double v)
{
    const double LIMIT = 1e30;
    const mgvi_coef c = mgvi_coefs_at(r->coefs, j, 0);
    double t = 1;
    if (v == 0 || c.scale == 0)
        return 0;
    while (t > 1 / LIMIT && r->ops->kkt(c, 0, -t * v) > 0)
        t /= 2;
    while (t < LIMIT && r->ops->kkt(c, 0, -2 * t * v) == 0)
        t *= 2;
    const double boundary = 2 * t * fabs(v) - r->ops->kkt(c, 0, -2 * t * v);
    return t >= LIMIT ? 0 : t <= 1 / LIMIT ? INFINITY : fabs(v) / boundary;
}

double mgvi_penalty_gauge(const mgvi_penalty *r, const mgvi_vec *v, mgvi_vec *work)
{
    double gauge = 0, most, t = 1;
    if (!r->ops->whole) {
        const double *x = mgvi_vec_host(v);
        for (int64_t j = 0; j < v->n; j++)
            gauge = fmax(gauge, gauge_at(r, j, x[j]));
        return gauge;
    }
    mgvi_vec_abs_max(r->ctx, v, &most);
    if (!(most > 0))
        return 0;
    const double stretch = 1e100 / most; /* beyond the boundary, if there is one */
    mgvi_vec_add(r->ctx, stretch, v, 0, v, work);
    mgvi_penalty_dual_scale(r, work, &t);
    return t < 1 ? 1 / t / stretch : 0;
}

int64_t mgvi_penalty_movable(const mgvi_penalty *r, const mgvi_vec *w, double stretch,
                             const mgvi_vec *g, int64_t *list)
{
    const double *x = mgvi_vec_host(w), *slope = mgvi_vec_host(g);
    int64_t count = 0;
    for (int64_t j = 0; j < w->n; j++) {
        list[count] = j;
        count += x[j] != 0 || r->ops->kkt(mgvi_coefs_at(r->coefs, j, 0), 0, stretch * slope[j]) > 0;
    }
    return count;
}
