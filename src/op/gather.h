/* op/gather.h - chosen columns of a stored matrix or of a view over one, made dense in float64:
 * what methods need that work on a few columns at a time. */
#ifndef MGVI_OP_GATHER_H
#define MGVI_OP_GATHER_H

#include "op/op.h"

typedef struct mgvi_gather mgvi_gather;

/* For a stored matrix or a view over one with one sign per row, else MGV_E_UNSUPPORTED. CSR is
 * copied into the arena by columns. `op` must outlive the result. */
mgv_status mgvi_gather_new(mgvi_op *op, mgvi_arena *arena, mgvi_gather **out);
/* Bytes that it takes, copy included. */
double mgvi_gather_bytes(const mgvi_matrix *m);
/* out[t*ld + i] = A_ij for j = cols[t], t < count: a column lies in one piece. ld >= rows. The
 * entries are counted in the operator's `touched`. */
void mgvi_gather_columns(mgvi_gather *gather, const int32_t *cols, int64_t count, double *out,
                         int64_t ld);
#endif
