/* kernel_extended.c - products with K in extended precision, for a judge whose plain ones leave too
 * few digits: every value anew from the points as they were given, in long double. With U =
 * LDBL_EPSILON, d the most entries of a point and `scale` what the columns' scales are off, the
 * value of a pair is off by at most
 *
 *   rbf, laplace  (0.4 d + 10) U + 0.75 scale, and 2 (0.5 d + 6) U / sigma where rows have length 1
 *   poly          1.1 degree ((d + 12) U + 2 scale) sqrt(K_pp K_qq)                           (17)
 *                 from an origin ((d/2 + 6) U + 2 scale) h_p h_q, kernel_origin.h (25)
 *
 * because distances are sums of squares of differences, none of which cancels, e^-x x <= 0.37 and
 * e^(-x^2/2) x <= 0.61; v roundings of an entry as in (16). Equal points are one, whose coefficient
 * is the sum of theirs: with both labels they cancel before they are multiplied with anything.
 * Where long double is double there is nothing to gain, and no such product. Some fifty times the
 * work of plain ones. */
#include "op/features.h"
#include "op/kernel_impl.h"
#include "op/kernel_origin.h"

#include "base/limit.h"
#include "base/threads.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef long double wide;

/* The last product, and what all of them need. */
struct mgvi_kernel_extended {
    double *c, *hi, *lo; /* rows x lanes: coefficients, K c = hi + lo */
    wide *own;           /* rows x lanes: of a point, by its first row; 0 for its other rows */
    double *lost;        /* a lane: what rounding has taken from them, sum of lost h_i */
    int32_t lanes;
    bool known;          /* there is such a product */
    wide *length;        /* 1/|x_i| where rows are scaled to length 1; else NULL */
    wide *along, origin; /* p of every point, and f (23); NULL: there is no o but 0 */
};

static const double UNIT = LDBL_EPSILON;

/* ---- points ---------------------------------------------------------------------------------- */

/* An entry of point i, but for a scale of its column that is left for differences. */
static wide entry_of(const mgvi_kernel_op *k, int64_t i, int64_t j, wide x)
{
    const mgvi_point_scaling *s = &k->points->scaling;
    const bool differences = mgvi_kernel_of_differences(k->kernel.kind);
    if (s->view.row_scale)
        return x * (wide)mgvi_view_scale(&s->view, j) * k->extended->length[i];
    if (differences) /* of which a centre takes nothing away */
        return x;
    return (x - (wide)mgvi_view_centre(&s->view, j)) * (wide)mgvi_view_scale(&s->view, j);
}

static wide difference(const mgvi_kernel_op *k, int64_t j, wide p, wide q)
{
    const mgvi_point_scaling *s = &k->points->scaling;
    return s->view.scale && !s->view.row_scale ? (p - q) * (wide)s->view.scale[j] : p - q;
}

/* Point q laid out, 0 where it has no entry, who has touched a place last, and a sum per lane. */
typedef struct bench {
    wide *q, *sum;
    int64_t *touched;
} bench;

static wide square_distance(const mgvi_kernel_op *k, int64_t i, int64_t q, const bench *b)
{
    const mgvi_matrix *m = &k->points->source;
    const mgvi_span own = mgvi_matrix_span(m, i), other = mgvi_matrix_span(m, q);
    wide sum = 0;
    for (int64_t t = 0; t < own.count; t++) {
        const int64_t j = mgvi_span_place(m, &own, t);
        const wide e =
            difference(k, j, entry_of(k, i, j, (wide)mgvi_span_value(m, &own, t)), b->q[j]);
        b->touched[j] = i;
        sum += e * e;
    }
    for (int64_t t = 0; m->layout != MGV_DENSE && t < other.count; t++) {
        const int64_t j = mgvi_span_place(m, &other, t);
        const wide e = b->touched[j] == i ? 0 : difference(k, j, 0, b->q[j]);
        sum += e * e;
    }
    return sum;
}

/* Columns whose zeros, where they are not stored, are moved with the others: all up to this one are
 * looked at. */
static int64_t moved_columns(const mgvi_kernel_op *k)
{
    const mgvi_points *p = k->points;
    const bool apart = p->scaling.view.centre && !mgvi_kernel_of_differences(k->kernel.kind);
    return apart && p->source.layout != MGV_DENSE ? p->source.cols : 0;
}

