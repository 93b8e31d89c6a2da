/* select/ridge_path.h - the whole ridge path of every lane of a split from a few lock-step
 * Golub-Kahan steps; docs/algorithms/ridge_path.md. */
#ifndef MGVI_SELECT_RIDGE_PATH_H
#define MGVI_SELECT_RIDGE_PATH_H

#include "select/lanes.h"
#include "select/path.h"

typedef struct mgvi_ridge_plan {
    int64_t points; /* 0: 64 */
    double end;     /* the last strength beside the first; NaN: 1e-7 */
} mgvi_ridge_plan;

/* Adds the points of a plan (mgvi_ridge_plan), largest strength first, with the full fit's weights as combinations of a basis.
 * Uses R, w and grad of the lanes. */
mgv_status mgvi_ridge_path(mgvi_arena *arena, mgvi_lanes *lanes, const void *plan, mgvi_path *path);
#endif
