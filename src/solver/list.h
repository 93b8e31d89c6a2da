/* solver/list.h - the registered solvers; `auto` takes the first that fits the problem. */
SOLVER(exact_margin)
SOLVER(dual_coordinate)
SOLVER(dual_diagonal)
