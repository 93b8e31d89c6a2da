/* kernel/kernel_dual.h - the dual point u' = -lambda c of coefficients c of a kernel, and what it
 * says of the gap; docs/algorithms/kernel_subspace.md (2). */
#ifndef MGVI_SOLVER_KERNEL_DUAL_H
#define MGVI_SOLVER_KERNEL_DUAL_H

#include "problem/problem.h"

typedef struct mgvi_kernel_dual {
    const mgv_problem *problem;
    mgvi_vec *c, *image; /* rows; A A'c */
    const double *b;     /* intercepts */
    mgvi_vec *u;         /* rows: on return u', in the domain of the conjugates */
    mgvi_vec *rows, *cols;
    double *lanes; /* work space */
} mgvi_kernel_dual;

/* What (2) has beside the losses and lambda <c, A A'c>; `value` is that of the primal. */
double mgvi_kernel_dual_price(const mgvi_kernel_dual *d, double value);
/* u becomes orthogonal to the intercept's column, where there is one lane. */
void mgvi_kernel_dual_level(const mgv_problem *problem, mgvi_vec *u, double *work);
#endif
