/* coordinate/set_quadratic.h - the squared loss on a set of packed columns as a quadratic with a Gram
 * matrix (shared/sparse_quadratic.h, GRAM): what coordinate descent would take many sweeps for is
 * solved to the end, signs and zeros included. */
#ifndef MGVI_SOLVER_SET_QUADRATIC_H
#define MGVI_SOLVER_SET_QUADRATIC_H

#include "backend/terms.h"
#include "op/columns.h"
#include "solver/shared/sparse_quadratic.h"

enum { MGVI_SET_MOST = 512 }; /* columns of such a set */

/* Columns p_j - mean_j e of `packed`, of squared length square_j. */
typedef struct mgvi_packed_set {
    const mgvi_packed *packed;
    const int32_t *col;
    int64_t count;
    const double *e, *mean, *square;
    double *work; /* a number for each row */
    /* The columns that q's matrix was made of, room for MGVI_SET_MOST: it does not depend on w. */
    int32_t *made;
    int64_t *made_count;
} mgvi_packed_set;

/* Moves w_j, j in the set, to the minimum of
 *   1/2 |sum_j (p_j - mean_j e) (x_j - w_j)|^2 - sum_j grad_j (x_j - w_j) + scale_j |x_j| + a_j/2
 * x_j^2 with the coefficients of the penalised columns; q keeps its room, and what was multiplied
 * is in q->work. MGV_E_MEMORY. */
mgv_status mgvi_set_solve(mgvi_quadratic *q, const mgvi_packed_set *set, const mgvi_coefs *coefs,
                          const double *grad, double *w);
#endif
