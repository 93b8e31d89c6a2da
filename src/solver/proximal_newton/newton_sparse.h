/* proximal_newton/newton_sparse.h - proximal Newton steps for l1 and enet;
 * docs/algorithms/proximal_newton.md.
 *
 * Minimises the model m(d) of newton_point.h over a working set of columns: those with a weight and
 * the worst of those that want one. The free intercept is eliminated by centring the columns with
 * the weights h, which leaves zeros alone. */
#ifndef MGVI_SOLVER_NEWTON_SPARSE_H
#define MGVI_SOLVER_NEWTON_SPARSE_H

#include "solver/proximal_newton/newton_point.h"

typedef struct mgvi_newton_sparse mgvi_newton_sparse;
/* Copies the data by columns into the arena, unless there are few of them. */
mgv_status mgvi_newton_sparse_new(const mgv_problem *problem, mgvi_arena *arena,
                                  mgvi_newton_sparse **out);
/* d on all columns and the intercept. Takes more room from the arena when the working set is larger
 * than ever before. */
mgv_status mgvi_newton_sparse_solve(mgvi_newton_sparse *m, const mgvi_newton_point *at,
                                    mgvi_vec *d);
/* Multiplications since it was last asked; the entries that sweeps read join *touched. */
double mgvi_newton_sparse_work(mgvi_newton_sparse *m, double *touched);
/* image = A d by the columns with d_j != 0 alone; false, and nothing done, where a product with A
 * costs less. */
bool mgvi_newton_sparse_image(mgvi_newton_sparse *m, const mgvi_vec *d, mgvi_vec *image);
#endif
