/* hinge_rest.c - rows that leave the system of an interior point, and come back. */
#include "solver/column_generation/hinge_interior_impl.h"

#include <math.h>
#include <string.h>

/* Rows of a sparse block come to rest at a bound where they are within BOUND of it (of the mean
 * share, or of the box) and off the hinge by more than MGVI_HINGE_CLEAR; they come back when that
 * falls below NEAR. */
static const double BOUND = 0.02, NEAR = 0.01;

/* What that may do to v = Z'a at a time, in mu. */
static const double SHOCK = 0.3;
/* Part of the live rows that may come back without a new start; from a point half of the way. */
static const double MANY = 0.002, SOME = 0.03;

/* With an intercept both classes have the same sum of theta, however few rows one has. */
static int of_class(const mgvi_hinge_interior *k, int64_t i) { return k->p->y && k->p->y[i] > 0; }

static void mean_shares(const mgvi_hinge_interior *k, double mean[2])
{
    double sum[2] = {0, 0}, weight[2] = {0, 0};
    for (int64_t i = 0; i < k->p->rows; i++) {
        sum[of_class(k, i)] += k->a[i];
        weight[of_class(k, i)] += k->p->s[i];
    }
    for (int t = 0; t < 2; t++)
        mean[t] = weight[t] > 0 ? sum[t] / weight[t] : 0;
}

/* Whether row i is clearly off the hinge, and within `bound` of its own. */
static bool at_rest(const mgvi_hinge_interior *k, int64_t i, double bound, const double mean[2])
{
    if (k->rests[i] != MGVI_HINGE_LIVE)
        return false;
    return (k->a[i] < bound * mean[of_class(k, i)] * k->p->s[i] && k->slack[i] > MGVI_HINGE_CLEAR &&
            k->z[i] > 1 + MGVI_HINGE_CLEAR) ||
           (!k->p->bend && k->c[i] < bound * k->p->s[i] && k->xi[i] > MGVI_HINGE_CLEAR &&
            k->z[i] < 1 - MGVI_HINGE_CLEAR);
}

/* Whether a row at rest is still clear of the hinge. */
static bool stays(const mgvi_hinge_interior *k, int64_t i)
{
    return k->a[i] > k->c[i] ? k->z[i] < 1 - NEAR : k->z[i] > 1 + NEAR;
}

/* The largest change of v, in mu, when the rows within `bound` come to rest: k->t_row is a then,
 * and k->at.g is v. */
static double shock(mgv_ctx *ctx, mgvi_hinge_interior *k, double bound, const double mean[2])
{
    const mgvi_hinge_block *p = k->p;
    double most = 0;
    for (int64_t i = 0; i < p->rows; i++)
        k->t_row[i] = !at_rest(k, i, bound, mean) ? k->a[i] : k->a[i] > k->c[i] ? p->s[i] : 0;
    mgvi_hinge_duals(ctx, p, k->t_row, k->at.g);
    for (int64_t j = 0; j < p->cols; j++)
        most = fmax(most, fabs(k->at.g[j] - k->v[j]));
    return most / p->mu;
}

/* Rows come to rest, as many as v bears. */
static void lay_down(mgv_ctx *ctx, mgvi_hinge_interior *k)
{
    double mean[2], bound = BOUND;
    mean_shares(k, mean);
    for (int t = 0; t < 3 && shock(ctx, k, bound, mean) > SHOCK; t++)
        bound /= 10;
    if (shock(ctx, k, bound, mean) > SHOCK)
        return;
    for (int64_t i = 0; i < k->p->rows; i++) {
        if (!at_rest(k, i, bound, mean))
            continue;
        k->rests[i] = MGVI_HINGE_RESTS;
        k->l[i] = k->a[i] = k->t_row[i];
        k->c[i] = k->p->s[i] - k->a[i];
    }
    memcpy(k->v, k->at.g, (size_t)k->p->cols * sizeof *k->v);
}

/* Where others were presumed to rest all along, only those do: the rest of the rows is near the
 * hinge (20 classes of text: points were lost by it). */
void mgvi_hinge_rest_rows(mgv_ctx *ctx, mgvi_hinge_interior *k)
{
    bool changed = false;
    for (int64_t i = 0; i < k->p->rows; i++)
        if (k->rests[i] == MGVI_HINGE_RESTS && !stays(k, i)) {
            mgvi_hinge_put_back(k, i);
            changed = true;
        }
    if (changed)
        mgvi_hinge_duals(ctx, k->p, k->a, k->v);
    if (!k->settled)
        lay_down(ctx, k);
    k->live = 0;
    for (int64_t i = 0; i < k->p->rows; i++)
        if (k->rests[i] != MGVI_HINGE_RESTS)
            k->row[k->live++] = (int32_t)i;
}

/* Rows that do not stay are live from then on. */
bool mgvi_hinge_check_presumed(mgv_ctx *ctx, mgvi_hinge_interior *k)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < k->p->rows; i++)
        wrong += k->rests[i] == MGVI_HINGE_PRESUMED && !stays(k, i);
    const bool again = (double)wrong > MANY * (double)k->live;
    for (int64_t i = 0; i < k->p->rows; i++)
        if (k->rests[i] == MGVI_HINGE_PRESUMED)
            k->rests[i] = !again        ? MGVI_HINGE_RESTS
                          : stays(k, i) ? MGVI_HINGE_PRESUMED
                                        : MGVI_HINGE_LIVE;
    k->presumed = again;
    if (!again || !k->halfway || k->halfway->cols == 0 || (double)wrong >= SOME * (double)k->live)
        return !again;
    mgvi_hinge_resume(ctx, k);
    return true;
}
