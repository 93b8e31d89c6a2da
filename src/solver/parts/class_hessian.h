/* parts/class_hessian.h - the whole second derivative of softmax, all classes coupled, where
 * columns x classes are few: docs/algorithms/lbfgs.md, "The metric". */
#ifndef MGVI_SOLVER_PARTS_CLASS_HESSIAN_H
#define MGVI_SOLVER_PARTS_CLASS_HESSIAN_H

#include "op/float_rows.h"
#include "solver/solver_impl.h"

typedef struct mgvi_class_hessian {
    mgvi_float_rows rows;
    int64_t size;   /* columns x classes, intercepts too */
    int64_t most;   /* rows that are drawn, at most */
    double *factor; /* size x size: U'U = (6) */
    double *block;  /* columns x columns: one pair of classes */
    double *chance; /* per row: that it is drawn, in proportion */
    /* The rows drawn. */
    int64_t count;
    float *x;       /* centred and scaled, with the intercept's column */
    double *p;      /* probabilities */
    double *share;  /* s_i over the chance */
    double *weight; /* of a pair */
} mgvi_class_hessian;

/* What (6) costs beside a sweep over the data for F and its gradient; infinite where it cannot be
 * had. */
double mgvi_class_hessian_cost(const mgv_problem *problem);
/* Memory from the run's arena; `factor` is declared part of the state. */
mgv_status mgvi_class_hessian_new(mgvi_run *run, mgvi_class_hessian *out);
/* (6) at the slopes u; rows are sampled with the run's generator. MGV_E_NUMERIC: not positive. */
mgv_status mgvi_class_hessian_refresh(mgvi_run *run, mgvi_class_hessian *h, const mgvi_vec *u);
/* x <- H^-1 x */
mgv_status mgvi_class_hessian_solve(mgvi_run *run, const mgvi_class_hessian *h, mgvi_vec *x);
#endif
