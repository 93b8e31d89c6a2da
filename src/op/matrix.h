/* op/matrix.h - a stored matrix: dense with any strides, CSR or CSC; float32 or float64. */
#ifndef MGVI_OP_MATRIX_H
#define MGVI_OP_MATRIX_H

#include "base/context.h"

/* A view: who owns the arrays is said elsewhere. */
typedef struct mgvi_matrix {
    mgv_layout layout;
    mgv_dtype dtype;
    int64_t rows, cols;
    int64_t nnz;                    /* stored entries; rows * cols when dense */
    const void *val;                /* float or double */
    int64_t row_stride, col_stride; /* dense: element (i, j) is val[i*row_stride + j*col_stride] */
    const int64_t *ptr;             /* CSR: rows + 1, CSC: cols + 1; ptr[0] = 0 */
    const int32_t *idx;             /* 0-based, strictly increasing within a row (column) */
    double most;                    /* no |entry| is larger (mgvi_matrix_check) */
    const double *size;             /* the same of every column; NULL: not known */
} mgvi_matrix;

static inline size_t mgvi_dtype_size(mgv_dtype dtype) { return dtype == MGV_F32 ? 4 : 8; }
static inline double mgvi_matrix_value(const mgvi_matrix *m, int64_t t)
{
    return m->dtype == MGV_F32 ? (double)((const float *)m->val)[t] : ((const double *)m->val)[t];
}

/* Where the entries of a line lie, a row or, of CSC, a column: entry t is val[first + t step]. */
typedef struct mgvi_span {
    int64_t first, count, step;
} mgvi_span;
static inline mgvi_span mgvi_matrix_span(const mgvi_matrix *m, int64_t i)
{
    if (m->layout == MGV_DENSE)
        return (mgvi_span){i * m->row_stride, m->cols, m->col_stride};
    return (mgvi_span){m->ptr[i], m->ptr[i + 1] - m->ptr[i], 1};
}
static inline double mgvi_span_value(const mgvi_matrix *m, const mgvi_span *l, int64_t t)
{
    return mgvi_matrix_value(m, l->first + t * l->step);
}
/* The place of entry t across the lines: its column in a row. */
static inline int64_t mgvi_span_place(const mgvi_matrix *m, const mgvi_span *l, int64_t t)
{
    return m->layout == MGV_DENSE ? t : m->idx[l->first + t];
}
static inline int64_t mgvi_matrix_lines(const mgvi_matrix *m)
{
    return m->layout == MGV_CSC ? m->cols : m->rows;
}

/* What a problem lays over a matrix X, with c the centre, s the scale of its columns, p the scale
 * and y the sign of our rows:
 *     A = diag(y) [ diag(p) (X[row, :] - 1 c') diag(s) | 1 ],   a_i = y_i [ p_i s (x_i - c) | 1 ]
 * Every part is optional (NULL, 0) and borrowed. Whoever reads rows or columns of A, not only its
 * products, holds one of these and asks the functions below. */
typedef struct mgvi_view {
    const int64_t *row;      /* X's row of each of our rows; NULL: all, in order */
    int64_t rows;            /* length of `row`; X's rows when NULL */
    const int8_t *sign;      /* rows x sign_lanes, +1 or -1: labels */
    int32_t sign_lanes;      /* 1: the same for every lane, else the lanes of every product */
    const double *row_scale; /* per row of ours, > 0 */
    const double *centre;    /* per column of X */
    const double *scale;     /* per column of X, > 0 */
    bool intercept;          /* one more column, constant 1 (before the sign) */
} mgvi_view;

static inline int64_t mgvi_view_source(const mgvi_view *v, int64_t i)
{
    return v->row ? v->row[i] : i;
}
static inline int mgvi_view_sign(const mgvi_view *v, int64_t i) { return v->sign ? v->sign[i] : 1; }
static inline double mgvi_view_row_scale(const mgvi_view *v, int64_t i)
{
    return v->row_scale ? v->row_scale[i] : 1;
}
static inline double mgvi_view_scale(const mgvi_view *v, int64_t j)
{
    return v->scale ? v->scale[j] : 1;
}
static inline double mgvi_view_centre(const mgvi_view *v, int64_t j)
{
    return v->centre ? v->centre[j] : 0;
}
/* What is subtracted from column j in its own units, s c. */
static inline double mgvi_view_shift(const mgvi_view *v, int64_t j)
{
    return v->centre ? v->centre[j] * mgvi_view_scale(v, j) : 0;
}

/* Row i's entry in column j without its sign, of x there in X. */
static inline double mgvi_view_entry(const mgvi_view *v, int64_t i, int64_t j, double x)
{
    return (x - mgvi_view_centre(v, j)) * mgvi_view_scale(v, j) * mgvi_view_row_scale(v, i);
}

/* Whether every row lies in one piece: CSR, or dense in C order. */
static inline bool mgvi_matrix_by_rows(const mgvi_matrix *m)
{
    return m->layout == MGV_CSR || (m->layout == MGV_DENSE && m->col_stride == 1);
}
/* The same numbers with rows and columns exchanged: nothing is moved. */
mgvi_matrix mgvi_matrix_transpose(const mgvi_matrix *m);
/* Whether the entries of a column, not those of a row, lie side by side: CSC, Fortran order. */
bool mgvi_matrix_by_columns(const mgvi_matrix *m);
/* Where to cut row-stored `m` into `blocks` parts of nearly equal work: the first row of `block`;
 * rows for block == blocks. Depends on the matrix alone. */
int64_t mgvi_matrix_cut(const mgvi_matrix *m, int64_t blocks, int64_t block);

/* Shape, pointers, indices and finite values, in one pass on all threads: MGV_E_INPUT names the
 * first bad row, column and value (0-based) in the order the matrix is stored, by rows when dense.
 * Sizes whose products overflow are refused. *most, unless it is NULL, becomes the largest
 * |entry|, by which rounding is bounded; size, unless it is NULL, those of the columns (no
 * less, where they are not at hand: CSR and strange strides). */
mgv_status mgvi_matrix_check(mgv_ctx *ctx, const mgvi_matrix *m, double *most, double *size);
#endif
