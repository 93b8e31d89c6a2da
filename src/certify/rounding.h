/* certify/rounding.h - what rounding may have done to a number of the judge. u = 2^-53; a sum of m
 * products, in any order, is off by at most m u/(1 - m u) times the sum of their sizes, and all
 * bounds here are at least twice that. docs/algorithms/certificates.md, "Rounding". */
#ifndef MGVI_CERTIFY_ROUNDING_H
#define MGVI_CERTIFY_ROUNDING_H

#include "certify/judge.h"

#define MGVI_UNIT 0x1p-53

/* How far a sum of `terms` numbers may be off, in units of the sum of their sizes. */
static inline double mgvi_sum_error(double terms) { return 2 * (terms + 4) * MGVI_UNIT; }

/* What the bounds are made from: sizes of the data's columns. At first only the largest entry of
 * all is known, which costs nothing; mgvi_reach_look() reads the data once for more. */
mgv_status mgvi_reach_open(mgvi_judge *judge, mgvi_arena *arena);
void mgvi_reach_look(mgvi_judge *judge);
/* No entry of column j of A, before its own scale, is larger in size than this; `centred`: less the
 * column's centre. */
double mgvi_reach_of(const mgvi_judge *judge, int64_t j, bool centred);

/* out[lane]: |z - z'| of every row, z = A w as computed, z' exactly that of the weights as a model
 * saves them, in the user's units. */
void mgvi_score_errors(mgvi_judge *judge, const mgvi_vec *w, double *out);
/* Moves every z by its error to where the loss is larger. */
void mgvi_worsen_scores(mgvi_judge *judge, const double *error);
/* Moves v = -A'u to where R* is larger, by `part` of the column's size for every |u_i|: `sum` has
 * sum_i |u_i| of each lane. Returns the length of the move; where R does not see
 * constants v stays, and it is the sum of all moves. */
double mgvi_worsen_columns(mgvi_judge *judge, const double *sum, bool careful, mgvi_vec *v);

/* How far the columns' scales are from 1 / standard deviation, measured; INFINITY: not known. */
double mgvi_scales_off(mgvi_judge *judge);
#endif
