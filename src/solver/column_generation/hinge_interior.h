/* column_generation/hinge_interior.h - a primal-dual interior point for a small dense hinge problem, ended by
 * the exact point of the face it is heading for; docs/algorithms/column_generation.md (7) to (11).
 */
#ifndef MGVI_SOLVER_HINGE_INTERIOR_H
#define MGVI_SOLVER_HINGE_INTERIOR_H

#include "base/memory.h"
#include "solver/column_generation/hinge_block.h"

typedef struct mgvi_hinge_interior mgvi_hinge_interior;

/* A point half of the way, for other rows at rest and more columns: one from the end is too near its
 * bounds to be moved. */
typedef struct mgvi_hinge_waypoint {
    int64_t cols; /* the first so many of a block; 0: none was kept */
    double b, tau;
    double *a, *slack, *xi;                /* rows */
    double *w, *pos, *neg, *z_pos, *z_neg; /* cols */
} mgvi_hinge_waypoint;
mgv_status mgvi_hinge_waypoint_new(mgvi_arena *arena, int64_t rows, int64_t cols,
                                   mgvi_hinge_waypoint *out);

/* Work space for blocks of `rows` rows and at most `cols` columns (0: blocks with a gram matrix).
 */
mgv_status mgvi_hinge_interior_new(mgvi_arena *arena, int64_t rows, int64_t cols, bool sparse,
                                   mgvi_hinge_interior **out);

typedef struct mgvi_hinge_result {
    int64_t steps;
    double primal, dual; /* of the point returned */
    double work;         /* multiplications */
    bool exact;          /* it is the exact point of a face, up to rounding */
} mgvi_hinge_result;

/* Begins in the middle of the box, hinges with the rows at rest that are at a bound in `from`
 * (NULL: none), from `way` where a point was kept, which then is; or near `from`, other rows and where
 * that is worth anything. `way` may be NULL. A dense Z is stored by columns (row_stride 1). Block and
 * `way` stay the caller's and must outlive the runs. */
void mgvi_hinge_interior_begin(mgv_ctx *ctx, mgvi_hinge_interior *work,
                               const mgvi_hinge_block *block, const mgvi_hinge_point *from,
                               mgvi_hinge_waypoint *way);
/* Goes on until (primal - dual) <= tol primal, or as well as it can, and writes the best point to
 * `out`. MGV_E_LIMIT: cut. */
mgv_status mgvi_hinge_interior_run(mgv_ctx *ctx, mgvi_hinge_interior *work, double tol,
                                   mgvi_hinge_point *out, mgvi_hinge_result *result);
#endif
