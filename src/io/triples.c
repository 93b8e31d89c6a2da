/* triples.c - text is read in parallel chunks with rows and columns as numbers; a side where words
 * occur, or numbers far beyond the count of the entries (account numbers), is read once more, in
 * order, and its words are numbered as they come. */
#include "io/triples.h"

#include "base/clock.h"
#include "base/limit.h"
#include "io/csv_layout.h"

#include <string.h>

/* A side this much wider than there are entries has names, not positions. */
enum { PER_ENTRY = 16, AT_LEAST = 1024 };

/* What a chunk has seen of rows and of columns. */
typedef struct seen {
    bool words[2], zero[2];
    int64_t largest[2];
} seen;

typedef struct job {
    mgvi_text text;
    const mgv_settings *settings;
    const mgvi_side *known;
    char separator;
    int stride; /* cells from one field to the next: 2 for "::" */
    bool values;
    const char *data_begin;
    int32_t *field[2];
    double *value;
    seen *seen;
    mgv_triples *out;
} job;

/* ---- the first line -------------------------------------------------------------------------- */

/* Field `number` of the line; false: it has fewer, or a fault. */
static bool find_field(job *j, const char *line, int number, mgvi_cell *cell)
{
    const char *p = line, *end = j->text.end;
    for (int k = 0; p; k++) {
        if (!mgvi_csv_cell(&j->text, j->separator, p, end, cell))
            return false;
        if (k == number * j->stride)
            return cell->end > cell->begin || cell->quoted || k > 0;
        p = mgvi_csv_step(j->separator, cell->next, end);
    }
    return false;
}

static bool is_number(const mgvi_cell *cell)
{
    double value;
    return mgvi_csv_number(cell, &value) == MGVI_NUMBER_OK;
}

static const char *next_data(const job *j, const char *line)
{
    while (line < j->text.end && !mgvi_csv_has_data(line, j->text.end))
        line = mgvi_text_next_line(line, j->text.end);
    return line;
}

static mgv_status find_separator(job *j, const char *line)
{
    const char *end = mgvi_text_next_line(line, j->text.end);
    MGVI_TRY(mgvi_csv_separator(&j->text, j->settings->separator, line, &j->separator));
    j->stride = 1;
    for (const char *p = line; j->separator == ' ' && p + 1 < end; p++)
        if (p[0] == ':' && p[1] == ':') {
            j->separator = ':';
            j->stride = 2;
        }
    return MGV_OK;
}

/* A header has a word where values stand; without values, words above numbers. */
static bool is_header(job *j, const char *line)
{
    const char *second = next_data(j, mgvi_text_next_line(line, j->text.end));
    mgvi_cell cell, below;
    if (j->settings->header != MGVI_WISH_AUTO)
        return j->settings->header == MGVI_WISH_YES;
    if (find_field(j, line, 2, &cell))
        return !is_number(&cell);
    return second < j->text.end && find_field(j, line, 0, &cell) && !is_number(&cell) &&
           find_field(j, second, 0, &below) && is_number(&below);
}

