/* io/text_write.h - text written in parallel: groups of lines are formatted in blocks on all
 * threads and put out in order. */
#ifndef MGVI_IO_TEXT_WRITE_H
#define MGVI_IO_TEXT_WRITE_H

#include "base/number.h"
#include "base/sink.h"
#include "io/io.h"

typedef struct mgvi_text_table mgvi_text_table;
struct mgvi_text_table {
    const mgv_data *data;
    const mgvi_matrix *X; /* dense or CSR */
    int64_t groups;       /* usually rows */
    const void *user;
    /* Room for the text of a group, at most; and the text, returning its length. */
    size_t (*room)(const mgvi_text_table *table, int64_t group);
    size_t (*format)(const mgvi_text_table *table, int64_t group, char *to);
};

/* Writes a head and all groups to `path`. */
mgv_status mgvi_text_write(mgv_ctx *ctx, const mgvi_text_table *table, const char *head,
                           size_t head_size, const char *path);

/* A row-wise view of the data's matrix: itself, or a copy of CSC turned into CSR. */
typedef struct mgvi_rows_view {
    mgvi_matrix X;
    void *memory[3]; /* of the copy */
} mgvi_rows_view;
mgv_status mgvi_rows_open(mgv_ctx *ctx, const mgvi_matrix *X, mgvi_rows_view *view);
void mgvi_rows_close(mgv_ctx *ctx, mgvi_rows_view *view);

/* The label of a row as it was spelled ("0" without labels); returns its length. */
size_t mgvi_text_put_label(const mgv_data *data, int64_t row, char *to);
/* Longest text of mgvi_text_put_label. */
size_t mgvi_text_label_room(const mgv_data *data);
/* Decimal digits; returns their number (at most 20). */
size_t mgvi_text_put_integer(int64_t value, char *to);
#endif
