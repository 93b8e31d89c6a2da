/* point_centre.c - where the origin of points lies best, from some of the rows: it is a matter of
 * accuracy alone, so that the mean need not be that of all rows. */
#include "op/points.h"

#include <math.h>

enum { MOST_ROWS = 1024 };

/* Of a column, from its first value seen: nothing cancels. */
typedef struct column {
    int64_t count;
    double first, sum, square;
} column;

static void see(column *c, double x)
{
    if (c->count++ == 0)
        c->first = x;
    c->sum += x - c->first;
    c->square += (x - c->first) * (x - c->first);
}

/* The columns of some rows, or of all where columns are what is stored; returns how many rows. */
static int64_t see_rows(const mgvi_matrix *m, column *columns)
{
    if (m->layout == MGV_CSC) {
        for (int64_t j = 0; j < m->cols; j++)
            for (int64_t t = m->ptr[j]; t < m->ptr[j + 1]; t++)
                see(&columns[j], mgvi_matrix_value(m, t));
        return m->rows;
    }
    const int64_t rows = m->rows < MOST_ROWS ? m->rows : MOST_ROWS;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t i = (int64_t)((double)r * (double)m->rows / (double)rows);
        if (m->layout == MGV_DENSE)
            for (int64_t j = 0; j < m->cols; j++)
                see(&columns[j], mgvi_matrix_value(m, i * m->row_stride + j * m->col_stride));
        else
            for (int64_t t = m->ptr[i]; t < m->ptr[i + 1]; t++)
                see(&columns[m->idx[t]], mgvi_matrix_value(m, t));
    }
    return rows;
}

mgv_status mgvi_points_choose_centre(mgv_ctx *ctx, const mgvi_matrix *m, const double *scale,
                                     double *centre, bool *moved, double *square)
{
    double distance = 0, variance = 0;
    *moved = false;
    column *columns = mgvi_zeros(ctx, (size_t)m->cols + 1, sizeof *columns);
    if (!columns)
        return MGV_E_MEMORY;
    const int64_t rows = see_rows(m, columns);
    for (int64_t j = 0; j < m->cols; j++) {
        const column *c = &columns[j];
        const double n = (double)rows, unit = scale ? scale[j] : 1;
        const double mean = c->count > 0 ? c->first + c->sum / (double)c->count : 0;
        const double from_first = c->count > 0 ? c->sum / (double)c->count : 0;
        centre[j] = 0;
        if (c->count < rows) { /* the zeros that are not stored stay zeros */
            variance += unit * unit * (c->square + (double)c->count * c->first * c->first) / n;
            continue;
        }
        centre[j] = mean;
        distance += unit * mean * (unit * mean);
        variance += unit * unit * fmax(c->square / n - from_first * from_first, 0);
    }
    mgvi_release(ctx, columns);
    *moved = distance > MGVI_CENTRE_GAIN * variance && isfinite(distance);
    *square = *moved ? variance : distance + variance;
    return MGV_OK;
}
