/* libsvm.c - libsvm/svmlight text: LABEL [qid:N] INDEX:VALUE ... [# comment], one row per line.
 * Indices increase within a row. They start at 1 by convention and at 0 where an index 0 occurs;
 * the setting `base` states it. Explicit zeros are counted and left out. */
#include "base/event.h"
#include "io/libsvm_pair.h"
#include "io/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BASE_AUTO = -1 };
static const int64_t INDEX_MAX = INT32_MAX;

typedef struct job {
    mgvi_text text;
    mgvi_values values;
    int base;         /* stated, or BASE_AUTO */
    int64_t lowest;   /* index allowed: 1 where base 1 is stated, else 0 */
    int64_t highest;  /* index allowed */
    int64_t features; /* asked for, or 0 */
    bool zero_seen;   /* explaining a conflict: index 0 occurs under BASE_AUTO */
    bool predicting;  /* rows for a model: labels may be absent */
    bool base_known;  /* the base is that of the model's training data */
    int32_t *idx;     /* index - 1, or index where base 0 is stated */
    int64_t *ptr;
    double *labels;
    const char **label_at;
} job;

typedef enum step { PAIR, ROW_END, STOP } step;

/* ---- the less common spellings, and what is wrong with the rest ------------------------------ */
static step fault_at_token(job *j, const char *p, const char *end)
{
    const mgvi_quote q = mgvi_text_quote(p, end);
    const char *rest = p;
    while (rest < end && *rest >= '0' && *rest <= '9')
        rest++;
    if (*p == '\0')
        mgvi_text_fault(&j->text, p, "a zero byte: this is not libsvm text");
    else if (rest > p && rest == j->text.end)
        mgvi_text_fault(&j->text, p, "the file ends within '%s': it may be truncated", q.text);
    else
        mgvi_text_fault(&j->text, p, "'%s' where INDEX:VALUE should be", q.text);
    return STOP;
}

/* digits and a colon at `p`; NULL: a fault. */
static const char *read_index(job *j, const char *p, const char *end, int64_t *index)
{
    const char *q = p;
    int64_t v = 0;
    for (; q < end && *q >= '0' && *q <= '9'; q++)
        v = v <= INDEX_MAX ? v * 10 + (*q - '0') : v;
    if (q == p || q == end || *q != ':') {
        fault_at_token(j, p, end);
        return NULL;
    }
    if (v > INDEX_MAX) {
        mgvi_text_fault(&j->text, p, "index %.*s is beyond %" PRId64 ", the largest there can be",
                        (int)(q - p < 40 ? q - p : 40), p, INDEX_MAX);
        return NULL;
    }
    *index = v;
    return q + 1;
}

/* Behind a number: a blank, a comment or the line's end. */
static bool ends_token(const char *p, const char *end)
{
    return p == end || mgvi_is_blank(*p) || *p == '#' || mgvi_text_at_line_end(p, end);
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && mgvi_is_blank(*p))
        p++;
    return p;
}

/* qid:N at `p` is passed over; else returns `p`. */
static const char *skip_qid(const char *p, const char *end)
{
    if (end - p < 5 || memcmp(p, "qid:", 4) != 0)
        return p;
    const char *q = p + 4 + (p[4] == '-');
    const char *digits = q;
    while (q < end && *q >= '0' && *q <= '9')
        q++;
    return q > digits && ends_token(q, end) ? skip_blanks(q, end) : p;
}

__attribute__((noinline)) static step careful_pair(job *j, const char *end, const char *p,
                                                   mgvi_libsvm_pair *t)
{
    p = skip_qid(skip_blanks(p, end), end);
    if (p == end || *p == '#' || mgvi_text_at_line_end(p, end)) {
        t->next = mgvi_text_next_line(p, end);
        return ROW_END;
    }
    p = read_index(j, p, end, &t->index);
    if (!p)
        return STOP;
    char what[48];
    snprintf(what, sizeof what, "the value of index %" PRId64, t->index);
    t->value_at = p;
    t->next = mgvi_text_number(&j->text, p, end, what, &t->value);
    if (!t->next)
        return STOP;
    if (!ends_token(t->next, end)) {
        mgvi_text_fault(&j->text, p, "%s '%s' is not a number", what, mgvi_text_quote(p, end).text);
        return STOP;
    }
    t->last = false;
    return PAIR;
}

