/* parts/margin_rows.h - what the methods for the hard margin share. They see the rows a_i / R with
 * R = max_i |a_i|, so that every row is at most 1 long whatever the units; the data is not touched.
 * Rows without weight are no constraints: their z is +infinity and they are never chosen. */
#ifndef MGVI_SOLVER_PARTS_MARGIN_ROWS_H
#define MGVI_SOLVER_PARTS_MARGIN_ROWS_H

#include "op/rows.h"
#include "solver/solver_impl.h"

typedef struct mgvi_margin_rows {
    mgvi_run *run;
    mgvi_rows *rows;
    double radius;         /* R; 1 when every row is zero */
    int32_t *live;         /* the rows with weight, in order */
    int64_t live_count;    /* at least 1 */
    mgvi_vec out_w, out_u; /* what mgvi_margin_rows_show() shows */
} mgvi_margin_rows;

/* A direction and a dual point of the scaled rows. */
typedef struct mgvi_margin_pair {
    const mgvi_vec *w;
    double least;      /* min_i a_i.w / R; NaN: not known */
    const mgvi_vec *b; /* >= 0 */
    const mgvi_vec *v; /* A'b / R */
} mgvi_margin_pair;

mgv_status mgvi_margin_rows_new(mgvi_run *run, mgvi_margin_rows *out);
/* z = A w / R, v = A'q / R */
void mgvi_margin_rows_mul(const mgvi_margin_rows *rows, const mgvi_vec *w, mgvi_vec *z);
void mgvi_margin_rows_mul_t(const mgvi_margin_rows *rows, const mgvi_vec *q, mgvi_vec *v);
/* z = A 0 / R without a product */
void mgvi_margin_rows_start(const mgvi_margin_rows *rows, mgvi_vec *z);
/* acc += delta a_i / R in the row kernels' form */
void mgvi_margin_rows_add(const mgvi_margin_rows *rows, int64_t i, double delta, double *acc);

/* The relative gap between min_i a_i.w / |w| and |A'b| / sum b, both already at hand. */
double mgvi_margin_pair_gap(const mgvi_run *run, const mgvi_margin_pair *pair);
/* The pair at the scale of the problem: a separating w is divided by its least a_i.w, so that it
 * is feasible, and u = -t b with the t that maximises the dual,  t = sum b / |A'b|^2. */
mgvi_iterate mgvi_margin_rows_show(mgvi_margin_rows *rows, const mgvi_margin_pair *pair);
#endif
