/* select/debias.h - least squares on the columns that the points of a sparse path have: penalties
 * choose columns well and shrink their weights. docs/algorithms/selection.md. */
#ifndef MGVI_SELECT_DEBIAS_H
#define MGVI_SELECT_DEBIAS_H

#include "select/lanes.h"

/* Fits every lane's own columns at some points up to the best one, and adds the best of those fits
 * (with one_se the sparsest within its standard error) to the path as its last point, `debiased`.
 */
mgv_status mgvi_debias(mgvi_arena *arena, mgvi_lanes *lanes, const mgvi_rule *rule,
                       mgvi_path *path);
#endif
