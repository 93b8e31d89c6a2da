/* joint/row_metric.h - one matrix for the curvature of all classes of softmax, at given
 * probabilities: docs/algorithms/lbfgs.md, "The metric". */
#ifndef MGVI_SOLVER_ROW_METRIC_H
#define MGVI_SOLVER_ROW_METRIC_H

#include "op/float_rows.h"
#include "solver/solver_impl.h"

typedef struct mgvi_row_metric {
    mgvi_float_rows rows;
    int64_t d;
    double *factor; /* d x d: U'U = M of (5) */
    double *free;   /* per class: the curvature of its intercept */
    double *h;      /* per row */
} mgvi_row_metric;

/* What M costs beside a sweep over the data for F and its gradient; infinite where that is much. */
double mgvi_row_metric_cost(const mgv_problem *problem);
/* Memory from the run's arena; `factor` and `free` are declared part of the state. */
mgv_status mgvi_row_metric_new(mgvi_run *run, mgvi_row_metric *out);
/* M at the slopes u; rows are sampled with the run's generator. */
mgv_status mgvi_row_metric_refresh(mgvi_run *run, mgvi_row_metric *metric, const mgvi_vec *u);
/* x <- M^-1 x for every class, intercepts divided by their curvature. */
mgv_status mgvi_row_metric_solve(mgvi_run *run, const mgvi_row_metric *metric, mgvi_vec *x);
#endif
