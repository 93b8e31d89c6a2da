/* proximal_newton/stand_in.h - a loss, or what is smooth in its place;
 * docs/algorithms/proximal_newton.md.
 *
 *   G_b(x) = min over v of  G(v) + (v - x)^2/(2 b)                                             (9)
 * is the Moreau envelope of a loss with kinks: a parabola of width b where the minimiser v rests on a
 * kink, elsewhere G itself less a constant. u = s (x - v)/b is its slope, a subgradient of s G at v.
 */
#ifndef MGVI_SOLVER_STAND_IN_H
#define MGVI_SOLVER_STAND_IN_H

#include "problem/problem.h"

typedef struct mgvi_stand_in {
    const mgvi_loss_ops *loss;
    mgvi_coefs row;
    double envelope; /* b of (9); 0: the loss itself */
} mgvi_stand_in;

/* Sums, slopes and curvatures at the arguments x, of one lane. */
double mgvi_stand_in_value(mgv_ctx *ctx, const mgvi_stand_in *in, const mgvi_vec *x);
void mgvi_stand_in_grad(mgv_ctx *ctx, const mgvi_stand_in *in, const mgvi_vec *x, mgvi_vec *u);
void mgvi_stand_in_curv(mgv_ctx *ctx, const mgvi_stand_in *in, const mgvi_vec *x, mgvi_vec *h);

/* Raises h where an envelope has none, by a part of the curvature that would keep the model above it
 * ((8) of the page). */
void mgvi_stand_in_dampen(const mgvi_stand_in *in, double damping, const mgvi_vec *x, mgvi_vec *h);

/* The width that smoothing starts with: how far targets are from their mean, or without an intercept
 * from 0; 1 where all are alike, and of margins. */
double mgvi_stand_in_unit(const mgv_problem *problem);
#endif
