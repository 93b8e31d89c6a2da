/* complete/biases.h - b_ij ~ mean + a_i + c_j, fitted by ridge regression whose strengths come from
 * the data (the variances of a, c and what is left). docs/algorithms/completion.md (7). */
#ifndef MGVI_COMPLETE_BIASES_H
#define MGVI_COMPLETE_BIASES_H

#include "complete/entries.h"

typedef struct mgvi_biases {
    double mean;
    double *row, *col; /* the row's have the mean in them: what mgvi_known subtracts */
} mgvi_biases;

mgv_status mgvi_biases_new(mgvi_arena *arena, const mgvi_known *e, mgvi_biases *out);
/* Fits to the entries trained on; their offsets are not looked at. */
mgv_status mgvi_biases_fit(mgvi_biases *b, const mgvi_known *e);
/* The mean of the values trained on. */
double mgvi_known_mean(const mgvi_known *e);
/* Root mean squared values of the entries held out (held = 1) or trained on, less their offsets. */
double mgvi_known_rms(const mgvi_known *e, int held);
#endif
