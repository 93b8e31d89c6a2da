/* class_intercepts.c - a proximal point method in the intercepts around the active set. */
#include "solver/margin/exact_rows.h"

#include <math.h>

enum { ROUNDS = 100 };
/* Of a, at least 1: changes that are as good as none, and those small enough to be rounding when
 * they do not shrink any more. */
static const double SETTLED = 1e-12, SMALL = 1e-7;

mgv_status mgvi_class_intercepts_init(mgvi_class_intercepts *c, const mgv_problem *p,
                                      mgvi_arena *arena, mgvi_active_set *set,
                                      const mgvi_working_set *work)
{
    *c = (mgvi_class_intercepts){.set = set, .work = work, .k = p->graph ? p->outputs : 0};
    if (c->k == 0)
        return MGV_OK;
    MGVI_TRY(MGVI_VECTORS(arena, c->k, &c->a, &c->flow));
    return MGV_OK;
}

static int32_t own_of(const mgvi_class_intercepts *c, int64_t t)
{
    return c->work->rows->own[c->work->W[t] / c->k];
}

static int32_t rival_of(const mgvi_class_intercepts *c, int64_t t) { return c->work->W[t] % c->k; }

void mgvi_class_intercepts_joined(mgvi_class_intercepts *c, int64_t first)
{
    for (int64_t t = first; c->k > 0 && t < c->work->size; t++)
        c->set->demand[t] = 1 - (c->a[own_of(c, t)] - c->a[rival_of(c, t)]);
}

/* (12), and the demands that follow. True: the intercepts have settled. */
static bool push(mgvi_class_intercepts *c, double *last)
{
    double moved = 0, size = 1;
    for (int32_t j = 0; j < c->k; j++)
        c->flow[j] = 0;
    for (int64_t t = 0; t < c->work->size; t++) {
        c->flow[own_of(c, t)] += c->set->b[t];
        c->flow[rival_of(c, t)] -= c->set->b[t];
    }
    for (int32_t j = 0; j < c->k; j++) {
        const double step = c->work->rho * c->flow[j];
        c->a[j] += step;
        moved = fmax(moved, fabs(step));
        size = fmax(size, fabs(c->a[j]));
    }
    const bool shrinks = moved < 0.9 * *last;
    *last = moved;
    if (moved <= SETTLED * size || (moved <= SMALL * size && !shrinks))
        return true;
    mgvi_class_intercepts_joined(c, 0);
    mgvi_active_set_demand(c->set);
    return false;
}

mgv_status mgvi_class_intercepts_solve(mgvi_class_intercepts *c, int64_t most_solves,
                                       double most_work, mgvi_active_end *end)
{
    double last = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        MGVI_TRY(mgvi_active_set_solve(c->set, most_solves, most_work, end));
        if (c->k == 0 || *end != MGVI_ACTIVE_OPTIMAL || push(c, &last))
            return MGV_OK;
    }
    return MGV_OK;
}