/* The index is below or at the one before it, or out of range. `p` is within its row. */
__attribute__((noinline)) static void fault_of_index(job *j, const mgvi_libsvm_pair *t,
                                                     int64_t previous)
{
    const char *at = t->value_at - 1; /* the colon */
    while (at > j->text.begin && at[-1] >= '0' && at[-1] <= '9')
        at--;
    if (t->index < j->lowest && j->base_known)
        mgvi_text_fault(&j->text, at,
                        "index 0, but the data the model was trained on counts from 1: say base 0 "
                        "if this file counts from 0");
    else if (t->index < j->lowest)
        mgvi_text_fault(&j->text, at,
                        "index 0, but the indices were said to start at 1: say base 0 if the "
                        "first feature is 0");
    else if (t->index > INDEX_MAX)
        mgvi_text_fault(&j->text, at,
                        "index %" PRId64 " is beyond %" PRId64 ", the largest there can be",
                        t->index, INDEX_MAX);
    else if (t->index == previous)
        mgvi_text_fault(&j->text, at, "index %" PRId64 " occurs twice in this row", t->index);
    else if (t->index < previous)
        mgvi_text_fault(&j->text, at,
                        "index %" PRId64 " follows index %" PRId64
                        ": the indices of a row must increase",
                        t->index, previous);
    else if (j->zero_seen)
        mgvi_text_fault(&j->text, at,
                        "index %" PRId64 " is beyond %" PRId64 " features counted from 0, and "
                        "index 0 occurs in this file: say base 0 or 1, or more features",
                        t->index, j->highest + 1);
    else
        mgvi_text_fault(&j->text, at,
                        "index %" PRId64 " is beyond %" PRId64 " features counted from %d",
                        t->index, j->features ? j->features : INDEX_MAX, j->base != 0);
}

/* ---- rows ---------------------------------------------------------------------------------- */
/* Whether INDEX: stands at `p`. */
static bool at_index(const char *p, const char *end)
{
    const char *q = p;
    while (q < end && *q >= '0' && *q <= '9')
        q++;
    return q > p && q < end && *q == ':';
}

/* What follows the place of a label at `p` that is absent or '?'; NULL: there is one. */
static const char *no_label(const char *p, const char *end)
{
    if (*p == '?' && ends_token(p + 1, end))
        return p + 1;
    return at_index(p, end) || skip_qid(p, end) != p ? p : NULL;
}

/* The label at `p`, which is not blank; returns what follows it, NULL: a fault. */
static const char *read_label(job *j, const char *p, const char *end, double *label)
{
    if (p < j->text.safe) {
        const char *next = mgvi_number_fast(p, label);
        if (next && (*next == ' ' || *next == '\n'))
            return next;
    }
    const char *behind = j->predicting ? no_label(p, end) : NULL;
    if (behind) {
        *label = NAN;
        return behind;
    }
    if (*p == '\0') {
        mgvi_text_fault(&j->text, p, "a zero byte: this is not libsvm text");
        return NULL;
    }
    const char *next = mgvi_text_number(&j->text, p, end, "the label", label);
    if (!next || ends_token(next, end))
        return next;
    const mgvi_quote q = mgvi_text_quote(p, end);
    if (*next == ':')
        mgvi_text_fault(&j->text, p,
                        "the row starts with '%s' where its label should be: only predict takes "
                        "rows without labels",
                        q.text);
    else if (*next == ',')
        mgvi_text_fault(&j->text, p, "several labels '%s': a row has one label here", q.text);
    else
        mgvi_text_fault(&j->text, p, "the label '%s' is not a number", q.text);
    return NULL;
}

