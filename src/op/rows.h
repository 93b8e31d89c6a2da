/* op/rows.h - single rows a_i of a stored matrix or of a view over one, for coordinate methods.
 * The weights w = sum_i delta_i a_i are kept in the *accumulated* form of the view, `acc`: acc_len
 * numbers that start at 0, are changed by mgvi_rows_axpy (w += delta a_i) and read by
 * mgvi_rows_dot (a_i . w), both in O(nnz of the row) whatever the view (op/matrix.h) lays over:
 *     r = sum_i delta_i y_i p_i x_i,  S = sum_i delta_i y_i p_i,  b = sum_i delta_i y_i
 *     w = s (r - c S)                                                                    (1)
 *     a_i . w = y_i (p_i (x_i . s^2 r - S e_i - q + S c.s^2 c) + b)                      (2)
 *     e_i = x_i . s^2 c,   q = c . s^2 r
 * acc = [ s^2 r | S q, when centred | b, when there is an intercept ]. Without scaling and centring
 * it is w itself. Over a kernel (op/kernel.h) acc = [ c | f = K c | b ], so that a_i . w is at hand
 * and a step costs a row of K. Over contrasts (op/contrast.h) acc holds such a form of every class,
 * one after the other. The functions of the inner loop are inline: rows are often short. */
#ifndef MGVI_OP_ROWS_H
#define MGVI_OP_ROWS_H

#include "op/kernel.h"
#include "simd/simd.h"

enum { MGVI_ROWS_SHORT = 24 }; /* entries below which a call costs more than it saves */

typedef struct mgvi_rows {
    mgv_ctx *ctx;
    mgvi_matrix m; /* CSR or dense in C order: the operator's, or a copy in the arena */
    int64_t count; /* our rows */
    int64_t acc_len;
    mgvi_view view;         /* over m; of a kernel its signs and intercept alone */
    double *square_scale;   /* s^2, when scaled */
    double *row_centre;     /* e_i, when centred */
    double centre_square;   /* c . s^2 c */
    mgvi_kernel_op *kernel; /* NULL: rows of a matrix */
    /* rows are contrasts of examples: NULL, or the examples' own rows and classes */
    struct mgvi_rows *example;
    const int32_t *own; /* per example */
    int32_t classes;
} mgvi_rows;

/* The matrix stored by rows (CSR, or dense in C order): `m` itself, or a copy in the arena. */
mgv_status mgvi_matrix_rows(mgvi_arena *arena, const mgvi_matrix *m, mgvi_matrix *out);
/* For a stored matrix, a view over one with one sign per row, a kernel, or contrasts over one of
 * these, else MGV_E_UNSUPPORTED. Column orders and odd strides are copied into the arena by rows:
 * coordinate methods need rows. `op` must outlive the result. */
mgv_status mgvi_rows_new(mgvi_op *op, mgvi_arena *arena, mgvi_rows **out);
/* The same of a stored matrix or a view over one for those who read the rows and make no products
 * (op/row_set.h): without what these need of every row. */
mgv_status mgvi_rows_bare(mgvi_op *op, mgvi_arena *arena, mgvi_rows **out);
static inline int64_t mgvi_rows_acc_len(const mgvi_rows *rows) { return rows->acc_len; }
/* (1): `cols` numbers of the operator */
void mgvi_rows_weights(const mgvi_rows *rows, const double *acc, double *w);
/* Its inverse: acc such that (1) and (2) hold for any w. It is one of many when centred (the one
 * with S = 0), so weights(load(w)) = w but not the other way round. */
void mgvi_rows_load(const mgvi_rows *rows, const double *w, double *acc);
/* The entries of the intercept columns in acc, multiplied; nothing without them. */
void mgvi_rows_scale_intercepts(const mgvi_rows *rows, double factor, double *acc);
/* |a_i|^2 without the intercept column; for all rows */
double mgvi_rows_square_norm(const mgvi_rows *rows, int64_t i);
void mgvi_rows_square_norms(const mgvi_rows *rows, double *out);

/* Both to vectors. */
static inline void mgvi_rows_put_weights(const mgvi_rows *rows, const double *acc, mgvi_vec *w)
{
    mgvi_rows_weights(rows, acc, mgvi_vec_open(w));
    mgvi_vec_close(w);
}
static inline void mgvi_rows_put_square_norms(const mgvi_rows *rows, mgvi_vec *out)
{
    mgvi_rows_square_norms(rows, mgvi_vec_open(out));
    mgvi_vec_close(out);
}

