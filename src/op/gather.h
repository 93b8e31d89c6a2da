/* op/gather.h - chosen columns of a stored matrix or of a view over one, made dense in float64:
 * what methods need that work on a few columns at a time. With the view's sign y, row scale p,
 * column scale s and centre c,
 *     A_ij = y_i p_i (x_rj - c_j) s_j,  r our row i's row of X;  the intercept's entry is y_i   (1)
 */
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
