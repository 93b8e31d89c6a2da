/* select/lasso_path.h - Lasso and elastic-net paths of every lane of a split at once, each point
 * certified by a duality gap; docs/algorithms/lasso_path.md. */
#ifndef MGVI_SELECT_LASSO_PATH_H
#define MGVI_SELECT_LASSO_PATH_H

#include "select/lanes.h"
#include "select/path.h"

typedef struct mgvi_lasso_plan {
    double share;   /* mu = share * strength, lambda = (1 - share) * strength; 1: Lasso */
    double lambda;  /* >= 0: lambda stays, mu is the strength; NaN: by `share` */
    int64_t points; /* strengths from the largest useful one down to `end` times it */
    double end;
    bool goes_on;     /* beyond `end`, where that is the best */
    double gap;       /* of every lane, in units of |y|^2/2 */
    int64_t patience; /* points without improvement after which the path ends */
} mgvi_lasso_plan;

/* Adds the points of a plan (mgvi_lasso_plan) to `path`. Ends early, without failing, when the context is interrupted. */
mgv_status mgvi_lasso_path(mgvi_arena *arena, mgvi_lanes *lanes, const void *plan, mgvi_path *path);
#endif
