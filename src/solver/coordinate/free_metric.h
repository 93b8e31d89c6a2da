/* coordinate/free_metric.h - the diagonal of a dual's curvature, exact where rows are copies of each
 * other; docs/algorithms/dual_coordinate.md.
 *   M = diag(h) + sum over groups g of equal rows of v_g v_g',   v_k = +-sqrt(r_k)            (8)
 * Copies with different labels pull at each other: of their curvature [r -r; -r r] nothing but h is
 * left along (1, 1), and a diagonal alone would take r/h times too short steps there. */
#ifndef MGVI_SOLVER_FREE_METRIC_H
#define MGVI_SOLVER_FREE_METRIC_H

#include "base/memory.h"
#include "op/matrix.h"

typedef struct mgvi_free_metric {
    int64_t count;
    int64_t *row;  /* of the matrix */
    int64_t *twin; /* the first row of the group */
    double *root;  /* v */
    double *bend;  /* h > 0 */
    double *pull;  /* per group: sum of v x/h, */
    double *width; /* and of v^2/h */
} mgvi_free_metric;

enum { MGVI_FREE_METRIC_BYTES = 6 * 8 }; /* a row */

/* Room for `count` rows; the caller fills `row`, `root` and `bend`, then mgvi_free_metric_group().
 */
mgv_status mgvi_free_metric_new(mgvi_arena *arena, int64_t count, mgvi_free_metric *out);
mgv_status mgvi_free_metric_group(mgv_ctx *ctx, const mgvi_matrix *rows, mgvi_free_metric *metric);
/* y = M^-1 x over the rows of the face, 0 elsewhere; returns x.y. */
double mgvi_free_metric_solve(const mgvi_free_metric *metric, const bool *face, const double *x,
                              double *y);
#endif
