/* parts/intercept.h - the best intercept for given weights. */
#ifndef MGVI_SOLVER_PARTS_INTERCEPT_H
#define MGVI_SOLVER_PARTS_INTERCEPT_H

#include "problem/problem.h"

/* Replaces the intercept in `w` by the minimiser of sum_i s_i G_i(z_i + a_i0 t) over t, found by
 * bracketing and bisection of the monotone derivative. One product with A and some passes over
 * row vectors; `z` is work space. Does nothing without an intercept or for hard losses. */
void mgvi_intercept_improve(const mgv_problem *problem, mgvi_vec *w, mgvi_vec *z);
#endif
