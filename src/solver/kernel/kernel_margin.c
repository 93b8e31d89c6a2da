/* kernel_margin.c - what a round of kernel_svm.c is worth. */
#include "solver/kernel/kernel_margin.h"

#include "solver/kernel/slacks.h"

#include <float.h>
#include <math.h>

double mgvi_kernel_margin_least_eps(const mgvi_kernel_margin *s)
{
    const double *diagonal = mgvi_kernel_diagonal(s->kernel);
    double most = 0;
    for (int64_t i = 0; i < s->u.n; i++)
        most = fmax(most, fabs(s->now.x[i]) * diagonal[i]);
    return DBL_EPSILON / 2 * most;
}

static mgvi_slacks slacks_of(const mgv_problem *p, const mgvi_kernel_margin *s)
{
    return (mgvi_slacks){.problem = p, .f = s->f, .bound = s->bound, .ridge = s->ridge};
}

/* The loss, in units of lambda, at the best intercept that is known or easily found. */
static double loss_now(const mgv_problem *p, mgvi_kernel_margin *s)
{
    const mgvi_slacks slacks = slacks_of(p, s);
    double none = 0, *b = p->free_cols ? &s->now.x[s->now.n - 1] : &none, slope;
    if (!s->on_cores)
        return mgvi_slacks_improve(&slacks, s->m.eps, b);
    if (p->free_cols)
        *b = s->cores.centre;
    return mgvi_slacks_loss(&slacks, s->cores.centre, &slope);
}

void mgvi_kernel_margin_appraise(mgvi_run *run, mgvi_kernel_margin *s)
{
    const mgv_problem *p = run->problem;
    const mgvi_slacks slacks = slacks_of(p, s);
    const mgvi_slack_sums t = mgvi_slacks_add_up(&slacks, s->now.x);
    const double before = s->m.primal - s->m.dual;
    const bool hard = p->loss->can & MGVI_HARD;
    double primal, dual, longer = 1, none = 0;
    double *b = p->free_cols ? &s->now.x[s->now.n - 1] : &none;
    if (hard) { /* bounds of the margin */
        primal = t.square > 0 ? -mgvi_slacks_centre(&slacks, b) / sqrt(t.square) : INFINITY;
        dual = t.size > 0 ? -sqrt(t.square) / t.size : -INFINITY;
    } else {
        primal = 0.5 * t.square + loss_now(p, s);
        dual = t.size - 0.5 * (t.square + t.ridge);
        const double factor = s->on_cores ? mgvi_slacks_stretch(&slacks, *b) : 1;
        if (factor > 1 && 0.5 * factor * factor * t.square < primal) {
            primal = 0.5 * factor * factor * t.square;
            longer = factor;
        }
    }
    if (primal < s->m.primal) {
        s->m.primal = primal;
        mgvi_vec_copy(run->ctx, &s->now, &s->w);
        mgvi_vec_scale(run->ctx, longer, &s->w);
    }
    s->m.dual = fmax(s->m.dual, dual);
    for (int64_t i = 0; i < s->u.n; i++)
        s->u.x[i] = -p->lambda * fabs(s->now.x[i]);
    const double gap = s->m.primal - s->m.dual;
    s->m.estimate = gap / fabs(hard ? s->m.dual : s->m.primal);
    const double less =
        !s->on_cores && s->m.eps <= mgvi_kernel_margin_least_eps(s) ? 0.5 : 1 - 1e-6;
    s->m.flat = gap < less * before || !isfinite(before) ? 0 : s->m.flat + 1;
    s->m.below_precision = s->limit > 0 && t.largest > s->limit;
}
