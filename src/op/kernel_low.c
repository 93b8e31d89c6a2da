/* kernel_low.c - K c for the judge of a margin: in float64 where a row may lack some of its margin
 * or carries weight, from float32 values (kernel_rough.c) with a proven lower end elsewhere.
 *
 * With u = 2^-24, points x scaled so that k = 2^-s, s = |x - q|^2, R = |x|: a copy is off by u R, a
 * difference by u (R_x + R_q) in length and u of itself, the sum of d squares by d u,
 *   |s32 - s| <= (d + 3) u s + 2 u sqrt(s) (R_x + R_q) + u^2 (R_x + R_q)^2
 * and 2^-s s < 0.54, 2^-s sqrt(s) < 0.52, so that with 4 u of the power and 5 u of c and its sums
 *   |f32 - f|_q <= 1.02 u sum_i |dc_i| (0.38 (d + 3) + 9 + 0.73 (R_i + R_q) + u (R_i + R_q)^2)
 * where the sum is over all that was added to f32 on its way from 0 (mgvi_kernel_rough_add).
 * laplace, 2^-sqrt(s): |sqrt(s32) - sqrt(s)| <= (d + 5) u sqrt(s)/2 + u (R_x + R_q), which is less.
 * All of it while |s32 - s| <= 0.02, for which 2^0.02 - 1 < 1.01 * 0.02 log 2. */
#include "op/kernel_impl.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

static const double UNIT = 0x1p-24;

typedef struct error_law {
    double scale;    /* of lengths */
    double at_0, by; /* e_q = at_0 + by R_q */
} error_law;

static double length_of(const mgvi_kernel_op *k, const error_law *law, int64_t i)
{
    return law->scale * sqrt(k->points->square[i]);
}

/* false: there is none. */
static bool find_law(const mgvi_kernel_op *k, const mgvi_kernel_walk *walk, error_law *law)
{
    const double d = (double)k->points->rows.cols, n = (double)k->op.rows;
    const double sums = n * walk->steps * 0x1p-53 / UNIT; /* of float64, in units of u */
    *law = (error_law){.scale = sqrt(mgvi_kernel_square_scale(&k->kernel))};
    const double far = 2 * law->scale * sqrt(k->points->longest); /* R_x + R_q, sqrt(s) at most */
    const double off = ((d + 3) * far * far + 2 * far * far + UNIT * far * far) * UNIT;
    law->by = 1.02 * UNIT * 0.73 * walk->size;
    law->at_0 = 1.02 * UNIT *
                ((0.38 * (d + 3) + 9 + sums + UNIT * far * far) * walk->size +
                 0.73 * law->scale * walk->lengths);
    return off <= 0.02 && law->at_0 < 1 && walk->size > 0;
}

/* Rows to make in float64: those with a weight, and those that may lack some of their margin. */
static int64_t list_near(const mgvi_kernel_op *k, const error_law *law, const double *c, double b,
                         const double *f, int64_t *near)
{
    int64_t count = 0;
    for (int64_t i = 0; i < k->op.rows; i++) {
        const double e = law->at_0 + law->by * length_of(k, law, i);
        const double sign = k->sign ? k->sign[i] : 1;
        if (c[i] != 0 || !(sign * (f[i] + b) - 2 * e >= 1)) /* twice: b may move a little */
            near[count++] = i;
    }
    return count;
}

/* f from float32 values becomes exact at the `count` rows listed, and what the judge is to be told
 * of the others is remembered: K c, or less than that times the sign. */
static mgv_status sharpen(mgvi_kernel_op *k, const error_law *law, const double *c,
                          const int64_t *near, int64_t count, double *f)
{
    const mgvi_point_list q = {.points = k->points, .index = near, .count = count};
    double *exact = mgvi_zeros(k->op.ctx, (size_t)count + 1, sizeof *exact);
    if (!exact)
        return MGV_E_MEMORY;
    const mgv_status st = mgvi_kernel_exact_sums(k, &q, mgvi_kernel_support(k, c), c, exact);
    for (int64_t i = 0; i < k->op.rows; i++) {
        const double e = law->at_0 + law->by * length_of(k, law, i);
        k->work[i] = f[i] - (k->sign ? k->sign[i] : 1) * e;
    }
    for (int64_t t = 0; t < count; t++)
        k->work[near[t]] = f[near[t]] = exact[t];
    mgvi_release(k->op.ctx, exact);
    if (st == MGV_OK)
        mgvi_kernel_remember(k, c, 1, k->work);
    k->low = k->remembered == 1;
    return st;
}

mgv_status mgvi_kernel_combine_low(mgvi_kernel_op *k, const double *c, double b,
                                   const mgvi_kernel_walk *walk, double *f)
{
    error_law law;
    mgv_status st = MGV_OK;
    bool useful = k->fast == MGV_F64 && find_law(k, walk, &law);
    int64_t *near = mgvi_alloc(k->op.ctx, (size_t)k->op.rows, sizeof *near);
    if (!near)
        return MGV_E_MEMORY;
    const int64_t count = useful ? list_near(k, &law, c, b, f, near) : 0;
    useful = useful && 4 * count < 3 * k->op.rows;
    if (useful)
        st = sharpen(k, &law, c, near, count, f);
    mgvi_release(k->op.ctx, near);
    if (!useful)
        mgvi_kernel_combine(k, c, f);
    return st != MGV_OK ? st : k->op.failed;
}

bool mgvi_kernel_recall_low(const mgvi_kernel_op *k, const mgvi_vec *x, mgvi_vec *y)
{
    const double b = k->intercept ? x->x[k->op.rows] : 0;
    if (x->k != 1 || k->remembered != 1 || !k->low ||
        memcmp(x->x, k->c, (size_t)k->op.rows * sizeof *k->c) != 0)
        return false;
    for (int64_t i = 0; i < k->op.rows; i++)
        y->x[i] = (k->sign ? k->sign[i] : 1) * (k->f[i] + b);
    return true;
}
