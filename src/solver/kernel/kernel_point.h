/* kernel/kernel_point.h - coefficients c and intercepts b of a kernel problem, w = A'c: their columns,
 * the image A A'c, the scores, the dual point u' = -lambda c and what it says of the gap;
 * docs/algorithms/kernel_subspace.md (1), (2). */
#ifndef MGVI_SOLVER_KERNEL_POINT_H
#define MGVI_SOLVER_KERNEL_POINT_H

#include "problem/problem.h"

/* c and b at the weights w of a neighbouring problem, such as another lambda: columns are rows. */
void mgvi_kernel_place(const mgv_problem *problem, const double *w, mgvi_vec *c, double *b);
/* out = A'x over the penalised columns; the intercepts' entries are those of `b`, NULL: 0. */
void mgvi_kernel_to_columns(const mgv_problem *problem, const mgvi_vec *x, const double *b,
                            mgvi_vec *out);
/* image = A A'x, in float64; the same by float32 values of K. `cols` is work space. */
void mgvi_kernel_image(const mgv_problem *problem, const mgvi_vec *x, mgvi_vec *cols,
                       mgvi_vec *image);
mgv_status mgvi_kernel_rough_image(const mgv_problem *problem, const mgvi_vec *x, mgvi_vec *cols,
                                   mgvi_vec *image);
/* What has a sign for every row loses it, or gets it back. */
void mgvi_kernel_turn(const mgvi_kernel_op *kernel, int64_t count, const double *from,
                      int64_t from_step, double *to, int64_t to_step);
/* z from the image of c and b. */
void mgvi_kernel_scores(const mgv_problem *problem, const mgvi_vec *image, const double *b,
                        mgvi_vec *z);

typedef struct mgvi_kernel_dual {
    const mgv_problem *problem;
    mgvi_vec *c, *image; /* rows; A A'c */
    const double *b;     /* intercepts */
    mgvi_vec *u;         /* rows: on return u', in the domain of the conjugates */
    mgvi_vec *rows, *cols;
    double *lanes; /* work space */
} mgvi_kernel_dual;

/* What (2) has beside the losses and lambda <c, A A'c>; `value` is that of the primal. */
double mgvi_kernel_dual_price(const mgvi_kernel_dual *d, double value);
/* u becomes orthogonal to the intercept's column, where there is one lane. */
void mgvi_kernel_dual_level(const mgv_problem *problem, mgvi_vec *u, double *work);
/* What the judge will add to the gap for rounding, of the losses' slopes at the scores; w becomes
 * the columns of c. */
double mgvi_kernel_dual_rounding(const mgvi_kernel_dual *d, const mgvi_vec *slopes, mgvi_vec *w);
#endif
