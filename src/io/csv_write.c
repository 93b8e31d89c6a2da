/* csv_write.c - one row per line, the label last; a header when the columns have names. */
#include "io/text_write.h"

#include "base/memory.h"
#include "io/io.h"

#include <string.h>

typedef struct options {
    char separator;
    size_t label_room;
} options;

static char choose_separator(const char *setting, const char *path)
{
    static const struct {
        const char *name;
        char byte;
    } known[] = {{"comma", ','}, {"tab", '\t'}, {"semicolon", ';'}, {"space", ' '}};
    for (int i = 0; i < 4; i++)
        if (strcmp(setting, known[i].name) == 0 || (setting[0] == known[i].byte && !setting[1]))
            return known[i].byte;
    return mgvi_name_fits(path, ".tsv") ? '\t' : ',';
}

/* At most 2 * strlen(text) + 2 bytes: quoted where the reader needs it. A newline becomes a blank.
 */
static size_t put_text(const char *text, char separator, char *to)
{
    char *p = to;
    const char special[] = {separator, '"', ' ', '\t', '\n', '\r', '#', 0};
    const bool quote = !text[0] || strpbrk(text, special) != NULL;
    if (quote)
        *p++ = '"';
    for (; *text; text++) {
        if (*text == '"')
            *p++ = '"';
        *p++ = (char)(*text == '\n' || *text == '\r' ? ' ' : *text);
    }
    if (quote)
        *p++ = '"';
    return (size_t)(p - to);
}

static size_t room(const mgvi_text_table *table, int64_t row)
{
    const options *o = table->user;
    const mgvi_matrix *X = table->X;
    const size_t numbers =
        (size_t)(X->layout == MGV_DENSE ? X->cols : X->ptr[row + 1] - X->ptr[row]);
    return 2 * o->label_room + 4 + (size_t)X->cols * 2 + numbers * MGVI_NUMBER_MAX;
}

static size_t format(const mgvi_text_table *table, int64_t row, char *to)
{
    const options *o = table->user;
    const mgvi_matrix *X = table->X;
    const bool dense = X->layout == MGV_DENSE;
    char *p = to;
    int64_t t = dense ? 0 : X->ptr[row];
    for (int64_t c = 0; c < X->cols; c++) {
        double value = 0;
        if (dense)
            value = mgvi_matrix_value(X, row * X->row_stride + c * X->col_stride);
        else if (t < X->ptr[row + 1] && X->idx[t] == c)
            value = mgvi_matrix_value(X, t++);
        p += mgvi_number_format(value, X->dtype, p);
        *p++ = o->separator;
    }
    if (!table->data->labels)
        p -= X->cols > 0; /* the last separator */
    else if (table->data->text_labels)
        p += put_text(table->data->class_text[(int64_t)table->data->labels[row]], o->separator, p);
    else
        p += mgvi_text_put_label(table->data, row, p);
    *p++ = '\n';
    return (size_t)(p - to);
}

/* The line of names in fresh memory; *size is 0 when there are none. */
static mgv_status make_header(mgv_ctx *ctx, const mgv_data *data, char separator, char **header,
                              size_t *size)
{
    size_t most = sizeof "label\n";
    *size = 0;
    *header = NULL;
    if (!data->names)
        return MGV_OK;
    for (int64_t c = 0; c < data->X.cols; c++)
        most += 2 * strlen(data->names[c]) + 3;
    char *p = *header = mgvi_alloc(ctx, most, 1);
    if (!p)
        return MGV_E_MEMORY;
    for (int64_t c = 0; c < data->X.cols; c++) {
        p += put_text(data->names[c], separator, p);
        *p++ = separator;
    }
    if (data->labels)
        p += put_text("label", separator, p);
    else
        p -= data->X.cols > 0;
    *p++ = '\n';
    *size = (size_t)(p - *header);
    return MGV_OK;
}

static mgv_status write_data(mgv_ctx *ctx, const mgv_data *data, const char *path,
                             const mgv_settings *settings)
{
    mgvi_rows_view view;
    char *header;
    size_t header_size;
    const options o = {.separator = choose_separator(settings->separator, path),
                       .label_room = mgvi_text_label_room(data)};
    MGVI_TRY(mgvi_rows_open(ctx, &data->X, &view));
    mgv_status st = make_header(ctx, data, o.separator, &header, &header_size);
    const mgvi_text_table table = {.data = data,
                                   .X = &view.X,
                                   .groups = view.X.rows,
                                   .user = &o,
                                   .room = room,
                                   .format = format};
    if (st == MGV_OK)
        st = mgvi_text_write(ctx, &table, header ? header : "", header_size, path);
    mgvi_release(ctx, header);
    mgvi_rows_close(ctx, &view);
    return st;
}

const mgvi_writer mgvi_writer_csv = {
    .name = "csv",
    .summary = "delimited text, the label in the last column",
    .extensions = ".csv .tsv",
    .write = write_data,
};
