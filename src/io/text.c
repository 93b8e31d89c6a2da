/* text.c - chunks, faults and results of the text readers. */
#include "io/text.h"

#include "base/limit.h"
#include "base/print.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- cutting and counting ------------------------------------------------------------------ */
typedef unsigned char lanes __attribute__((vector_size(16))); /* every processor has these */

/* A lane counts to 255 before the lanes are added up. */
static void count_bytes(const char *p, const char *end, char mark, int64_t *lines, int64_t *marks)
{
    enum { STEP = 4 * sizeof(lanes), ROUNDS = 63 };
    const lanes newline = (lanes){0} + (unsigned char)'\n',
                other = (lanes){0} + (unsigned char)mark;
    while (end - p >= STEP) {
        lanes a = {0}, b = {0};
        for (int i = 0; i < ROUNDS && end - p >= STEP; i++, p += STEP) {
            lanes v[4];
            memcpy(v, p, STEP);
            for (int k = 0; k < 4; k++) {
                a -= (lanes)(v[k] == newline); /* true is -1 */
                b -= (lanes)(v[k] == other);
            }
        }
        for (size_t i = 0; i < sizeof(lanes); i++) {
            *lines += a[i];
            *marks += b[i];
        }
    }
    for (; p < end; p++) {
        *lines += *p == '\n';
        *marks += *p == mark;
    }
}

typedef struct counting {
    mgvi_text *text;
    char mark;
} counting;

static void count_chunk(void *arg, int64_t block)
{
    const counting *job = arg;
    mgvi_chunk *c = &job->text->chunks[block];
    count_bytes(c->begin, c->end, job->mark, &c->lines, &c->marks);
    if (c->end == job->text->end && c->begin < c->end && c->end[-1] != '\n')
        c->lines++; /* the last line has no newline */
}

/* A chunk holds the lines that begin in its share of the bytes. */
static void cut(mgvi_text *text, size_t chunk_bytes)
{
    const char *at = text->begin;
    for (int64_t i = 0; i < text->count; i++) {
        mgvi_chunk *c = &text->chunks[i];
        c->begin = c->from = at;
        const size_t left = (size_t)(text->end - text->begin) - (size_t)i * chunk_bytes;
        const char *nominal = text->begin + (size_t)i * chunk_bytes;
        nominal = left <= chunk_bytes ? text->end : nominal + chunk_bytes;
        if (at < nominal)
            at = mgvi_text_next_line(nominal - 1, text->end);
        c->end = at;
    }
}

mgv_status mgvi_text_open(mgv_ctx *ctx, const mgvi_source *source, size_t chunk_bytes, char mark,
                          mgvi_text *text)
{
    enum { CHUNKS_MAX = 1 << 14, LONG = 16 << 20 };
    const size_t skip = source->size >= 3 && memcmp(source->bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    const size_t size = source->size - skip;
    if (size / CHUNKS_MAX >= chunk_bytes)
        chunk_bytes = size / CHUNKS_MAX + 1;
    *text = (mgvi_text){.ctx = ctx,
                        .path = source->path,
                        .begin = source->bytes + skip,
                        .end = source->bytes + source->size,
                        .fleeting = source->mapped > LONG,
                        .count = (int64_t)((size + chunk_bytes - 1) / chunk_bytes)};
    if (size == 0)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the file is empty", source->path);
    text->safe = size > MGVI_TEXT_AHEAD ? text->end - MGVI_TEXT_AHEAD : text->begin;
    text->chunks = mgvi_zeros(ctx, (size_t)text->count, sizeof *text->chunks);
    if (!text->chunks)
        return MGV_E_MEMORY;
    pthread_mutex_init(&text->lock, NULL);
    cut(text, chunk_bytes);
    counting job = {.text = text, .mark = mark};
    MGVI_TRY(mgvi_text_run(text, count_chunk, &job));
    for (int64_t i = 1; i < text->count; i++)
        text->chunks[i].first_line = text->chunks[i - 1].first_line + text->chunks[i - 1].lines;
    return MGV_OK;
}

void mgvi_text_close(mgvi_text *text)
{
    if (!text->chunks)
        return;
    pthread_mutex_destroy(&text->lock);
    mgvi_release(text->ctx, text->chunks);
    text->chunks = NULL;
}

void mgvi_text_skip(mgvi_text *text, const char *data_begin)
{
    for (mgvi_chunk *c = text->chunks; c < text->chunks + text->count; c++) {
        if (c->begin >= data_begin)
            return;
        c->from = data_begin < c->end ? data_begin : c->end;
        for (const char *p = c->begin; p < c->from; p = mgvi_text_next_line(p, c->from))
            c->lines--;
    }
}

void mgvi_text_leave(const mgvi_text *text, const char *begin, const char *end)
{
    if (text->fleeting)
        mgvi_forget(begin, end);
}

typedef struct pass {
    const mgvi_text *text;
    mgvi_block_fn fn;
    void *arg;
} pass;

static void pass_chunk(void *arg, int64_t block)
{
    const pass *p = arg;
    const mgvi_chunk *c = &p->text->chunks[block];
    p->fn(p->arg, block);
    mgvi_text_leave(p->text, c->begin, c->end);
}

mgv_status mgvi_text_run(mgvi_text *text, mgvi_block_fn fn, void *arg)
{
    pass p = {text, fn, arg};
    mgvi_ctx_run(text->ctx, text->count, pass_chunk, &p);
    return mgvi_read_whole(text->ctx, text->path);
}

/* ---- faults -------------------------------------------------------------------------------- */
void mgvi_text_fault(mgvi_text *text, const char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&text->lock);
    if (!text->fault_at || at < text->fault_at) {
        text->fault_at = at;
        mgvi_vprint(text->fault, sizeof text->fault, format, args);
    }
    pthread_mutex_unlock(&text->lock);
    va_end(args);
}

