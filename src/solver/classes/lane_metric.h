/* classes/lane_metric.h - the curvature of every lane of a block from a sample of its rows, factored:
 * what conjugate gradients of classes/lane_newton.c are preconditioned with;
 * docs/algorithms/multiclass.md (9). */
#ifndef MGVI_SOLVER_LANE_METRIC_H
#define MGVI_SOLVER_LANE_METRIC_H

#include "base/rng.h"
#include "op/float_rows.h"
#include "problem/problem.h"

typedef struct mgvi_lane_metric {
    const mgv_problem *p;
    mgvi_float_rows rows;
    int64_t cols;   /* the intercept's too */
    int64_t most;   /* rows drawn */
    double *chance; /* rows x lanes: that one is drawn, in proportion (9) */
    double *energy; /* cols x lanes: sum_i h_i x_ij^2, then its inverse */
    float *x;       /* most x cols: the rows drawn */
    double *weight; /* most: theirs */
    double *factor; /* lanes x cols x cols */
    double *unit;   /* lanes x cols: 1/sqrt of the diagonal */
    double *one;    /* cols */
    mgvi_vec tried; /* cols, and what it makes of the rows: leverages (9b) */
    mgvi_vec score;
    double *lever; /* rows x lanes */
    bool *made;    /* lanes that have a factor */
    bool *fine;    /* lanes whose factor is to be one of float64 sums */
    double *wide;  /* rows on their way there */
} mgvi_lane_metric;

/* Rows drawn for a problem of so many, and the bytes of it all for so many lanes. */
int64_t mgvi_lane_metric_most(const mgv_problem *problem);
double mgvi_lane_metric_bytes(const mgv_problem *problem, int32_t lanes);
/* Memory from the arena. */
mgv_status mgvi_lane_metric_new(const mgv_problem *block, mgvi_arena *arena, mgvi_lane_metric *out);
/* The factors of the lanes that are due from h, rows x lanes; MGV_E_NUMERIC where one is not
 * finite. */
mgv_status mgvi_lane_metric_refresh(mgvi_lane_metric *m, const mgvi_vec *h, const bool *due,
                                    mgvi_rng *rng);
/* out = M^-1 r in that lane. */
mgv_status mgvi_lane_metric_solve(mgvi_lane_metric *m, int32_t lane, const mgvi_vec *r,
                                  mgvi_vec *out);
#endif
