/* margin.c - two-sided bounds of the hard margin, and the proof that there is none. */
#include "certify/judge.h"

#include <math.h>

/* Without intercept  min_i a_i.w / |w|_p; with it the best intercept for this w is half way:
 *   (min over y=+1 of a_i.w + min over y=-1 of a_i.w) / (2 |w|_p)                            (5)
 * z holds a_i.w + y_i b, and the two b cancel in the sum. */
double mgvi_margin_lower(const mgvi_judge *judge, const mgvi_vec *w)
{
    const double norm = mgvi_judge_norm(judge, w, judge->problem->p);
    const double m = mgvi_problem_least_margin(judge->problem, judge->z.x);
    return norm > 0 ? m / norm : 0;
}

/* gamma <= |A'b|_q / sum b for every b = -u >= 0 that is orthogonal to the intercept.       (6) */
double mgvi_margin_upper(const mgvi_judge *judge)
{
    const double q = mgvi_dual_exponent(judge->problem->p);
    double sum;
    mgvi_vec_sum(judge->problem->ctx, &judge->u, &sum);
    return sum < 0 ? mgvi_judge_norm(judge, &judge->v, q) / -sum : INFINITY;
}

/* x = A'q, over all columns: the intercept is one more condition. Returns |x|. */
static double combine(mgvi_judge *judge, const mgvi_vec *q, mgvi_vec *x)
{
    double norm;
    mgvi_op_mul_t(judge->problem->A, 1, q, 0, x);
    mgvi_vec_norm2(judge->problem->ctx, x, &norm);
    return norm;
}

/* Solves (A' Q A) y = r by conjugate gradients, Q = diag(weight); r is overwritten. */
static void solve_weighted(mgvi_judge *judge, const mgvi_vec *weight, int most, mgvi_vec *r,
                           mgvi_vec *y)
{
    const mgv_problem *p = judge->problem;
    mgvi_vec *d = &judge->dir, *Ad = &judge->Aq;
    double rr, first;
    mgvi_vec_fill(p->ctx, y, 0);
    mgvi_vec_copy(p->ctx, r, d);
    mgvi_vec_dot(p->ctx, r, r, &rr);
    first = rr;
    for (int it = 0; it < most && rr > 1e-28 * first && rr > 0; it++) {
        mgvi_op_mul(p->A, 1, d, 0, Ad);
        for (int64_t i = 0; i < Ad->n; i++)
            Ad->x[i] *= weight->x[i];
        mgvi_op_mul_t(p->A, 1, Ad, 0, &judge->v); /* v = A'QA d */
        double curvature, next;
        mgvi_vec_dot(p->ctx, d, &judge->v, &curvature);
        if (!(curvature > 0))
            break;
        mgvi_vec_axpby(p->ctx, rr / curvature, d, 1, y);
        mgvi_vec_axpby(p->ctx, -rr / curvature, &judge->v, 1, r);
        mgvi_vec_dot(p->ctx, r, r, &next);
        mgvi_vec_axpby(p->ctx, 1, r, next / rr, d);
        rr = next;
    }
}

double mgvi_judge_radius(const mgvi_judge *judge) { return judge->radius; }

/* Four corrections q <- q - Q A (A'QA)^-1 A'q with Q = diag(q) fixed: they end at rounding level,
 * and only the sign of q decides whether it is a proof.                                      (8) */
bool mgvi_judge_prove(mgvi_judge *judge, const mgvi_vec *u, int most_steps, mgvi_verdict *verdict)
{
    const mgv_problem *p = judge->problem;
    mgvi_vec *q = &judge->u;
    mgvi_vec_copy(p->ctx, u, q);
    mgvi_loss_dual_clip(p->ctx, p->loss, &p->row, q);
    mgvi_vec_scale(p->ctx, -1, q);
    double sum, most, least;
    mgvi_vec_sum(p->ctx, q, &sum);
    if (!(sum > 0) || isinf(sum))
        return false;
    mgvi_vec_scale(p->ctx, 1 / sum, q);
    mgvi_vec_copy(p->ctx, q, &judge->q);
    for (int round = 0; round < 4; round++) {
        if (combine(judge, q, &judge->residual) <= 0.5e-12 * judge->radius)
            break; /* good enough as it is */
        solve_weighted(judge, &judge->q, most_steps, &judge->residual, &judge->y);
        mgvi_op_mul(p->A, 1, &judge->y, 0, &judge->Aq);
        for (int64_t i = 0; i < q->n; i++)
            q->x[i] -= judge->q.x[i] * judge->Aq.x[i];
        mgvi_vec_abs_max(p->ctx, q, &most);
        mgvi_vec_min(p->ctx, q, &least);
        if (!(least >= -0.01 * most))
            return false;
    }
    mgvi_vec_abs_max(p->ctx, q, &most);
    mgvi_vec_min(p->ctx, q, &least);
    if (!(least >= -1e-12 * most))
        return false;
    for (int64_t i = 0; i < q->n; i++)
        q->x[i] = fmax(q->x[i], 0);
    mgvi_vec_sum(p->ctx, q, &sum);
    mgvi_vec_scale(p->ctx, 1 / sum, q);
    const double norm = combine(judge, q, &judge->residual); /* from the rows, afresh */
    if (!(norm <= 1e-12 * judge->radius))
        return false;
    mgv_certificate *c = &verdict->certificate;
    c->separable = 0;
    c->proof_norm = norm;
    c->margin_upper = norm;
    c->verified = 1;
    mgvi_vec_scale(p->ctx, -1, q);
    return true;
}