mgv_status mgvi_text_status(const mgvi_text *text)
{
    if (!text->fault_at)
        return MGV_OK;
    const mgvi_chunk *c = text->chunks, *last = c + text->count - 1;
    while (c < last && text->fault_at >= c->end && c->end < text->end)
        c++;
    int64_t line = c->first_line + 1;
    const char *start = c->begin, *next;
    /* a fault at the very end belongs to the last line, with or without its newline */
    while ((next = mgvi_text_next_line(start, text->end)) <= text->fault_at && next < text->end) {
        start = next;
        line++;
    }
    return MGVI_FAIL(text->ctx, MGV_E_INPUT, "%s:%" PRId64 ":%" PRId64 ": %s", text->path, line,
                     (int64_t)(text->fault_at - start) + 1, text->fault);
}

mgvi_quote mgvi_text_quote(const char *at, const char *end)
{
    mgvi_quote q = {{0}};
    size_t n = 0;
    for (; at < end && !mgvi_is_blank(*at) && *at != '\n' && *at != '\r'; at++) {
        if (n > 40) {
            snprintf(q.text + n, sizeof q.text - n, "...");
            return q;
        }
        const unsigned char c = (unsigned char)*at;
        if (c < 0x20 || c == 0x7f)
            n += (size_t)snprintf(q.text + n, sizeof q.text - n, "\\x%02x", c);
        else
            q.text[n++] = (char)c;
    }
    return q;
}

bool mgvi_text_at_line_end(const char *p, const char *end)
{
    if (p < end && *p == '\r')
        p++;
    return p == end || *p == '\n';
}

const char *mgvi_text_next_line(const char *p, const char *end)
{
    const char *newline = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    return newline ? newline + 1 : end;
}

const char *mgvi_text_number(mgvi_text *text, const char *p, const char *end, const char *what,
                             double *value)
{
    static const char *const faults[] = {[MGVI_NUMBER_NONE] = "is not a number",
                                         [MGVI_NUMBER_NOT_FINITE] = "is not a finite number",
                                         [MGVI_NUMBER_HEX] = "is not a decimal number",
                                         [MGVI_NUMBER_TOO_LARGE] = "is too large for a float64"};
    const char *next = p;
    const mgvi_number_status st = mgvi_number_parse(p, end, value, &next);
    if (st == MGVI_NUMBER_OK)
        return next;
    if (p == end && end == text->end)
        mgvi_text_fault(text, p, "the file ends where %s should be: it may be truncated", what);
    else if (mgvi_text_at_line_end(p, end) || mgvi_is_blank(*p))
        mgvi_text_fault(text, p, "%s is missing", what);
    else
        mgvi_text_fault(text, p, "%s '%s' %s", what, mgvi_text_quote(p, end).text, faults[st]);
    return NULL;
}

