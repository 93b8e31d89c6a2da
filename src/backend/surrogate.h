/* backend/surrogate.h - the exponential and the logistic loss as smooth stand-ins for the margin;
 * docs/algorithms/momentum_margin.md. With l(x) = e^x or ln(1 + e^x) and z the margins,
 *   psi = l^-1( sum_i l(-z_i) ),   q_i = -d psi / d z_i = l'(-z_i) / l'(psi)                 (2)
 * When every z_i is above 30 the logistic one is replaced by its limit, the exponential one. */
#ifndef MGVI_BACKEND_SURROGATE_H
#define MGVI_BACKEND_SURROGATE_H

#include "backend/vec.h"
#include "base/choices.h"

/* What was seen on the way to q. Plain numbers: part of a checkpoint. */
typedef struct mgvi_surrogate_point {
    double least;      /* min_i z_i */
    double psi;        /* (2) */
    double normalised; /* 1 when q is a softmax, else 0 */
} mgvi_surrogate_point;

/* (2). A z_i of +infinity gets q_i = 0. */
mgvi_surrogate_point mgvi_surrogate_weights(mgv_ctx *ctx, mgvi_surrogate kind, const mgvi_vec *z,
                                            mgvi_vec *q);
/* l'(psi) */
double mgvi_surrogate_slope(mgvi_surrogate kind, double psi);
/* KL(q_new || q) of two softmaxes                                                           (6) */
double mgvi_surrogate_divergence(mgv_ctx *ctx, const mgvi_vec *q, const mgvi_vec *q_new);
#endif