/* The pairs of a row from `p` on; returns the next line, NULL: stop. */
static inline __attribute__((always_inline)) const char *
read_pairs(job *j, mgvi_chunk *c, const char *p, const mgvi_precision precision)
{
    int64_t n = c->entry_at + c->entries, previous = j->lowest - 1;
    const int64_t first = n, highest = j->highest;
    const int32_t shift = j->base != 0;
    int64_t pairs = 0;
    bool zero_index = false, inexact = c->inexact;
    void *const val = j->values.val;
    int32_t *const idx = j->idx;
    const char *const safe = j->text.safe;
    for (mgvi_libsvm_pair t;; p = t.next) {
        if (__builtin_expect(p >= safe || !mgvi_libsvm_pair_fast(p, &t), 0)) {
            const step s = careful_pair(j, c->end, p, &t);
            if (s == STOP)
                return NULL;
            if (s == ROW_END) {
                p = t.next;
                break;
            }
        }
        if (__builtin_expect(t.index <= previous || t.index > highest, 0)) {
            fault_of_index(j, &t, previous);
            return NULL;
        }
        zero_index |= t.index == 0;
        previous = t.index;
        idx[n] = (int32_t)(t.index - shift);
        if (precision == MGVI_AS_F64 && !inexact)
            inexact = !mgvi_number_fits_float(t.value);
        if (__builtin_expect(!mgvi_values_keep(val, precision, n, t.value), 0) &&
            !mgvi_values_keep_hard(&j->values, &j->text, n, t.value, t.value_at))
            return NULL;
        n += t.value != 0;
        pairs++;
        if (t.last) {
            p = t.next;
            break;
        }
    }
    c->entries += n - first;
    c->zeros += pairs - (n - first);
    c->flag |= zero_index;
    c->inexact = inexact;
    if (pairs && previous > c->largest)
        c->largest = previous;
    return p;
}

static inline __attribute__((always_inline)) void read_chunk(job *j, mgvi_chunk *c,
                                                             const mgvi_precision precision)
{
    const char *p = c->from;
    c->rows = c->entries = c->zeros = 0;
    c->largest = -1;
    c->flag = c->inexact = false;
    while (p < c->end) {
        p = skip_blanks(p, c->end);
        if (p == c->end || *p == '#' || mgvi_text_at_line_end(p, c->end)) {
            p = mgvi_text_next_line(p, c->end);
            continue;
        }
        const int64_t row = c->row_at + c->rows;
        j->label_at[row] = p;
        p = read_label(j, p, c->end, &j->labels[row]);
        if (p)
            p = read_pairs(j, c, p + mgvi_is_blank(p < c->end ? *p : 0), precision);
        if (!p || atomic_load_explicit(&j->values.wider, memory_order_relaxed))
            return;
        c->rows++;
        j->ptr[row + 1] = c->entry_at + c->entries;
    }
}

static void read_block(void *arg, int64_t block)
{
    job *j = arg;
    mgvi_chunk *c = &j->text.chunks[block];
    if (j->values.precision == MGVI_TRY_F32)
        read_chunk(j, c, MGVI_TRY_F32);
    else if (j->values.precision == MGVI_AS_F32)
        read_chunk(j, c, MGVI_AS_F32);
    else
        read_chunk(j, c, MGVI_AS_F64);
}

/* ---- the whole file ------------------------------------------------------------------------ */
static void set_base(job *j, int base)
{
    j->base = base;
    j->lowest = base == 1;
    j->highest = INDEX_MAX - (base == 0);
    if (j->features)
        j->highest = j->features - (base == 0);
}

static void add_one(void *arg, int64_t block)
{
    job *j = arg;
    const mgvi_chunk *c = &j->text.chunks[block];
    for (int64_t t = c->entry_at; t < c->entry_at + c->entries; t++)
        j->idx[t]++;
}

