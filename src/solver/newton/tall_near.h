/* newton/tall_near.h - a pair (w, a) near the solution of a hinge problem: where on the central path
 * it is, and which rows the rest of the way is about (docs/algorithms/newton.md, (19) and (20)). */
#ifndef MGVI_SOLVER_TALL_NEAR_H
#define MGVI_SOLVER_TALL_NEAR_H

#include "backend/terms.h"

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
