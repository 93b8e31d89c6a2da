/* select/strength.h - the largest strengths worth trying; docs/algorithms/path.md. */
#ifndef MGVI_SELECT_STRENGTH_H
#define MGVI_SELECT_STRENGTH_H

#include "problem/problem.h"

/* Of a problem that stands for many classes: the largest among theirs; `settings` are those it was
 * bound with. */

/* The least mu for which w = 0 is optimal, whatever lambda is: the penalty's dual norm of A'u; of
 * tv1d and tv2d about the least for which w is constant; a bound from above of the hinge with an
 * intercept beside other norms than l1. Changes the problem's strengths
 * where problems have to be solved to find it. */
mgv_status mgvi_largest_mu(mgv_problem *problem, const mgv_settings *settings, double *out);
/* The lambda at which the largest |score| of the weights S_mu(-A'u)/lambda is 1, u being the slopes
 * of the losses at w = 0: for the hinge without intercept and mu = 0 the least lambda for which
 * every row is at or below its margin. MGV_E_ARG when mu leaves no weights at all. */
mgv_status mgvi_largest_lambda(mgv_problem *problem, const mgv_settings *settings, double *out);
#endif
