/* null_model.c - where paths begin, and strong penalties end. */
#include "solver/null_model.h"

#include "solver/shared/intercept.h"

#include <math.h>

/* The intercepts of w = 0 for the softmax: the logarithms of the classes' weights. */
static void balance_classes(const mgv_problem *p, mgvi_vec *w)
{
    static const double LEAST = 1e-12;
    double *b = w->x + mgvi_problem_penalised(p) * p->lanes;
    for (int64_t i = 0; i < p->A->rows; i++)
        b[(int64_t)mgvi_problem_target(p, i)] += mgvi_coef_pick(&p->row.scale, i, 0);
    for (int32_t c = 0; c < p->lanes; c++)
        b[c] = log(fmax(b[c], LEAST));
}

/* Weights of the rows on either side of the intercept; false: their losses differ otherwise, too. */
static bool weigh_sides(const mgv_problem *p, double side[2])
{
    side[0] = side[1] = 0;
    if (!(p->loss->can & MGVI_MARGIN) || p->lanes != 1 || p->row.a.values || p->row.b.values)
        return false;
    for (int64_t i = 0; i < p->A->rows; i++)
        side[mgvi_problem_free_entry(p, i) > 0] += mgvi_coef_pick(&p->row.scale, i, 0);
    return true;
}

/* The zero t of the increasing side[1] G'(t) - side[0] G'(-t): rows of one side lose alike. */
static double between_sides(const mgv_problem *p, const double side[2])
{
    double low = -1, high = 1;
    mgvi_coef c = mgvi_coefs_at(&p->row, 0, 0);
    c.scale = 1;
#define SLOPE(t) (side[1] * p->loss->grad(c, t) - side[0] * p->loss->grad(c, -(t)))
    while (SLOPE(low) > 0 && low > -1e6)
        low *= 2;
    while (SLOPE(high) < 0 && high < 1e6)
        high *= 2;
    for (double t = 0.5 * (low + high); low < t && t < high; t = 0.5 * (low + high))
        *(SLOPE(t) < 0 ? &low : &high) = t;
#undef SLOPE
    return high;
}

/* The slopes u of the hinge at w = 0 without an intercept become those with the best one. */
static void balance_sides(const mgv_problem *p, mgvi_vec *w, mgvi_vec *u, double *value,
                          bool *unique)
{
    double side[2] = {0, 0};
    for (int64_t i = 0; i < u->n; i++)
        side[mgvi_problem_free_entry(p, i) > 0] += fabs(u->x[i]);
    const int heavy = side[1] > side[0];
    for (int64_t i = 0; i < u->n; i++)
        if ((mgvi_problem_free_entry(p, i) > 0) == heavy && side[heavy] > 0)
            u->x[i] *= side[!heavy] / side[heavy];
    w->x[w->n - 1] = heavy ? 1 : -1;
    *value = 2 * side[!heavy];
    *unique = fabs(side[0] - side[1]) <= 1e-14 * side[heavy];
}

/* The kink of row i's loss that is nearest to z. */
static double kink_near(const mgv_problem *p, int64_t i, double z)
{
    const mgvi_coef c = mgvi_coefs_at(&p->row, i, 0);
    const bool upper = (p->loss->can & MGVI_BETWEEN) && fabs(c.b - z) < fabs(c.a - z);
    return upper ? c.b : c.a;
}

/* The intercept of w = 0 for a quantity's loss with kinks, exactly on one of them. */
static void find_median(const mgv_problem *p, mgvi_vec *w, mgvi_vec *z)
{
    double nearest = INFINITY, at = 0;
    mgvi_intercept_improve(p, 1e-30, w, z);
    const double b = w->x[w->n - 1];
    for (int64_t i = 0; i < p->A->rows; i++) {
        const double entry = mgvi_problem_free_entry(p, i), kink = kink_near(p, i, entry * b);
        if (mgvi_coef_pick(&p->row.scale, i, 0) > 0 && fabs(kink / entry - b) < nearest) {
            nearest = fabs(kink / entry - b);
            at = kink / entry;
        }
    }
    w->x[w->n - 1] = isfinite(nearest) ? at : b;
}