static inline int64_t mgvi_rows_source(const mgvi_rows *rows, int64_t i)
{
    return mgvi_view_source(&rows->view, i);
}

/* Stored entries of row i. */
static inline int64_t mgvi_rows_nnz(const mgvi_rows *rows, int64_t i)
{
    const int64_t r = mgvi_rows_source(rows, i);
    if (rows->example)
        return 2 * mgvi_rows_nnz(rows->example, i / rows->classes);
    if (rows->kernel)
        return rows->count;
    return rows->m.layout == MGV_DENSE ? rows->m.cols : rows->m.ptr[r + 1] - rows->m.ptr[r];
}

/* Asks for the beginning of row i, to be used a few rows later. No branch on the row's length: the
 * processor follows longer rows by itself, and a line too many does no harm. */
static inline void mgvi_rows_prefetch(const mgvi_rows *rows, int64_t i)
{
    enum { LINE = 64 };
    if (rows->kernel || rows->example)
        return;
    const int64_t r = mgvi_rows_source(rows, i);
    const bool sparse = rows->m.layout != MGV_DENSE;
    const int64_t first = sparse ? rows->m.ptr[r] : r * rows->m.row_stride;
    const uintptr_t val =
        (uintptr_t)rows->m.val + (uintptr_t)first * mgvi_dtype_size(rows->m.dtype);
    const uintptr_t next = sparse ? (uintptr_t)(rows->m.idx + first) : val + 2 * LINE;
    __builtin_prefetch((const void *)val);
    __builtin_prefetch((const void *)(val + LINE));
    __builtin_prefetch((const void *)next);
    __builtin_prefetch((const void *)(next + LINE));
}

/* Defines dot and axpy over a short sparse row: four sums, so that additions overlap. */
#define MGVI_ROWS_SHORT_LOOPS(T, S)                                                                \
    static inline double mgvi_rows_short_dot_##S(const T *val, const int32_t *idx, int64_t n,      \
                                                 const double *x)                                  \
    {                                                                                              \
        double a = 0, b = 0, c = 0, d = 0;                                                         \
        int64_t t = 0;                                                                             \
        for (; t + 4 <= n; t += 4) {                                                               \
            a += (double)val[t] * x[idx[t]];                                                       \
            b += (double)val[t + 1] * x[idx[t + 1]];                                               \
            c += (double)val[t + 2] * x[idx[t + 2]];                                               \
            d += (double)val[t + 3] * x[idx[t + 3]];                                               \
        }                                                                                          \
        for (; t < n; t++)                                                                         \
            a += (double)val[t] * x[idx[t]];                                                       \
        return (a + b) + (c + d);                                                                  \
    }                                                                                              \
    static inline void mgvi_rows_short_axpy_##S(double alpha, const T *val, const int32_t *idx,    \
                                                int64_t n, double *y)                              \
    {                                                                                              \
        for (int64_t t = 0; t < n; t++)                                                            \
            y[idx[t]] += alpha * (double)val[t];                                                   \
    }
MGVI_ROWS_SHORT_LOOPS(float, f32)
MGVI_ROWS_SHORT_LOOPS(double, f64)

/* x_r . v for row r of the matrix */
static inline double mgvi_rows_raw_dot(const mgvi_rows *rows, int64_t r, const double *v)
{
    const mgvi_matrix *m = &rows->m;
    const struct mgvi_simd *simd = rows->ctx->simd;
    const bool f32 = m->dtype == MGV_F32, sparse = m->layout != MGV_DENSE;
    const int64_t first = sparse ? m->ptr[r] : r * m->row_stride;
    const int64_t n = sparse ? m->ptr[r + 1] - first : m->cols;
    const float *const a32 = (const float *)m->val + first;
    const double *const a64 = (const double *)m->val + first;
    if (!sparse)
        return f32 ? simd->dot_f32(a32, v, n) : simd->dot_f64(a64, v, n);
    const int32_t *idx = m->idx + first;
    if (n < MGVI_ROWS_SHORT)
        return f32 ? mgvi_rows_short_dot_f32(a32, idx, n, v)
                   : mgvi_rows_short_dot_f64(a64, idx, n, v);
    return f32 ? simd->gather_dot_f32(a32, idx, n, v) : simd->gather_dot_f64(a64, idx, n, v);
}

