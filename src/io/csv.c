/* csv.c - delimited text: numbers in columns, one of which may be the label (a number or a word).
 * The table is dense, in C order. A cell may be quoted but not hold a newline; lines that are
 * blank or start with # are passed over. */
#include "io/csv_layout.h"

#include <string.h>

typedef struct job {
    mgvi_text text;
    mgvi_values values;
    mgvi_csv_layout layout;
    int64_t features;
    double *labels;        /* NULL without a label column */
    const char **label_at; /* the cell, with its quote */
    bool label_open;       /* nobody said which column it is */
} job;

/* ---- rows ---------------------------------------------------------------------------------- */
static void fault_of_cell(job *j, const mgvi_cell *cell, int64_t column, mgvi_number_status st)
{
    const mgvi_quote where = mgvi_csv_column(&j->text, &j->layout, column);
    const mgvi_quote what = mgvi_text_quote(cell->begin, cell->end);
    if (cell->begin == cell->end)
        mgvi_text_fault(&j->text, cell->begin,
                        "%s is empty: missing values must be filled in before", where.text);
    else if (*cell->begin == '\0')
        mgvi_text_fault(&j->text, cell->begin, "a zero byte in %s: this is not text", where.text);
    else if (mgvi_csv_is_pair(cell))
        mgvi_csv_fault_of_pair(&j->text, j->layout.separator, cell);
    else if (st == MGVI_NUMBER_NOT_FINITE || st == MGVI_NUMBER_TOO_LARGE)
        mgvi_text_fault(&j->text, cell->begin, "'%s' in %s is not a finite number", what.text,
                        where.text);
    else
        mgvi_text_fault(&j->text, cell->begin,
                        "'%s' in %s is not a number: make it the label_column, or turn it into "
                        "numbers before",
                        what.text, where.text);
}

/* A number, or a word: then all labels are words. */
static bool careful_label(job *j, mgvi_chunk *c, const mgvi_cell *cell, double *label)
{
    const mgvi_number_status st = mgvi_csv_number(cell, label);
    if (st == MGVI_NUMBER_OK)
        return true;
    *label = 0;
    c->flag = true;
    const bool pair = j->label_open && mgvi_csv_is_pair(cell);
    if (!pair && cell->begin < cell->end && *cell->begin && st != MGVI_NUMBER_NOT_FINITE)
        return true;
    fault_of_cell(j, cell, j->layout.label, st);
    return false;
}

/* The cell of `column` at `p`, whatever its spelling. Returns the next cell, or the next line
 * behind the last; NULL: stop. */
__attribute__((noinline)) static const char *careful_cell(job *j, mgvi_chunk *c, const char *line,
                                                          const char *p, int64_t column,
                                                          double *value, const char **at)
{
    const char separator = j->layout.separator;
    mgvi_cell cell;
    if (!mgvi_csv_cell(&j->text, separator, p, c->end, &cell))
        return NULL;
    *at = column == j->layout.label ? cell.begin - cell.quoted : cell.begin;
    const char *next = mgvi_csv_step(separator, cell.next, c->end);
    if ((next != NULL) != (column + 1 < j->layout.columns)) {
        const int64_t found = mgvi_csv_count(&j->text, separator, line, c->end);
        mgvi_text_fault(&j->text, line,
                        "this row has %" PRId64 " cells where %" PRId64 " are expected", found,
                        j->layout.columns);
        return NULL;
    }
    if (column == j->layout.label) {
        if (!careful_label(j, c, &cell, value))
            return NULL;
    } else if (!j->layout.place || j->layout.place[column] != MGVI_NOT_USED) {
        const mgvi_number_status st = mgvi_csv_number(&cell, value);
        if (st != MGVI_NUMBER_OK) {
            fault_of_cell(j, &cell, column, st);
            return NULL;
        }
    }
    return next ? next : mgvi_text_next_line(cell.next, c->end);
}

