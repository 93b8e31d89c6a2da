/* margin.c - two-sided bounds of the hard margin. */
#include "certify/rounding.h"

#include <math.h>

/* Least of all z, whatever the classes. */
static double least_score(const mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    const double *z = mgvi_vec_host(&judge->z);
    double least = INFINITY;
    for (int64_t i = 0; i < judge->z.n; i++)
        if (mgvi_coef_pick(&p->row.scale, i, 0) > 0)
            least = fmin(least, z[i]);
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
    const double m =
        moved ? mgvi_problem_least_margin(p, mgvi_vec_host(&judge->z)) : least_score(judge);
    double most = 0;
    double error = judge->error[0] + 4 * MGVI_UNIT * fabs(m);
    *rounding = 0;
    mgvi_vec_abs_max(p->ctx, &judge->z, &most);
    if (!isfinite(norm) || !isfinite(most))
        return -INFINITY;
    if (norm == 0)
        return 0;
    if (moved)
        error += 8 * MGVI_UNIT * most;
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
    double square;
    const mgvi_vec at = mgvi_vec_hosted(&part);
    if (judge->extended && A->ops->square_extended &&
        A->ops->square_extended(A, &at, mgvi_kernel_scale_error(judge), &square, &error))
        return sqrt(square + error) * (1 + 4 * MGVI_UNIT);
    error = 0;
    for (int32_t c = 0; c < x->k && A->ops->square_rounding; c++)
        error += A->ops->square_rounding(A, &at, c);
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

double mgvi_judge_radius(mgvi_judge *judge)
{
    double most;
    if (!(judge->radius > 0)) {
        mgvi_rows_put_square_norms(judge->rows, &judge->Aq);
        mgvi_vec_abs_max(judge->problem->ctx, &judge->Aq, &most);
        judge->radius = sqrt(most);
    }
    return judge->radius;
}
