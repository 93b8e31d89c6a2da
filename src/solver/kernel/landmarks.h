/* kernel/landmarks.h - a metric for gradients in the feature space of a kernel: the curvature of the
 * losses where K is replaced by what some of its rows say of it (Nystrom);
 * docs/algorithms/kernel_subspace.md (6) to (8), (13), (14). Vectors are coefficients of points:
 * without the signs of labels. Several problems over the same points have the rows in common and
 * each a system of its own. */
#ifndef MGVI_SOLVER_LANDMARKS_H
#define MGVI_SOLVER_LANDMARKS_H

#include "op/kernel.h"
#include "problem/problem.h"
#include "solver/shared/scaled_cholesky.h"

typedef struct mgvi_landmarks {
    mgv_ctx *ctx;
    mgvi_kernel_op *kernel;
    double lambda;
    bool free;                    /* an intercept follows */
    int32_t width;                /* vectors that are put in the metric together */
    int32_t systems;              /* 1, or one for each of these */
    int64_t n;                    /* rows of K */
    int64_t most, count;          /* of them that may be chosen; that were, 0: no metric */
    const double **curvature;     /* of every system: what the metric was made from, per row */
    double *total;                /* of every system: their sum */
    double **soft, *soft_total;   /* of every system: what e leaves of them (14), and the sum */
    double *mean;                 /* of every vector: the intercept's part of the last direction */
    mgvi_arena *arena;            /* what follows, made anew with the metric */
    int64_t *row;                 /* the rows chosen */
    double *B;                    /* rows x count: K of all with the chosen rows */
    double *e;                    /* per row: what the chosen ones leave of K_ii (13) */
    double *g;                    /* rows x width */
    double *t;                    /* count x width */
    double *partial;              /* of every block of rows: count x width */
    mgvi_scaled_cholesky *metric; /* of every system; n = 0: none */
    mgv_status *status;           /* of every system */
} mgvi_landmarks;

/* For problems that have the strength and the intercept of `problem`, K from `kernel`. */
mgv_status mgvi_landmarks_init(mgvi_landmarks *m, const mgv_problem *problem,
                               mgvi_kernel_op *kernel, int32_t width, int32_t systems,
                               mgvi_arena *arena);
/* How many rows make a metric that costs about as much as so many products with K. */
int64_t mgvi_landmarks_fair(const mgvi_landmarks *m, double products);
/* The curvature of every row's loss at scores z with slopes u; for softmax one for all classes. */
void mgvi_landmarks_measure(const mgv_problem *problem, const mgvi_vec *z, const mgvi_vec *u,
                            double *h);
/* Makes the metric of `wanted` rows at most from the curvatures of each system, which it borrows.
 */
mgv_status mgvi_landmarks_make(mgvi_landmarks *m, int64_t wanted, const double *const *curvature);
/* out = the metric's inverse times g, up to a factor, rows x width; g itself where there is none.
 */
mgv_status mgvi_landmarks_apply(mgvi_landmarks *m, const double *g, double *out);
#endif
