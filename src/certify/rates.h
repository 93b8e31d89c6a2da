/* certify/rates.h - what two papers prove of their methods for the hard margin, as numbers; margins
 * and lengths in the units of the rows that the method sees.
 *
 * Apidopoulos, Poggio, Rosasco, Villa: Iterative regularization in classification via hinge loss
 * diagonal descent (docs/algorithms/dual_diagonal.md; its theorems, corrected as that page says).
 * Ji, Srebro, Telgarsky: Fast margin maximization via dual acceleration
 * (docs/algorithms/momentum_margin.md), where rows are at most 1 long. */
#ifndef MGVI_CERTIFY_RATES_H
#define MGVI_CERTIFY_RATES_H

#include "base/memory.h"

/* ---- dual diagonal descent ------------------------------------------------------------------- */

/* What the constants are made of: u* is a solution of the dual, w* = -X'u*, X has the signed rows;
 * lambda_0 <= 1/max|u*_i|. */
typedef struct mgvi_descent_facts {
    double w_start, w_star; /* |w_0|, |w*| */
    double u_start, u_star; /* |u_0|, |u*| */
    double sum, total;      /* <1, u_0 - u*>, |u_0 - u*|_1 */
    double distance;        /* |u_0 - u*| */
    double X_norm, X_frobenius;
    double gamma; /* step, at most 1/|X|^2 */
    double tau;   /* (5.3) */
    double alpha; /* of the inertial method, at least 3 */
} mgvi_descent_facts;

/* (5.3): the Hoffman constant of X's n rows of d numbers. Of m = min(n, d + 1) and fewer columns of
 * X and the ones, every choice with as many rows is looked at: MGV_E_UNSUPPORTED where that is too
 * many. Choices with a condition beyond 1e12 count as dependent. */
mgv_status mgvi_hoffman(mgv_ctx *ctx, const double *X, int64_t n, int64_t d, double *out);

/* (5.2) */
double mgvi_descent_mu(const mgvi_descent_facts *facts);

/* Theorem 5.1 (inertial: 5.2) at t: |w_t - w*| is at most (5.4), (5.7); from t_star on, (5.20),
 * (5.25), the angle 1 - cos(w_t, w*) at most (5.5), (5.8) and the margin of w_t/|w_t| at most (5.6),
 * (5.9) below the largest. */
typedef struct mgvi_descent_rate {
    double distance, angle, margin, t_star;
} mgvi_descent_rate;
mgvi_descent_rate mgvi_descent_rate_plain(const mgvi_descent_facts *facts, double t);
mgvi_descent_rate mgvi_descent_rate_inertial(const mgvi_descent_facts *facts, double t);

/* ---- momentum -------------------------------------------------------------------------------- */

typedef struct mgvi_interval {
    double low, high;
} mgvi_interval;

/* Theorem 3.1, part 2: where gamma^2 lies after t >= 1 steps, whether there is a margin or not, by
 * |g_t| of the exponential loss over n rows. */
mgvi_interval mgvi_momentum_square(double g, double n, double t);
/* Part 1: the margin of w_t is at least that, where the largest is gamma > 0; proposition 3.7. */
double mgvi_momentum_least(double gamma, double n, double t);
double mgvi_momentum_least_half(double gamma, double n, double t);
/* Theorem 5.1: the same of the margin of many classes, of examples at most 1 long, n pairs. */
double mgvi_momentum_least_classes(double gamma, double n, double t);
/* Theorem 4.1: after how many sampled steps, without momentum and with theta = sqrt(ln n/t), the
 * margin is at least gamma - epsilon with probability 1 - delta. */
double mgvi_sampled_steps(double gamma, double n, double epsilon, double delta);
#endif
