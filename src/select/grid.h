/* select/grid.h - the settings lambda_grid and mu_grid: strengths to try, all of one with all of the
 * other; docs/algorithms/selection.md. */
#ifndef MGVI_SELECT_GRID_H
#define MGVI_SELECT_GRID_H

#include "base/memory.h"
#include "base/settings.h"

/* Every pair of them is a point. Each falls, so that what comes first is the more regularised. */
typedef struct mgvi_grid {
    double *lambda, *mu;
    int64_t lambdas, mus;
} mgvi_grid;

static inline bool mgvi_grid_wanted(const mgv_settings *settings)
{
    return settings->lambda_grid[0] || settings->mu_grid[0];
}
/* Numbers with commas between, or A..B:N, evenly in the logarithm; where one setting is empty, the
 * strength itself (lambda, mu; 0: unset) is its only number. MGV_E_ARG says what is allowed. */
mgv_status mgvi_grid_read(mgvi_arena *arena, const mgv_settings *settings, mgvi_grid *out);
#endif
