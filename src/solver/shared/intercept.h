/* shared/intercept.h - the best intercept for given weights. */
#ifndef MGVI_SOLVER_INTERCEPT_H
#define MGVI_SOLVER_INTERCEPT_H

#include "problem/problem.h"

/* Moves the intercept in `w` to within `accuracy` (relative to the loss) of the minimum over t of
 * sum_i s_i G_i(z_i + a_i0 t), by bracketing and bisection of the monotone derivative. One product
 * with A and some passes over row vectors; `z` is work space. Does nothing without an intercept or
 * for hard losses. */
void mgvi_intercept_improve(const mgv_problem *problem, double accuracy, mgvi_vec *w, mgvi_vec *z);
#endif
