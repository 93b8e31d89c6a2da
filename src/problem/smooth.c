/* smooth.c - F, a smooth function of the caller's own. */
#include "problem/problem.h"

#include <string.h>

mgv_status mgvi_problem_set_smooth(mgv_problem *p, const mgv_smooth *smooth)
{
    mgv_smooth F = {0};
    if (smooth)
        memcpy(&F, smooth, smooth->size < sizeof F ? smooth->size : sizeof F);
    if (smooth && (!F.value || !F.grad))
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "a smooth F needs two functions; give its value and its gradient");
    if (smooth && (!(F.lipschitz >= 0) || isinf(F.lipschitz)))
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "the Lipschitz constant of F's gradient is %g; allowed: 0 or more",
                         F.lipschitz);
    if (smooth && (p->lanes != 1 || p->many))
        return MGVI_FAIL(p->ctx, MGV_E_UNSUPPORTED,
                         "a smooth F goes with one vector of weights; this problem has one for "
                         "every class");
    p->smooth = F;
    return mgvi_bind_formula(p);
}

double mgvi_problem_smooth_value(const mgv_problem *p, const mgvi_vec *w)
{
    double value = 0;
    if (mgvi_problem_has_smooth(p) &&
        p->smooth.value(p->smooth.user, mgvi_vec_host(w), &value) != 0)
        atomic_store(&p->ctx->interrupted, 1);
    return value;
}

void mgvi_problem_smooth_grad(const mgv_problem *p, const mgvi_vec *w, mgvi_vec *grad)
{
    if (!mgvi_problem_has_smooth(p)) {
        mgvi_vec_fill(p->ctx, grad, 0);
        return;
    }
    if (p->smooth.grad(p->smooth.user, mgvi_vec_host(w), mgvi_vec_open(grad)) != 0)
        atomic_store(&p->ctx->interrupted, 1);
    mgvi_vec_close(grad);
}
