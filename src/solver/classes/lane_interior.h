/* classes/lane_interior.h - the interior point of the squared hinge in the lanes of a block;
 * docs/algorithms/multiclass.md (11)-(13). */
#ifndef MGVI_SOLVER_LANE_INTERIOR_H
#define MGVI_SOLVER_LANE_INTERIOR_H

#include "solver/classes/lane_system.h"

/* out->u and out->w are there. */
mgv_status mgvi_lane_interior_run(const mgv_problem *block, double tol, mgvi_rng rng,
                                  mgvi_arena *arena, mgvi_lockstep_result *out);
#endif
