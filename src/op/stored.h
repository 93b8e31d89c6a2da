/* op/stored.h - what the operators of stored matrices share. */
#ifndef MGVI_OP_STORED_H
#define MGVI_OP_STORED_H

#include "op/rowwise.h"

typedef struct mgvi_stored {
    mgvi_op op;
    mgvi_matrix matrix;   /* as given */
    mgvi_view all;        /* of it, with nothing laid over */
    bool transposed;      /* `by_rows` is of the transpose: the matrix is stored by columns */
    mgvi_rowwise by_rows; /* never CSC, never Fortran order */
} mgvi_stored;

extern const mgvi_op_ops mgvi_operator_dense, mgvi_operator_csr, mgvi_operator_csc;

/* NULL when `op` is not the operator of a stored matrix. */
mgvi_stored *mgvi_stored_of(mgvi_op *op);
void mgvi_stored_mul(mgvi_op *op, double alpha, const mgvi_vec *x, double beta, mgvi_vec *y);
void mgvi_stored_mul_t(mgvi_op *op, double alpha, const mgvi_vec *u, double beta, mgvi_vec *g);
void mgvi_stored_free(mgvi_op *op);
#endif
