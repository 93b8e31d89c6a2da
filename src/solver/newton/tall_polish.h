/* newton/tall_polish.h - from a good (w, a) of the reduced hinge problem to the exact one: the sets
 * E = {0 < a_i < cap_i}, T = {a_i = cap_i} and A = {w_j != 0} are guessed, then with
 * R = lin + sum_T cap_i a_i - mu sign(w) the optimality conditions are linear
 * (docs/algorithms/newton.md (17)):
 *     Lambda w_A - Z_EA' a_E = R_A,   Z_EA w_A = 1.                                             (1)
 * lambda > 0: w is eliminated, a system in a_E, bordered by the free column. lambda = 0: a vertex,
 * |E| = |A|, two square systems. A guess is as good as the gap it leads to, which is measured. */
#ifndef MGVI_SOLVER_TALL_POLISH_H
#define MGVI_SOLVER_TALL_POLISH_H

#include "solver/newton/tall_interior.h"

/* Replaces (w, a) of the reduced problem by the solution of (1) when that has a smaller gap; *value
 * is theirs on entry and on return. `unit` has a size of w_j per column. Work space is allocated
 * and freed: it depends on the sets. */
mgv_status mgvi_tall_polish(const mgvi_tall_reduced *reduced, const double *unit, double *w,
                            double *a, mgvi_tall_value *value);
#endif
