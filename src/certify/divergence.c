/* divergence.c - how far weights are from others: in the eyes of the penalty, and from the optimum at
 * most. */
#include "certify/judge.h"

#include <math.h>

static double penalty_of(mgvi_judge *judge, const mgvi_vec *w)
{
    const mgvi_vec part = mgvi_problem_penalised_part(judge->problem, w);
    mgvi_penalty_value(&judge->penalty, &part, judge->lane);
    return mgvi_judge_sum_lanes(judge, part.k);
}

double mgvi_judge_divergence(mgvi_judge *judge, const mgvi_vec *w_0, const mgvi_vec *u_0,
                             const mgvi_vec *w)
{
    const int64_t count = mgvi_problem_penalised(judge->problem) * w->k;
    const double *x = mgvi_vec_host(w), *x_0 = mgvi_vec_host(w_0);
    mgvi_op_mul_t(judge->problem->A, 1, u_0, 0, &judge->v);
    const double *v = mgvi_vec_host(&judge->v);
    double slope = 0;
    for (int64_t j = 0; j < count; j++)
        slope += v[j] * (x[j] - x_0[j]);
    return penalty_of(judge, w) - penalty_of(judge, w_0) + slope;
}

/* The modulus m of R: R(w) >= R(v) + <slope, w - v> + m/2 |w - v|_p^2. A margin's R is 1/2 |w|_p^2,
 * whose m is p - 1; 0: there is none. */
static double strong_convexity(const mgv_problem *p)
{
    double least = INFINITY;
    if (mgvi_problem_has_margin(p))
        return p->p <= 2 && !p->col.scale.values ? p->p - 1 : 0;
    if (!(p->penalty->can & MGVI_SQUARE))
        return 0;
    for (int64_t j = 0; j < mgvi_problem_penalised(p); j++)
        least = fmin(least, mgvi_problem_strengths(p, j).lambda);
    return least;
}

double mgvi_verdict_distance(const mgv_problem *p, const mgv_certificate *c)
{
    const double modulus = strong_convexity(p);
    const bool feasible =
        !(p->loss->can & MGVI_HARD) || (mgvi_problem_has_margin(p) && c->separable == 1);
    if (!c->verified || !feasible || !(modulus > 0) || !(c->gap >= 0) || isinf(c->gap))
        return NAN;
    return sqrt(2 * c->gap / modulus) * (1 + 0x1p-50);
}
