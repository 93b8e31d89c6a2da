/* column_generation/generation_costs.h - which problems column_generation treats how, and what it is
 * expected to take. */
#ifndef MGVI_SOLVER_GENERATION_COSTS_H
#define MGVI_SOLVER_GENERATION_COSTS_H

#include "problem/problem.h"

enum {
    MGVI_MOST_FIRST = 1000,   /* columns of the first W, and that join it at a time, of many rows */
    MGVI_FEW_ROWS = 2500,     /* a square of them is soon factored: all columns at once */
    MGVI_MOST_AT_ONCE = 8192, /* rows of which a square is factored a few times: 512 MiB */
    MGVI_MOST_ROWS = 20000    /* a square of them must fit */
};

/* The hinges: losses of a margin that are no likelihood. */
bool mgvi_generation_is_hinge(const mgv_problem *p);
/* As mgvi_solver_ops has them. */
double mgvi_generation_cost(const mgv_problem *p, const mgv_settings *settings);
double mgvi_generation_finish(const mgv_problem *p, const mgv_settings *settings);
#endif
