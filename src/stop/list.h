/* stop/list.h - the stopping rules, in the order they are asked. */
STOP_RULE(infeasible)
STOP_RULE(gap)
STOP_RULE(discrepancy)
STOP_RULE(apriori)
STOP_RULE(interrupt)
STOP_RULE(iterations)
STOP_RULE(passes)
STOP_RULE(time)
