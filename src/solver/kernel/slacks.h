/* kernel/slacks.h - what coefficients of a kernel are worth to a margin, from f = K c: sums, losses
 * and intercepts, in units of lambda. */
#ifndef MGVI_SOLVER_SLACKS_H
#define MGVI_SOLVER_SLACKS_H

#include "problem/problem.h"

typedef struct mgvi_slacks {
    const mgv_problem *problem; /* a hinge, squared or not, or a hard margin */
    const double *f;
    const double *bound; /* C_i = s_i / lambda of a hinge, infinite of others; 0: without weight */
    const double *ridge; /* 1 / C_i of a squared hinge, else 0 */
} mgvi_slacks;

typedef struct mgvi_slack_sums {
    double square, size, ridge; /* c'K c, sum |c_i|, sum r_i c_i^2 */
    double largest;             /* |c_i| */
} mgvi_slack_sums;
mgvi_slack_sums mgvi_slacks_add_up(const mgvi_slacks *s, const double *c);
/* sum of s_i G at the intercept b and its slope there. */
double mgvi_slacks_loss(const mgvi_slacks *s, double b, double *slope);
/* The best intercept near *b, which is off by `reach` or so, and the loss there. */
double mgvi_slacks_improve(const mgvi_slacks *s, double reach, double *b);
/* Hard margin: the intercept half way between the classes, and the least margin there. */
double mgvi_slacks_centre(const mgvi_slacks *s, double *b);
/* Where no row lacks more than a part d of its margin, weights that are longer by 1/(1 - d) lack
 * nothing: what that factor is, 1 where they would be too long. */
double mgvi_slacks_stretch(const mgvi_slacks *s, double b);
#endif
