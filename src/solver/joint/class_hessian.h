/* joint/class_hessian.h - the whole second derivative of a loss of many classes, all of them
 * coupled, where columns x classes are few: docs/algorithms/lbfgs.md, "The metric". */
#ifndef MGVI_SOLVER_CLASS_HESSIAN_H
#define MGVI_SOLVER_CLASS_HESSIAN_H

#include "op/float_rows.h"
#include "solver/solver_impl.h"

/* The second derivative of row i's loss by its scores is share (diag(q) sum_c q_c - q q'): writes
 * q and the share, returns the trace, 0 where there is nothing. */
typedef struct mgvi_class_curvature {
    double (*row)(const void *arg, int64_t i, double *q, double *share);
    const void *arg;
    double free_ridge; /* a curvature that every intercept has besides */
} mgvi_class_curvature;

typedef struct mgvi_class_hessian {
    mgvi_float_rows rows;
    bool apart;     /* the diagonal blocks H_aa alone, a factor each */
    int64_t size;   /* columns x classes, intercepts too */
    int64_t most;   /* rows that are drawn, at most */
    int64_t live;   /* rows with curvature */
    double *factor; /* size x size: U'U = (6) */
    /* Apart: U of every class by rows, in float32, of a block that `unit` gives a unit diagonal. */
    float *packed;
    int64_t packed_size; /* of a class */
    double *unit;        /* classes x columns */
    double *block;       /* columns x columns: one pair of classes, or class */
    double *chance;      /* per row: that it is drawn, in proportion */
    /* The rows drawn. */
    int64_t count;
    float *x;       /* centred and scaled, with the intercept's column */
    double *p;      /* q */
    double *share;  /* theirs over the chance */
    double *weight; /* of a pair */
    double *wide;   /* apart: rows on their way into sums of float64 */
    int32_t fine;   /* apart: sums are of float64 */
    /* Apart: where `packed` and `x` lie. The caller may want more bytes than these need, and has
     * all of them between two refreshes whose factors he does not need. */
    void *room;
    size_t room_bytes;
} mgvi_class_hessian;

/* What (6) costs beside a sweep over the data for F and its gradient; infinite where it cannot be
 * had. */
double mgvi_class_hessian_cost(const mgv_problem *problem);
/* The same of the diagonal blocks alone. */
double mgvi_class_hessian_blocks_cost(const mgv_problem *problem);
/* How many rows to draw at most: a few for every unknown, or as many as memory is meant for. */
int64_t mgvi_class_hessian_sample(const mgv_problem *problem);
int64_t mgvi_class_hessian_most(const mgv_problem *problem);
/* The same for the diagonal blocks, beside which memory leaves less; 0: too few. */
int64_t mgvi_class_hessian_apart_rows(const mgv_problem *problem);
/* Memory from the run's arena; *out is zeroed but for room_bytes, which grows to what is needed. */
mgv_status mgvi_class_hessian_new(mgvi_run *run, bool apart, int64_t rows, mgvi_class_hessian *out);
/* (6); rows are sampled with the run's generator. MGV_E_NUMERIC: not positive. */
mgv_status mgvi_class_hessian_refresh(mgvi_run *run, mgvi_class_hessian *h,
                                      const mgvi_class_curvature *curvature);
/* (7): that of softmax, from its slopes u. */
typedef struct mgvi_softmax_slopes {
    const mgv_problem *problem;
    const mgvi_vec *u;
} mgvi_softmax_slopes;
double mgvi_softmax_curvature(const void *slopes, int64_t i, double *q, double *share);
/* x <- H^-1 x; apart: x <- P H^-1 P x, P the part of x whose sum over the classes is 0, which the
 * blocks by themselves do not know to be all that a gradient has. */
mgv_status mgvi_class_hessian_solve(mgvi_run *run, const mgvi_class_hessian *h, mgvi_vec *x);
/* The factors in checkpoints of the run. */
mgv_status mgvi_class_hessian_keep(mgvi_run *run, const mgvi_class_hessian *h);
#endif
