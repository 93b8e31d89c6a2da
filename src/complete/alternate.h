/* complete/alternate.h - sweeps of alternating least squares over the entries trained on,
 *   min over L, R of  1/2 sum (L_i . R_j - b_ij)^2 + ridge/2 (|L|^2 + |R|^2),
 * whose minimum over factors of large enough rank is that of the nuclear norm,
 *   min over X of  1/2 sum (X_ij - b_ij)^2 + ridge |X|_*.         docs/algorithms/completion.md */
#ifndef MGVI_COMPLETE_ALTERNATE_H
#define MGVI_COMPLETE_ALTERNATE_H

#include "complete/factors.h"

/* The left factor, then the right one. */
mgv_status mgvi_alternate_sweep(const mgvi_known *e, mgvi_factors *f, double ridge);
#endif
