/* solver/classes/family_lanes.h - members of a family in lock-step: 16 of them at every visit of a row. */
#ifndef MGVI_SOLVER_FAMILY_LANES_H
#define MGVI_SOLVER_FAMILY_LANES_H

#include "solver/classes/family.h"

/* Runs all members from nothing where that is faster than one by one; does nothing where it is not.
 * What it leaves of them is in the family. */
mgv_status mgvi_family_in_lockstep(mgv_solver *head);
#endif
