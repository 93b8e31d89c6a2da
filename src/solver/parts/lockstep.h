/* parts/lockstep.h - the hinge of up to 16 classes against the rest, all of them at every visit of
 * a row; docs/algorithms/multiclass.md, "In lock-step". With theta_ic in [0, 1] and C_i =
 * s_i/lambda, w_c = sum_i C_i y_ic theta_ic x_i (4) theta_i <- clip(theta_i + (1 - y_i (W x_i)) /
 * (C_i |x_i|^2), 0, 1)   in all lanes           (5) A sparse row is read once for all classes, and
 * an entry of W is one line of the cache. */
#ifndef MGVI_SOLVER_PARTS_LOCKSTEP_H
#define MGVI_SOLVER_PARTS_LOCKSTEP_H

#include "base/rng.h"
#include "problem/problem.h"

enum { MGVI_LOCKSTEP_LANES = 16 };

/* What all blocks of classes read: sparse rows in float32. */
typedef struct mgvi_lockstep_rows {
    mgv_ctx *ctx;
    int64_t n, cols;
    const int64_t *ptr;
    const int32_t *idx;
    float *val;    /* the view's row scale included */
    float *C;      /* C_i; 0: no constraint */
    float *step;   /* 1/(C_i |x_i|^2), 0: nothing to step along */
    int32_t *own;  /* class of each row */
    int32_t *live; /* rows with C_i > 0 */
    int64_t live_count, nnz;
} mgvi_lockstep_rows;

/* One pass of (5), part of a block's state. */
typedef struct mgvi_lockstep_pass {
    const mgvi_lockstep_rows *rows;
    int32_t first;                   /* lane 0 is this class */
    float *W, *theta;                /* columns x 16, rows x 16 */
    float mask[MGVI_LOCKSTEP_LANES]; /* 1: the lane moves, 0: it rests */
    /* out: sums over the rows visited, as they were met. The gap is P - D if W stood still. */
    double loss[MGVI_LOCKSTEP_LANES], gap[MGVI_LOCKSTEP_LANES], square[MGVI_LOCKSTEP_LANES];
    int64_t moved;  /* rows that moved in some lane */
    double touched; /* entries read */
} mgvi_lockstep_pass;

/* Visits order[0..count); rows that moved or are between their bounds in a lane that moves are
 * written to `active` (which may be `order`) and counted in the result. */
typedef int64_t (*mgvi_lockstep_fn)(mgvi_lockstep_pass *pass, const int32_t *order, int64_t count,
                                    int32_t *active);
int64_t mgvi_lockstep_sweep_scalar(mgvi_lockstep_pass *, const int32_t *, int64_t, int32_t *);
int64_t mgvi_lockstep_sweep_avx2(mgvi_lockstep_pass *, const int32_t *, int64_t, int32_t *);
int64_t mgvi_lockstep_sweep_avx512(mgvi_lockstep_pass *, const int32_t *, int64_t, int32_t *);

/* Whether a problem of many classes can be taken this way: hinge, l2, sparse rows without centring,
 * column scaling or intercept. */
bool mgvi_lockstep_fits(const mgv_problem *problem);
mgv_status mgvi_lockstep_rows_new(const mgv_problem *problem, mgvi_arena *arena,
                                  mgvi_lockstep_rows **out);

/* The classes first .. first + count - 1, from nothing, until every one is expected to have a
 * relative gap of `tol` or class by class is faster. */
typedef struct mgvi_lockstep_result {
    double *u;     /* rows x count: the dual variables */
    double passes; /* over the data, all lanes at once */
    int64_t rounds;
} mgvi_lockstep_result;
mgv_status mgvi_lockstep_run(const mgvi_lockstep_rows *rows, const mgv_problem *block, double tol,
                             mgvi_rng rng, mgvi_arena *arena, mgvi_lockstep_result *out);
#endif
