/* decide.h - is there any w with A w > 0, decided in scaled columns and twofold numbers.
 *
 *   max over |w_j| <= 1 of min_i a_i.w  =  min over q >= 0, sum q = 1 of |A'q|_1              (14)
 *
 * by the simplex method on the rows y_i (x_i, 1) as the data has them, columns and rows multiplied
 * by powers of two: separability is a matter of neither, but a margin is measured in the largest
 * column, beside which others may be rounding. At 0 the q of a vertex weighs rows that have one
 * dependency, which the judge can prove; above it w separates, and is rounded to doubles one entry
 * at a time, the others solved for again, so that it still does. */
#ifndef MGVI_SOLVER_DECIDE_H
#define MGVI_SOLVER_DECIDE_H

#include "problem/problem.h"

typedef enum mgvi_decision {
    MGVI_DECIDED_NOT, /* too large, of another kind, or beyond these numbers too */
    MGVI_DECIDED_SEPARABLE,
    MGVI_DECIDED_INSEPARABLE
} mgvi_decision;

/* Two classes and a hard margin over rows of the data. `w` (A's columns) gets weights in the user's
 * units, the intercept last, or `q` (A's rows) weights of rows; both are for the judge to believe.
 * At most `most` operations on twofold numbers. MGV_E_MEMORY. */
mgv_status mgvi_decide(const mgv_problem *problem, double most, double *w, double *q,
                       mgvi_decision *out);
#endif
