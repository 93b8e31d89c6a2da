/* newton/tall_place.h - which rows stay in the finish: those near the hinge, those that stand out,
 * and enough of every column; docs/algorithms/newton.md (9). */
#ifndef MGVI_SOLVER_TALL_PLACE_H
#define MGVI_SOLVER_TALL_PLACE_H

#include "backend/terms.h"
#include "op/row_set.h"

enum { MGVI_ROW_KEPT = 0, MGVI_ROW_ONE = 1, MGVI_ROW_ZERO = 2 }; /* where a_i stands */

typedef struct mgvi_tall_place {
    mgvi_row_set *all;
    const float *leverage; /* of all: row_set.h */
    const double *energy;
    double mean_leverage;
    const double *u, *u0; /* two points between which and near which the answer is expected */
    double far; /* rows further from the hinge, times the root of their leverage, are fixed */
} mgvi_tall_place;

/* How many rows of positive weight are kept; fixed_i = s_i for those fixed at one, else 0. */
int64_t mgvi_tall_place_count(const uint8_t *place, const mgvi_coef_array *s, int64_t rows);
void mgvi_tall_place_fixed(const uint8_t *place, const mgvi_coef_array *s, mgvi_vec *fixed);
/* place[i] for all rows, and how many are kept. Work space is allocated and freed: MGV_E_MEMORY. */
mgv_status mgvi_tall_place_rows(const mgvi_tall_place *p, uint8_t *place, int64_t *kept);
/* (10): fixed rows on the wrong side of the hinge at z = A w, or `near` to it, are kept from now
 * on. How many. */
int64_t mgvi_tall_place_join(uint8_t *place, const double *z, int64_t rows, double near);
#endif
