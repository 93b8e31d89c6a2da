/* solver/family_lanes.h - members of a family in lock-step: 16 of them at every visit of a row. */
#ifndef MGVI_SOLVER_FAMILY_LANES_H
#define MGVI_SOLVER_FAMILY_LANES_H

#include "solver/family.h"

/* What lock-step leaves of a member, beside its weights and, where it is certified, its summary. */
typedef struct mgvi_lane_result {
    mgvi_member_start start; /* to go on from; w NULL: as the family's weights are; u NULL: it is
                              * done or was not begun */
    int64_t rounds;
    double passes; /* its share */
} mgvi_lane_result;

/* Runs all members from nothing where that is faster than one by one; does nothing where it is not.
 * `result` has an entry for each; the caller frees their starts. */
mgv_status mgvi_family_in_lockstep(mgv_solver *head, double deadline, mgvi_lane_result *result);
#endif
