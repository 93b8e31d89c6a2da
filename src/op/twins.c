/* twins.c - equal rows, by sorting keys made of their numbers. */
#include "op/twins.h"

#include "base/limit.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct keyed {
    uint64_t key;
    int64_t row;
} keyed;

/* The entries of a row that are not 0, in the order of their columns. */
typedef struct entry {
    int64_t at, end, j;
    double x;
} entry;

static entry begin(const mgvi_matrix *m, int64_t r)
{
    const bool sparse = m->layout != MGV_DENSE;
    return (entry){.at = sparse ? m->ptr[r] : 0, .end = sparse ? m->ptr[r + 1] : m->cols};
}

static bool next(const mgvi_matrix *m, int64_t r, entry *e)
{
    const bool sparse = m->layout != MGV_DENSE;
    while (e->at < e->end) {
        const int64_t t = e->at++;
        e->j = sparse ? m->idx[t] : t;
        e->x = mgvi_matrix_value(m, sparse ? t : r * m->row_stride + t * m->col_stride);
        if (e->x != 0)
            return true;
    }
    return false;
}

static uint64_t key_of(const mgvi_matrix *m, int64_t r)
{
    uint64_t key = 0;
    for (entry e = begin(m, r); next(m, r, &e);) {
        uint64_t bits;
        memcpy(&bits, &e.x, sizeof bits);
        key = (key ^ bits ^ ((uint64_t)e.j << 32)) * UINT64_C(0x9E3779B97F4A7C15);
        key ^= key >> 29;
    }
    return key;
}

static bool same(const mgvi_matrix *m, int64_t r, int64_t s)
{
    entry a = begin(m, r), b = begin(m, s);
    for (;;) {
        const bool more = next(m, r, &a);
        if (next(m, s, &b) != more)
            return false;
        if (!more)
            return true;
        if (a.j != b.j || a.x != b.x)
            return false;
    }
}

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

mgv_status mgvi_matrix_twins(mgv_ctx *ctx, const mgvi_matrix *m, const int64_t *row, int64_t n,
                             int64_t *twin)
{
    keyed *order = mgvi_alloc(ctx, (size_t)n, sizeof *order);
    if (!order)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < n && !mgvi_ctx_cut_row(ctx, i); i++)
        order[i] = (keyed){key_of(m, row ? row[i] : i), i};
    if (mgvi_ctx_was_cut(ctx)) {
        mgvi_release(ctx, order);
        return mgvi_ctx_whole(ctx);
    }
    qsort(order, (size_t)n, sizeof *order, by_key);
    for (int64_t t = 0; t < n && !mgvi_ctx_cut_row(ctx, t); t++) {
        const int64_t i = order[t].row;
        twin[i] = i;
        /* the neighbour's first; on a clash of keys the others' */
        for (int64_t s = t - 1; s >= 0 && order[s].key == order[t].key; s--) {
            const int64_t j = twin[order[s].row];
            if ((s == t - 1 || j == order[s].row) && same(m, row ? row[i] : i, row ? row[j] : j)) {
                twin[i] = j;
                break;
            }
        }
    }
    mgvi_release(ctx, order);
    return mgvi_ctx_whole(ctx);
}
