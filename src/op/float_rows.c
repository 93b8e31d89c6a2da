/* float_rows.c - rows as float32. */
#include "op/float_rows.h"

#include "op/rows.h"

#include <string.h>

mgv_status mgvi_float_rows_of(const mgvi_matrix *m, mgvi_arena *arena, mgvi_float_rows *out)
{
    *out = (mgvi_float_rows){.view.rows = m->rows};
    MGVI_TRY(mgvi_matrix_rows(arena, m, &out->m));
    out->in_place = out->m.layout == MGV_DENSE && out->m.dtype == MGV_F32;
    return MGV_OK;
}

bool mgvi_float_rows_dense(mgvi_op *op, bool signed_too)
{
    return op->view && op->stored->layout == MGV_DENSE && op->stored->col_stride == 1 &&
           (signed_too || !op->view->sign);
}

mgv_status mgvi_float_rows_new(mgvi_op *op, mgvi_arena *arena, mgvi_float_rows *out)
{
    if (!op->view)
        return MGVI_FAIL(op->ctx, MGV_E_UNSUPPORTED,
                         "the operator %s has no rows of numbers to read", op->ops->name);
    MGVI_TRY(mgvi_float_rows_of(op->stored, arena, out));
    out->view = *op->view;
    out->in_place = out->in_place && !out->view.row_scale;
    return MGV_OK;
}

void mgvi_float_rows_unpack(const mgvi_float_rows *rows, int64_t i, float *room)
{
    const mgvi_matrix *m = &rows->m;
    const int64_t r = mgvi_view_source(&rows->view, i);
    const double scale = mgvi_view_row_scale(&rows->view, i);
    if (m->layout == MGV_DENSE) {
        for (int64_t j = 0; j < m->cols; j++)
            room[j] = (float)(scale * mgvi_matrix_value(m, r * m->row_stride + j));
        return;
    }
    memset(room, 0, (size_t)m->cols * sizeof *room);
    for (int64_t t = m->ptr[r]; t < m->ptr[r + 1]; t++)
        room[m->idx[t]] = (float)(scale * mgvi_matrix_value(m, t));
}
