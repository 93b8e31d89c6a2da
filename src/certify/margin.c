/* margin.c - two-sided bounds of the hard margin, and the proof that there is none. */
#include "certify/rounding.h"

#include <math.h>

/* Least of all z, whatever the classes. */
static double least_score(const mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    double least = INFINITY;
    for (int64_t i = 0; i < judge->z.n; i++)
        if (mgvi_coef_pick(&p->row.scale, i, 0) > 0)
            least = fmin(least, judge->z.x[i]);
    return least;
}

/* Without intercept  min_i a_i.w / |w|_p; with it the best intercept for this w is half way:
 *   (min over y=+1 of a_i.w + min over y=-1 of a_i.w) / (2 |w|_p)                            (5)
 * z holds a_i.w + y_i b, and the two b cancel in the sum; the new b is rounded once more. */
double mgvi_margin_lower(mgvi_judge *judge, const mgvi_vec *w, bool as_it_is, double *rounding)
{
    const mgv_problem *p = judge->problem;
    const double norm = mgvi_judge_norm(judge, w, p->p);
    const bool moved = p->free_cols && !as_it_is;
    const double m = moved ? mgvi_problem_least_margin(p, judge->z.x) : least_score(judge);
    double most = 0;
    double error = judge->error[0] + 4 * MGVI_UNIT * fabs(m);
    *rounding = 0;
    if (!(norm > 0))
        return 0;
    if (moved) {
        mgvi_vec_abs_max(p->ctx, &judge->z, &most);
        error += 8 * MGVI_UNIT * most;
    }
    const double low = m - error, wide = mgvi_sum_error((double)w->n + 8);
    const double length = low > 0 ? mgvi_kernel_length_above(judge, w, norm) : norm;
    const double bound = low / length - wide * fabs(low / length);
    *rounding = m / norm - bound;
    return bound;
}

double mgvi_kernel_length_above(mgvi_judge *judge, const mgvi_vec *x, double length)
{
    mgvi_op *A = judge->problem->A;
    double error = 0;
    if (!A->ops->square)
        return length;
    const mgvi_vec part = mgvi_problem_penalised_part(judge->problem, x);
    for (int32_t c = 0; c < x->k && A->ops->square_rounding; c++)
        error += A->ops->square_rounding(A, &part, c);
    return sqrt(length * length + error) * (1 + mgvi_sum_error((double)x->n));
}

