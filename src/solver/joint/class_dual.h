/* joint/class_dual.h - Newton's steps for a loss of all classes at once, by rows: of the weights
 * and of a dual point V together, for sparse tables with more columns than rows;
 * docs/algorithms/lbfgs.md.
 *   (J^-1 + A L A') Y = R,   L = diag(lambda, rho)^-1,   sum_j y_ij = 0                      (10)
 * with J^-1 y = y/h but for a number that all classes of a row have in common. By conjugate
 * gradients with the metric of joint/class_metric.h, on packed rows. */
#ifndef MGVI_SOLVER_CLASS_DUAL_H
#define MGVI_SOLVER_CLASS_DUAL_H

#include "solver/joint/class_columns.h"
#include "solver/joint/class_metric.h"
#include "solver/shared/packed_rows.h"

typedef struct mgvi_class_dual {
    mgv_ctx *ctx;
    mgvi_packed_rows packed;
    mgvi_class_metric metric;       /* fill metric.h before a solve */
    mgvi_class_columns *by_columns; /* NULL: systems by rows */
    double inverse_lambda;
    double tau;           /* the scores are in these units: p = softmax(z/tau) */
    double gap, rest;     /* (12) without its last term when it was measured, and its second term */
    double *v;            /* rows x classes: w = -A'v/lambda, or nearly */
    double *y, *residual; /* rows x classes: the solution, the right side */
    double *dir, *image, *scaled;
} mgvi_class_dual;

/* Whether the table is one for it: sparse, more columns than rows, more unknowns than one matrix is
 * made for, and no more memory than L-BFGS would take. */
bool mgvi_class_dual_fits(const mgv_problem *p);
/* For all rows, with memory of the run; v is 0. By columns: where mgvi_class_columns_fit(). */
mgv_status mgvi_class_dual_new(mgvi_run *run, bool by_columns, mgvi_class_dual *out);

/* ---- softmax, all rows ------------------------------------------------------------------------
 */
/* log p at w; rows x classes. */
void mgvi_class_dual_scores(const mgv_problem *p, const mgvi_vec *w, mgvi_vec *log_p);
/* v, any dual point, is brought a little inside the simplices. */
void mgvi_class_dual_start(const mgv_problem *p, mgvi_class_dual *d);
/* The common Newton direction of w, whose probabilities are p, and of v (y), well enough for
 * the gap that was measured last. `rest` is a vector like w for work. */
mgv_status mgvi_class_dual_direction(mgvi_run *run, mgvi_class_dual *d, const mgvi_vec *log_p,
                                     const mgvi_vec *w, mgvi_vec *rest, mgvi_vec *direction);
/* w has gone a step along the direction to probabilities p, and v follows. */
void mgvi_class_dual_follow(const mgv_problem *p, mgvi_class_dual *d, double step,
                            const mgvi_vec *log_p);
/* The gap of (w, v), and about what the intercepts' sums of v will cost:
 *   sum_i s_i KL(q_i | p_i) + |lambda W + A'V|^2/(2 lambda) + |sum_i v_i|                     (12)
 */
double mgvi_class_dual_gap(const mgv_problem *p, mgvi_class_dual *d, const mgvi_vec *log_p,
                           const mgvi_vec *w, mgvi_vec *rest);
#endif
