/* op/view.h - the view operator's insides, for the row kernels. */
#ifndef MGVI_OP_VIEW_H
#define MGVI_OP_VIEW_H

#include "op/stored.h"

typedef struct mgvi_view_op {
    mgvi_op op;
    mgvi_op *base;         /* X */
    mgvi_rowwise *by_rows; /* of X, when it is stored by rows; NULL: products go through base */
    mgvi_view view;        /* `rows` is set */
    double *scaled;        /* cols x lanes: diag(scale) w, and A'u before the columns' map */
    double *full;          /* base rows x lanes: a whole product of the base */
    double *sums;          /* two sums per lane of every block */
} mgvi_view_op;

extern const mgvi_op_ops mgvi_operator_view;

/* NULL when `op` is not a view. */
mgvi_view_op *mgvi_view_of(mgvi_op *op);
/* What it is a view of, or `op` itself. */
static inline mgvi_op *mgvi_view_base(mgvi_op *op)
{
    return mgvi_view_of(op) ? mgvi_view_of(op)->base : op;
}
/* How many numbers A'u with k lanes adds one after the other, at most. */
double mgvi_op_terms_t(mgvi_op *op, int32_t k);
#endif
