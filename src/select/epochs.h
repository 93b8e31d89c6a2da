/* select/epochs.h - losses of many classes: the epochs of one run are the path, held-out rows
 * choose one. docs/algorithms/probing.md. */
#ifndef MGVI_SELECT_EPOCHS_H
#define MGVI_SELECT_EPOCHS_H

#include "select/selection.h"

/* Makes that run with the selection's probe for its problem; the validation file, if any, has been
 * read. The model is the best epoch's: no row is read again for it. */
mgv_status mgvi_epochs_run(mgv_selection *s);
#endif
