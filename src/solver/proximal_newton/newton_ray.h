/* proximal_newton/newton_ray.h - the objective along a Newton step, and where on it to go;
 * docs/algorithms/proximal_newton.md.
 *
 *   phi(t) = R(w + t d) + L(z + t zd),   z = A w, zd = A d
 * with the strengths of R times `raise`, and for the hinge L_c of (7), whose arguments are shifted
 * by its multipliers. */
#ifndef MGVI_SOLVER_NEWTON_RAY_H
#define MGVI_SOLVER_NEWTON_RAY_H

#include "solver/proximal_newton/stand_in.h"

typedef struct mgvi_newton_ray {
    const mgv_problem *problem;
    const mgvi_stand_in *loss; /* L */
    const mgvi_vec *w, *d, *g; /* columns; g = A'L'(A w) */
    const mgvi_vec *z, *zd;    /* rows */
    const double *c;           /* multipliers, NULL: none */
    double width, raise;
    mgvi_vec *x, *slopes; /* rows: arguments of L, and L' at the t > 0 that was */
    double seen;          /* asked for last */
} mgvi_newton_ray;

/* The arguments of L at t. */
void mgvi_newton_ray_move(mgv_ctx *ctx, const mgvi_newton_ray *ray, double t);
/* phi'(t); at 0 g.d serves, and the slopes stay as they were. */
double mgvi_newton_ray_slope(mgv_ctx *ctx, mgvi_newton_ray *ray, double t);
/* A t where the slope has fallen to a tenth of `first` = phi'(0) < 0 and is not above 0: the function
 * is lower there. 1 is tried first, and for kinked penalties nothing beyond it: there are its zeros.
 */
double mgvi_newton_ray_search(mgv_ctx *ctx, mgvi_newton_ray *ray, double first);
#endif
