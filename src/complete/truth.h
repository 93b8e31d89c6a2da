/* complete/truth.h - how far an iterate is from the matrix that is looked for, where a test has it
 * (setting `truth`). */
#ifndef MGVI_COMPLETE_TRUTH_H
#define MGVI_COMPLETE_TRUTH_H

#include "base/settings.h"
#include "complete/factors.h"

/* Reads the setting's file: entries by the rows and columns of `known`, which the caller frees;
 * NULL where the setting is empty. */
mgv_status mgvi_truth_read(mgv_ctx *ctx, const mgv_settings *settings, const mgv_triples *known,
                           mgv_triples **out);
/* (sum (X_ij - t_ij)^2)^(1/2) over the entries of the truth, X the factors and e's offsets; what
 * has no row or no column there has X_ij = 0. */
double mgvi_truth_distance(const mgv_triples *truth, const mgvi_known *e, const mgvi_factors *f);
#endif