static mgv_status look(job *j)
{
    mgvi_cell cell;
    const char *line = next_data(j, j->text.begin);
    if (line == j->text.end)
        return MGVI_FAIL(j->text.ctx, MGV_E_INPUT, "%s: there is no entry in this file",
                         j->text.path);
    MGVI_TRY(find_separator(j, line));
    if (is_header(j, line))
        line = next_data(j, mgvi_text_next_line(line, j->text.end));
    MGVI_TRY(mgvi_text_status(&j->text)); /* an open quote */
    if (line == j->text.end)
        return MGVI_FAIL(j->text.ctx, MGV_E_INPUT, "%s: there is no entry below the header",
                         j->text.path);
    j->data_begin = line;
    if (!find_field(j, line, 1, &cell))
        return MGVI_TEXT_FAIL(&j->text, line,
                              "a line of entries has a row, a column and a value; here is only one "
                              "field");
    j->values = find_field(j, line, 2, &cell) && (is_number(&cell) || !j->known);
    if (!j->values && !j->known)
        return MGVI_TEXT_FAIL(&j->text, line,
                              "a line of entries has a row, a column and a value; the value is "
                              "missing");
    return MGV_OK;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* A position from 0 to 2^31 - 2; beyond that a name, or, where positions are what a model knows
 * (`known`), 2^31 - 1: one it has never seen. */
static bool position(const mgvi_cell *cell, bool known, int32_t *out)
{
    int64_t v = 0;
    const char *p = cell->begin;
    for (; p < cell->end && *p >= '0' && *p <= '9'; p++)
        v = v < INT32_MAX ? 10 * v + (*p - '0') : v;
    const bool digits = p == cell->end && p > cell->begin && !cell->quoted;
    *out = (int32_t)(v < INT32_MAX ? v : known ? INT32_MAX : 0);
    return digits && (known || v < INT32_MAX);
}

static const char *skip_stride(const job *j, const char *p, mgvi_cell *cell)
{
    for (int k = 0; k < j->stride && p; k++) {
        p = mgvi_csv_step(j->separator, cell->next, j->text.end);
        if (p && k + 1 < j->stride &&
            !mgvi_csv_cell((mgvi_text *)&j->text, j->separator, p, j->text.end, cell))
            return NULL;
    }
    return p;
}

static bool read_line(job *j, seen *s, const char *p, int64_t at)
{
    static const char *const names[] = {"the row", "the column", "the value"};
    mgvi_cell cell = {0};
    for (int k = 0; k < 2 + j->values; k++) {
        if (k)
            p = skip_stride(j, p, &cell);
        if (p && !mgvi_csv_cell(&j->text, j->separator, p, j->text.end, &cell))
            return false;
        if (!p || (cell.end == cell.begin && !cell.quoted)) {
            mgvi_text_fault(&j->text, p ? p : cell.next, "%s is missing", names[k]);
            return false;
        }
        if (k == 2)
            break;
        int32_t number;
        if (position(&cell, j->known && !j->known[k].named, &number)) {
            s->zero[k] |= number == 0;
            s->largest[k] = number > s->largest[k] ? number : s->largest[k];
        } else {
            s->words[k] = true;
            if (memchr(cell.begin, 0, (size_t)(cell.end - cell.begin))) {
                mgvi_text_fault(&j->text, cell.begin, "a zero byte in %s: this is not text",
                                names[k]);
                return false;
            }
        }
        j->field[k][at] = number;
    }
    if (!j->values)
        return true;
    const char *next = mgvi_text_number(&j->text, cell.begin, cell.end, names[2], &j->value[at]);
    if (next && next != cell.end)
        mgvi_text_fault(&j->text, cell.begin, "the value '%s' is not a number",
                        mgvi_text_quote(cell.begin, cell.end).text);
    return next == cell.end;
}

static void read_block(void *arg, int64_t block)
{
    job *j = arg;
    mgvi_chunk *c = &j->text.chunks[block];
    c->rows = 0;
    for (const char *p = c->from; p < c->end; p = mgvi_text_next_line(p, c->end)) {
        if (!mgvi_csv_has_data(p, c->end))
            continue;
        if (!read_line(j, &j->seen[block], p, c->row_at + c->rows))
            return;
        c->rows++;
    }
}

static mgv_status read_lines(job *j)
{
    mgv_ctx *ctx = j->text.ctx;
    const int64_t lines = mgvi_text_place_lines(&j->text, j->data_begin);
    int64_t found, unused;
    MGVI_TRY(mgvi_triples_new(ctx, lines, j->values, &j->out));
    j->field[0] = j->out->row;
    j->field[1] = j->out->col;
    j->value = j->out->value;
    if (!(j->seen = mgvi_zeros(ctx, (size_t)j->text.count, sizeof *j->seen)))
        return MGV_E_MEMORY;
    MGVI_TRY(mgvi_text_run(&j->text, read_block, j));
    MGVI_TRY(mgvi_text_status(&j->text));
    mgvi_text_settle(&j->text, &found, &unused);
    mgvi_text_close_gaps(&j->text, j->field[0], sizeof *j->field[0], true);
    mgvi_text_close_gaps(&j->text, j->field[1], sizeof *j->field[1], true);
    if (j->values)
        mgvi_text_close_gaps(&j->text, j->value, sizeof *j->value, true);
    j->out->count = j->out->given = found;
    return MGV_OK;
}

/* ---- rows and columns ------------------------------------------------------------------------ */

/* The words of side k, in the order of the file. */
static mgv_status number_words(job *j, int k)
{
    mgvi_side *side = &j->out->side[k];
    mgv_status st = MGV_OK;
    size_t room = 256;
    char *word = mgvi_alloc(j->text.ctx, room, 1);
    int64_t at = 0, number;
    for (const char *p = j->data_begin; p < j->text.end && st == MGV_OK && word;
         p = mgvi_text_next_line(p, j->text.end)) {
        mgvi_cell cell;
        if (!mgvi_csv_has_data(p, j->text.end) || !find_field(j, p, k, &cell))
            continue;
        const size_t bytes = (size_t)(cell.end - cell.begin) + 1;
        if (bytes > room) {
            mgvi_release(j->text.ctx, word);
            word = mgvi_alloc(j->text.ctx, room = 2 * bytes, 1);
            if (!word)
                break;
        }
        const size_t length = mgvi_csv_copy(&cell, word);
        if (j->known)
            number = mgvi_words_find(j->known[k].words, word, length);
        else
            st = mgvi_words_add(side->words, word, length, &number);
        if (st == MGV_OK)
            j->field[k][at++] = (int32_t)number;
        if (st == MGV_OK && mgvi_ctx_cut_row(j->text.ctx, at))
            st = mgvi_read_whole(j->text.ctx, j->text.path);
    }
    st = word ? st : MGV_E_MEMORY;
    mgvi_release(j->text.ctx, word);
    return st;
}

static seen all_seen(const job *j)
{
    seen all = {.words = {false, false}};
    for (int64_t c = 0; c < j->text.count; c++)
        for (int k = 0; k < 2; k++) {
            all.words[k] |= j->seen[c].words[k];
            all.zero[k] |= j->seen[c].zero[k];
            if (j->seen[c].largest[k] > all.largest[k])
                all.largest[k] = j->seen[c].largest[k];
        }
    return all;
}

/* 0 where a position 0 occurs on a side of numbers, else 1; or the setting. */
static mgv_status find_base(job *j, const seen *s, int *base)
{
    const bool zero = (s->zero[0] && !s->words[0]) || (s->zero[1] && !s->words[1]);
    *base = j->settings->base == MGVI_BASE_AUTO ? !zero : j->settings->base == MGVI_BASE_1;
    return zero && *base ? MGVI_FAIL(j->text.ctx, MGV_E_INPUT,
                                     "%s: row or column 0 occurs, but base is 1", j->text.path)
                         : MGV_OK;
}

static void subtract_base(job *j, int k, int base, int64_t count)
{
    for (int64_t t = 0; t < j->out->count; t++) {
        const int64_t number = (int64_t)j->field[k][t] - base;
        j->field[k][t] = number >= 0 && number < count ? (int32_t)number : -1;
    }
}

static mgv_status number_sides(job *j)
{
    mgv_triples *out = j->out;
    seen s = all_seen(j);
    int base = 0;
    const int64_t wide = PER_ENTRY * out->count + AT_LEAST;
    for (int k = 0; k < 2 && !j->known; k++)
        s.words[k] |= s.largest[k] > wide;
    if (!j->known)
        MGVI_TRY(find_base(j, &s, &base));
    for (int k = 0; k < 2; k++) {
        mgvi_side *side = &out->side[k];
        side->named = j->known ? j->known[k].named : s.words[k];
        side->base = j->known ? j->known[k].base : base;
        if (!j->known && side->named)
            MGVI_TRY(mgvi_words_new(j->text.ctx, &side->words));
        if (side->named)
            MGVI_TRY(number_words(j, k));
        side->count = j->known      ? j->known[k].count
                      : side->named ? mgvi_words_count(side->words)
                                    : s.largest[k] - base + 1;
        if (!side->named)
            subtract_base(j, k, side->base, side->count);
    }
    /* numbers the completion has never seen are answered, words are another kind of file */
    for (int k = 0; k < 2 && j->known; k++)
        if (!out->side[k].named && s.words[k])
            return MGVI_FAIL(j->text.ctx, MGV_E_INPUT,
                             "%s: the %s are names; the model knows them by number from %d on",
                             j->text.path, k ? "columns" : "rows", out->side[k].base);
    out->rows = out->side[0].count;
    out->cols = out->side[1].count;
    return MGV_OK;
}

/* ---- stored matrices ------------------------------------------------------------------------- */

static mgv_status from_matrix(mgv_ctx *ctx, mgvi_source *source, const mgvi_side *known,
                              mgv_triples **out)
{
    mgv_data *data;
    mgv_triples *t = NULL;
    mgv_status st;
    source->as_entries = true;
    MGVI_TRY(mgvi_read_source(ctx, source, &data));
    const mgvi_matrix *X = &data->X;
    const bool by_row = X->layout == MGV_CSR;
    if (X->layout == MGV_DENSE)
        MGVI_CHECK(st, done,
                   MGVI_FAIL(ctx, MGV_E_INPUT,
                             "%s: this is a full table, every entry is seen: give lines `row "
                             "column value` or a sparse matrix",
                             source->path));
    MGVI_CHECK(st, done, mgvi_data_check_once(ctx, data));
    MGVI_CHECK(st, done, mgvi_triples_new(ctx, X->nnz, true, &t));
    int32_t *major = by_row ? t->row : t->col, *minor = by_row ? t->col : t->row;
    const int64_t sizes[2] = {X->rows, X->cols};
    for (int64_t i = 0; i < (by_row ? X->rows : X->cols); i++)
        for (int64_t k = X->ptr[i]; k < X->ptr[i + 1]; k++) {
            major[k] = (int32_t)i;
            minor[k] = X->idx[k];
            t->value[k] = mgvi_matrix_value(X, k);
        }
    for (int k = 0; k < 2; k++) {
        t->side[k] = (mgvi_side){.count = known ? known[k].count : sizes[k],
                                 .base = strcmp(data->format, "mtx") == 0};
        int32_t *field = k ? t->col : t->row;
        for (int64_t n = 0; known && n < t->count; n++)
            field[n] = field[n] < known[k].count ? field[n] : -1;
    }
    t->rows = t->side[0].count;
    t->cols = t->side[1].count;
    t->format = data->format;
    *out = t;
done:
    mgvi_data_free(ctx, data);
    return st;
}

static bool is_text(const mgvi_reader *reader)
{
    return strcmp(reader->name, "csv") == 0 || strcmp(reader->name, "libsvm") == 0;
}

mgv_status mgvi_triples_from_source(mgv_ctx *ctx, mgvi_source *source, const mgvi_side *known,
                                    size_t chunk_bytes, mgv_triples **out)
{
    const mgvi_reader *reader = NULL;
    *out = NULL;
    MGVI_TRY(mgvi_pick_reader(ctx, source, &reader));
    if (!is_text(reader))
        return from_matrix(ctx, source, known, out);
    job j = {.settings = source->settings, .known = known};
    mgv_status st = mgvi_text_open(ctx, source, chunk_bytes, '\n', &j.text);
    if (st == MGV_OK)
        st = look(&j);
    if (st == MGV_OK)
        st = read_lines(&j);
    if (st == MGV_OK)
        st = number_sides(&j);
    mgvi_release(ctx, j.seen);
    mgvi_text_close(&j.text);
    if (st != MGV_OK) {
        mgvi_triples_free(j.out);
        return st;
    }
    j.out->format = "triples";
    *out = j.out;
    return MGV_OK;
}

mgv_status mgvi_triples_read(mgv_ctx *ctx, const char *path, const mgv_settings *settings,
                             const mgvi_side *known, mgv_triples **out)
{
    const double start = mgvi_clock_seconds();
    mgvi_source source;
    *out = NULL;
    mgvi_ctx_open(ctx, MGVI_GRACE);
    mgv_status st = mgvi_source_open(ctx, path, settings, &source);
    if (st == MGV_OK) {
        source.settings = settings;
        st = mgvi_triples_from_source(ctx, &source, known, MGVI_CHUNK, out);
        mgvi_source_close(ctx, &source);
    }
    if (mgvi_limit_explains(st) && mgvi_ctx_was_cut(ctx)) {
        mgvi_triples_free(*out);
        *out = NULL;
        st = mgvi_read_whole(ctx, source.path);
    }
    mgvi_ctx_close(ctx);
    if (st == MGV_OK)
        (*out)->load_seconds = mgvi_clock_seconds() - start;
    return st;
}
