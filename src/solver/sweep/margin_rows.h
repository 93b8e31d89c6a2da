/* sweep/margin_rows.h - what the methods for the hard margin share. They see the rows a_i / R with
 * R = max_i |a_i|, so that every row is at most 1 long whatever the units; the data is not touched.
 * Rows without weight are no constraints: their z is +infinity and they are never chosen.
 *
 * Free intercepts are not iterated: they are the best ones for the w at hand, in the sense of the
 * method, and then the dual weights are orthogonal to their columns. Of two classes there is one
 * intercept, the difference of two; op/class_graph.h has what is best for them. */
#ifndef MGVI_SOLVER_MARGIN_ROWS_H
#define MGVI_SOLVER_MARGIN_ROWS_H

#include "problem/margins.h"
#include "solver/solver_impl.h"

/* A direction and a dual point of the scaled rows. */
typedef struct mgvi_margin_pair {
    const mgvi_vec *w;
    const double *least; /* min_i a_i.w / R; NaN: not known */
    const mgvi_vec *b;   /* >= 0 */
    const mgvi_vec *v;   /* A'b / R */
} mgvi_margin_pair;

/* The first member of a method's state. */
typedef struct mgvi_margin_rows {
    mgvi_run *run;
    mgvi_margin_pair pair;   /* the method's, where it keeps them */
    mgvi_class_graph *graph; /* of the intercepts' classes; NULL: none are free */
    mgvi_rows *rows;
    double radius;         /* R; 1 when every row is zero */
    mgvi_live_rows live;   /* at least 1 */
    mgvi_vec out_w, out_u; /* what mgvi_margin_rows_expose() shows */
} mgvi_margin_rows;

mgv_status mgvi_margin_rows_new(mgvi_run *run, mgvi_margin_pair pair, mgvi_margin_rows *out);
/* z = A w / R, v = A'q / R without the intercepts */
void mgvi_margin_rows_mul(const mgvi_margin_rows *rows, const mgvi_vec *w, mgvi_vec *z);
void mgvi_margin_rows_mul_t(const mgvi_margin_rows *rows, const mgvi_vec *q, mgvi_vec *v);
/* z = A 0 / R without a product */
void mgvi_margin_rows_start(const mgvi_margin_rows *rows, mgvi_vec *z);
/* acc += delta a_i / R in the row kernels' form */
void mgvi_margin_rows_add(const mgvi_margin_rows *rows, int64_t i, double delta, double *acc);

/* w from acc, intercepts left at 0 */
void mgvi_margin_rows_weights(const mgvi_margin_rows *rows, const double *acc, mgvi_vec *w);
/* Adds to z the intercepts for which sum_i exp(-z_i) is least, so that the softmax of -z is
 * orthogonal to their columns; nothing without intercepts. */
void mgvi_margin_rows_balance(const mgvi_margin_rows *rows, mgvi_vec *z);
/* min z with the best intercepts, and the rows that hold it down: the first one with the least z,
 * or the first on every edge of the cycle of least mean, `count` of them. `row` has room for as
 * many as there are classes. */
double mgvi_margin_rows_worst(const mgvi_margin_rows *rows, const mgvi_vec *z, int32_t *row,
                              int32_t *count);

/* For the solver's table. The pair at the scale of the problem: a separating w is divided by its
 * least a_i.w, so that it is feasible, and u = -t b with the t that maximises the dual,
 * t = sum b / |A'b|^2. The judge finds the intercepts. */
mgvi_iterate mgvi_margin_rows_expose(mgvi_run *run);
/* The relative gap between min_i a_i.w / |w| and |A'b| / sum b, both already at hand. */
double mgvi_margin_rows_estimate(const mgvi_run *run);
#endif
