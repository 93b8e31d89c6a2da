/* triples.c - entries of a matrix put in order. */
#include "data/triples.h"

#include "base/limit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

mgv_status mgvi_triples_new(mgv_ctx *ctx, int64_t count, bool values, mgv_triples **out)
{
    *out = NULL;
    if (count > INT32_MAX)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "%" PRId64 " entries; completion takes at most 2^31 - 1", count);
    mgv_triples *t = mgvi_new(ctx, sizeof *t);
    if (!t)
        return MGV_E_MEMORY;
    t->ctx = ctx;
    t->count = t->given = count;
    t->format = "memory";
    if (!(t->row = mgvi_alloc(ctx, (size_t)count, sizeof *t->row)) ||
        !(t->col = mgvi_alloc(ctx, (size_t)count, sizeof *t->col)) ||
        (values && !(t->value = mgvi_alloc(ctx, (size_t)count, sizeof *t->value)))) {
        mgvi_triples_free(t);
        return MGV_E_MEMORY;
    }
    *out = t;
    return MGV_OK;
}

void mgvi_triples_free(mgv_triples *t)
{
    if (!t)
        return;
    mgv_ctx *ctx = t->ctx;
    mgvi_words_free(t->side[0].words);
    mgvi_words_free(t->side[1].words);
    mgvi_release(ctx, t->row);
    mgvi_release(ctx, t->ptr);
    mgvi_release(ctx, t->col);
    mgvi_release(ctx, t->value);
    mgvi_release(ctx, t);
}

mgv_status mgvi_triples_check(const mgv_triples *t)
{
    for (int64_t k = 0; t->row && k < t->count; k++)
        if (t->row[k] < 0 || t->row[k] >= t->rows || t->col[k] < 0 || t->col[k] >= t->cols)
            return MGVI_FAIL(t->ctx, MGV_E_INPUT,
                             "entry %" PRId64 " is at (%d, %d) of a %" PRId64 " x %" PRId64
                             " matrix; indices count from 0",
                             k, t->row[k], t->col[k], t->rows, t->cols);
    for (int64_t k = 0; t->value && k < t->count; k++)
        if (!isfinite(t->value[k]))
            return MGVI_FAIL(t->ctx, MGV_E_INPUT, "the value of entry %" PRId64 " is %g", k,
                             t->value[k]);
    return MGV_OK;
}

/* ---- sorting --------------------------------------------------------------------------------- */

typedef struct place {
    int32_t col, from; /* from: keeps entries of one place in the order given */
    double value;
} place;

static int by_column(const void *pa, const void *pb)
{
    const place *a = pa, *b = pb;
    if (a->col != b->col)
        return a->col < b->col ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* Writes the entries `work` of one row, averaged where a place has several, from `to` on; how many
 * are left. */
static int64_t tidy_row(place *work, int64_t n, int32_t *col, double *value)
{
    bool sorted = true;
    for (int64_t k = 1; k < n && sorted; k++)
        sorted = work[k - 1].col <= work[k].col;
    if (!sorted)
        qsort(work, (size_t)n, sizeof *work, by_column);
    int64_t kept = 0;
    for (int64_t k = 0; k < n;) {
        double sum = 0;
        int64_t times = 0;
        col[kept] = work[k].col;
        for (; k < n && work[k].col == col[kept]; k++, times++)
            sum += work[k].value;
        value[kept++] = sum / (double)times;
    }
    return kept;
}

/* Where each row begins; the longest. */
static int64_t count_rows(const mgv_triples *t, int64_t *ptr)
{
    int64_t most = 0;
    for (int64_t k = 0; k < t->count && !mgvi_ctx_cut_row(t->ctx, k); k++)
        ptr[t->row[k] + 1]++;
    for (int64_t i = 0; i < t->rows; i++) {
        most = ptr[i + 1] > most ? ptr[i + 1] : most;
        ptr[i + 1] += ptr[i];
    }
    return most;
}

/* Entries by rows, in the order given; afterwards ptr[i] is where row i ends. */
static void distribute(const mgv_triples *t, int64_t *ptr, int32_t *col, double *value)
{
    for (int64_t k = 0; k < t->count && !mgvi_ctx_cut_row(t->ctx, k); k++) {
        const int64_t to = ptr[t->row[k]]++;
        col[to] = t->col[k];
        value[to] = t->value[k];
    }
}

static int64_t tidy_rows(const mgv_triples *t, int64_t *ptr, int32_t *col, double *value,
                         place *work)
{
    const int64_t rows = t->rows;
    int64_t begin = 0, to = 0;
    for (int64_t i = 0; i < rows && !mgvi_ctx_cut_row(t->ctx, i); i++) {
        const int64_t end = ptr[i];
        for (int64_t k = begin; k < end; k++)
            work[k - begin] = (place){col[k], (int32_t)(k - begin), value[k]};
        ptr[i] = to;
        to += tidy_row(work, end - begin, col + to, value + to);
        begin = end;
    }
    ptr[rows] = to;
    return to;
}

mgv_status mgvi_triples_sort(mgv_triples *t)
{
    if (t->ptr)
        return MGV_OK;
    mgv_ctx *ctx = t->ctx;
    int64_t *ptr = mgvi_zeros(ctx, (size_t)t->rows + 1, sizeof *ptr);
    const int64_t most = ptr ? count_rows(t, ptr) : 0;
    int64_t count = 0;
    int32_t *col = mgvi_alloc(ctx, (size_t)t->count, sizeof *col);
    double *value = mgvi_alloc(ctx, (size_t)t->count, sizeof *value);
    place *work = mgvi_alloc(ctx, (size_t)most, sizeof *work);
    const bool fits = ptr && col && value && work;
    if (fits && !mgvi_ctx_was_cut(ctx))
        distribute(t, ptr, col, value);
    if (fits && !mgvi_ctx_was_cut(ctx))
        count = tidy_rows(t, ptr, col, value, work);
    const bool cut = mgvi_ctx_was_cut(ctx);
    if (fits && !cut) {
        t->count = count;
        mgvi_release(ctx, t->row);
        mgvi_release(ctx, t->col);
        mgvi_release(ctx, t->value);
        t->row = NULL;
        t->ptr = ptr;
        t->col = col;
        t->value = value;
    } else {
        mgvi_release(ctx, ptr);
        mgvi_release(ctx, col);
        mgvi_release(ctx, value);
    }
    mgvi_release(ctx, work);
    if (fits && cut)
        return MGV_E_LIMIT;
    return fits ? MGV_OK : MGV_E_MEMORY;
}
