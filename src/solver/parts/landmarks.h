/* parts/landmarks.h - a metric for gradients in the feature space of a kernel: the curvature of the
 * losses where K is replaced by what some of its rows say of it (Nystrom);
 * docs/algorithms/kernel_subspace.md (6) to (8). */
#ifndef MGVI_SOLVER_PARTS_LANDMARKS_H
#define MGVI_SOLVER_PARTS_LANDMARKS_H

#include "op/kernel.h"
#include "problem/problem.h"
#include "solver/parts/scaled_cholesky.h"

typedef struct mgvi_landmarks {
    const mgv_problem *problem;
    mgvi_kernel_op *kernel;
    int64_t most, count; /* rows that there may be; that were chosen, 0: no metric */
    double *curvature;   /* per row: what the metric was made from */
    double total;        /* their sum */
    double *mean;        /* per lane: the intercept's part of the last direction */
    mgvi_arena *arena;   /* what follows, made anew with the metric */
    int64_t *row;        /* the rows chosen */
    double *B;           /* rows x count: the images of the chosen rows */
    double *t;           /* count x lanes */
    double *partial;     /* of every block of rows: count x lanes */
    mgvi_scaled_cholesky metric;
} mgvi_landmarks;

mgv_status mgvi_landmarks_init(mgvi_landmarks *m, const mgv_problem *problem, mgvi_arena *arena);
/* How many rows make a metric that costs about as much as so many products with K. */
int64_t mgvi_landmarks_fair(const mgvi_landmarks *m, double products);
/* How far the curvature at scores z with slopes u is from that of the metric, relative to it; it
 * goes to `work`, a number a row. */
double mgvi_landmarks_change(const mgvi_landmarks *m, const mgvi_vec *z, const mgvi_vec *u,
                             double *work);
/* Makes the metric of `wanted` rows at most at scores z with slopes u, or again from m->curvature.
 */
mgv_status mgvi_landmarks_refresh(mgvi_landmarks *m, int64_t wanted, const mgvi_vec *z,
                                  const mgvi_vec *u);
mgv_status mgvi_landmarks_rebuild(mgvi_landmarks *m, int64_t wanted);
/* out = the metric's inverse times g, up to a factor; g itself where there is none. */
mgv_status mgvi_landmarks_apply(mgvi_landmarks *m, const mgvi_vec *g, mgvi_vec *out);
#endif
