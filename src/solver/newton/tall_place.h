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

/* A pair (w, a) near the solution: where on the central path it is, and which rows the rest of the
 * way is about (docs/algorithms/newton.md, (19) and (20)). */

/* The mean of the products (s_i - a_i) max(0, u_i) and a_i max(0, -u_i), two a row; *loss gets
 * sum_i s_i max(0, u_i). a is brought into [0, s_i]. */
double mgvi_tall_near_tau(const mgvi_coef_array *s, const double *u, double *a, int64_t rows,
                          double *loss);
/* Whether nearly all a_i = -u_i lie between their bounds, as an interior point has them: from the
 * corners of the box it would have to come back first. */
bool mgvi_tall_near_inside(const mgvi_coef_array *s, const double *u, int64_t rows);
/* A number that about `wanted` of the |u_i| do not exceed, and `least` at least. */
double mgvi_tall_near_reach(const double *u, int64_t rows, int64_t wanted, double least);
/* Rows whose a_i is on the other side than u_i is are kept, whatever else. */
void mgvi_tall_near_keep(const mgvi_coef_array *s, const double *u, const double *a, int64_t rows,
                         uint8_t *place);
#endif
