/* op/float_rows.h - the rows of a stored matrix, or of a view over one, as float32: where they lie
 * when they are (dense in C order, no row scale), else unpacked into the caller's memory. Signs,
 * the view's column scale and centre are not applied: callers carry them over to the weights. */
#ifndef MGVI_OP_FLOAT_ROWS_H
#define MGVI_OP_FLOAT_ROWS_H

#include "op/op.h"

typedef struct mgvi_float_rows {
    mgvi_matrix m; /* CSR or dense in C order: the operator's, or a copy in the arena */
    mgvi_view view;
    bool in_place; /* nothing is unpacked */
} mgvi_float_rows;

/* Whether the operator is of a dense matrix whose rows lie one after the other, or a view of it;
 * `signed_too`: or one with signs. */
bool mgvi_float_rows_dense(mgvi_op *op, bool signed_too);
/* MGV_E_UNSUPPORTED for other operators. Borrows the operator's arrays. */
mgv_status mgvi_float_rows_new(mgvi_op *op, mgvi_arena *arena, mgvi_float_rows *out);
/* The same for a matrix without a view. */
mgv_status mgvi_float_rows_of(const mgvi_matrix *m, mgvi_arena *arena, mgvi_float_rows *out);

/* x_i times its row scale, m.cols numbers, into `room`. */
void mgvi_float_rows_unpack(const mgvi_float_rows *rows, int64_t i, float *room);

/* Row i; `room` (m.cols numbers) may be NULL when in_place. */
static inline const float *mgvi_float_row(const mgvi_float_rows *rows, int64_t i, float *room)
{
    if (rows->in_place)
        return (const float *)rows->m.val + mgvi_view_source(&rows->view, i) * rows->m.row_stride;
    mgvi_float_rows_unpack(rows, i, room);
    return room;
}
#endif
