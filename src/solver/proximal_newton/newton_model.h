/* proximal_newton/newton_model.h - the quadratic model of a Newton step, and what minimises it;
 * docs/algorithms/proximal_newton.md.
 *
 *   m(d) = (A'u).d + 1/2 sum_i h_i (A d)_i^2 + R(w + d) - R(w),   u = L'(A w), h = L''(A w)    (2)
 */
#ifndef MGVI_SOLVER_NEWTON_MODEL_H
#define MGVI_SOLVER_NEWTON_MODEL_H

#include "problem/problem.h"

/* Where the model is made. */
typedef struct mgvi_newton_point {
    const mgvi_vec *w, *g; /* columns: w, A'u */
    const mgvi_vec *h;     /* rows */
    mgvi_vec *work;        /* rows: work space */
    double accuracy;       /* of the model's minimiser: part of its first violation left over */
    bool exact;            /* curvature in float64 */
    bool last;             /* few steps are left: l1 models are worth their end */
    double allowance;      /* work that a minimiser of l1 may cost; 0: any */
    double raise;          /* >= 1: what strengths are multiplied by, on the way to 1 */
} mgvi_newton_point;

/* ---- penalty l2 ------------------------------------------------------------------------------ */

/*   (Lambda + A'HA) d = -(Lambda w + A'u)                                                      (3)
 * with Lambda = lambda on penalised columns and 0 on the intercept: by a Cholesky factor of the
 * columns, of the rows (Woodbury), or by preconditioned conjugate gradients, whichever is cheapest.
 */
typedef struct mgvi_newton_ridge mgvi_newton_ridge;
/* Work space from the arena. */
mgv_status mgvi_newton_ridge_new(const mgv_problem *problem, mgvi_arena *arena,
                                 mgvi_newton_ridge **out);
mgv_status mgvi_newton_ridge_solve(mgvi_newton_ridge *m, const mgvi_newton_point *at, mgvi_vec *d);
/* Multiplications of a step's factor. */
double mgvi_newton_ridge_work(const mgv_problem *problem);
/* Those of so many steps with all that they read, about. */
double mgvi_newton_ridge_cost(const mgv_problem *problem, double steps);

/* ---- l1 and enet ----------------------------------------------------------------------------- */

/* A working set of columns: those with a weight and the worst of those that want one. The free
 * intercept is eliminated by centring the columns with the weights h, which leaves zeros alone. */
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
