/* libsvm_write.c - LABEL INDEX:VALUE ...; zeros are left out, numbers are the shortest that read
 * back, labels are spelled as they were read. Rows without labels get 0, as LIBSVM's tools do. */
#include "io/text_write.h"

typedef struct options {
    int64_t base;
    size_t label_room;
} options;

static int64_t row_length(const mgvi_matrix *X, int64_t row)
{
    return X->layout == MGV_DENSE ? X->cols : X->ptr[row + 1] - X->ptr[row];
}

static size_t room(const mgvi_text_table *table, int64_t row)
{
    const options *o = table->user;
    return o->label_room + 2 + (size_t)row_length(table->X, row) * (MGVI_NUMBER_MAX + 12);
}

static size_t format(const mgvi_text_table *table, int64_t row, char *to)
{
    const options *o = table->user;
    const mgvi_matrix *X = table->X;
    const bool dense = X->layout == MGV_DENSE;
    const int64_t count = row_length(X, row);
    char *p = to + mgvi_text_put_label(table->data, row, to);
    for (int64_t t = 0; t < count; t++) {
        const int64_t at = dense ? row * X->row_stride + t * X->col_stride : X->ptr[row] + t;
        const double value = mgvi_matrix_value(X, at);
        if (value == 0)
            continue;
        *p++ = ' ';
        p += mgvi_text_put_integer((dense ? t : X->idx[at]) + o->base, p);
        *p++ = ':';
        p += mgvi_number_format(value, X->dtype, p);
    }
    *p++ = '\n';
    return (size_t)(p - to);
}

static mgv_status write_data(mgv_ctx *ctx, const mgv_data *data, const char *path,
                             const mgv_settings *settings)
{
    if (data->text_labels)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "%s: labels in libsvm text are numbers, here they are words such as "
                         "'%.40s': write CSV",
                         path, data->classes ? data->class_text[0] : "");
    mgvi_rows_view view;
    MGVI_TRY(mgvi_rows_open(ctx, &data->X, &view));
    const options o = {.base = settings->base != MGVI_BASE_0,
                       .label_room = mgvi_text_label_room(data)};
    const mgvi_text_table table = {.data = data,
                                   .X = &view.X,
                                   .groups = view.X.rows,
                                   .user = &o,
                                   .room = room,
                                   .format = format};
    const mgv_status st = mgvi_text_write(ctx, &table, "", 0, path);
    mgvi_rows_close(ctx, &view);
    return st;
}

const mgvi_writer mgvi_writer_libsvm = {
    .name = "libsvm",
    .summary = "libsvm/svmlight text, indices from 1 unless base is 0",
    .extensions = ".svm .libsvm .svmlight",
    .write = write_data,
};
