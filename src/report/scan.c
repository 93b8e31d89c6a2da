/* scan.c - one pass over the entries, one over the rows. */
#include "report/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The finaliser of splitmix64: every input bit reaches every output bit. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Entries add their hashes to the row's: the order in which a layout visits them is no matter. */
static inline void see(mgvi_scan *s, int64_t i, int64_t j, double v)
{
    uint64_t bits;
    if (v == 0)
        return;
    memcpy(&bits, &v, sizeof bits);
    mgvi_scan_row *row = &s->row[i];
    row->hash += mix(bits ^ mix((uint64_t)j + 1));
    row->count++;
    mgvi_scan_column *col = &s->column[j];
    if (col->count++ == 0)
        col->least = col->most = v;
    col->least = fmin(col->least, v);
    col->most = fmax(col->most, v);
    s->entries++;
}

static void see_all(mgvi_scan *s, const mgvi_matrix *X)
{
    const bool by_rows = X->layout != MGV_CSC;
    const int64_t outer = by_rows ? X->rows : X->cols;
    for (int64_t k = 0; k < outer; k++) {
        if (X->layout == MGV_DENSE) {
            for (int64_t j = 0; j < X->cols; j++)
                see(s, k, j, mgvi_matrix_value(X, k * X->row_stride + j * X->col_stride));
            continue;
        }
        for (int64_t t = X->ptr[k]; t < X->ptr[k + 1]; t++)
            see(s, by_rows ? k : X->idx[t], by_rows ? X->idx[t] : k, mgvi_matrix_value(X, t));
    }
}

typedef struct keyed {
    uint64_t hash;
    int64_t row;
} keyed;

static int by_hash(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash)
                              : (x->row > y->row) - (x->row < y->row);
}

static mgv_status find_repeats(mgv_ctx *ctx, const mgv_data *data, mgvi_scan *s)
{
    const int64_t n = data->X.rows;
    int64_t kept = 0;
    keyed *key = mgvi_alloc(ctx, (size_t)n, sizeof *key);
    if (!key)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < n; i++)
        if (s->row[i].count > 0)
            key[kept++] = (keyed){s->row[i].hash, i};
    qsort(key, (size_t)kept, sizeof *key, by_hash);
    for (int64_t i = 0, end; i < kept; i = end) {
        bool differ = false;
        for (end = i + 1; end < kept && key[end].hash == key[i].hash; end++)
            differ |= data->labels && data->labels[key[end].row] != data->labels[key[i].row];
        s->repeated_rows += end - i - 1;
        s->contradictions += differ;
    }
    mgvi_release(ctx, key);
    return MGV_OK;
}

static void follow_labels(const mgv_data *data, mgvi_scan *s)
{
    const double *y = data->labels;
    s->labels_rise = s->labels_fall = y && data->X.rows > 0;
    s->label_runs = y && data->X.rows > 0;
    for (int64_t i = 1; y && i < data->X.rows; i++) {
        s->label_runs += y[i] != y[i - 1];
        s->labels_rise &= y[i] >= y[i - 1];
        s->labels_fall &= y[i] <= y[i - 1];
    }
}

mgv_status mgvi_scan_data(mgvi_arena *arena, const mgv_data *data, mgvi_scan *out)
{
    const mgvi_matrix *X = &data->X;
    *out = (mgvi_scan){0};
    MGVI_TRY(MGVI_ARRAY(arena, out->column, X->cols));
    MGVI_TRY(MGVI_ARRAY(arena, out->row, X->rows));
    see_all(out, X);
    for (int64_t i = 0; i < X->rows; i++)
        out->empty_rows += out->row[i].count == 0;
    follow_labels(data, out);
    return find_repeats(arena->ctx, data, out);
}