/* The row at `line`; returns the next line, NULL: stop. */
static inline __attribute__((always_inline)) const char *
read_row(job *j, mgvi_chunk *c, const char *line, const mgvi_precision precision, const bool placed)
{
    const int64_t row = c->row_at + c->rows, last = j->layout.columns - 1;
    const char separator = j->layout.separator;
    int64_t at = row * j->features;
    bool inexact = c->inexact;
    void *const val = j->values.val;
    const char *p = line;
    for (int64_t k = 0; k <= last; k++) {
        double value = 0;
        const char *token = p, *next = p < j->text.safe ? mgvi_number_fast(p, &value) : NULL;
        if (__builtin_expect(next && *next == (k < last ? separator : '\n'), 1))
            next++;
        else if (!(next = careful_cell(j, c, line, p, k, &value, &token)))
            return NULL;
        p = next;
        if (k == j->layout.label) {
            j->labels[row] = value;
            j->label_at[row] = token;
            continue;
        }
        if (placed) {
            if (j->layout.place[k] == MGVI_NOT_USED)
                continue;
            at = row * j->features + j->layout.place[k];
        }
        if (precision == MGVI_AS_F64 && !inexact)
            inexact = !mgvi_number_fits_float(value);
        if (__builtin_expect(!mgvi_values_keep(val, precision, at, value), 0) &&
            !mgvi_values_keep_hard(&j->values, &j->text, at, value, token))
            return NULL;
        at++;
    }
    c->inexact = inexact;
    c->rows++;
    return p;
}

static inline __attribute__((always_inline)) void
read_chunk(job *j, mgvi_chunk *c, const mgvi_precision precision, const bool placed)
{
    c->rows = 0;
    c->flag = c->inexact = false;
    for (const char *p = c->from; p < c->end;) {
        if (!mgvi_csv_has_data(p, c->end)) {
            p = mgvi_text_next_line(p, c->end);
            continue;
        }
        p = read_row(j, c, p, precision, placed);
        if (!p || atomic_load_explicit(&j->values.wider, memory_order_relaxed))
            return;
    }
}

static inline __attribute__((always_inline)) void read_as(job *j, mgvi_chunk *c, const bool placed)
{
    if (j->values.precision == MGVI_TRY_F32)
        read_chunk(j, c, MGVI_TRY_F32, placed);
    else if (j->values.precision == MGVI_AS_F32)
        read_chunk(j, c, MGVI_AS_F32, placed);
    else
        read_chunk(j, c, MGVI_AS_F64, placed);
}

static void read_block(void *arg, int64_t block)
{
    job *j = arg;
    mgvi_chunk *c = &j->text.chunks[block];
    if (j->layout.place)
        read_as(j, c, true);
    else
        read_as(j, c, false);
}

/* ---- the whole file ------------------------------------------------------------------------ */
/* The text before `at` has been seen again: it goes in pieces. */
static const char *leave_now_and_then(const mgvi_text *text, const char *left, const char *at)
{
    if (at - left < MGVI_CHUNK)
        return left;
    mgvi_text_leave(text, left, at);
    return at;
}

/* Every label as text. */
static mgv_status take_words(job *j, mgv_data *data)
{
    mgv_ctx *ctx = j->text.ctx;
    const int64_t rows = data->X.rows;
    mgv_status st = MGV_E_MEMORY;
    size_t bytes = 0;
    mgvi_cell cell;
    const char *left = j->text.begin;
    for (int64_t i = 0; i < rows; i++) {
        mgvi_csv_cell(&j->text, j->layout.separator, j->label_at[i], j->text.end, &cell);
        bytes += (size_t)(cell.end - cell.begin) + 1;
        left = leave_now_and_then(&j->text, left, j->label_at[i]);
    }
    left = j->text.begin;
    const char **texts = mgvi_alloc(ctx, (size_t)rows, sizeof *texts);
    char *block = mgvi_alloc(ctx, bytes, 1), *to = block;
    if (texts && block) {
        for (int64_t i = 0; i < rows; i++) {
            mgvi_csv_cell(&j->text, j->layout.separator, j->label_at[i], j->text.end, &cell);
            texts[i] = to;
            to += mgvi_csv_copy(&cell, to) + 1;
            left = leave_now_and_then(&j->text, left, j->label_at[i]);
        }
        st = mgvi_data_set_text_labels(ctx, data, texts);
    }
    mgvi_release(ctx, block);
    mgvi_release(ctx, texts);
    return st;
}

static mgv_status take_labels(job *j, mgv_data *data)
{
    bool words = false;
    if (!j->labels)
        return MGV_OK;
    for (int64_t i = 0; i < j->text.count; i++)
        words |= j->text.chunks[i].flag;
    mgvi_text_close_gaps(&j->text, j->labels, sizeof *j->labels, true);
    mgvi_text_close_gaps(&j->text, j->label_at, sizeof *j->label_at, true);
    if (words)
        return take_words(j, data);
    return mgvi_text_labels(&j->text, data, j->labels, j->label_at);
}

