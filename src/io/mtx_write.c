/* mtx_write.c - Matrix Market: coordinate for sparse, array (by columns) for dense matrices. The
 * format has no place for labels; they are left out. */
#include "io/text_write.h"

#include <stdio.h>

static size_t row_room(const mgvi_text_table *table, int64_t row)
{
    const mgvi_matrix *X = table->X;
    return (size_t)(X->ptr[row + 1] - X->ptr[row]) * (MGVI_NUMBER_MAX + 2 * 20 + 3);
}

static size_t format_row(const mgvi_text_table *table, int64_t row, char *to)
{
    const mgvi_matrix *X = table->X;
    char *p = to;
    for (int64_t t = X->ptr[row]; t < X->ptr[row + 1]; t++) {
        p += mgvi_text_put_integer(row + 1, p);
        *p++ = ' ';
        p += mgvi_text_put_integer((int64_t)X->idx[t] + 1, p);
        *p++ = ' ';
        p += mgvi_number_format(mgvi_matrix_value(X, t), X->dtype, p);
        *p++ = '\n';
    }
    return (size_t)(p - to);
}

static size_t column_room(const mgvi_text_table *table, int64_t column)
{
    (void)column;
    return (size_t)table->X->rows * (MGVI_NUMBER_MAX + 1);
}

static size_t format_column(const mgvi_text_table *table, int64_t column, char *to)
{
    const mgvi_matrix *X = table->X;
    char *p = to;
    for (int64_t i = 0; i < X->rows; i++) {
        const double value = mgvi_matrix_value(X, i * X->row_stride + column * X->col_stride);
        p += mgvi_number_format(value, X->dtype, p);
        *p++ = '\n';
    }
    return (size_t)(p - to);
}

static mgv_status write_data(mgv_ctx *ctx, const mgv_data *data, const char *path,
                             const mgv_settings *settings)
{
    (void)settings;
    char head[160];
    mgvi_rows_view view;
    MGVI_TRY(mgvi_rows_open(ctx, &data->X, &view));
    const mgvi_matrix *X = &view.X;
    const bool dense = X->layout == MGV_DENSE;
    const int n =
        dense ? snprintf(head, sizeof head,
                         "%%%%MatrixMarket matrix array real general\n%" PRId64 " %" PRId64 "\n",
                         X->rows, X->cols)
              : snprintf(head, sizeof head,
                         "%%%%MatrixMarket matrix coordinate real general\n%" PRId64 " %" PRId64
                         " %" PRId64 "\n",
                         X->rows, X->cols, X->nnz);
    const mgvi_text_table table = {.data = data,
                                   .X = X,
                                   .groups = dense ? X->cols : X->rows,
                                   .room = dense ? column_room : row_room,
                                   .format = dense ? format_column : format_row};
    const mgv_status st = mgvi_text_write(ctx, &table, head, (size_t)n, path);
    mgvi_rows_close(ctx, &view);
    return st;
}

const mgvi_writer mgvi_writer_mtx = {
    .name = "mtx",
    .summary = "Matrix Market: coordinate or array; labels are left out",
    .extensions = ".mtx",
    .without_labels = true,
    .write = write_data,
};
