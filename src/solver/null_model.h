/* null_model.h - no weights at all, the best intercept, and the slopes of the loss there. */
#ifndef MGVI_SOLVER_NULL_MODEL_H
#define MGVI_SOLVER_NULL_MODEL_H

#include "problem/problem.h"

/* w = 0 with the best intercept, slopes u of the loss there that balance it, and the loss; *unique:
 * no other slopes are possible. The hinge with an intercept and classes of different weight has a
 * kink there: b = +-1 puts the heavier class on its margin, and each of its rows gives way in
 * proportion. Vectors come from the arena. */
mgv_status mgvi_null_model(const mgv_problem *problem, mgvi_arena *arena, mgvi_vec *w, mgvi_vec *u,
                           double *value, bool *unique);
#endif
