/* solver/list.h - the registered solvers; `auto` takes the first that fits the problem. */
SOLVER(dual_coordinate)
SOLVER(dual_diagonal)