static wide inner_product(const mgvi_kernel_op *k, int64_t i, const bench *b)
{
    const mgvi_matrix *m = &k->points->source;
    const mgvi_span own = mgvi_matrix_span(m, i);
    wide sum = 0;
    for (int64_t t = 0; t < own.count; t++) {
        const int64_t j = mgvi_span_place(m, &own, t);
        b->touched[j] = i;
        sum += entry_of(k, i, j, (wide)mgvi_span_value(m, &own, t)) * b->q[j];
    }
    for (int64_t j = 0; j < moved_columns(k); j++)
        sum += b->touched[j] == i ? 0 : entry_of(k, i, j, 0) * b->q[j];
    return sum;
}

/* (23) of points i and q, or k itself. */
static wide poly_value(const mgvi_kernel_op *k, int64_t i, int64_t q, wide product)
{
    const struct mgvi_kernel_extended *e = k->extended;
    const mgvi_kernel *spec = &k->kernel;
    if (spec->origin == MGVI_ORIGIN_NONE)
        return powl(product + (wide)spec->offset, (wide)spec->degree);
    return mgvi_poly_from_origin_wide(spec->degree, e->origin, e->along ? e->along[i] : 0,
                                      e->along ? e->along[q] : 0, product);
}

static wide value_at(const mgvi_kernel_op *k, int64_t i, int64_t q, const bench *b)
{
    const wide sigma2 = (wide)k->kernel.sigma2;
    const mgvi_matrix *m = &k->points->source;
    switch (k->kernel.kind) {
    case MGVI_KERNEL_RBF:
        return expl(-square_distance(k, i, q, b) / (2 * sigma2));
    case MGVI_KERNEL_LAPLACE:
        return expl(-sqrtl(square_distance(k, i, q, b) / sigma2));
    case MGVI_KERNEL_POLY:
        return poly_value(k, i, q, inner_product(k, i, b) / sigma2);
    default:
        return (wide)mgvi_matrix_value(m, q * m->row_stride + i * m->col_stride);
    }
}

static void lay_out(const mgvi_kernel_op *k, int64_t q, bench *b)
{
    const mgvi_matrix *m = &k->points->source;
    const mgvi_span s = mgvi_matrix_span(m, q);
    for (int64_t j = 0; j < moved_columns(k); j++)
        b->q[j] = entry_of(k, q, j, 0);
    for (int64_t t = 0; t < s.count; t++) {
        const int64_t j = mgvi_span_place(m, &s, t);
        b->q[j] = entry_of(k, q, j, (wide)mgvi_span_value(m, &s, t));
    }
}

static void clear(const mgvi_kernel_op *k, int64_t q, bench *b)
{
    const mgvi_matrix *m = &k->points->source;
    const mgvi_span s = mgvi_matrix_span(m, q);
    for (int64_t j = 0; j < moved_columns(k); j++)
        b->q[j] = 0;
    for (int64_t t = 0; t < s.count; t++)
        b->q[mgvi_span_place(m, &s, t)] = 0;
}

/* ---- products -------------------------------------------------------------------------------- */

typedef struct product {
    mgvi_kernel_op *k;
    int64_t support, first, end; /* rows of this turn */
    int64_t blocks;
    bench *bench; /* per block */
} product;

static void product_block(void *arg, int64_t block)
{
    const product *job = arg;
    mgvi_kernel_op *k = job->k;
    struct mgvi_kernel_extended *e = k->extended;
    bench *b = &job->bench[block];
    const int32_t lanes = e->lanes;
    const int64_t rows = job->end - job->first;
    const int64_t end = job->first + mgvi_block_begin(rows, job->blocks, block + 1);
    for (int64_t q = job->first + mgvi_block_begin(rows, job->blocks, block); q < end; q++) {
        lay_out(k, q, b);
        for (int32_t c = 0; c < lanes; c++)
            b->sum[c] = 0;
        for (int64_t s = 0; s < job->support; s++) {
            const int64_t i = k->support[s];
            const wide value = value_at(k, i, q, b);
            for (int32_t c = 0; c < lanes; c++)
                b->sum[c] += value * e->own[i * lanes + c];
        }
        for (int32_t c = 0; c < lanes; c++) { /* in two doubles, which have room for it */
            e->hi[q * lanes + c] = (double)b->sum[c];
            e->lo[q * lanes + c] = (double)(b->sum[c] - (wide)e->hi[q * lanes + c]);
        }
        clear(k, q, b);
    }
}

