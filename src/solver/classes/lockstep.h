/* classes/lockstep.h - up to 16 problems of two classes over the same rows, all of them at every
 * visit of a row; docs/algorithms/multiclass.md, "In lock-step". With C_i = s_i/lambda, y_ic = +1,
 * -1 or 0 (row i has no part in problem c) and theta_ic >= 0, at most 1 for the hinge,
 *   w_c = sum_i C_i y_ic theta_ic x_i                                                          (4)
 *   theta_i <- clip(theta_i + (1 - y_i (W x_i + b) - r theta_i) / (C_i (|x_i|^2 + kappa) + r)) (5)
 * in all lanes, r = 0 for the hinge and 1 for the squared one; for the logistic loss theta < 1 is
 * the root (7). A row is read once for all of them, and an entry of W is one line of the cache. */
#ifndef MGVI_SOLVER_LOCKSTEP_H
#define MGVI_SOLVER_LOCKSTEP_H

#include "base/rng.h"
#include "problem/problem.h"

enum {
    MGVI_LOCKSTEP_LANES = 16,
    MGVI_LOCKSTEP_NARROW = 8,
    MGVI_LOCKSTEP_JUDGED = 4 /* lanes that are judged at a time: its columns are in float64 */
};

/* What all blocks read: rows in float32, scaled as the problem's, zeros left out. */
typedef struct mgvi_lockstep_rows {
    mgv_ctx *ctx;
    int64_t n, cols, classes;
    const int64_t *ptr;
    const int32_t *idx;
    float *val;
    float *along;  /* x_i.m for the centre m that the columns are to lose; NULL: none */
    double centre; /* |m|^2 */
    float *C;      /* C_i; 0: no constraint */
    bool logistic;
    float *step;      /* 1/(C_i (|x_i - m|^2 + kappa) + r); logistic: its inverse */
    float kappa;      /* weight of the intercept's column, 0: none */
    float ridge;      /* r */
    float most;       /* of theta */
    int32_t *own;     /* class of each row */
    double curvature; /* mean of C_i |x_i - m|^2 */
    int64_t nnz;
} mgvi_lockstep_rows;

/* Whether a problem of many classes can be taken this way: hinge, squared hinge or logistic loss,
 * l2, rows of a stored matrix. */
bool mgvi_lockstep_fits(const mgv_problem *problem);
/* The rows packed, which takes as much memory as sparse data; *out is NULL where that is more than
 * `most` bytes. */
mgv_status mgvi_lockstep_rows_new(const mgv_problem *problem, double most, mgvi_arena *arena,
                                  mgvi_lockstep_rows **out);
double mgvi_lockstep_rows_bytes(const mgvi_lockstep_rows *rows);
/* Lanes of one vector, 16 or 8: twice as many cost twice the instructions and lines of the cache,
 * and rows that only one of them needs are visited for all (docs/algorithms/multiclass.md). */
int32_t mgvi_lockstep_lanes(const mgv_ctx *ctx);
/* Bytes of a block of so many lanes at work, its judge included. */
double mgvi_lockstep_block_bytes(const mgv_problem *problem, int32_t lanes);

/* Whether the weights of a block of so many lanes stay in the second cache. */
bool mgvi_lockstep_near(const mgvi_lockstep_rows *rows, int32_t lanes);
/* The work of visits to rows that have so many entries, in multiplications of a matrix product. */
double mgvi_lockstep_spent(const mgvi_lockstep_rows *rows, int32_t lanes, double visits,
                           double entries);
/* What a block over all rows is expected to need. */
double mgvi_lockstep_cost(const mgvi_lockstep_rows *rows, int32_t lanes, double tol);

/* One pass of (5), part of a block's state. */
typedef struct mgvi_lockstep_pass {
    const mgvi_lockstep_rows *rows;
    bool near;                       /* W stays in the second cache by itself */
    const float *sign;               /* classes x width, which is 8 or 16 */
    float *W, *theta;                /* columns x width, rows x width */
    float mask[MGVI_LOCKSTEP_LANES]; /* 1: the lane moves, 0: it rests */
    /* sum of C y theta, of C y theta x.m, and the intercept b: (6) */
    float weight[MGVI_LOCKSTEP_LANES], drift[MGVI_LOCKSTEP_LANES], shift[MGVI_LOCKSTEP_LANES];
    /* out: sums over the rows visited, as they were met. The gap is P - D if W stood still. */
    double loss[MGVI_LOCKSTEP_LANES], gap[MGVI_LOCKSTEP_LANES], square[MGVI_LOCKSTEP_LANES];
    int64_t moved;  /* rows that moved in some lane, */
    int64_t visits; /* of all */
    double touched; /* entries read */
} mgvi_lockstep_pass;

/* Visits order[0..count); rows that moved or are between their bounds in a lane that moves are
 * written to `active` (which may be `order`) and counted in the result. */
typedef int64_t (*mgvi_lockstep_fn)(mgvi_lockstep_pass *pass, const int32_t *order, int64_t count,
                                    int32_t *active);
/* ctx->simd->lockstep in 16 lanes, lockstep_narrow in 8. */
typedef struct mgvi_lockstep_loops {
    mgvi_lockstep_fn sweep;
} mgvi_lockstep_loops;

/* Where a lane begins. */
typedef struct mgvi_lockstep_start {
    const double *u; /* rows of the block; NULL: from nothing */
    double intercept;
} mgvi_lockstep_start;

/* What a block is asked for. */
typedef struct mgvi_lockstep_task {
    const mgvi_lockstep_rows *rows;
    const mgv_problem *block; /* its lanes are the problems */
    const int64_t *row;       /* row t of the block is row[t] of `rows`; NULL: the same */
    double tol;
    double alone; /* the cost of one lane by itself; 0: coordinate ascent */
    double most;  /* that may be spent on a lane: another solver would have ended by then */
    mgvi_rng rng;
    const mgvi_lockstep_start *start; /* of every lane; NULL: all from nothing */
} mgvi_lockstep_task;

/* Until every lane is expected to have a relative gap of `tol` or one by one is
 * faster. */
typedef struct mgvi_lockstep_result {
    double *u;         /* lanes x rows of the block: the dual variables */
    double *intercept; /* lanes */
    double *w;         /* lanes x columns, intercepts too; NULL: they follow from u */
    double passes;     /* over the data, all lanes at once */
    int64_t rounds;
    bool cut; /* a limit has ended it */
} mgvi_lockstep_result;
mgv_status mgvi_lockstep_run(const mgvi_lockstep_task *task, mgvi_arena *arena,
                             mgvi_lockstep_result *out);
#endif
