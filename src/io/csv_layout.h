/* io/csv_layout.h - what the first line of delimited text says: separator, columns, header, label.
 */
#ifndef MGVI_IO_CSV_LAYOUT_H
#define MGVI_IO_CSV_LAYOUT_H

#include "io/text.h"

enum { MGVI_NO_LABEL = -1, MGVI_NOT_USED = -1 };

typedef struct mgvi_csv_layout {
    char separator;         /* ' ': runs of blanks */
    int64_t columns;        /* with the label */
    int64_t label;          /* its column from 0, or MGVI_NO_LABEL */
    const char *header;     /* the line of names, or NULL */
    const char *data_begin; /* the line behind the header */
    int64_t *place; /* per column: the feature that it is, or MGVI_NOT_USED; NULL: as they come.
                       For mgvi_release */
} mgvi_csv_layout;

/* The text between two separators, without blanks around it and quotes. */
typedef struct mgvi_cell {
    const char *begin, *end;
    bool quoted;      /* "" inside stands for " */
    const char *next; /* at the separator or the line's end */
} mgvi_cell;

/* The cell at `p`; false: a fault, its quote is not closed on this line. */
bool mgvi_csv_cell(mgvi_text *text, char separator, const char *p, const char *end,
                   mgvi_cell *cell);
/* From the end of a cell to the next one; NULL when the line ends here. */
const char *mgvi_csv_step(char separator, const char *p, const char *end);
/* Cells in the line at `p`. */
int64_t mgvi_csv_count(mgvi_text *text, char separator, const char *p, const char *end);
/* Neither blank nor a comment (#). */
bool mgvi_csv_has_data(const char *line, const char *end);
/* What the whole cell is as a number; MGVI_NUMBER_OK sets *value. */
mgvi_number_status mgvi_csv_number(const mgvi_cell *cell, double *value);
/* INDEX:VALUE and nothing else: libsvm text with the wrong separator; and the fault that says so.
 */
bool mgvi_csv_is_pair(const mgvi_cell *cell);
void mgvi_csv_fault_of_pair(mgvi_text *text, char separator, const mgvi_cell *cell);
/* Copies the cell, `to` holding at least end - begin + 1 bytes; returns its length. */
size_t mgvi_csv_copy(const mgvi_cell *cell, char *to);

/* What separates the cells of the line: the setting `separator`. */
mgv_status mgvi_csv_separator(mgvi_text *text, const char *setting, const char *line,
                              char *separator);
/* The first cell of the line that spells `wanted`, or MGVI_NO_LABEL; the first with a name that
 * labels have. */
int64_t mgvi_csv_find(mgvi_text *text, char separator, const char *line, const char *wanted);
int64_t mgvi_csv_find_label(mgvi_text *text, char separator, const char *line);
/* Reads settings and the first line; `known` are the columns of the model that the rows are for, or
 * NULL. */
mgv_status mgvi_csv_look(mgvi_text *text, const mgv_settings *settings,
                         const mgvi_column_names *known, mgvi_csv_layout *layout);
/* csv_match.c: the columns of a model in the file. Where the settings leave the label's column open
 * mgvi_csv_expect says where it should be; *named: the line is a header, for it has the model's
 * names. mgvi_csv_match decides, once it is known whether there is a header. */
mgv_status mgvi_csv_expect(mgvi_text *text, const mgvi_column_names *known, const char *line,
                           mgvi_csv_layout *layout, bool *named);
mgv_status mgvi_csv_match(mgvi_text *text, const mgvi_column_names *known, bool label_open,
                          mgvi_csv_layout *layout);
/* Column `column` for messages: "column 3", or "column 3 ('age')" under a header. */
mgvi_quote mgvi_csv_column(mgvi_text *text, const mgvi_csv_layout *layout, int64_t column);
/* Sets data->names from the header, if there is one. */
mgv_status mgvi_csv_names(mgvi_text *text, const mgvi_csv_layout *layout, mgv_data *data);
#endif