static double size_of(const mgvi_kernel_op *k, int64_t i)
{
    return mgvi_kernel_size(&k->kernel, k->points, i, k->diagonal[i]);
}

/* `own`, and what is lost of it. */
static bool join_twins(mgvi_kernel_op *k)
{
    struct mgvi_kernel_extended *e = k->extended;
    const int64_t *twin = mgvi_kernel_twins(k);
    const int32_t lanes = e->lanes;
    memset(e->lost, 0, (size_t)lanes * sizeof *e->lost);
    for (int64_t i = 0; twin && i < k->op.rows; i++)
        for (int32_t c = 0; c < lanes; c++) {
            wide *sum = &e->own[twin[i] * lanes + c];
            const wide old = twin[i] == i ? 0 : *sum, add = (wide)e->c[i * lanes + c];
            if (twin[i] != i)
                e->own[i * lanes + c] = 0;
            *sum = old + add;
            const wide part = *sum - old, error = (old - (*sum - part)) + (add - part);
            e->lost[c] += error == 0 ? 0 : (double)fabsl(error) * size_of(k, i);
        }
    return twin != NULL;
}

/* Points with a coefficient in any lane, into k->support. */
static int64_t find_support(mgvi_kernel_op *k)
{
    const struct mgvi_kernel_extended *e = k->extended;
    int64_t count = 0;
    for (int64_t i = 0; i < k->op.rows; i++) {
        bool used = false;
        for (int32_t c = 0; c < e->lanes; c++)
            used = used || e->own[i * e->lanes + c] != 0;
        if (used)
            k->support[count++] = i;
    }
    return count;
}

/* In turns of a few rows, between which the limit is looked at. */
static bool multiply(mgvi_kernel_op *k, product *job)
{
    enum { PAIRS = 1 << 14 };
    const int64_t n = k->op.rows, turn = PAIRS / (job->support + 1) + job->blocks;
    for (int64_t q = 0; q < n; q += turn) {
        job->first = q;
        job->end = q + turn < n ? q + turn : n;
        mgvi_ctx_run(k->op.ctx, job->blocks, product_block, job);
        if (mgvi_ctx_cut(k->op.ctx))
            return false;
    }
    k->op.touched += (double)n * (double)job->support;
    return true;
}

/* ---- work space ------------------------------------------------------------------------------ */

static void find_lengths(mgvi_kernel_op *k, wide *length)
{
    const mgvi_matrix *m = &k->points->source;
    const mgvi_point_scaling *p = &k->points->scaling;
    for (int64_t i = 0; i < m->rows; i++) {
        const mgvi_span s = mgvi_matrix_span(m, i);
        wide sum = 0;
        for (int64_t t = 0; t < s.count; t++) {
            const wide x = (wide)mgvi_span_value(m, &s, t) *
                           (wide)mgvi_view_scale(&p->view, mgvi_span_place(m, &s, t));
            sum += x * x;
        }
        length[i] = sum > 0 ? 1 / sqrtl(sum) : 0;
    }
}

static wide origin_at(const mgvi_point_scaling *p, int64_t j)
{
    return (wide)p->view.centre[j] * (wide)mgvi_view_scale(&p->view, j);
}

/* o.x' of point i, as it was given: of every column, stored or not. */
static wide along_of(const mgvi_kernel_op *k, int64_t i)
{
    const mgvi_matrix *m = &k->points->source;
    const mgvi_span s = mgvi_matrix_span(m, i);
    wide sum = 0;
    for (int64_t j = 0, t = 0; j < m->cols; j++) {
        const bool stored = t < s.count && mgvi_span_place(m, &s, t) == j;
        const wide x = stored ? (wide)mgvi_span_value(m, &s, t) : 0;
        sum += origin_at(&k->points->scaling, j) * entry_of(k, i, j, x);
        t += stored;
    }
    return sum;
}

