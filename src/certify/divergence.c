/* divergence.c - how far weights are from others in the eyes of the penalty. */
#include "certify/judge.h"

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
