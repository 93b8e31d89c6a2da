/* select/epochs.h - losses of many classes: the epochs of one run are the path, held-out rows
 * choose one. docs/algorithms/probing.md. */
#ifndef MGVI_SELECT_EPOCHS_H
#define MGVI_SELECT_EPOCHS_H

#include "select/selection.h"

/* Whether they are: held-out rows that are the same for every epoch, weights of l2 or none, and no
 * solver named whose iterations would need a strength. */
bool mgvi_epochs_suffice(const mgv_selection *s);
/* Makes that run with the selection's probe for its problem; the validation file, if any, has been
 * read. The model is the best epoch's: no row is read again for it. */
mgv_status mgvi_epochs_run(mgv_selection *s);
#endif