/* p of every point, and f. */
static void find_along(mgvi_kernel_op *k, struct mgvi_kernel_extended *e)
{
    const wide sigma2 = (wide)k->kernel.sigma2;
    wide square = 0;
    for (int64_t j = 0; e->along && j < k->points->source.cols; j++)
        square += origin_at(&k->points->scaling, j) * origin_at(&k->points->scaling, j);
    e->origin = square / sigma2 + (wide)k->kernel.offset;
    for (int64_t i = 0; e->along && i < k->op.rows; i++)
        e->along[i] = along_of(k, i) / sigma2;
}

void mgvi_kernel_extended_free(mgvi_kernel_op *k)
{
    if (!k->extended)
        return;
    mgvi_release(k->op.ctx, k->extended->c);
    mgvi_release(k->op.ctx, k->extended->own);
    mgvi_release(k->op.ctx, k->extended->length);
    mgvi_release(k->op.ctx, k->extended->along);
    mgvi_release(k->op.ctx, k->extended);
    k->extended = NULL;
}

/* Made at the first need, for as many lanes. */
static bool open_extended(mgvi_kernel_op *k, int32_t lanes)
{
    mgv_ctx *ctx = k->op.ctx;
    const size_t numbers = (size_t)k->op.rows * (size_t)lanes;
    const bool scaled = k->points->scaling.view.row_scale != NULL;
    if (k->extended && k->extended->lanes == lanes)
        return true;
    mgvi_kernel_extended_free(k);
    struct mgvi_kernel_extended *e = mgvi_zeros(ctx, 1, sizeof *e);
    k->extended = e;
    if (!e)
        return false;
    e->c = mgvi_zeros(ctx, 3 * numbers + (size_t)lanes, sizeof *e->c);
    e->own = mgvi_alloc(ctx, numbers + 1, sizeof *e->own);
    e->length = scaled ? mgvi_alloc(ctx, (size_t)k->op.rows + 1, sizeof *e->length) : NULL;
    const bool moved = k->kernel.origin == MGVI_ORIGIN_CENTRE;
    e->along = moved ? mgvi_alloc(ctx, (size_t)k->op.rows + 1, sizeof *e->along) : NULL;
    if (!e->c || !e->own || (scaled && !e->length) || (moved && !e->along)) {
        mgvi_kernel_extended_free(k);
        return false;
    }
    e->hi = e->c + numbers;
    e->lo = e->hi + numbers;
    e->lost = e->lo + numbers;
    e->lanes = lanes;
    if (scaled)
        find_lengths(k, e->length);
    find_along(k, e);
    return true;
}

/* Whether the points are such that (17) holds. */
static bool serves(const mgvi_kernel_op *k)
{
    const mgvi_points *p = k->points;
    return LDBL_MANT_DIG >= 64 && k->op.rows > 0 &&
           !(p->scaling.view.centre && p->scaling.view.row_scale);
}

/* hi + lo = K c of all lanes of x, unless they are there already. */
static bool combine(mgvi_kernel_op *k, const mgvi_vec *x)
{
    mgv_ctx *ctx = k->op.ctx;
    const int64_t n = k->op.rows, cols = k->points->source.cols;
    const size_t numbers = (size_t)n * (size_t)x->k;
    enum { BLOCKS = 8 };
    if (!serves(k) || !open_extended(k, x->k))
        return false;
    struct mgvi_kernel_extended *e = k->extended;
    if (e->known && memcmp(e->c, x->x, numbers * sizeof *e->c) == 0)
        return true;
    e->known = false;
    bench benches[BLOCKS];
    product job = {.k = k, .blocks = BLOCKS, .bench = benches};
    const int64_t wide_numbers = cols + x->k;
    wide *q = mgvi_zeros(ctx, (size_t)wide_numbers * BLOCKS, sizeof *q);
    int64_t *touched = mgvi_alloc(ctx, (size_t)cols * BLOCKS + 1, sizeof *touched);
    memcpy(e->c, x->x, numbers * sizeof *e->c);
    bool whole = q && touched && join_twins(k);
    if (whole) {
        job.support = find_support(k);
        for (int64_t j = 0; j < cols * BLOCKS; j++)
            touched[j] = -1;
        for (int64_t b = 0; b < BLOCKS; b++)
            benches[b] = (bench){.q = q + b * wide_numbers,
                                 .sum = q + b * wide_numbers + cols,
                                 .touched = touched + b * cols};
        whole = multiply(k, &job);
    }
    e->known = whole;
    mgvi_release(ctx, touched);
    mgvi_release(ctx, q);
    return whole;
}

