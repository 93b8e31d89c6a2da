/* mtx.c - Matrix Market: coordinate (real, integer, pattern; general, symmetric, skew-symmetric)
 * and array files. Indices start at 1, entries come in any order, and entries given twice are
 * added up, as the format's own tools do. Coordinate files become CSR, array files dense in the
 * file's column order. There are no labels in this format. */
#include "base/limit.h"
#include "io/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef enum symmetry { GENERAL, SYMMETRIC, SKEW } symmetry;

typedef struct job {
    mgvi_text text;
    bool array, pattern;
    bool as_entries; /* zeros stay, nothing becomes dense */
    symmetry symmetry;
    int64_t rows, cols, stated; /* lines of values that the size line promises */
    const char *data_begin;
    int32_t *row, *col; /* from 0; NULL for arrays */
    double *val;
} job;

/* ---- banner and size ----------------------------------------------------------------------- */
/* The word at *p within a line, in lower case; moves *p behind it. */
static void take_word(const char **p, const char *end, char *word, size_t capacity)
{
    size_t n = 0;
    while (*p < end && mgvi_is_blank(**p))
        ++*p;
    for (; *p < end && !mgvi_is_blank(**p) && !mgvi_text_at_line_end(*p, end); ++*p) {
        const char c = **p;
        if (n + 1 < capacity)
            word[n++] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    word[n] = 0;
}

/* Which of "a|b|c" the next word is, from 0; -1: a fault that names what is allowed. */
static int take_choice(job *j, const char **p, const char *choices)
{
    char word[24];
    take_word(p, j->text.end, word, sizeof word);
    int k = 0;
    const size_t n = strlen(word);
    for (const char *c = choices;; c++, k++) {
        const size_t m = strcspn(c, "|");
        if (m == n && strncmp(c, word, n) == 0)
            return k;
        c += m;
        if (!*c)
            break;
    }
    mgvi_text_fault(&j->text, *p - n, "'%s' in the first line; margrave reads %s", word, choices);
    return -1;
}

static mgv_status read_banner(job *j)
{
    static const char banner[] = "%%MatrixMarket";
    const char *p = j->text.begin;
    if (j->text.end - p < 14 || strncasecmp(p, banner, 14) != 0)
        return MGVI_TEXT_FAIL(&j->text, p, "the first line does not start with %s", banner);
    p += 14;
    if (take_choice(j, &p, "matrix") < 0)
        return mgvi_text_status(&j->text);
    const int layout = take_choice(j, &p, "coordinate|array");
    const int field = take_choice(j, &p, "real|integer|double|pattern");
    const int kind = take_choice(j, &p, "general|symmetric|skew-symmetric");
    MGVI_TRY(mgvi_text_status(&j->text));
    j->array = layout == 1;
    j->pattern = field == 3;
    j->symmetry = (symmetry)kind;
    if (j->array && j->pattern)
        return MGVI_TEXT_FAIL(&j->text, j->text.begin, "an array cannot be a pattern");
    return MGV_OK;
}

/* A whole number from `low` to `high` at *p; moves *p. False: a fault. */
static bool take_integer(mgvi_text *text, const char **p, const char *end, const char *what,
                         int64_t low, int64_t high, int64_t *value)
{
    while (*p < end && mgvi_is_blank(**p))
        ++*p;
    const char *q = *p;
    int64_t v = 0;
    for (; q < end && *q >= '0' && *q <= '9'; q++)
        v = v < INT64_MAX / 16 ? v * 10 + (*q - '0') : v;
    if (q == *p || !(q == end || mgvi_is_blank(*q) || mgvi_text_at_line_end(q, end)))
        mgvi_text_fault(text, *p, "'%s' where %s should be", mgvi_text_quote(*p, end).text, what);
    else if (v < low || v > high)
        mgvi_text_fault(text, *p, "%s is %.*s; it can be from %" PRId64 " to %" PRId64, what,
                        (int)(q - *p < 24 ? q - *p : 24), *p, low, high);
    else {
        *p = q;
        *value = v;
        return true;
    }
    return false;
}

static bool has_data(const char *line, const char *end)
{
    while (line < end && mgvi_is_blank(*line))
        line++;
    return !mgvi_text_at_line_end(line, end) && *line != '%';
}

static mgv_status read_sizes(job *j)
{
    mgvi_text *text = &j->text;
    const char *p = text->begin, *end = text->end;
    while (p < end && !has_data(p, end))
        p = mgvi_text_next_line(p, end);
    if (p == end)
        return MGVI_TEXT_FAIL(text, end, "the file ends before its size line");
    const char *line = p;
    const int64_t bytes = end - p;
    if (!take_integer(text, &p, end, "the number of rows", 1, INT32_MAX, &j->rows) ||
        !take_integer(text, &p, end, "the number of columns", 1, INT32_MAX, &j->cols) ||
        (!j->array &&
         !take_integer(text, &p, end, "the number of entries", 0, INT64_MAX / 32, &j->stated)))
        return mgvi_text_status(text);
    if (j->symmetry != GENERAL && j->rows != j->cols)
        return MGVI_TEXT_FAIL(text, line,
                              "a symmetric matrix is square, this is %" PRId64 " x %" PRId64,
                              j->rows, j->cols);
    if (j->array)
        j->stated = j->symmetry == GENERAL     ? j->rows * j->cols
                    : j->symmetry == SYMMETRIC ? j->rows * (j->rows + 1) / 2
                                               : j->rows * (j->rows - 1) / 2;
    /* an entry takes at least two bytes; empty rows are allowed but not without limit */
    if (j->stated > bytes || (!j->array && j->rows / 1024 > bytes))
        return MGVI_TEXT_FAIL(text, line,
                              "%" PRId64 " rows and %" PRId64 " values are promised, but only "
                              "%" PRId64 " bytes follow: the file may be truncated",
                              j->rows, j->stated, bytes);
    j->data_begin = mgvi_text_next_line(p, end);
    return MGV_OK;
}

/* ---- entries ------------------------------------------------------------------------------- */
/* One line's entry; false: a fault. */
static bool read_entry(job *j, const char *p, const char *end, int64_t at)
{
    mgvi_text *text = &j->text;
    int64_t row, col;
    j->val[at] = 1;
    if (!j->array) {
        if (!take_integer(text, &p, end, "the row", 1, j->rows, &row) ||
            !take_integer(text, &p, end, "the column", 1, j->cols, &col))
            return false;
        if (j->symmetry == SKEW && row == col) {
            mgvi_text_fault(text, p, "a diagonal entry in a skew-symmetric matrix");
            return false;
        }
        j->row[at] = (int32_t)(row - 1);
        j->col[at] = (int32_t)(col - 1);
    }
    while (p < end && mgvi_is_blank(*p))
        p++;
    if (!j->pattern && !(p = mgvi_text_number(text, p, end, "the value", &j->val[at])))
        return false;
    while (p < end && mgvi_is_blank(*p))
        p++;
    if (!mgvi_text_at_line_end(p, end)) {
        mgvi_text_fault(text, p, "'%s' behind the entry", mgvi_text_quote(p, end).text);
        return false;
    }
    return true;
}

static void read_block(void *arg, int64_t block)
{
    job *j = arg;
    mgvi_chunk *c = &j->text.chunks[block];
    c->rows = 0;
    for (const char *p = c->from; p < c->end; p = mgvi_text_next_line(p, c->end)) {
        if (!has_data(p, c->end))
            continue;
        if (!read_entry(j, p, c->end, c->row_at + c->rows))
            return;
        c->rows++;
    }
}

static mgv_status read_entries(job *j)
{
    mgv_ctx *ctx = j->text.ctx;
    const int64_t lines = mgvi_text_place_lines(&j->text, j->data_begin);
    int64_t found, unused;
    if (!(j->val = mgvi_alloc(ctx, (size_t)lines, sizeof *j->val)) ||
        (!j->array && (!(j->row = mgvi_alloc(ctx, (size_t)lines, sizeof *j->row)) ||
                       !(j->col = mgvi_alloc(ctx, (size_t)lines, sizeof *j->col)))))
        return MGV_E_MEMORY;
    MGVI_TRY(mgvi_text_run(&j->text, read_block, j));
    MGVI_TRY(mgvi_text_status(&j->text));
    mgvi_text_settle(&j->text, &found, &unused);
    if (found != j->stated)
        return MGVI_TEXT_FAIL(
            &j->text, j->text.end, "%" PRId64 " values were promised and %" PRId64 " are there%s",
            j->stated, found, found < j->stated ? ": the file may be truncated" : "");
    mgvi_text_close_gaps(&j->text, j->val, sizeof *j->val, true);
    if (!j->array) {
        mgvi_text_close_gaps(&j->text, j->row, sizeof *j->row, true);
        mgvi_text_close_gaps(&j->text, j->col, sizeof *j->col, true);
    }
    return MGV_OK;
}

/* ---- matrices ------------------------------------------------------------------------------ */
/* Owned by the data as float32 when asked for or exact, else float64. */
static mgv_status take_values(mgv_ctx *ctx, mgv_data *data, mgvi_wanted_precision precision,
                              double *val, int64_t count)
{
    bool narrow = precision != MGVI_PRECISION_F64;
    if (precision == MGVI_PRECISION_AUTO)
        for (int64_t t = 0; t < count && narrow; t++)
            narrow = mgvi_number_fits_float(val[t]);
    data->X.dtype = narrow ? MGV_F32 : MGV_F64;
    data->X.val = val;
    if (!narrow)
        return mgvi_data_own(ctx, data, val, 0);
    float *floats = mgvi_alloc(ctx, (size_t)count, sizeof *floats);
    for (int64_t t = 0; floats && t < count; t++)
        floats[t] = (float)val[t];
    mgvi_release(ctx, val);
    data->X.val = floats;
    return floats ? mgvi_data_own(ctx, data, floats, 0) : MGV_E_MEMORY;
}

/* Unfolds a triangle stored by columns. */
static mgv_status take_array(job *j, mgv_data *data, mgvi_wanted_precision precision)
{
    const int64_t n = j->rows;
    double *full = j->val;
    j->val = NULL;
    if (j->symmetry != GENERAL) {
        double *packed = full;
        const double sign = j->symmetry == SKEW ? -1 : 1;
        full = mgvi_zeros(j->text.ctx, (size_t)n, (size_t)n * sizeof *full);
        int64_t t = 0;
        for (int64_t c = 0; full && c < n; c++)
            for (int64_t r = c + (j->symmetry == SKEW); r < n; r++, t++) {
                full[c * n + r] = packed[t];
                full[r * n + c] = r == c ? packed[t] : sign * packed[t];
            }
        mgvi_release(j->text.ctx, packed);
        if (!full)
            return MGV_E_MEMORY;
    }
    data->X = (mgvi_matrix){.layout = MGV_DENSE,
                            .rows = j->rows,
                            .cols = j->cols,
                            .nnz = j->rows * j->cols,
                            .row_stride = 1,
                            .col_stride = j->rows};
    return take_values(j->text.ctx, data, precision, full, data->X.nnz);
}

typedef struct entry {
    int32_t col;
    uint32_t order; /* entries given twice are added in the file's order */
    double val;
} entry;

typedef struct assembly {
    const job *j;
    int64_t *end;   /* of each row in `entries` */
    int64_t *count; /* of each row once sorted and added up */
    entry *entries;
    int64_t blocks;
} assembly;

/* Puts every entry, and its mirror image, into its row. */
static void distribute(assembly *a)
{
    const job *j = a->j;
    mgv_ctx *ctx = j->text.ctx;
    const bool mirror = j->symmetry != GENERAL;
    const double sign = j->symmetry == SKEW ? -1 : 1;
    for (int pass = 0; pass < 2; pass++) { /* count, then fill */
        for (int64_t t = 0; t < j->stated && !mgvi_ctx_cut_row(ctx, t); t++) {
            const int32_t at[2] = {j->row[t], j->col[t]};
            for (int k = 0; k < 1 + (mirror && at[0] != at[1]); k++) {
                const int64_t place = a->end[at[k]]++;
                if (pass)
                    a->entries[place] = (entry){.col = at[1 - k],
                                                .order = (uint32_t)place,
                                                .val = k ? sign * j->val[t] : j->val[t]};
            }
        }
        if (mgvi_ctx_was_cut(ctx))
            return;
        int64_t sum = 0;
        for (int64_t i = 0; !pass && i < j->rows; i++) {
            const int64_t length = a->end[i];
            a->end[i] = sum; /* the start, and the end once filled */
            sum += length;
        }
    }
}

static int by_column(const void *pa, const void *pb)
{
    const entry *a = pa, *b = pb;
    if (a->col != b->col)
        return a->col < b->col ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Sorts a row, adds up what was given twice and leaves zeros out unless they are to be kept. */
static int64_t tidy_row(entry *e, int64_t n, bool keep_zeros)
{
    bool sorted = true;
    for (int64_t t = 1; t < n; t++)
        sorted &= e[t - 1].col < e[t].col;
    if (!sorted)
        qsort(e, (size_t)n, sizeof *e, by_column);
    int64_t kept = 0;
    for (int64_t t = 0; t < n;) {
        entry sum = e[t++];
        for (; t < n && e[t].col == sum.col; t++)
            sum.val += e[t].val;
        e[kept] = sum;
        kept += sum.val != 0 || keep_zeros;
    }
    return kept;
}

static void tidy_rows(void *arg, int64_t block)
{
    assembly *a = arg;
    const int64_t end = mgvi_block_begin(a->j->rows, a->blocks, block + 1);
    for (int64_t i = mgvi_block_begin(a->j->rows, a->blocks, block); i < end; i++) {
        const int64_t begin = i ? a->end[i - 1] : 0;
        a->count[i] = tidy_row(a->entries + begin, a->end[i] - begin, a->j->as_entries);
    }
}

/* The tidy entries as CSR. */
static mgv_status take_rows(assembly *a, mgv_data *data, mgvi_wanted_precision precision)
{
    mgv_ctx *ctx = a->j->text.ctx;
    const int64_t rows = a->j->rows;
    int64_t *ptr = mgvi_data_array(ctx, data, (size_t)rows + 1, sizeof *ptr);
    for (int64_t i = 0; ptr && i < rows; i++)
        ptr[i + 1] = ptr[i] + a->count[i];
    const int64_t nnz = ptr ? ptr[rows] : 0;
    int32_t *idx = ptr ? mgvi_data_array(ctx, data, (size_t)nnz, sizeof *idx) : NULL;
    double *val = idx ? mgvi_alloc(ctx, (size_t)nnz, sizeof *val) : NULL;
    if (!val)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < rows; i++) {
        const entry *e = a->entries + (i ? a->end[i - 1] : 0);
        for (int64_t t = 0; t < a->count[i]; t++) {
            idx[ptr[i] + t] = e[t].col;
            val[ptr[i] + t] = e[t].val;
        }
    }
    data->X = (mgvi_matrix){
        .layout = MGV_CSR, .rows = rows, .cols = a->j->cols, .nnz = nnz, .ptr = ptr, .idx = idx};
    return take_values(ctx, data, precision, val, nnz);
}

static mgv_status take_coordinates(job *j, mgv_data *data, mgvi_wanted_precision precision)
{
    mgv_ctx *ctx = j->text.ctx;
    mgv_status st = MGV_E_MEMORY;
    const int64_t most = j->stated * (j->symmetry == GENERAL ? 1 : 2);
    assembly a = {.j = j, .blocks = mgvi_block_count(j->rows, 256, 256)};
    if ((a.end = mgvi_zeros(ctx, (size_t)j->rows, sizeof *a.end)) &&
        (a.count = mgvi_zeros(ctx, (size_t)j->rows, sizeof *a.count)) &&
        (a.entries = mgvi_alloc(ctx, (size_t)most, sizeof *a.entries))) {
        for (int64_t t = 0; t < j->stated; t++)
            data->stored_zeros += j->val[t] == 0;
        distribute(&a);
        mgvi_ctx_run(ctx, a.blocks, tidy_rows, &a);
        st = mgvi_read_whole(ctx, j->text.path);
        if (st == MGV_OK)
            st = take_rows(&a, data, precision);
    }
    mgvi_release(ctx, a.end);
    mgvi_release(ctx, a.count);
    mgvi_release(ctx, a.entries);
    return st == MGV_OK && !j->as_entries ? mgvi_data_densify(ctx, data) : st;
}

/* ---- the reader ---------------------------------------------------------------------------- */
static mgv_status read_text(job *j, mgv_data *data, const mgv_settings *s)
{
    MGVI_TRY(read_banner(j));
    MGVI_TRY(read_sizes(j));
    MGVI_TRY(read_entries(j));
    MGVI_TRY(j->array ? take_array(j, data, s->precision)
                      : take_coordinates(j, data, s->precision));
    /* sums of entries and rounding to float32 may have left the finite numbers */
    return mgvi_data_check_once(j->text.ctx, data);
}

mgv_status mgvi_mtx_read(mgv_ctx *ctx, mgvi_source *source, mgv_data *data, size_t chunk_bytes)
{
    job j = {.as_entries = source->as_entries};
    mgv_status st = mgvi_text_open(ctx, source, chunk_bytes, '\n', &j.text);
    if (st == MGV_OK)
        st = read_text(&j, data, source->settings);
    mgvi_release(ctx, j.val);
    mgvi_release(ctx, j.row);
    mgvi_release(ctx, j.col);
    mgvi_text_close(&j.text);
    return st;
}

static mgv_status read_source(mgv_ctx *ctx, mgvi_source *source, mgv_data *data)
{
    return mgvi_mtx_read(ctx, source, data, MGVI_CHUNK);
}

static int probe(const mgvi_source *source)
{
    return source->size >= 14 && strncasecmp(source->bytes, "%%MatrixMarket", 14) == 0 ? 100 : 0;
}

const mgvi_reader mgvi_reader_mtx = {
    .name = "mtx",
    .summary = "Matrix Market: coordinate or array, without labels",
    .extensions = ".mtx",
    .probe = probe,
    .read = read_source,
};
