/* parts/landmarks.h - a metric for gradients in the feature space of a kernel: the curvature of the
 * losses over the span of some rows, lambda beside it; docs/algorithms/kernel_subspace.md (6) to
 * (8). Its directions have known images, so that they cost no product with the whole matrix. */
#ifndef MGVI_SOLVER_PARTS_LANDMARKS_H
#define MGVI_SOLVER_PARTS_LANDMARKS_H

#include "op/kernel.h"
#include "problem/problem.h"
#include "solver/parts/scaled_cholesky.h"

typedef struct mgvi_landmarks {
    const mgv_problem *problem;
    mgvi_kernel_op *kernel;
    int64_t most, count; /* rows chosen; 0: no metric */
    double *curvature;   /* per row: what the metric was made from */
    int64_t *row;        /* the rows chosen */
    double *B;           /* rows x count: the images of the chosen rows */
    double *t, *way;     /* count x lanes */
    mgvi_scaled_cholesky inner, metric;
} mgvi_landmarks;

mgv_status mgvi_landmarks_init(mgvi_landmarks *m, const mgv_problem *problem, mgvi_arena *arena);
/* Makes the metric at scores z with slopes u, or again from m->curvature. */
mgv_status mgvi_landmarks_refresh(mgvi_landmarks *m, const mgvi_vec *z, const mgvi_vec *u);
mgv_status mgvi_landmarks_rebuild(mgvi_landmarks *m);
/* out = the metric's inverse times g, up to a factor, and its image from that of g. */
mgv_status mgvi_landmarks_apply(mgvi_landmarks *m, const mgvi_vec *g, const mgvi_vec *image_g,
                                mgvi_vec *out, mgvi_vec *image_out);
#endif
