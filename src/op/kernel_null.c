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
#include "op/twins.h"

#include <math.h>

static const double NOTHING = 1e-12; /* in units of the largest |phi(x)|, as for data rows */
/* (14) in units of the largest K_ii: weights with y (K a) >= 1 need |a|_1 beyond the inverse of
 * this, where the rounding of K's own entries is of size 1. */
static const double NOTHING_OF_K = 1e-14;

/* ---- equal points ---------------------------------------------------------------------------- */

/* Of the data as it is: what scaling and centring would round to one point are two. */
const int64_t *mgvi_kernel_twins(mgvi_kernel_op *k)
{
    const int64_t n = k->op.rows;
    if (k->twin)
        return k->twin;
    int64_t *twin = mgvi_alloc(k->op.ctx, (size_t)n, sizeof *twin);
    if (!twin || mgvi_matrix_twins(k->op.ctx, &k->points->source, NULL, n, twin) != MGV_OK) {
        mgvi_release(k->op.ctx, twin);
        return NULL;
    }
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
