/* complete/entries.h - the seen entries of an m x n matrix, by rows and by columns, and who trains
 * on them. docs/algorithms/completion.md. */
#ifndef MGVI_COMPLETE_ENTRIES_H
#define MGVI_COMPLETE_ENTRIES_H

#include "base/memory.h"
#include "base/threads.h"
#include "data/triples.h"

/* Entry t stands in row i for row_ptr[i] <= t < row_ptr[i+1], in column col[t]; its value is
 * value[t]. By columns entry s has the row row[s] and is entry place[s] of the others. An entry
 * with held[t] = 1 is only judged, never trained on. */
typedef struct mgvi_known {
    mgv_ctx *ctx;
    int64_t rows, cols, count;
    const int64_t *row_ptr;
    const int32_t *col;
    const double *value;
    int64_t *col_ptr;
    int32_t *row, *place;
    uint8_t *held;
    int64_t held_count;
    /* What is subtracted from the values of a row and a column; NULL: nothing. */
    const double *row_offset, *col_offset;
    double *passes;                 /* over the entries, so far; NULL: nobody counts */
    int64_t row_blocks, col_blocks; /* pieces of parallel work; they depend on the entries alone */
} mgvi_known;

/* What the factors shall be at entry t of row i. */
static inline double mgvi_known_target(const mgvi_known *e, int64_t i, int64_t t)
{
    return e->row_offset ? e->value[t] - e->row_offset[i] - e->col_offset[e->col[t]] : e->value[t];
}

static inline void mgvi_known_count(const mgvi_known *e, double passes)
{
    if (e->passes)
        *e->passes += passes;
}

/* Borrows the sorted triples. `held` is left to the caller. */
mgv_status mgvi_known_init(mgv_ctx *ctx, const mgv_triples *triples, mgvi_arena *arena,
                           mgvi_known *out);
/* The first row (column) of `block`: pieces of nearly equal work. */
int64_t mgvi_known_cut(const int64_t *ptr, int64_t lines, int64_t blocks, int64_t block);

/* y = T x, m x k, where T has `value` at the entries, by rows; x n x k. */
void mgvi_known_mul(const mgvi_known *e, const double *value, int32_t k, const double *x,
                    double *y);
/* y = T'x, n x k; `by_col` are the values by columns (mgvi_known_by_col). */
void mgvi_known_mul_t(const mgvi_known *e, const double *by_col, int32_t k, const double *x,
                      double *y);
/* by_col[s] = value[place[s]] */
void mgvi_known_by_col(const mgvi_known *e, const double *value, double *by_col);
#endif
