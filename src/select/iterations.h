/* select/iterations.h - hard losses: the iterations of one run are the path. */
#ifndef MGVI_SELECT_ITERATIONS_H
#define MGVI_SELECT_ITERATIONS_H

#include "select/selection.h"

/* Whether the rule needs one run only: the last iterate of a hard loss, or the first within the
 * noise. */
bool mgvi_iterations_suffice(const mgv_selection *s);
/* Makes that run: problem, solver, and a path of its one point. */
mgv_status mgvi_iterations_run(mgv_selection *s);
#endif
