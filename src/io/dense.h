/* io/dense.h - a dense matrix as one run of numbers, for writers. */
#ifndef MGVI_IO_DENSE_H
#define MGVI_IO_DENSE_H

#include "base/memory.h"
#include "op/matrix.h"

typedef struct mgvi_dense {
    const void *val;
    size_t bytes;
    bool fortran; /* column after column */
    void *copy;   /* made only when the strides leave gaps */
} mgvi_dense;

mgv_status mgvi_dense_open(mgv_ctx *ctx, const mgvi_matrix *X, mgvi_dense *out);
void mgvi_dense_close(mgv_ctx *ctx, mgvi_dense *dense);
#endif
