/* op/raw_rows.h - the entries of the rows y_i (x_i, 1) as the data has them, exactly: no scaling,
 * no centring. Numbered like the operator's columns; of contrasts (op/contrast.h) the two classes'
 * entries, +x and -x.
 *     for (mgvi_raw_entry e = mgvi_raw_begin(rows, i); mgvi_raw_next(&e);) ... e.j, e.x */
#ifndef MGVI_OP_RAW_ROWS_H
#define MGVI_OP_RAW_ROWS_H

#include "op/rows.h"

typedef struct mgvi_raw_entry {
    const mgvi_rows *rows;
    int64_t r;           /* the matrix's row */
    int64_t first, n, t; /* its stored entries; t == n is the intercept */
    int32_t k, class, rival;
    double sign;
    int64_t j; /* column of the operator */
    double x;  /* not 0 */
} mgvi_raw_entry;

/* The rows of single examples below contrasts, or `rows` itself. */
static inline const mgvi_rows *mgvi_raw_base(const mgvi_rows *rows)
{
    return rows->example ? rows->example : rows;
}

static inline mgvi_raw_entry mgvi_raw_begin(const mgvi_rows *rows, int64_t i)
{
    const mgvi_rows *base = mgvi_raw_base(rows);
    const int64_t k = rows->example ? rows->classes : 1, example = i / k;
    const int64_t r = mgvi_rows_source(base, example);
    const bool sparse = base->m.layout != MGV_DENSE;
    mgvi_raw_entry e = {.rows = base, .r = r, .t = -1, .k = (int32_t)k, .rival = -1};
    e.first = sparse ? base->m.ptr[r] : r * base->m.row_stride;
    e.n = sparse ? base->m.ptr[r + 1] - e.first : base->m.cols;
    e.sign = mgvi_view_sign(&base->view, example);
    if (!rows->example)
        return e;
    e.class = rows->own[example];
    e.rival = (int32_t)(i % k);
    if (e.class == e.rival) /* no constraint: a row of zeros */
        e.t = e.n;
    return e;
}

static inline bool mgvi_raw_next(mgvi_raw_entry *e)
{
    const mgvi_matrix *m = &e->rows->m;
    const int64_t end = e->n + (e->rows->view.intercept ? 1 : 0);
    for (;;) {
        if (++e->t >= end) {
            if (e->rival < 0 || e->class == e->rival)
                return false;
            e->class = e->rival; /* the same entries once more, subtracted */
            e->sign = -e->sign;
            e->t = -1;
            continue;
        }
        const bool one = e->t == e->n;
        const double x = one ? 1 : mgvi_matrix_value(m, e->first + e->t);
        if (x == 0)
            continue;
        const int64_t j = one ? m->cols : m->layout == MGV_DENSE ? e->t : m->idx[e->first + e->t];
        e->j = j * e->k + e->class;
        e->x = e->sign * x;
        return true;
    }
}
#endif
