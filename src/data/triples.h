/* data/triples.h - entries (row, column, value) of a matrix, with the names of its rows and
 * columns. As read they are in the order given; sorted they are by row and column, each entry
 * once. */
#ifndef MGVI_DATA_TRIPLES_H
#define MGVI_DATA_TRIPLES_H

#include "base/words.h"

/* What a row or column of the matrix is called: by its number from `base` on, or by a word. */
typedef struct mgvi_side {
    int64_t count;
    int base;          /* 0 or 1; without meaning where there are words */
    bool named;        /* by words */
    mgvi_words *words; /* named: word k is the name of line k */
} mgvi_side;

struct mgv_triples {
    mgv_ctx *ctx;
    int64_t rows, cols, count;
    int32_t *row;      /* NULL once sorted; -1: a row the model does not know */
    int64_t *ptr;      /* sorted: rows + 1 */
    int32_t *col;      /* -1: unknown */
    double *value;     /* NULL: pairs without values */
    int64_t given;     /* entries before those given twice were averaged */
    mgvi_side side[2]; /* rows, columns */
    const char *format;
    double load_seconds;
};

mgv_status mgvi_triples_new(mgv_ctx *ctx, int64_t count, bool values, mgv_triples **out);
void mgvi_triples_free(mgv_triples *triples);
/* Indices in range and values finite: MGV_E_INPUT names the first fault. */
mgv_status mgvi_triples_check(const mgv_triples *triples);
/* By rows and columns, entries given more than once averaged. Does nothing the second time. */
mgv_status mgvi_triples_sort(mgv_triples *triples);
#endif
