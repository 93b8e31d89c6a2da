/* newton/tall_smooth.h - Newton's method on the smoothed hinge over a set of rows:
 *     f(w) = sum_j lambda_j/2 w_j^2 + mu_j sqrt(w_j^2 + (alpha k_j)^2) - lin.w
 *            + sum_i v_i alpha psi(u_i/alpha),        u = 1 - A w,                              (1)
 * psi of tall_loops.h, alpha falling. One sweep over the rows gives the gradient, the Hessian and
 * d(gradient)/d(alpha), one factorisation the Newton step and the tangent of the path w(alpha).
 * docs/algorithms/newton.md (4) to (8). */
#ifndef MGVI_SOLVER_TALL_SMOOTH_H
#define MGVI_SOLVER_TALL_SMOOTH_H

#include "op/row_set.h"
#include "solver/newton/tall_loops.h"
#include "solver/shared/scaled_cholesky.h"

typedef struct mgvi_tall_smooth {
    mgv_ctx *ctx;
    /* the problem: set these, then call mgvi_tall_smooth_start */
    mgvi_row_set *set;
    const double *v; /* per row; NULL: `weight` of all */
    double weight;
    const uint8_t *steep;          /* rows whose curvature is majorised; NULL: none */
    const double *lambda, *mu, *k; /* per column; mu_j = 0 where lambda_j = 0 for a free column */
    const double *lin;             /* per column; NULL: 0 */
    double alpha;
    double least; /* psi'' below which a row is left out of the Hessian */
    /* the point and what belongs to it */
    double *w;     /* cols */
    double *u;     /* rows */
    double *trial; /* rows */
    double decrement;
    bool cautious;          /* the next sweep majorises the curvature of all rows */
    double *step, *tangent; /* cols: -H^-1 g and dw/dalpha, of the last sweep */
    double *g, *g2, *next;  /* cols */
    mgvi_scaled_cholesky solver;
} mgvi_tall_smooth;

/* Work space for `cols` columns; w, u and trial are the caller's. */
mgv_status mgvi_tall_smooth_init(mgvi_tall_smooth *h, mgvi_arena *arena, int64_t cols);
/* u = 1 - A w */
void mgvi_tall_smooth_start(mgvi_tall_smooth *h);
/* Gradient, Hessian, Newton step, tangent and decrement g.H^-1 g at (w, alpha). MGV_E_NUMERIC when
 * the numbers overflow. */
mgv_status mgvi_tall_smooth_sweep(mgvi_tall_smooth *h);
/* w <- the minimiser of f at `alpha`, which becomes h->alpha, on the ray from w through w + step +
 * ahead * tangent; u follows. */
void mgvi_tall_smooth_move(mgvi_tall_smooth *h, double alpha, double ahead);
/* u_i at w + step - alpha tangent: the path's linear extrapolation to alpha = 0. */
void mgvi_tall_smooth_extrapolate(mgvi_tall_smooth *h, double *u0);
/* After a sweep without l1 penalty and lin: w + d with the Newton step d that is due, and the dual
 * point u = -a linearised along it, which belongs to it up to clipping (docs (18)). Their relative
 * gap, which clipping makes wrong by a little. */
double mgvi_tall_smooth_look_ahead(mgvi_tall_smooth *h, double *w, double *u);
#endif