/* The slopes there: rows off their kinks pull one way or the other, those on one make up for it. */
static void balance_kinks(const mgv_problem *p, const mgvi_vec *z, mgvi_vec *u, bool *unique)
{
    double sum = 0, size = 0;
    int64_t resting = 0, inside = 0;
#define RESTS(i) (z->x[i] == kink_near(p, i, z->x[i]))
    for (int64_t i = 0; i < u->n; i++)
        if (!RESTS(i)) {
            sum += mgvi_problem_free_entry(p, i) * u->x[i];
            size += fabs(u->x[i]);
        }
    for (int64_t i = 0; i < u->n; i++)
        if (RESTS(i) && mgvi_coef_pick(&p->row.scale, i, 0) > 0) {
            const mgvi_coef c = mgvi_coefs_at(&p->row, i, 0);
            const double low = p->loss->grad(c, nextafter(z->x[i], -INFINITY)),
                         high = p->loss->grad(c, nextafter(z->x[i], INFINITY)),
                         entry = mgvi_problem_free_entry(p, i);
            u->x[i] = fmin(high, fmax(low, -sum / entry));
            inside += low < u->x[i] && u->x[i] < high;
            sum += entry * u->x[i];
            resting++;
        }
#undef RESTS
    *unique = resting == 1 && inside == 1 && fabs(sum) <= 1e-14 * size;
}

/* z = A w of an intercept alone: no product where there is but one. */
static void images(const mgv_problem *p, const mgvi_vec *w, mgvi_vec *z)
{
    if (p->lanes != 1 || p->free_cols > 1) {
        mgvi_op_mul(p->A, 1, w, 0, z);
        return;
    }
    for (int64_t i = 0; i < z->n; i++)
        z->x[i] = p->free_cols ? mgvi_problem_free_entry(p, i) * w->x[w->n - 1] : 0;
}

mgv_status mgvi_null_model(const mgv_problem *p, mgvi_arena *arena, mgvi_vec *w, mgvi_vec *u,
                           double *value, bool *unique)
{
    mgvi_vec z;
    MGVI_TRY(mgvi_vec_new_host(arena, MGVI_COLS, p->A->cols, p->lanes, w));
    MGVI_TRY(mgvi_vec_new_host(arena, MGVI_ROWS, p->A->rows, p->lanes, &z));
    MGVI_TRY(mgvi_vec_new_host(arena, MGVI_ROWS, p->A->rows, p->lanes, u));
    double *values;
    MGVI_TRY(MGVI_ARRAY(arena, values, p->lanes));
    const bool smooth = p->loss->can & MGVI_SMOOTH, joint = p->loss->can & MGVI_JOINT;
    const bool kinks = !smooth && !joint && p->free_cols && p->lanes == 1;
    const bool median = kinks && !(p->loss->can & (MGVI_MARGIN | MGVI_HARD));
    double side[2];
    *unique = true;
    if (joint && smooth && p->free_cols)
        balance_classes(p, w);
    else if (smooth && p->free_cols == 1 && weigh_sides(p, side))
        w->x[w->n - 1] = between_sides(p, side);
    else if (smooth)
        mgvi_intercept_improve(p, 1e-30, w, &z); /* u, and so mu, are as good as it is */
    else if (median)
        find_median(p, w, &z);
    images(p, w, &z);
    mgvi_loss_value(p->ctx, p->loss, &p->row, &z, values);
    mgvi_loss_grad(p->ctx, p->loss, &p->row, &z, u);
    *value = values[0];
    if (median)
        balance_kinks(p, &z, u, unique);
    else if (!smooth && !joint && p->free_cols)
        balance_sides(p, w, u, value, unique);
    return MGV_OK;
}
