/* solver/list.h - the registered solvers; `auto` takes the cheapest that fits the problem
 * (solver_impl.h: cost), and the first where none can tell its cost. */
SOLVER(exact_margin)
SOLVER(dual_coordinate)
SOLVER(primal_coordinate)
SOLVER(column_generation)
SOLVER(dual_diagonal)
SOLVER(momentum_margin)
SOLVER(perceptron)
SOLVER(batch_perceptron)
SOLVER(normalized_gd)
SOLVER(gd)
SOLVER(homotopic_subgradient)
SOLVER(mirror_sgd)