/* v += alpha x_r */
static inline void mgvi_rows_raw_axpy(const mgvi_rows *rows, int64_t r, double alpha, double *v)
{
    const mgvi_matrix *m = &rows->m;
    const struct mgvi_simd *simd = rows->ctx->simd;
    const bool f32 = m->dtype == MGV_F32, sparse = m->layout != MGV_DENSE;
    const int64_t first = sparse ? m->ptr[r] : r * m->row_stride;
    const int64_t n = sparse ? m->ptr[r + 1] - first : m->cols;
    const float *const a32 = (const float *)m->val + first;
    const double *const a64 = (const double *)m->val + first;
    const int32_t *idx = sparse ? m->idx + first : NULL;
    if (!sparse && f32)
        simd->axpy_f32(alpha, a32, v, n);
    else if (!sparse)
        simd->axpy_f64(alpha, a64, v, n);
    else if (n < MGVI_ROWS_SHORT && f32)
        mgvi_rows_short_axpy_f32(alpha, a32, idx, n, v);
    else if (n < MGVI_ROWS_SHORT)
        mgvi_rows_short_axpy_f64(alpha, a64, idx, n, v);
    else if (f32)
        simd->scatter_axpy_f32(alpha, a32, idx, n, v);
    else
        simd->scatter_axpy_f64(alpha, a64, idx, n, v);
}

/* Row i as numbers: val[t] at column idx[t], or at column t where idx is NULL. */
typedef struct mgvi_entries {
    const double *val;
    const int32_t *idx;
    int64_t n;
} mgvi_entries;
/* Row a_i without its intercept entry; `room` holds m.cols numbers and is where val lies. A centred
 * row has no zeros: it is written out in full, unless `centred` is false, which leaves the centre
 * out: sum_i u_i a_i is the same where the intercept is free and sum_i u_i a_i0 = 0. */
mgvi_entries mgvi_rows_entries(const mgvi_rows *rows, int64_t i, bool centred, double *room);

/* v += alpha s^2 x_r */
void mgvi_rows_scaled_axpy(const mgvi_rows *rows, int64_t r, double alpha, double *v);

/* The same for contrasts: row i is that of example i / classes and class i % classes. */
double mgvi_rows_contrast_dot(const mgvi_rows *rows, int64_t i, const double *acc);
void mgvi_rows_contrast_axpy(const mgvi_rows *rows, int64_t i, double delta, double *acc);

/* (2) */
static inline double mgvi_rows_dot(const mgvi_rows *rows, int64_t i, const double *acc)
{
    if (rows->example)
        return mgvi_rows_contrast_dot(rows, i, acc);
    double z = rows->kernel ? acc[rows->count + i]
                            : mgvi_rows_raw_dot(rows, mgvi_rows_source(rows, i), acc);
    if (rows->view.centre) {
        const double S = acc[rows->m.cols], q = acc[rows->m.cols + 1];
        z += S * (rows->centre_square - rows->row_centre[i]) - q;
    }
    if (rows->view.row_scale)
        z *= rows->view.row_scale[i];
    if (rows->view.intercept)
        z += acc[rows->acc_len - 1];
    return rows->view.sign ? rows->view.sign[i] * z : z;
}

/* c_i += d, f += d K_i */
void mgvi_rows_kernel_axpy(const mgvi_rows *rows, int64_t i, double d, double *acc);

/* w += delta a_i */
static inline void mgvi_rows_axpy(const mgvi_rows *rows, int64_t i, double delta, double *acc)
{
    if (rows->example) {
        mgvi_rows_contrast_axpy(rows, i, delta, acc);
        return;
    }
    const int64_t r = mgvi_rows_source(rows, i);
    double d = rows->view.sign ? rows->view.sign[i] * delta : delta;
    if (rows->view.intercept)
        acc[rows->acc_len - 1] += d;
    if (rows->view.row_scale)
        d *= rows->view.row_scale[i];
    if (rows->kernel)
        mgvi_rows_kernel_axpy(rows, i, d, acc);
    else if (rows->square_scale)
        mgvi_rows_scaled_axpy(rows, r, d, acc);
    else
        mgvi_rows_raw_axpy(rows, r, d, acc);
    if (rows->view.centre) {
        acc[rows->m.cols] += d;
        acc[rows->m.cols + 1] += d * rows->row_centre[i];
    }
}
#endif