/* ---- precision ----------------------------------------------------------------------------- */
static bool sample_fits_float(const mgvi_text *text, const char *marks)
{
    enum { PLACES = 16, VALUES = 64 };
    const char *behind = text->begin;
    for (int place = 0; place < PLACES; place++) {
        const char *p = text->begin + (text->end - text->begin) / PLACES * place;
        p = p < behind ? behind : p;
        for (int i = 0; i < VALUES && p < text->end; p++) {
            double value = 0;
            const char *next;
            if (!*p || !strchr(marks, *p))
                continue;
            i++;
            if (mgvi_number_parse(p + 1, text->end, &value, &next) == MGVI_NUMBER_OK &&
                !mgvi_number_fits_float(value))
                return false;
        }
        behind = p; /* a text with few marks is looked through once, not 16 times */
    }
    return true;
}

void mgvi_values_init(mgvi_values *values, const mgvi_text *text, mgvi_wanted_precision wanted,
                      const char *marks)
{
    *values = (mgvi_values){.automatic = wanted == MGVI_PRECISION_AUTO};
    if (values->automatic)
        values->precision = sample_fits_float(text, marks) ? MGVI_TRY_F32 : MGVI_AS_F64;
    else
        values->precision = wanted == MGVI_PRECISION_F32 ? MGVI_AS_F32 : MGVI_AS_F64;
}

static bool any_inexact(const mgvi_text *text)
{
    for (int64_t i = 0; i < text->count; i++)
        if (text->chunks[i].inexact)
            return true;
    return false;
}

mgv_status mgvi_values_read(mgvi_values *values, mgvi_text *text, int64_t count, mgvi_block_fn fn,
                            void *arg)
{
    for (;;) {
        values->val =
            mgvi_alloc(text->ctx, (size_t)count, mgvi_dtype_size(mgvi_values_dtype(values)));
        if (!values->val)
            return MGV_E_MEMORY;
        atomic_store(&values->wider, false);
        text->fault_at = NULL;
        MGVI_TRY(mgvi_text_run(text, fn, arg));
        if (atomic_load(&values->wider))
            values->precision = MGVI_AS_F64;
        else if (values->automatic && values->precision == MGVI_AS_F64 && !text->fault_at &&
                 !any_inexact(text))
            values->precision = MGVI_TRY_F32; /* the sample came from a comment or a label */
        else
            return mgvi_text_status(text);
        mgvi_release(text->ctx, values->val);
        values->val = NULL;
    }
}

bool mgvi_values_keep_hard(mgvi_values *values, mgvi_text *text, int64_t at, double value,
                           const char *token)
{
    if (values->precision == MGVI_TRY_F32) {
        atomic_store_explicit(&values->wider, true, memory_order_relaxed);
        return false;
    }
    const float f = mgvi_number_to_float(token, text->end, value);
    if (isinf(f)) {
        mgvi_text_fault(text, token, "the value %g is too large for float32: ask for precision f64",
                        value);
        return false;
    }
    ((float *)values->val)[at] = f;
    return true;
}

/* ---- results ------------------------------------------------------------------------------- */
void mgvi_text_place(mgvi_text *text, int64_t *rows, int64_t *entries)
{
    *rows = *entries = 0;
    for (mgvi_chunk *c = text->chunks; c < text->chunks + text->count; c++) {
        c->row_at = *rows;
        c->entry_at = *entries;
        *rows += c->rows;
        *entries += c->entries;
    }
}

int64_t mgvi_text_place_lines(mgvi_text *text, const char *data_begin)
{
    int64_t lines, unused;
    mgvi_text_skip(text, data_begin);
    for (mgvi_chunk *c = text->chunks; c < text->chunks + text->count; c++) {
        c->rows = c->lines;
        c->entries = 0;
    }
    mgvi_text_place(text, &lines, &unused);
    return lines;
}

void mgvi_text_settle(mgvi_text *text, int64_t *rows, int64_t *entries)
{
    *rows = *entries = 0;
    for (mgvi_chunk *c = text->chunks; c < text->chunks + text->count; c++) {
        c->row_to = *rows;
        c->entry_to = *entries;
        *rows += c->rows;
        *entries += c->entries;
    }
}

