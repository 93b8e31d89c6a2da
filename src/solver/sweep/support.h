/* solver/sweep/support.h - products for weights that are mostly 0: A w reads the columns of the
 * support, where the operator has columns to choose from. */
#ifndef MGVI_SOLVER_SUPPORT_H
#define MGVI_SOLVER_SUPPORT_H

#include "op/columns.h"
#include "solver/solver_impl.h"

typedef struct mgvi_support {
    mgvi_op *A;
    mgvi_columns *columns; /* NULL: full products */
    int64_t penalised;     /* columns that can be chosen; the others are always in */
    int64_t *list;
} mgvi_support;

mgv_status mgvi_support_new(mgvi_run *run, mgvi_support *out);
/* y = A w */
void mgvi_support_mul(mgvi_support *support, const mgvi_vec *w, mgvi_vec *y);
/* g = A'u, all columns */
void mgvi_support_mul_t(mgvi_support *support, const mgvi_vec *u, mgvi_vec *g);
#endif
