/* baseline/linesearch_l1.h - the exact minimiser on a ray of a parabola plus a weighted l1 norm,
 *     j(s) = a s^2 + b s + sum_j mu_j |w_j + s d_j|,  0 <= s <= most,  a >= 0                   (1)
 * in O(n log n): the slope is increasing and jumps by 2 mu_j |d_j| where w_j + s d_j changes its
 * sign. docs/algorithms/smsvm.md. */
#ifndef MGVI_SOLVER_LINESEARCH_L1_H
#define MGVI_SOLVER_LINESEARCH_L1_H

#include "base/context.h"

typedef struct mgvi_breakpoint {
    double at, jump;
    int64_t index;
} mgvi_breakpoint;

/* `work` has room for n. *landing is the coordinate that is 0 at the minimum and was not before
 * (the caller sets it to exactly 0), or -1. `most` where (1) falls for ever. */
double mgvi_linesearch_l1(int64_t n, const double *w, const double *d, const double *mu, double a,
                          double b, double most, mgvi_breakpoint *work, int64_t *landing);
#endif