/* Where index 0 occurs the indices start at 0; `largest` is then checked again. */
static mgv_status settle_base(job *j, int64_t *largest)
{
    bool zero_seen = false;
    *largest = -1;
    for (const mgvi_chunk *c = j->text.chunks; c < j->text.chunks + j->text.count; c++) {
        zero_seen |= c->flag;
        *largest = c->largest > *largest ? c->largest : *largest;
    }
    if (j->base != BASE_AUTO)
        return MGV_OK;
    set_base(j, !zero_seen);
    if (!zero_seen)
        return MGV_OK;
    if (*largest > j->highest) {
        j->zero_seen = true; /* read again to find where */
        MGVI_TRY(mgvi_text_run(&j->text, read_block, j));
        return mgvi_text_status(&j->text);
    }
    return mgvi_text_run(&j->text, add_one, j);
}

static void close_gaps(job *j)
{
    mgvi_text *text = &j->text;
    mgvi_text_close_gaps(text, j->idx, sizeof *j->idx, false);
    mgvi_text_close_gaps(text, j->values.val, mgvi_dtype_size(mgvi_values_dtype(&j->values)),
                         false);
    mgvi_text_close_gaps(text, j->labels, sizeof *j->labels, true);
    mgvi_text_close_gaps(text, j->label_at, sizeof *j->label_at, true);
    mgvi_text_close_gaps(text, j->ptr + 1, sizeof *j->ptr, true);
    for (const mgvi_chunk *c = text->chunks; c < text->chunks + text->count; c++)
        if (c->entry_at != c->entry_to)
            for (int64_t i = c->row_to + 1; i <= c->row_to + c->rows; i++)
                j->ptr[i] -= c->entry_at - c->entry_to;
}

/* Rows for a model may be without labels, some of them or all. */
static mgv_status take_labels(job *j, mgv_data *data)
{
    int64_t labels = 0;
    for (int64_t i = 0; i < data->X.rows && j->predicting; i++)
        labels += !isnan(j->labels[i]);
    if (j->predicting && labels == 0)
        return MGV_OK;
    data->gaps = j->predicting && labels < data->X.rows;
    return mgvi_text_labels(&j->text, data, j->labels, j->label_at);
}

/* The model's training data had an index 0; a file without one is read as it was. */
static void note_base(const job *j, const mgv_data *data)
{
    bool zero_seen = false;
    for (const mgvi_chunk *c = j->text.chunks; c < j->text.chunks + j->text.count; c++)
        zero_seen |= c->flag;
    if (j->base_known && j->base == 0 && !zero_seen && data->X.nnz > 0)
        mgvi_log(j->text.ctx, MGV_INFO,
                 "%s: no index 0 occurs; read from 0, as the training data was (--base 1 else)",
                 j->text.path);
}

/* Hands the arrays over to the data. */
static mgv_status take(job *j, mgv_data *data, int64_t largest)
{
    mgv_ctx *ctx = j->text.ctx;
    mgvi_matrix *m = &data->X;
    void **arrays[] = {&j->values.val, (void **)&j->idx, (void **)&j->ptr};
    *m = (mgvi_matrix){.layout = MGV_CSR, .dtype = mgvi_values_dtype(&j->values)};
    mgvi_text_settle(&j->text, &m->rows, &m->nnz);
    if (m->rows == 0)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: there is no row in this file", j->text.path);
    close_gaps(j);
    m->cols = j->features ? j->features : largest + (j->base == 0);
    m->cols = m->cols < 0 ? 0 : m->cols;
    m->val = j->values.val;
    m->idx = j->idx;
    m->ptr = j->ptr;
    for (int i = 0; i < 3; i++) {
        void *memory = *arrays[i];
        *arrays[i] = NULL; /* handed over, or freed */
        MGVI_TRY(mgvi_data_own(ctx, data, memory, 0));
    }
    for (const mgvi_chunk *c = j->text.chunks; c < j->text.chunks + j->text.count; c++)
        data->stored_zeros += c->zeros;
    MGVI_TRY(take_labels(j, data));
    note_base(j, data);
    data->first_index = j->base != 0;
    MGVI_TRY(mgvi_data_densify(ctx, data));
    return mgvi_data_check_once(ctx, data);
}

