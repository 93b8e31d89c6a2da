/* proximal_newton/newton_costs.h - what kind of problem proximal_newton is given, and what it is
 * expected to take. */
#ifndef MGVI_SOLVER_NEWTON_COSTS_H
#define MGVI_SOLVER_NEWTON_COSTS_H

#include "problem/problem.h"

static inline bool mgvi_newton_kinks(const mgv_problem *p) { return p->penalty->can & MGVI_KINK; }

/* Of the losses that it takes: the hinge, and piecewise linear ones of a quantity. */
static inline bool mgvi_newton_kinked(const mgvi_loss_ops *loss)
{
    return (loss->can & MGVI_BENT) && !(loss->can & MGVI_SMOOTH);
}

/* Every row that is not beyond its margin curves, however far it is from it: the squared hinge. */
static inline bool mgvi_newton_curves(const mgvi_loss_ops *loss)
{
    return (loss->can & MGVI_BENT) && (loss->can & MGVI_SMOOTH) && (loss->can & MGVI_MARGIN) &&
           !(loss->can & MGVI_WIDTH);
}

/* As mgvi_solver_ops has them. */
double mgvi_newton_cost(const mgv_problem *p, const mgv_settings *settings);
double mgvi_newton_trial(const mgv_problem *p, const mgv_settings *settings);
double mgvi_newton_finish(const mgv_problem *p, const mgv_settings *settings);
#endif
