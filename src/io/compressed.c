/* compressed.c - checking, sorting and summing compressed rows. */
#include "io/compressed.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
    int64_t position; /* keeps duplicates in the order of the file */
    int32_t index;
    double value;
} entry;

static double get(const mgvi_compressed *c, int64_t t)
{
    return c->dtype == MGV_F32 ? (double)((const float *)c->val)[t] : ((const double *)c->val)[t];
}

static void put(mgvi_compressed *c, int64_t t, int32_t index, double value)
{
    c->idx[t] = index;
    if (c->dtype == MGV_F32)
        ((float *)c->val)[t] = (float)value;
    else
        ((double *)c->val)[t] = value;
}

static mgv_status check_pointers(mgv_ctx *ctx, const char *what, const mgvi_compressed *c)
{
    if (c->ptr[0] != 0)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the first pointer is %" PRId64 ", not 0", what,
                         c->ptr[0]);
    for (int64_t i = 0; i < c->major; i++)
        if (c->ptr[i + 1] < c->ptr[i] || c->ptr[i + 1] > c->stored)
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "%s: pointer %" PRId64 " is %" PRId64 " after %" PRId64
                             ", with %" PRId64 " entries in all",
                             what, i + 1, c->ptr[i + 1], c->ptr[i], c->stored);
    return MGV_OK;
}

/* Indices in range; *canonical tells whether there is nothing else to do. */
static mgv_status check_entries(mgv_ctx *ctx, const char *what, const mgvi_compressed *c,
                                bool *canonical)
{
    *canonical = true;
    for (int64_t i = 0; i < c->major; i++) {
        int64_t last = -1;
        for (int64_t t = c->ptr[i]; t < c->ptr[i + 1]; t++) {
            if (c->idx[t] < 0 || c->idx[t] >= c->minor)
                return MGVI_FAIL(ctx, MGV_E_INPUT,
                                 "%s: index %" PRId32 " of entry %" PRId64 " is not below %" PRId64,
                                 what, c->idx[t], t, c->minor);
            *canonical = *canonical && c->idx[t] > last && (get(c, t) != 0 || c->keep_zeros);
            last = c->idx[t];
        }
    }
    return MGV_OK;
}

static int by_index(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* Rewrites one row from `entries` at `to`; returns where it ends. */
static int64_t merge_row(mgvi_compressed *c, const entry *entries, int64_t count, int64_t to)
{
    for (int64_t k = 0; k < count;) {
        const int32_t index = entries[k].index;
        double sum = 0;
        for (; k < count && entries[k].index == index; k++)
            sum += entries[k].value;
        if (sum != 0 || c->keep_zeros)
            put(c, to++, index, sum);
        else
            c->stored_zeros++;
    }
    return to;
}

static mgv_status rewrite(mgv_ctx *ctx, mgvi_compressed *c)
{
    int64_t most = 0, to = 0;
    for (int64_t i = 0; i < c->major; i++)
        if (c->ptr[i + 1] - c->ptr[i] > most)
            most = c->ptr[i + 1] - c->ptr[i];
    entry *entries = mgvi_alloc(ctx, (size_t)most, sizeof *entries);
    if (!entries)
        return MGV_E_MEMORY;
    for (int64_t i = 0, begin = 0; i < c->major; i++) {
        const int64_t end = c->ptr[i + 1], count = end - begin;
        bool sorted = true;
        for (int64_t k = 0; k < count; k++) {
            entries[k] = (entry){begin + k, c->idx[begin + k], get(c, begin + k)};
            sorted = sorted && (k == 0 || entries[k - 1].index <= entries[k].index);
        }
        if (!sorted)
            qsort(entries, (size_t)count, sizeof *entries, by_index);
        to = merge_row(c, entries, count, to);
        c->ptr[i + 1] = to;
        begin = end;
    }
    mgvi_release(ctx, entries);
    return MGV_OK;
}

mgv_status mgvi_compressed_make_canonical(mgv_ctx *ctx, const char *what, mgvi_compressed *c)
{
    bool canonical = false;
    c->stored_zeros = 0;
    MGVI_TRY(check_pointers(ctx, what, c));
    MGVI_TRY(check_entries(ctx, what, c, &canonical));
    return canonical ? MGV_OK : rewrite(ctx, c);
}

mgv_status mgvi_compressed_from_triplets(mgv_ctx *ctx, const char *what, const int64_t *major,
                                         mgvi_compressed *c)
{
    const size_t size = c->dtype == MGV_F32 ? sizeof(float) : sizeof(double);
    memset(c->ptr, 0, ((size_t)c->major + 1) * sizeof *c->ptr);
    for (int64_t t = 0; t < c->stored; t++) {
        if (major[t] < 0 || major[t] >= c->major)
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "%s: the row index %" PRId64 " of entry %" PRId64
                             " is not below %" PRId64,
                             what, major[t], t, c->major);
        c->ptr[major[t] + 1]++;
    }
    for (int64_t i = 0; i < c->major; i++)
        c->ptr[i + 1] += c->ptr[i];
    int32_t *idx = mgvi_dup(ctx, c->idx, (size_t)c->stored, sizeof *idx);
    char *val = mgvi_dup(ctx, c->val, (size_t)c->stored, size);
    int64_t *next = mgvi_dup(ctx, c->ptr, (size_t)c->major + 1, sizeof *next);
    const bool ok = idx && val && next;
    for (int64_t t = 0; ok && t < c->stored; t++) {
        const int64_t to = next[major[t]]++;
        c->idx[to] = idx[t];
        memcpy((char *)c->val + (size_t)to * size, val + (size_t)t * size, size);
    }
    mgvi_release(ctx, idx);
    mgvi_release(ctx, val);
    mgvi_release(ctx, next);
    return ok ? mgvi_compressed_make_canonical(ctx, what, c) : MGV_E_MEMORY;
}
