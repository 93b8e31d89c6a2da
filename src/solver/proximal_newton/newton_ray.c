/* newton_ray.c - slopes by the products that a step has, and a line search by them. */
#include "solver/proximal_newton/newton_ray.h"

#include <math.h>

enum { MOST_TRIALS = 40 };

/* Of the objective: a full step that raises it by less is taken, for it lands on the zeros. */
static const double ROUNDING = 1e-14;

/* x = z + t A d + the multipliers' shift (7). */
void mgvi_newton_ray_move(mgv_ctx *ctx, const mgvi_newton_ray *ray, double t)
{
    mgvi_vec *x = ray->x;
    if (t == 0)
        mgvi_vec_copy(ctx, ray->z, x);
    else
        mgvi_vec_add(ctx, 1, ray->z, t, ray->zd, x);
    for (int64_t i = 0; ray->c && i < x->n; i++) {
        const double scale = mgvi_coef_pick(&ray->loss->row.scale, i, 0);
        x->x[i] += scale > 0 ? ray->width * ray->c[i] / scale : 0;
    }
}

/* The penalty's coefficients on the way to their own. */
static mgvi_coef coef_at(const mgvi_newton_ray *ray, int64_t j)
{
    mgvi_coef c = mgvi_coefs_at(&ray->problem->col, j, 0);
    c.scale *= ray->raise;
    return c;
}

static bool has_kinks(const mgvi_newton_ray *ray) { return ray->problem->penalty->can & MGVI_KINK; }

/* The derivative of R along d at w + t d: from the right, but from the left at t = 1, where weights
 * land on their zeros and nobody goes further. */
static double penalty_slope(const mgvi_newton_ray *ray, double t)
{
    const mgv_problem *p = ray->problem;
    const bool kinks = has_kinks(ray);
    const double side = t == 1 ? -1 : 1, *d = ray->d->x;
    double sum = 0;
    for (int64_t j = 0; j < mgvi_problem_penalised(p); j++) {
        if (d[j] == 0)
            continue;
        const mgvi_coef c = coef_at(ray, j);
        const double w = ray->w->x[j] + t * d[j];
        sum += kinks && w == 0 ? side * c.scale * fabs(d[j]) : p->penalty->grad(c, w) * d[j];
    }
    return sum;
}

double mgvi_newton_ray_slope(mgv_ctx *ctx, mgvi_newton_ray *ray, double t)
{
    ray->seen = t;
    if (t != 0) {
        mgvi_newton_ray_move(ctx, ray, t);
        mgvi_stand_in_grad(ctx, ray->loss, ray->x, ray->slopes);
    }
    const double loss =
        t == 0 ? mgvi_vec_inner(ctx, ray->g, ray->d) : mgvi_vec_inner(ctx, ray->slopes, ray->zd);
    const double slope = loss + penalty_slope(ray, t);
    return isnan(slope) ? INFINITY : slope;
}

/* phi(t) */
static double value_at(mgv_ctx *ctx, const mgvi_newton_ray *ray, double t)
{
    const mgv_problem *p = ray->problem;
    mgvi_newton_ray_move(ctx, ray, t);
    double value = mgvi_stand_in_value(ctx, ray->loss, ray->x);
    for (int64_t j = 0; j < mgvi_problem_penalised(p); j++)
        value += p->penalty->value(coef_at(ray, j), ray->w->x[j] + t * ray->d->x[j]);
    return value;
}

double mgvi_newton_ray_search(mgv_ctx *ctx, mgvi_newton_ray *ray, double first)
{
    double low = 0, high = 1, at_low = first, at_high = mgvi_newton_ray_slope(ctx, ray, 1);
    const double most = has_kinks(ray) ? 1 : 1 << 20;
    int trials = 0;
    if (at_high > 0 && at_high <= -0.1 * first) {
        const double before = value_at(ctx, ray, 0);
        if (value_at(ctx, ray, 1) <= before + ROUNDING * fabs(before))
            return 1;
    }
    while (at_high < 0.1 * first && high < most && trials++ < MOST_TRIALS) {
        low = high;
        at_low = at_high;
        high *= 4;
        at_high = mgvi_newton_ray_slope(ctx, ray, high);
    }
    if (at_high <= 0 && (high == 1 || at_high >= 0.1 * first || high >= most))
        return high;
    while (at_low < 0.1 * first && trials++ < MOST_TRIALS) {
        /* The secant, kept off the ends. */
        const double part = isinf(at_high) ? 0.1 : at_low / (at_low - at_high);
        const double t = low + fmin(0.9, fmax(0.1, part)) * (high - low);
        const double slope = mgvi_newton_ray_slope(ctx, ray, t);
        if (slope <= 0) {
            low = t;
            at_low = slope;
        } else {
            high = t;
            at_high = slope;
        }
    }
    return low;
}
