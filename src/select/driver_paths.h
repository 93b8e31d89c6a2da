/* select/driver_paths.h - paths of any solver, through the driver. */
#ifndef MGVI_SELECT_DRIVER_PATHS_H
#define MGVI_SELECT_DRIVER_PATHS_H

#include "select/selection.h"

/* Points are runs at falling strengths of the penalty (lambda, or mu where it is sparse). */
/* The strength that the settings give, as one point. */
mgv_status mgvi_walk_given(mgv_selection *s, const mgvi_method *method, mgvi_path *path);
mgv_status mgvi_walk_strengths(mgv_selection *s, const mgvi_method *method, mgvi_path *path);
/* Points are iterations of the lanes in lock-step: early stopping. */
mgv_status mgvi_walk_iterations(mgv_selection *s, const mgvi_method *method, mgvi_path *path);
#endif
