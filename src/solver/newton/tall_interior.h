/* newton/tall_interior.h - a primal-dual interior point for the hinge on the rows that are left
 * when those far from the hinge are fixed (docs/algorithms/newton.md (11) to (16)):
 *     min  sum_j lambda_j/2 w_j^2 + mu_j |w_j| - lin.w + fixed + sum_i cap_i max(0, 1 - a_i.w)  (1)
 *     D(a) = sum_i a_i + fixed - sum_j S_mu(v_j)^2 / (2 lambda_j),   v = A'a + lin,
 *     0 <= a <= cap, and v_j = 0 where lambda_j = mu_j = 0.                                     (2)
 * Steps are solved in the columns: a system of cols x cols. */
#ifndef MGVI_SOLVER_TALL_INTERIOR_H
#define MGVI_SOLVER_TALL_INTERIOR_H

#include "op/row_set.h"
#include "solver/shared/scaled_cholesky.h"

/* The reduced problem (1). */
typedef struct mgvi_tall_reduced {
    mgvi_row_set *set; /* exact */
    const double *cap; /* per row, > 0 */
    const double *lambda, *mu, *lin;
    double fixed;
} mgvi_tall_reduced;

typedef struct mgvi_tall_value {
    double primal, dual, gap; /* the gap relative to the primal, with what is not feasible in it */
} mgvi_tall_value;

typedef struct mgvi_tall_interior {
    mgv_ctx *ctx;
    mgvi_tall_reduced r;
    int64_t rows;
    /* the point: per column w, p - q = w, their multipliers, v; per row z = A w and the others */
    double *w, *p, *q, *zp, *zq, *v;
    double *a, *c, *s, *xi; /* a + c = cap, z + xi - s = 1 */
    double *dw, *dp, *dq, *dzp, *dzq, *right, *Dp, *Dq;
    double *ds, *dxi, *inverse; /* inverse of xi/c + s/a */
    /* per row, lent by the caller: set before a start */
    double *z, *da, *row_right, *best_a;
    double *best_w;
    mgvi_tall_value best, here;
    double tau; /* mean complementarity */
    int steps, since_best;
    mgvi_scaled_cholesky *solver; /* borrowed */
} mgvi_tall_interior;

mgv_status mgvi_tall_interior_init(mgvi_tall_interior *ip, mgvi_arena *arena, int64_t cols,
                                   mgvi_scaled_cholesky *solver);
/* Both starts take what they need of the rows from the arena, which must outlive the run.
 * From the smoothed point: w and u = 1 - A w at width alpha, |w_j| smoothed at alpha k_j. */
mgv_status mgvi_tall_interior_start(mgvi_tall_interior *ip, mgvi_arena *arena,
                                    const mgvi_tall_reduced *reduced, const double *w,
                                    const double *u, double alpha, const double *k);
/* From a pair (w, a) near the solution, u = 1 - A w: slacks on the central path at tau, and
 * products near it. */
mgv_status mgvi_tall_interior_near(mgvi_tall_interior *ip, mgvi_arena *arena,
                                   const mgvi_tall_reduced *reduced, const double *w,
                                   const double *u, const double *a, double tau);
/* From nothing but a size `unit` of w_j per column: safe, but two or three times as many steps. */
mgv_status mgvi_tall_interior_cold(mgvi_tall_interior *ip, mgvi_arena *arena,
                                   const mgvi_tall_reduced *reduced, const double *unit);
/* Steps until the relative gap is below `target` or no step improves it; the best point is in
 * best_w and best_a. */
mgv_status mgvi_tall_interior_run(mgvi_tall_interior *ip, double target, int most);

/* The values of any (w, a), z = A w and v = A'a + lin being known. */
mgvi_tall_value mgvi_tall_reduced_value(const mgvi_tall_reduced *r, const double *w,
                                        const double *z, const double *a, const double *v);
/* v = A'a + lin */
void mgvi_tall_reduced_dual(const mgvi_tall_reduced *r, const double *a, double *v);

/* tall_polish.c: replaces (w, a) of the reduced problem by the solution of (1) when that has a smaller gap; *value
 * is theirs on entry and on return. `unit` has a size of w_j per column. Work space is allocated
 * and freed: it depends on the sets. */
mgv_status mgvi_tall_polish(const mgvi_tall_reduced *reduced, const double *unit, double *w,
                            double *a, mgvi_tall_value *value);
#endif
