/* normal_map.h - Newton's method on the normal map: from an answer that is nearly optimal to
 * one that is so to rounding, zeros and all, for a smooth loss and any penalty with a proximal map;
 * docs/algorithms/zeros.md.
 *
 *   w = prox(x),    F(x) = A'L'(A w) + (x - w)/sigma                                           (3)
 *
 * (x - w)/sigma is a subgradient of R at w: where F = 0, w is optimal. With J the derivative of the
 * proximal map (R sigma) at x and H = A'L''A,
 *
 *   (J H J + (J - J J)/sigma) q = -J F,   y = J q,   x <- x + y - sigma (F + H y)              (4)
 *
 * J is 0 across the face of R that w lies on: zeros stay zeros, groups and ties stay together,
 * until x says otherwise. It is taken from differences of the proximal map, so that a penalty need
 * not know its own faces, and (4) is solved by conjugate gradients, so that A need not have
 * columns. */
#ifndef MGVI_SOLVER_NORMAL_MAP_H
#define MGVI_SOLVER_NORMAL_MAP_H

#include "problem/problem.h"

typedef struct mgvi_normal_map mgvi_normal_map;

/* Whether the problem is of that kind. */
bool mgvi_normal_map_fits(const mgv_problem *problem);
mgv_status mgvi_normal_map_new(const mgv_problem *problem, mgvi_arena *arena,
                               mgvi_normal_map **out);
/* Moves w, and makes u = L'(A w), until nothing moves any more or `budget` entries of A were read.
 */
void mgvi_normal_map_finish(mgvi_normal_map *map, double budget, mgvi_vec *w, mgvi_vec *u);
#endif
