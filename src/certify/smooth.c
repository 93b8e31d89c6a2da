/* smooth.c - a lower bound where there is a smooth F, whose conjugate nobody knows: for every q
 *   (R + F)*(v) <= R*(v - q) + F*(q),   and at a slope q = grad F(w) F*(q) = <q, w> - F(w).
 * Where -A'u - q leaves the domain of R* it is drawn to -grad F(0), and F* is at most its chord:
 *   D(t u) >= -R*(-t (A'u + q) - (1 - t) q_0) - t F*(q) - (1 - t) F*(q_0) - sum (s G)*(t u)  (11)
 */
#include "certify/judge.h"

#include <math.h>

mgv_status mgvi_judge_open_smooth(mgvi_judge *j, mgvi_arena *arena)
{
    const mgv_problem *p = j->problem;
    const int64_t d = p->A->cols;
    if (!mgvi_problem_has_smooth(p))
        return MGV_OK;
    MGVI_TRY(MGVI_VECS(arena, MGVI_COLS, d, 1, &j->slope, &j->slope_0));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, d, 1, &j->blend)); /* 0 until it is used */
    mgvi_problem_smooth_grad(p, &j->blend, &j->slope_0);
    j->height_0 = -mgvi_problem_smooth_value(p, &j->blend);
    return MGV_OK;
}

void mgvi_judge_touch_smooth(mgvi_judge *j, const mgvi_vec *w)
{
    const mgv_problem *p = j->problem;
    if (!mgvi_problem_has_smooth(p))
        return;
    double product;
    mgvi_vec_copy(p->ctx, w, &j->blend); /* to where the slope lies */
    mgvi_problem_smooth_grad(p, &j->blend, &j->slope);
    mgvi_vec_dot(p->ctx, &j->slope, &j->blend, &product);
    j->height = product - mgvi_problem_smooth_value(p, w);
}

/* Whether the blend at t lies in the domain of R*. */
static bool inside(mgvi_judge *j, double t)
{
    const mgv_problem *p = j->problem;
    double scale;
    mgvi_vec_add(p->ctx, -t, &j->v, -t, &j->slope, &j->blend);
    mgvi_vec_axpby(p->ctx, t - 1, &j->slope_0, 1, &j->blend);
    const mgvi_vec free = mgvi_problem_free_part(p, &j->blend);
    if (mgvi_vec_nonzeros(&free, NULL) > 0)
        return false; /* an intercept is free: F may not pull at it */
    const mgvi_vec part = mgvi_problem_penalised_part(p, &j->blend);
    mgvi_penalty_dual_scale(&j->penalty, &part, &scale);
    return scale >= 1;
}

/* The largest t, to the last bits, with the blend inside; negative: there is none. */
static double largest(mgvi_judge *j)
{
    enum { HALVINGS = 50 };
    double low = 0, high = 1;
    if (inside(j, 1))
        return 1;
    if (!inside(j, 0))
        return -1;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (low + high) / 2;
        if (inside(j, middle))
            low = middle;
        else
            high = middle;
    }
    inside(j, low); /* leaves the blend */
    return low;
}

double mgvi_judge_smooth_bound(mgvi_judge *j)
{
    const mgv_problem *p = j->problem;
    double penalty, loss;
    if (!(p->penalty->can & MGVI_CONJ) ||
        (p->penalty->can & MGVI_LEVEL)) /* 1'v = 0 is not seen to */
        return -INFINITY;
    const double t = largest(j);
    if (t < 0)
        return -INFINITY;
    const mgvi_vec part = mgvi_problem_penalised_part(p, &j->blend);
    mgvi_penalty_conj(&j->penalty, &part, &penalty);
    mgvi_vec_scale(p->ctx, t, &j->u);
    mgvi_loss_conj(p->ctx, p->loss, &p->row, &j->u, &loss);
    return -penalty - t * j->height - (1 - t) * j->height_0 - loss;
}
