/* proximal_newton/newton_ridge.h - Newton steps for penalty l2; docs/algorithms/proximal_newton.md.
 *
 *   (Lambda + A'HA) d = -(Lambda w + A'u)                                                    (3)
 *
 * with Lambda = lambda on penalised columns and 0 on the intercept: by a Cholesky factor of the
 * columns, of the rows (Woodbury), or by preconditioned conjugate gradients, whichever is cheapest.
 */
#ifndef MGVI_SOLVER_NEWTON_RIDGE_H
#define MGVI_SOLVER_NEWTON_RIDGE_H

#include "solver/proximal_newton/newton_point.h"

typedef struct mgvi_newton_ridge mgvi_newton_ridge;
/* Work space from the arena. */
mgv_status mgvi_newton_ridge_new(const mgv_problem *problem, mgvi_arena *arena,
                                 mgvi_newton_ridge **out);
mgv_status mgvi_newton_ridge_solve(mgvi_newton_ridge *m, const mgvi_newton_point *at, mgvi_vec *d);
/* Multiplications of a step's factor. */
double mgvi_newton_ridge_work(const mgv_problem *problem);
/* Those of so many steps with all that they read, about. */
double mgvi_newton_ridge_cost(const mgv_problem *problem, double steps);
#endif