/* ---- what it is off -------------------------------------------------------------------------- */

/* Of one value: in units of 1, and of sqrt(K_pp K_qq) or h_p h_q. */
typedef struct law {
    double plain, relative;
} law;

static law law_of(const mgvi_kernel_op *k, double scale)
{
    const double d = (double)k->points->entries, sigma = sqrt(k->kernel.sigma2);
    const double length = k->points->scaling.view.row_scale ? (0.5 * d + 6) * UNIT + scale : 0;
    if (k->kernel.kind == MGVI_KERNEL_PRECOMPUTED)
        return (law){0, 0};
    if (mgvi_kernel_of_differences(k->kernel.kind))
        return (law){(0.4 * d + 10) * UNIT + 0.75 * scale + 2 * length / sigma, 0};
    const double own = k->kernel.origin == MGVI_ORIGIN_NONE ? d + 12 : d / 2 + 6;
    return (law){0, 1.1 * k->kernel.degree * (own * UNIT + 2 * scale + 2 * length)};
}

typedef struct sums {
    double size, plain, tallest, count; /* sum |c_i| h_i, sum |c_i|, max h_i; h (25) */
} sums;

static sums sum_up(const mgvi_kernel_op *k, int32_t lane)
{
    const struct mgvi_kernel_extended *e = k->extended;
    sums s = {0};
    for (int64_t i = 0; i < k->op.rows; i++) {
        const double c = (double)fabsl(e->own[i * e->lanes + lane]);
        const double root = size_of(k, i);
        s.size += c * root;
        s.plain += c;
        s.tallest = fmax(s.tallest, root);
        s.count += c != 0;
    }
    return s;
}

bool mgvi_kernel_mul_extended(mgvi_op *op, const mgvi_vec *x, double scale, mgvi_vec *y,
                              double *error)
{
    mgvi_kernel_op *k = (mgvi_kernel_op *)op;
    if (!combine(k, x))
        return false;
    const struct mgvi_kernel_extended *e = k->extended;
    const law l = law_of(k, scale);
    for (int32_t c = 0; c < x->k; c++) {
        const double b = k->view.intercept ? x->x[op->rows * x->k + c] : 0;
        const sums s = sum_up(k, c);
        for (int64_t i = 0; i < op->rows; i++) {
            const int64_t at = i * x->k + c;
            const wide z = (wide)e->hi[at] + (wide)e->lo[at] + (wide)b;
            y->x[i * y->k + c] = (mgvi_view_sign(&k->view, i)) * (double)z;
        }
        error[c] =
            1.01 * (l.plain * s.plain + l.relative * s.size * s.tallest +
                    (s.count + 4) * UNIT * (s.size * s.tallest + fabs(b)) + e->lost[c] * s.tallest);
    }
    return true;
}

bool mgvi_kernel_square_extended(mgvi_op *op, const mgvi_vec *x, double scale, double *square,
                                 double *error)
{
    mgvi_kernel_op *k = (mgvi_kernel_op *)op;
    if (!combine(k, x))
        return false;
    const struct mgvi_kernel_extended *e = k->extended;
    const law l = law_of(k, scale);
    wide all = 0;
    *error = 0;
    for (int32_t c = 0; c < x->k; c++) {
        const sums s = sum_up(k, c);
        wide sum = 0;
        for (int64_t i = 0; i < op->rows; i++) {
            const int64_t at = i * x->k + c;
            sum += e->own[at] * ((wide)e->hi[at] + (wide)e->lo[at]);
        }
        *error += 1.01 * (l.plain * s.plain * s.plain + l.relative * s.size * s.size +
                          (2 * s.count + 16) * UNIT * s.size * s.size +
                          2 * e->lost[c] * (s.size + e->lost[c]));
        all += sum > 0 ? sum : 0;
    }
    *square = (double)all;
    *error += DBL_EPSILON * *square;
    return true;
}