static mgv_status take(job *j, mgv_data *data)
{
    mgv_ctx *ctx = j->text.ctx;
    mgvi_matrix *m = &data->X;
    int64_t rows, unused;
    mgvi_text_settle(&j->text, &rows, &unused);
    if (rows == 0)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: there is no row below the header", j->text.path);
    *m = (mgvi_matrix){.layout = MGV_DENSE,
                       .dtype = mgvi_values_dtype(&j->values),
                       .rows = rows,
                       .cols = j->features,
                       .nnz = rows * j->features,
                       .row_stride = j->features,
                       .col_stride = 1,
                       .val = j->values.val};
    mgvi_text_close_gaps(&j->text, j->values.val, (size_t)j->features * mgvi_dtype_size(m->dtype),
                         true);
    void *memory = j->values.val;
    j->values.val = NULL; /* handed over, or freed */
    MGVI_TRY(mgvi_data_own(ctx, data, memory, 0));
    MGVI_TRY(take_labels(j, data));
    MGVI_TRY(mgvi_data_check_once(ctx, data));
    return mgvi_csv_names(&j->text, &j->layout, data);
}

static mgv_status read_text(job *j, mgv_data *data, const mgv_settings *s,
                            const mgvi_column_names *known)
{
    mgv_ctx *ctx = j->text.ctx;
    int64_t rows, unused;
    MGVI_TRY(mgvi_csv_look(&j->text, s, known, &j->layout));
    j->label_open = strcmp(s->label_column, "auto") == 0;
    j->features = known ? known->count : j->layout.columns - (j->layout.label != MGVI_NO_LABEL);
    if (j->features == 0)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: there is one column, and it is the label: say label_column none if "
                         "it is a feature",
                         j->text.path);
    if (s->features && s->features != j->features)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: there are %" PRId64 " columns of features where %" PRId64
                         " were asked for",
                         j->text.path, j->features, s->features);
    mgvi_text_skip(&j->text, j->layout.data_begin);
    for (mgvi_chunk *c = j->text.chunks; c < j->text.chunks + j->text.count; c++) {
        /* a row takes two bytes per column; one more may begin before it is seen to be short */
        const int64_t fit = (c->end - c->from + 1) / (2 * j->layout.columns) + 1;
        c->rows = c->lines < fit ? c->lines : fit;
        c->entries = 0;
    }
    mgvi_text_place(&j->text, &rows, &unused);
    if (j->layout.label != MGVI_NO_LABEL &&
        (!(j->labels = mgvi_alloc(ctx, (size_t)rows, sizeof *j->labels)) ||
         !(j->label_at = mgvi_alloc(ctx, (size_t)rows, sizeof *j->label_at))))
        return MGV_E_MEMORY;
    mgvi_values_init(&j->values, &j->text, s->precision, ",;\t \n");
    MGVI_TRY(mgvi_values_read(&j->values, &j->text, rows * j->features, read_block, j));
    return take(j, data);
}

mgv_status mgvi_csv_read(mgv_ctx *ctx, mgvi_source *source, mgv_data *data, size_t chunk_bytes)
{
    job j = {.features = 0};
    mgv_status st = mgvi_text_open(ctx, source, chunk_bytes, '\n', &j.text);
    if (st == MGV_OK)
        st = read_text(&j, data, source->settings, source->known);
    mgvi_release(ctx, j.values.val);
    mgvi_release(ctx, j.labels);
    mgvi_release(ctx, j.label_at);
    mgvi_release(ctx, j.layout.place);
    mgvi_text_close(&j.text);
    return st;
}

static mgv_status read_source(mgv_ctx *ctx, mgvi_source *source, mgv_data *data)
{
    return mgvi_csv_read(ctx, source, data, MGVI_CHUNK);
}

/* Printable text whose first line has separators is worth a try after everything else. */
static int probe(const mgvi_source *source)
{
    const size_t look = source->size < 4096 ? source->size : 4096;
    const char *p = source->bytes, *end = p + look;
    for (const char *q = p; q < end; q++)
        if ((unsigned char)*q < 0x20 && *q != '\t' && *q != '\n' && *q != '\r')
            return 0;
    while (p < end && !mgvi_csv_has_data(p, end))
        p = mgvi_text_next_line(p, end);
    const char *line_end = mgvi_text_next_line(p, end);
    for (; p < line_end; p++)
        if (*p == ',' || *p == ';' || *p == '\t')
            return 50;
    return look ? 20 : 0;
}

const mgvi_reader mgvi_reader_csv = {
    .name = "csv",
    .summary = "delimited text (comma, tab, semicolon, blanks) with or without a header",
    .extensions = ".csv .tsv .dat .data",
    .probe = probe,
    .read = read_source,
};
