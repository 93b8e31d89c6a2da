/* joint/class_metric.h - the diagonal of the curvature that a dual of many classes has, exact where
 * rows are copies of each other; docs/algorithms/lbfgs.md.
 *   M y = y/h + c (sum of y over the copies of a row) + kappa (sum of y over all rows),
 *   on the y with sum_j y_ij = 0 and y_ij = 0 where h_ij = 0                                (11)
 * Copies with different labels pull at each other, as in coordinate/free_rows.h. */
#ifndef MGVI_SOLVER_CLASS_METRIC_H
#define MGVI_SOLVER_CLASS_METRIC_H

#include "base/memory.h"
#include "op/matrix.h"

typedef struct mgvi_class_metric {
    mgv_ctx *ctx;
    int64_t count;
    int32_t k;
    int64_t *row;           /* of the matrix */
    int64_t *twin;          /* the first row of the group */
    int64_t *next;          /* the next one; -1: none */
    int64_t *last, *length; /* of a group */
    double *square;         /* c: the row's |x|^2/lambda */
    double *h;              /* rows x classes */
    double kappa;           /* 0: no intercepts */
    double *factor;         /* k x k: of 1/kappa + the sum of (11)'s inverse without kappa */
    double *sums;           /* blocks x k */
    double *shift;          /* k */
    double *room;           /* blocks x what a group of copies takes */
    int64_t blocks;
} mgvi_class_metric;

enum { MGVI_CLASS_METRIC_BYTES = 6 * 8 }; /* a row, without h */

/* Room for `count` rows; the caller fills `row`, `square` and `kappa`, then ..._group(), and h
 * before ..._ready(), whenever it changes. */
mgv_status mgvi_class_metric_new(mgv_ctx *ctx, mgvi_arena *arena, int64_t count, int32_t k,
                                 mgvi_class_metric *out);
mgv_status mgvi_class_metric_group(const mgvi_matrix *rows, mgvi_class_metric *metric);
/* MGV_E_NUMERIC: not positive. */
mgv_status mgvi_class_metric_ready(mgvi_class_metric *metric);
/* y = M^-1 x; rows x classes. */
mgv_status mgvi_class_metric_solve(mgvi_class_metric *metric, const double *x, double *y);
#endif
