/* kernel_null.c - is w = sum_i c_i phi(x_i) nothing, but for rounding? The root of c'K c cannot
 * tell anything below the root of rounding, but these bounds can, for a c with sum |c_i| = 1:
 *
 *   equal points are one:  |w| <= sum over groups g of equal points of |sum_(i in g) c_i| K_gg^1/2
 * (13) poly:                  |w| from its entries, (12) precomputed:           |w.v| <= |a|_1
 * max_i |(K c)_i| for every v = sum_j a_j phi(x_j)      (14)
 *
 * With rbf and laplace different points are independent, and (13) is all there is. */
#include "op/features.h"

#include "op/kernel_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double NOTHING = 1e-12; /* in units of the largest |phi(x)|, as for data rows */
/* (14) in units of the largest K_ii: weights with y (K a) >= 1 need |a|_1 beyond the inverse of
 * this, where the rounding of K's own entries is of size 1. */
static const double NOTHING_OF_K = 1e-14;

/* ---- equal points ---------------------------------------------------------------------------- */

typedef struct keyed {
    uint64_t key;
    int64_t row;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Points are equal when their rows are, or what is left of rows divided by their lengths. */
static mgvi_point_entry begin(const mgvi_points *p, int64_t i)
{
    return p->scaling.row_scale ? mgvi_point_begin(p, i) : mgvi_point_begin_raw(p, i);
}

static uint64_t key_of(const mgvi_points *p, int64_t i)
{
    uint64_t key = 0;
    for (mgvi_point_entry e = begin(p, i); mgvi_point_next(&e);) {
        uint64_t bits;
        memcpy(&bits, &e.x, sizeof bits);
        key = (key ^ bits ^ ((uint64_t)e.j << 32)) * UINT64_C(0x9E3779B97F4A7C15);
        key ^= key >> 29;
    }
    return key;
}

static bool same_point(const mgvi_points *p, int64_t i, int64_t j)
{
    mgvi_point_entry a = begin(p, i), b = begin(p, j);
    for (;;) {
        const bool more = mgvi_point_next(&a);
        if (mgvi_point_next(&b) != more)
            return false;
        if (!more)
            return true;
        if (a.j != b.j || a.x != b.x)
            return false;
    }
}

/* The first row with the point of order[t], given those of order[0..t). */
static int64_t find_twin(const mgvi_points *p, const keyed *order, int64_t t, const int64_t *twin)
{
    const int64_t i = order[t].row;
    for (int64_t s = t - 1; s >= 0 && order[s].key == order[t].key; s--) {
        const int64_t j = order[s].row;
        if ((s == t - 1 || twin[j] == j) && same_point(p, i, twin[j]))
            return twin[j];
    }
    return i;
}

const int64_t *mgvi_kernel_twins(mgvi_kernel_op *k)
{
    const int64_t n = k->op.rows;
    if (k->twin)
        return k->twin;
    int64_t *twin = mgvi_alloc(k->op.ctx, (size_t)n, sizeof *twin);
    keyed *order = mgvi_alloc(k->op.ctx, (size_t)n, sizeof *order);
    if (!twin || !order) {
        mgvi_release(k->op.ctx, twin);
        mgvi_release(k->op.ctx, order);
        return NULL;
    }
    for (int64_t i = 0; i < n; i++)
        order[i] = (keyed){key_of(k->points, i), i};
    qsort(order, (size_t)n, sizeof *order, by_key);
    for (int64_t t = 0; t < n; t++) /* the neighbour's first; on a clash of keys the others' */
        twin[order[t].row] = find_twin(k->points, order, t, twin);
    mgvi_release(k->op.ctx, order);
    k->twin = twin;
    return twin;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* (12) */
static bool monomials_vanish(mgvi_kernel_op *k, const double *c, double longest, double *size)
{
    const int64_t width = mgvi_kernel_width(k);
    double *sums = mgvi_zeros(k->op.ctx, (size_t)width + 1, sizeof *sums), square = 0;
    const mgv_status st = !sums ? MGV_E_MEMORY : mgvi_kernel_add_features(k, c, sums);
    for (int64_t f = 0; st == MGV_OK && f < width; f++)
        square += sums[f] * sums[f];
    mgvi_release(k->op.ctx, sums);
    if (st != MGV_OK)
        k->op.failed = st;
    *size = sqrt(square);
    return st == MGV_OK && width > 0 && *size <= NOTHING * longest;
}

/* (14) */
static bool matrix_vanishes(const mgvi_kernel_op *k, const double *c, double longest, double *size)
{
    const mgvi_matrix *m = &k->points->rows;
    long double most = 0;
    for (int64_t i = 0; i < k->op.rows; i++) {
        long double sum = 0;
        for (int64_t j = 0; j < k->op.rows; j++)
            if (c[j] != 0)
                sum +=
                    (long double)c[j] * mgvi_matrix_value(m, i * m->row_stride + j * m->col_stride);
        most = fmaxl(most, fabsl(sum));
    }
    *size = (double)most / longest;
    return most <= NOTHING_OF_K * longest * longest;
}

bool mgvi_kernel_vanishes(mgvi_kernel_op *k, const double *c, double *size)
{
    const int64_t n = k->op.rows, *twin = mgvi_kernel_twins(k);
    double *sum = mgvi_zeros(k->op.ctx, (size_t)n, sizeof *sum);
    double longest = 0;
    bool nothing = false;
    *size = INFINITY;
    if (twin && sum && (!k->intercept || fabs(c[n]) <= NOTHING)) {
        for (int64_t i = 0; i < n; i++) {
            sum[twin[i]] += c[i];
            longest = fmax(longest, sqrt(fmax(k->diagonal[i], 0)));
        }
        *size = 0;
        for (int64_t i = 0; i < n; i++)
            *size += fabs(sum[i]) * sqrt(fmax(k->diagonal[i], 0));
        nothing = *size <= NOTHING * longest;
        if (!nothing && k->kernel.kind == MGVI_KERNEL_POLY)
            nothing = monomials_vanish(k, sum, longest, size);
        else if (!nothing && k->kernel.kind == MGVI_KERNEL_PRECOMPUTED)
            nothing = matrix_vanishes(k, sum, longest, size);
    } else if (!twin || !sum) {
        k->op.failed = MGV_E_MEMORY;
    }
    mgvi_release(k->op.ctx, sum);
    return nothing;
}
