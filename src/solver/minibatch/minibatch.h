/* minibatch/minibatch.h - momentum on random batches of rows for losses of many classes, an epoch at a
 * time; docs/algorithms/probing.md. */
#ifndef MGVI_SOLVER_MINIBATCH_H
#define MGVI_SOLVER_MINIBATCH_H

#include "solver/solver_impl.h"

typedef struct mgvi_minibatch mgvi_minibatch;

/* For the run's problem, which is of many classes over a stored matrix; rows without weight are
 * left out. From the run's arena. */
mgv_status mgvi_minibatch_new(mgvi_run *run, mgvi_minibatch **out);
/* One epoch in an order from the run's generator; `shown` becomes the mean of its iterates, in the
 * problem's units. MGV_E_NUMERIC when they are not finite. */
mgv_status mgvi_minibatch_epoch(mgvi_run *run, mgvi_minibatch *m, mgvi_vec *shown);
/* Checks a state that came from a file. */
mgv_status mgvi_minibatch_restored(mgvi_run *run, const mgvi_minibatch *m);
#endif
