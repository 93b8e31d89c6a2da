/* twins.c - equal rows, and rows on one ray, by sorting keys made of their numbers. */
#include "op/twins.h"

#include "base/limit.h"
#include "base/memory.h"
#include "base/twofold.h"

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

/* On a ray the ratios to the size of the first entry count: equal ones are rounded equally. */
static uint64_t key_of(const mgvi_matrix *m, int64_t r, bool ray)
{
    uint64_t key = 0;
    double unit = 0;
    for (entry e = begin(m, r); next(m, r, &e);) {
        uint64_t bits;
        unit = unit != 0 ? unit : ray ? fabs(e.x) : 1;
        const double x = e.x / unit;
        memcpy(&bits, &x, sizeof bits);
        key = (key ^ bits ^ ((uint64_t)e.j << 32)) * UINT64_C(0x9E3779B97F4A7C15);
        key ^= key >> 29;
    }
    return key;
}

/* a b = c d exactly, of finite numbers that are not 0. */
static bool same_products(double a, double b, double c, double d)
{
    int ea, eb, ec, ed;
    const double fa = frexp(a, &ea), fb = frexp(b, &eb), fc = frexp(c, &ec), fd = frexp(d, &ed);
    const int apart = ea + eb - ec - ed; /* products of fractions differ by less than 4 */
    const mgvi_two p = mgvi_two_prod(fa, fb), q = mgvi_two_prod(fc, fd);
    return abs(apart) < 3 && ldexp(p.hi, apart) == q.hi && ldexp(p.lo, apart) == q.lo;
}

static bool same(const mgvi_matrix *m, int64_t r, int64_t s, bool ray)
{
    entry a = begin(m, r), b = begin(m, s);
    double first[2] = {0, 0};
    for (;;) {
        const bool more = next(m, r, &a);
        if (next(m, s, &b) != more)
            return false;
        if (!more)
            return true;
        if (first[0] == 0) {
            first[0] = fabs(a.x);
            first[1] = fabs(b.x);
        }
        if (a.j != b.j || !(ray ? same_products(a.x, first[1], b.x, first[0]) : a.x == b.x))
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

static mgv_status find(mgv_ctx *ctx, const mgvi_matrix *m, const int64_t *row, int64_t n, bool ray,
                       int64_t *twin)
{
    keyed *order = mgvi_alloc(ctx, (size_t)n, sizeof *order);
    if (!order)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < n && !mgvi_ctx_cut_row(ctx, i); i++)
        order[i] = (keyed){key_of(m, row ? row[i] : i, ray), i};
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
            if ((s == t - 1 || j == order[s].row) &&
                same(m, row ? row[i] : i, row ? row[j] : j, ray)) {
                twin[i] = j;
                break;
            }
        }
    }
    mgvi_release(ctx, order);
    return mgvi_ctx_whole(ctx);
}

mgv_status mgvi_matrix_twins(mgv_ctx *ctx, const mgvi_matrix *m, const int64_t *row, int64_t n,
                             int64_t *twin)
{
    return find(ctx, m, row, n, false, twin);
}

mgv_status mgvi_matrix_rays(mgv_ctx *ctx, const mgvi_matrix *m, int64_t n, int64_t *twin)
{
    return find(ctx, m, NULL, n, true, twin);
}
