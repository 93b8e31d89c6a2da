/* stand_in.c - a loss, or the Moreau envelope of one with kinks. */
#include "solver/proximal_newton/stand_in.h"

#include "backend/terms.h"

#include <math.h>

/* Kinks of a quantity's loss: at its target, or at both ends of its interval. */
static bool on_kink(const mgvi_loss_ops *loss, mgvi_coef c, double v)
{
    return v == c.a || ((loss->can & MGVI_BETWEEN) && v == c.b);
}

/* The loss of weight 1, so that b is a distance between scores whatever the row weighs. */
static mgvi_coef unit_at(const mgvi_stand_in *in, int64_t i)
{
    mgvi_coef c = mgvi_coefs_at(&in->row, i, 0);
    c.scale = 1;
    return c;
}

static double weight_at(const mgvi_stand_in *in, int64_t i)
{
    return mgvi_coef_pick(&in->row.scale, i, 0);
}

double mgvi_stand_in_value(mgv_ctx *ctx, const mgvi_stand_in *in, const mgvi_vec *x)
{
    double sum = 0;
    if (in->envelope == 0) {
        mgvi_loss_value(ctx, in->loss, &in->row, x, &sum);
        return sum;
    }
    for (int64_t i = 0; i < x->n; i++) {
        const mgvi_coef c = unit_at(in, i);
        const double v = in->loss->prox(c, x->x[i], in->envelope), e = v - x->x[i];
        sum += weight_at(in, i) * (in->loss->value(c, v) + e * e / (2 * in->envelope));
    }
    return sum;
}

void mgvi_stand_in_grad(mgv_ctx *ctx, const mgvi_stand_in *in, const mgvi_vec *x, mgvi_vec *u)
{
    if (in->envelope == 0) {
        mgvi_loss_grad(ctx, in->loss, &in->row, x, u);
        return;
    }
    for (int64_t i = 0; i < x->n; i++) { /* off the kinks a slope of G, which has no rounding */
        const mgvi_coef c = unit_at(in, i);
        const double v = in->loss->prox(c, x->x[i], in->envelope);
        const double slope =
            on_kink(in->loss, c, v) ? (x->x[i] - v) / in->envelope : in->loss->grad(c, v);
        u->x[i] = weight_at(in, i) * slope;
    }
}

void mgvi_stand_in_curv(mgv_ctx *ctx, const mgvi_stand_in *in, const mgvi_vec *x, mgvi_vec *h)
{
    if (in->envelope == 0) {
        mgvi_loss_curv(ctx, in->loss, &in->row, x, h);
        return;
    }
    for (int64_t i = 0; i < x->n; i++) {
        const mgvi_coef c = unit_at(in, i);
        const double v = in->loss->prox(c, x->x[i], in->envelope);
        h->x[i] = on_kink(in->loss, c, v) ? weight_at(in, i) / in->envelope : 0;
    }
}

/* How far x is from the middle of the nearest parabola of row i. */
static double distance(const mgvi_stand_in *in, int64_t i, double x)
{
    const mgvi_coef c = mgvi_coefs_at(&in->row, i, 0);
    if (!(in->loss->can & MGVI_BETWEEN))
        return fabs(x - c.a);
    const double half = in->envelope / 2;
    return fmin(fabs(x - (c.b + half)), fabs(x - (c.a - half)));
}

void mgvi_stand_in_dampen(const mgvi_stand_in *in, double damping, const mgvi_vec *x, mgvi_vec *h)
{
    for (int64_t i = 0; i < h->n; i++) {
        const double far = fmax(distance(in, i, x->x[i]), in->envelope / 2);
        h->x[i] = fmax(h->x[i], weight_at(in, i) * damping * 0.5 / far);
    }
}

double mgvi_stand_in_unit(const mgv_problem *p)
{
    double sum = 0, mean = 0, spread = 0;
    if (p->loss->can & MGVI_MARGIN)
        return 1;
    for (int64_t i = 0; i < p->A->rows; i++)
        sum += mgvi_coef_pick(&p->row.scale, i, 0);
    for (int64_t i = 0; p->free_cols && i < p->A->rows; i++)
        mean += mgvi_coef_pick(&p->row.scale, i, 0) / sum * mgvi_problem_target(p, i);
    for (int64_t i = 0; i < p->A->rows; i++)
        spread +=
            mgvi_coef_pick(&p->row.scale, i, 0) / sum * fabs(mgvi_problem_target(p, i) - mean);
    return spread > 0 && isfinite(spread) ? spread : 1;
}
