/* solver/classes/lane_blocks.h - members in blocks of as many as a vector has lanes. */
#ifndef MGVI_SOLVER_LANE_BLOCKS_H
#define MGVI_SOLVER_LANE_BLOCKS_H

#include "problem/member.h"
#include "solver/classes/lockstep.h"
#include "solver/driver.h"

/* Members that go together; classes are numbers in the whole. */
typedef struct mgvi_lane_block {
    int32_t count;
    int64_t member[MGVI_LOCKSTEP_LANES];
    mgvi_lane lane[MGVI_LOCKSTEP_LANES];
    bool cut; /* a limit has ended what they did together */
    mgv_status status;
    char error[MGVI_ERROR_MAX];
} mgvi_lane_block;

typedef struct mgvi_lane_plan {
    const mgv_solver *head;
    double passes; /* of every member */
    int32_t lanes; /* of a block at most: those of one vector */
    mgvi_lane_block *block;
    int64_t blocks;
} mgvi_lane_plan;

mgv_status mgvi_lane_plan_make(const mgv_solver *head, mgvi_arena *arena, mgvi_lane_plan *out);
/* Lanes that a visit of a row is of use to on the average, where classes have as many rows. */
double mgvi_lane_plan_served(const mgvi_lane_plan *plan);
/* The lanes of a block as one problem over the rows of their classes, `lane` numbered as these are;
 * no problem where the limit leaves no time: its members go without. */
mgv_status mgvi_lane_block_bind(const mgvi_lane_plan *plan, mgv_ctx *ctx,
                                const mgvi_lane_block *block, mgvi_lane *lane, mgvi_member *out);
#endif
