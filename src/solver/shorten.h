/* shorten.h - few examples that prove inseparability; docs/algorithms/exact_margin.md (7).
 *
 * Convex weights q with A'q = 0 exist on d + 1 rows (d + 2 with an intercept, one more condition)
 * when they exist at all: while the rows (a_i, 1) of the support are dependent, q moves along the
 * dependency until one of them has weight 0. */
#ifndef MGVI_SOLVER_SHORTEN_H
#define MGVI_SOLVER_SHORTEN_H

#include "problem/problem.h"

/* `q` >= 0 with A'q = 0 to rounding, over the rows of A, is replaced by one on independent rows
 * (a_i, 1). The sum is kept; how far A'q is from 0 is for the judge to say. */
mgv_status mgvi_shorten_proof(const mgv_problem *problem, mgvi_vec *q);
#endif