/* gamma <= |A'b|_q / sum b for every b = -u >= 0 that is orthogonal to the intercept.       (6) */
double mgvi_margin_upper(mgvi_judge *judge, mgvi_care care, double *rounding)
{
    const mgv_problem *p = judge->problem;
    const double q = mgvi_dual_exponent(p->p);
    double sum;
    *rounding = 0;
    mgvi_vec_sum(p->ctx, &judge->u, &sum);
    if (!(sum < 0))
        return INFINITY;
    const double norm = mgvi_judge_norm(judge, &judge->v, q);
    double above;
    if (care == MGVI_CARE_NONE) {
        above = norm;
    } else if (p->A->ops->square) {
        above = mgvi_kernel_length_above(judge, &judge->v, norm);
    } else {
        mgvi_vec v = mgvi_problem_penalised_part(p, &judge->v);
        mgvi_worsen_columns(judge, judge->u_sum, care == MGVI_CARE_TWOFOLD, &v);
        above = mgvi_judge_norm(judge, &judge->v, q);
    }
    const double wide = mgvi_sum_error((double)(judge->u.n + judge->v.n) + 8) + judge->imbalance;
    const double bound = above / -sum * (1 + 2 * wide);
    *rounding = bound - norm / -sum;
    return bound;
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

double mgvi_judge_radius(mgvi_judge *judge)
{
    double most;
    if (!(judge->radius > 0)) {
        mgvi_rows_square_norms(judge->rows, judge->Aq.x);
        mgvi_vec_abs_max(judge->problem->ctx, &judge->Aq, &most);
        judge->radius = sqrt(most);
    }
    return judge->radius;
}

/* The largest distance of 0 to a row's set: what w has to achieve. 1 for a margin. */
static double demand(const mgv_problem *p)
{
    double most = 0;
    for (int64_t i = 0; i < p->A->rows; i++) {
        const mgvi_coef c = mgvi_coefs_at(&p->row, i, 0);
        most = fmax(most, c.scale > 0 ? fabs(p->loss->prox(c, 0, 1)) : 0);
    }
    return most;
}

/* Brings u into the domain of the conjugates and to sum |u_i| = 1; the largest change is at most
 * `slack` times the largest u_i, or it is no proof. */
static bool clip_and_normalise(mgvi_judge *judge, double slack)
{
    const mgv_problem *p = judge->problem;
    mgvi_vec *u = &judge->u;
    double most, worst = 0, sum = 0;
    mgvi_vec_abs_max(p->ctx, u, &most);
    for (int64_t i = 0; i < u->n; i++) {
        const double inside = p->loss->dual_clip(mgvi_coefs_at(&p->row, i, 0), u->x[i]);
        worst = fmax(worst, fabs(inside - u->x[i]));
        u->x[i] = inside;
        sum += fabs(inside);
    }
    if (!(worst <= slack * most) || !(sum > 0) || isinf(sum))
        return false;
    mgvi_vec_scale(p->ctx, 1 / sum, u);
    return true;
}

/* Four corrections u <- u - Q A (A'QA)^-1 A'u with Q = diag(|u|) fixed: they end at rounding level,
 * and only the signs of u decide whether it is a proof. On the way to 0 u may leave its domain by
 * what the next correction takes back.                                                       (8) */
static bool correct(mgvi_judge *judge, int most_steps)
{
    const mgv_problem *p = judge->problem;
    const double radius = mgvi_judge_radius(judge);
    mgvi_vec *u = &judge->u;
    for (int64_t i = 0; i < u->n; i++)
        judge->q.x[i] = fabs(u->x[i]);
    for (int round = 0; round < 4; round++) {
        double most, outside = 0;
        if (combine(judge, u, &judge->residual) <= 0.5e-12 * radius)
            break; /* good enough as it is */
        solve_weighted(judge, &judge->q, most_steps, &judge->residual, &judge->y);
        mgvi_op_mul(p->A, 1, &judge->y, 0, &judge->Aq);
        for (int64_t i = 0; i < u->n; i++)
            u->x[i] -= judge->q.x[i] * judge->Aq.x[i];
        mgvi_vec_abs_max(p->ctx, u, &most);
        for (int64_t i = 0; i < u->n; i++)
            outside = fmax(
                outside, fabs(u->x[i] - p->loss->dual_clip(mgvi_coefs_at(&p->row, i, 0), u->x[i])));
        if (!(outside <= 0.01 * most))
            return false;
    }
    return true;
}

static void declare_proven(mgvi_judge *judge, double norm, mgvi_verdict *verdict)
{
    mgv_certificate *c = &verdict->certificate;
    c->separable = 0;
    c->proof_norm = norm;
    if (mgvi_problem_has_margin(judge->problem))
        c->margin_upper = norm;
    c->verified = 1;
}

/* Where lengths are roots of squares the operator says what is nothing. Two equal examples with
 * different labels, if there are such, are the shortest proof, and the only one there can be with
 * rbf and laplace, where different points are independent; else it is asked about u. */
static bool prove_by_operator(mgvi_judge *judge, const mgvi_vec *start, mgvi_verdict *verdict)
{
    const mgv_problem *p = judge->problem;
    double size;
    bool opposites = false;
    if (!mgvi_problem_has_margin(p) || !p->A->ops->vanishes)
        return false;
    if (mgvi_problem_opposites(p, &judge->u, &opposites) != MGV_OK)
        p->A->failed = MGV_E_MEMORY;
    if (!opposites)
        mgvi_vec_copy(p->ctx, start, &judge->u);
    if (!clip_and_normalise(judge, INFINITY))
        return false;
    combine(judge, &judge->u, &judge->residual);
    const bool proven = p->A->ops->vanishes(p->A, &judge->residual, &size);
    if (proven)
        declare_proven(judge, size, verdict);
    return proven;
}

bool mgvi_judge_prove(mgvi_judge *judge, const mgvi_vec *start, int most_steps,
                      mgvi_verdict *verdict)
{
    const mgv_problem *p = judge->problem;
    if (p->A->ops->square)
        return prove_by_operator(judge, start, verdict);
    mgvi_vec_copy(p->ctx, start, &judge->u);
    if (!clip_and_normalise(judge, INFINITY) || !correct(judge, most_steps) ||
        !clip_and_normalise(judge, 1e-12))
        return false;
    double support;
    const double norm = combine(judge, &judge->u, &judge->residual); /* from the rows, afresh */
    mgvi_loss_conj(p->ctx, p->loss, &p->row, &judge->u, &support);   /* a margin: -1 */
    if (!(norm * demand(p) <= -1e-12 * mgvi_judge_radius(judge) * support)) /* (9) */
        return false;
    declare_proven(judge, norm, verdict);
    return true;
}
