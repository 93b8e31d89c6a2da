/* coordinate/dual_epoch.h - one pass of exact dual coordinate steps over a list of rows.
 *
 *   z = a_i.w,   u_i <- argmax over u of  z (u - u_i) - r_i/2 (u - u_i)^2 - (s_i G_i)*(u)     (1)
 *   w <- w - (du / lambda) a_i                                                               (2)
 *
 * w = -A'u/lambda throughout (penalty l2). The intercept column has weight `free_weight` in place
 * of 1/lambda: it is a proximal point around a shift that the caller moves (5). */
#ifndef MGVI_SOLVER_DUAL_EPOCH_H
#define MGVI_SOLVER_DUAL_EPOCH_H

#include "op/rows.h"
#include "problem/problem.h"

/* How rows are stored; GENERAL also covers scaling, row scales and subsets. */
typedef enum mgvi_storage {
    CSR_ONES, /* every stored value is 1: only the indices are read */
    CSR_F32,
    CSR_F64,
    DENSE_F32,
    DENSE_F64,
    GENERAL,
    STORAGES
} mgvi_storage;
/* Looks at every value once. */
mgvi_storage mgvi_dual_storage(const mgvi_rows *rows);

typedef struct mgvi_dual_epoch {
    /* in */
    const mgv_problem *problem;
    const mgvi_rows *rows;
    mgvi_storage storage;
    const double *curvature; /* r_i = |a_i|^2/lambda (+ free_weight) */
    double inverse_lambda;
    double free_weight; /* 0 without an intercept */
    bool watch;         /* fill the sums below, which cost time */
    /* in and out */
    double *u, *acc;
    double free_sum; /* sum_i a_i0 u_i, the residual of the equality constraint */
    /* out */
    double touched; /* stored entries read */
    double loss;    /* sum s G(z) */
    double fenchel; /* sum s G(z) + (s G)*(u) - u z >= 0: the duality gap if w stood still */
    double product; /* sum u z */
    double sum_u;
    double least;      /* min z */
    double worst_move; /* max r |du| */
} mgvi_dual_epoch;

typedef int64_t (*mgvi_dual_epoch_fn)(mgvi_dual_epoch *e, const int32_t *order, int64_t count,
                                      int32_t *moved);
/* [loss index][storage]: ctx->simd->dual. */
typedef struct mgvi_dual_sweeps {
    const mgvi_dual_epoch_fn (*sweep)[STORAGES];
} mgvi_dual_sweeps;

/* Rows order[0..count) in that order; those that moved are written to `moved` (which may be
 * `order`) and counted in the result. */
int64_t mgvi_dual_epoch_run(mgvi_dual_epoch *e, const int32_t *order, int64_t count,
                            int32_t *moved);
#endif