static mgv_status read_text(job *j, mgv_data *data)
{
    mgv_ctx *ctx = j->text.ctx;
    int64_t rows, entries, largest;
    for (mgvi_chunk *c = j->text.chunks; c < j->text.chunks + j->text.count; c++) {
        c->rows = c->lines;
        c->entries = c->marks;
    }
    mgvi_text_place(&j->text, &rows, &entries);
    if (!(j->idx = mgvi_alloc(ctx, (size_t)entries, sizeof *j->idx)) ||
        !(j->ptr = mgvi_alloc(ctx, (size_t)rows + 1, sizeof *j->ptr)) ||
        !(j->labels = mgvi_alloc(ctx, (size_t)rows, sizeof *j->labels)) ||
        !(j->label_at = mgvi_alloc(ctx, (size_t)rows, sizeof *j->label_at)))
        return MGV_E_MEMORY;
    j->ptr[0] = 0;
    MGVI_TRY(mgvi_values_read(&j->values, &j->text, entries, read_block, j));
    MGVI_TRY(settle_base(j, &largest));
    return take(j, data, largest);
}

mgv_status mgvi_libsvm_read(mgv_ctx *ctx, mgvi_source *source, mgv_data *data, size_t chunk_bytes)
{
    const mgv_settings *s = source->settings;
    const bool automatic = s->base == MGVI_BASE_AUTO;
    const mgvi_column_names *known = source->known;
    job j = {.features = s->features,
             .predicting = known != NULL,
             .base_known = automatic && known && known->first_index >= 0};
    mgv_status st = mgvi_text_open(ctx, source, chunk_bytes, ':', &j.text);
    if (st == MGV_OK) {
        mgvi_values_init(&j.values, &j.text, s->precision, ":");
        set_base(&j, j.base_known ? known->first_index
                     : automatic  ? BASE_AUTO
                                  : s->base - MGVI_BASE_0);
        st = read_text(&j, data);
    }
    mgvi_release(ctx, j.values.val);
    mgvi_release(ctx, j.idx);
    mgvi_release(ctx, j.ptr);
    mgvi_release(ctx, j.labels);
    mgvi_release(ctx, j.label_at);
    mgvi_text_close(&j.text);
    return st;
}

static mgv_status read_source(mgv_ctx *ctx, mgvi_source *source, mgv_data *data)
{
    return mgvi_libsvm_read(ctx, source, data, MGVI_CHUNK);
}

/* INDEX:VALUE and nothing else at `p`. */
static bool at_pair(const char *p, const char *end)
{
    const char *next;
    double value;
    if (!at_index(p, end))
        return false;
    p = (const char *)memchr(p, ':', (size_t)(end - p)) + 1;
    return mgvi_number_parse(p, end, &value, &next) == MGVI_NUMBER_OK && ends_token(next, end);
}

/* A number, then index:number in one of the first lines; or that without a label. */
static int probe(const mgvi_source *source)
{
    enum { SURE = 95, UNLABELLED = 60 };
    const char *p = source->bytes, *end = p + source->size, *next;
    double value;
    for (int line = 0; line < 20 && p < end; line++, p = mgvi_text_next_line(p, end)) {
        p = skip_blanks(p, end);
        if (p == end || *p == '#' || mgvi_text_at_line_end(p, end))
            continue;
        next = no_label(p, end);
        if (next) {
            p = skip_qid(skip_blanks(next, end), end);
            if (p == end || *p == '#' || mgvi_text_at_line_end(p, end))
                continue;
            return at_pair(p, end) ? UNLABELLED : 0;
        }
        if (mgvi_number_parse(p, end, &value, &next) != MGVI_NUMBER_OK || !ends_token(next, end))
            return 0;
        p = skip_qid(skip_blanks(next, end), end);
        for (next = p; next < end && *next >= '0' && *next <= '9';)
            next++;
        if (next > p && next < end && *next == ':')
            return SURE;
        if (!mgvi_text_at_line_end(p, end) && *p != '#')
            return 0;
    }
    return 0;
}

const mgvi_reader mgvi_reader_libsvm = {
    .name = "libsvm",
    .summary = "libsvm/svmlight text: LABEL INDEX:VALUE ...",
    .extensions = ".svm .libsvm .svmlight",
    .probe = probe,
    .read = read_source,
};
