/* classes/lane_newton.h - Newton's method, for the squared hinge an interior point, for up to 16
 * problems of two classes over the same rows, every product with A for all of them;
 * docs/algorithms/multiclass.md, "Newton in lock-step". */
#ifndef MGVI_SOLVER_LANE_NEWTON_H
#define MGVI_SOLVER_LANE_NEWTON_H

#include "solver/classes/lockstep.h"

/* What a lane is expected to cost in a block of so many, in multiplications of a matrix product;
 * infinite where rows are no more than a metric's sample, for the hinge where they are many a
 * column, a factor of the columns is too large, or memory too small. */
double mgvi_lane_newton_cost(const mgv_problem *problem, int32_t lanes);
/* Whether u is a pair's that was left to `newton` near the end: the hinge's, between its bounds. */
bool mgvi_lane_newton_leaves(const mgv_problem *problem, const double *u);
/* Bytes of a block of so many at work. */
double mgvi_lane_newton_bytes(const mgv_problem *problem, int32_t lanes);
/* Until every lane is expected to have a relative gap of `tol`, or gets no nearer; from the weights
 * of `start` (NULL: none) in the lanes that have some. The result has weights of its own. */
mgv_status mgvi_lane_newton_run(const mgv_problem *block, double tol, const double *const *start,
                                mgvi_rng rng, mgvi_arena *arena, mgvi_lockstep_result *out);
#endif
