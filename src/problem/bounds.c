/* bounds.c - the settings `low` and `high`: a box that every weight lies in. The penalty `box` is
 * nothing else; a norm of D w (penalty/whole.h) takes one beside it, since its own dual variables
 * leave the proximal map to the box. */
#include "problem/problem.h"

mgv_status mgvi_bind_bounds(mgv_problem *p)
{
    const mgv_settings *s = &p->settings;
    const bool box = p->penalty->can & MGVI_BETWEEN;
    p->low = isnan(s->low) ? -INFINITY : s->low;
    p->high = isnan(s->high) ? INFINITY : s->high;
    if (!(p->low <= p->high))
        return MGVI_FAIL(
            p->ctx, MGV_E_ARG,
            "no weight lies between low and high (got %g and %g); give a low that is at most high",
            p->low, p->high);
    if (mgvi_problem_is_bounded(p) && !box && !p->split.D)
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "low and high are for the penalties box, tv1d and tv2d; this is %s",
                         p->penalty->name);
    if (box) {
        p->col.scale.constant = 1;
        p->col.a.constant = p->low;
        p->col.b.constant = p->high;
    }
    return MGV_OK;
}
