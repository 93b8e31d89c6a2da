/* solver/list.h - the registered solvers; `auto` takes the first that fits the problem. */
SOLVER(dual_coordinate)
SOLVER(momentum_margin)
SOLVER(perceptron)
SOLVER(batch_perceptron)
SOLVER(normalized_gd)
SOLVER(gd)
SOLVER(homotopic_subgradient)
SOLVER(mirror_sgd)
