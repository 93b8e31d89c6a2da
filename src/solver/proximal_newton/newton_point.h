/* proximal_newton/newton_point.h - where a Newton model is made; docs/algorithms/proximal_newton.md (2). */
#ifndef MGVI_SOLVER_NEWTON_POINT_H
#define MGVI_SOLVER_NEWTON_POINT_H

#include "problem/problem.h"

/*   m(d) = (A'u).d + 1/2 sum_i h_i (A d)_i^2 + R(w + d) - R(w),   u = L'(A w), h = L''(A w)    (2)
 */
typedef struct mgvi_newton_point {
    const mgvi_vec *w, *g; /* columns: w, A'u */
    const mgvi_vec *h;     /* rows */
    mgvi_vec *work;        /* rows: work space */
    double accuracy;       /* of the model's minimiser: part of its first violation left over */
    bool exact;            /* curvature in float64 */
    bool last;             /* few steps are left: l1 models are worth their end */
    double allowance;      /* work that a minimiser of l1 may cost; 0: any */
    double kink;           /* >= 1: what l1 strengths are multiplied by, on the way to 1 */
} mgvi_newton_point;
#endif