void mgvi_text_close_gaps(const mgvi_text *text, void *items, size_t size, bool per_row)
{
    char *base = items;
    for (const mgvi_chunk *c = text->chunks; c < text->chunks + text->count; c++) {
        const int64_t from = per_row ? c->row_at : c->entry_at;
        const int64_t to = per_row ? c->row_to : c->entry_to;
        const int64_t count = per_row ? c->rows : c->entries;
        if (from != to)
            memmove(base + (size_t)to * size, base + (size_t)from * size, (size_t)count * size);
    }
}

typedef struct spelled {
    const char *const *label_at;
    const char *end;
} spelled;

static void spell_label(const void *user, int64_t row, char *buffer, size_t capacity)
{
    const spelled *s = user;
    const char *at = s->label_at[row] + (*s->label_at[row] == '"'), *next = at;
    double value;
    mgvi_number_parse(at, s->end, &value, &next);
    snprintf(buffer, capacity, "%.*s", (int)(next - at < 1000 ? next - at : 1000), at);
}

mgv_status mgvi_text_labels(mgvi_text *text, mgv_data *data, const double *labels,
                            const char *const *label_at)
{
    const spelled user = {.label_at = label_at, .end = text->end};
    return mgvi_data_set_labels(text->ctx, data, labels, spell_label, &user);
}

typedef struct spread {
    const mgvi_matrix *from;
    void *to;
    int64_t blocks;
} spread;

/* What has been spread is not needed any more, and would be twice as much. */
static void spread_rows(void *arg, int64_t block)
{
    enum { LEAVE = 4096 };
    const spread *job = arg;
    const mgvi_matrix *m = job->from;
    const size_t size = mgvi_dtype_size(m->dtype);
    int64_t left = mgvi_block_begin(m->rows, job->blocks, block);
    const int64_t end = mgvi_block_begin(m->rows, job->blocks, block + 1);
    for (int64_t i = mgvi_block_begin(m->rows, job->blocks, block); i < end; i++) {
        char *row = (char *)job->to + (size_t)(i * m->cols) * size;
        memset(row, 0, (size_t)m->cols * size);
        for (int64_t t = m->ptr[i]; t < m->ptr[i + 1]; t++)
            memcpy(row + (size_t)m->idx[t] * size, (const char *)m->val + (size_t)t * size, size);
        if (i % LEAVE == LEAVE - 1 || i == end - 1) {
            mgvi_forget((const char *)m->val + (size_t)m->ptr[left] * size,
                        (const char *)m->val + (size_t)m->ptr[i + 1] * size);
            mgvi_forget(m->idx + m->ptr[left], m->idx + m->ptr[i + 1]);
            left = i + 1;
        }
    }
}

mgv_status mgvi_data_densify(mgv_ctx *ctx, mgv_data *data)
{
    mgvi_matrix *m = &data->X;
    const size_t size = mgvi_dtype_size(m->dtype);
    const double cells = (double)m->rows * (double)m->cols;
    const double stored = (double)m->nnz * (double)(size + sizeof *m->idx) + 8.0 * (double)m->rows;
    if (m->layout != MGV_CSR || (double)m->nnz < 0.4 * cells || cells * (double)size > 1.5 * stored)
        return MGV_OK;
    spread job = {.from = m, .blocks = mgvi_block_count(m->rows, 1024, 256)};
    job.to = mgvi_alloc(ctx, (size_t)cells, size);
    if (!job.to)
        return MGV_E_MEMORY;
    mgvi_ctx_run(ctx, job.blocks, spread_rows, &job);
    const void *old[] = {m->val, m->idx, m->ptr};
    MGVI_TRY(mgvi_data_own(ctx, data, job.to, 0));
    MGVI_TRY(mgvi_read_whole(ctx, data->file));
    *m = (mgvi_matrix){.layout = MGV_DENSE,
                       .dtype = m->dtype,
                       .rows = m->rows,
                       .cols = m->cols,
                       .nnz = m->rows * m->cols,
                       .val = job.to,
                       .row_stride = m->cols,
                       .col_stride = 1};
    data->was_sparse = true;
    for (int i = 0; i < 3; i++)
        mgvi_data_disown(ctx, data, old[i]);
    return MGV_OK;
}
