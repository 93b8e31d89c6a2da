/* select/early_path.h - basis pursuit stopped early, in every lane of a split at once: the folds
 * and the full fit are one block iterate; docs/algorithms/primal_dual.md. */
#ifndef MGVI_SELECT_EARLY_PATH_H
#define MGVI_SELECT_EARLY_PATH_H

#include "select/lanes.h"

typedef struct mgvi_early_plan {
    const mgvi_split *split;
    double factor;              /* sigma = factor / max |A'y|, per lane */
    double sigma;               /* instead, when it is not NaN */
    double square;              /* |A|^2; NaN: found here */
    int64_t lazy;               /* every column each that many iterations */
    int64_t max_iter, patience; /* as mgvi_path_patient() has it */
} mgvi_early_plan;

/* Adds an iteration of a plan (mgvi_early_plan) per point to `path`, with the |A|^2 that was used and the best point's u. Ends
 * early, without failing, when the context is interrupted. */
mgv_status mgvi_early_path(mgvi_arena *arena, mgvi_lanes *lanes, const void *plan, mgvi_path *path);
#endif
