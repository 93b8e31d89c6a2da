/* margin/class_intercepts.h - the active set on contrasts with a free intercept for every class;
 * docs/algorithms/exact_margin.md, "Many classes". The k conditions of the intercepts a on the dual
 * are met by the method of multipliers: K has rho Y Y' added, Y_r = e_c - e_j for the row of class
 * c against j, and
 *   b solves (1) with the demands h = 1 - Y a_0,   a = a_0 + rho Y'b                          (11)
 *   a_0 <- a                                                                                  (12)
 * until Y'b is rounding. Without such intercepts it is the active set alone. */
#ifndef MGVI_SOLVER_CLASS_INTERCEPTS_H
#define MGVI_SOLVER_CLASS_INTERCEPTS_H

#include "solver/margin/active_set.h"
#include "solver/margin/working_set.h"

typedef struct mgvi_class_intercepts {
    mgvi_active_set *set;
    const mgvi_working_set *work;
    int32_t k;    /* classes; 0: no such intercepts */
    double *a;    /* the intercepts */
    double *flow; /* Y'b */
} mgvi_class_intercepts;

mgv_status mgvi_class_intercepts_init(mgvi_class_intercepts *c, const mgv_problem *problem,
                                      mgvi_arena *arena, mgvi_active_set *set,
                                      const mgvi_working_set *work);
/* Rows from `first` on have joined W: their demands. */
void mgvi_class_intercepts_joined(mgvi_class_intercepts *c, int64_t first);
/* mgvi_active_set_solve() for (11) and (12); each solve within the limits. */
mgv_status mgvi_class_intercepts_solve(mgvi_class_intercepts *c, int64_t most_solves,
                                       double most_work, mgvi_active_end *end);
#endif
