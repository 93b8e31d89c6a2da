/* kernel_rounding.c - how far float64 products with K may be off. With u = 2^-53, d the most
 * entries of a point, a = |p|^2 / (2 sigma2), and points whose entries are rounded v times
 * (centring, scaling), the value of a pair is off by at most
 *
 *   rbf      r_p + r_q,   r = 2.1 g a + 0.9 v u sqrt(a) + (0.2 d + 5) u
 *   laplace  r_p + r_q,   r = 12 g min(sqrt(a), 1.1) + 1.5 v u sqrt(a) + (0.2 d + 5) u        (16)
 *   poly     1.1 degree (d + 2 v + 6) u sqrt(K_pp K_qq), from an origin d + 2 v + 10 and h_p h_q
 *
 * g = (1.5 d + 8) u where (2) is taken apart: its sums of d products and their parts are at most
 * 2 (a_p + a_q) each; 0 where differences are summed, and so for rbf with an a beyond
 * MGVI_KERNEL_FAR, whose s is off by (d + 5) u |s|. Rounded
 * points are off by v u |p| in length, and e^-x x <= 0.37, e^(-x^2/2) x <= 0.61 take the distance
 * out of all that; laplace's root of an s no nearer to 0 than MGVI_KERNEL_NEAR divides by itself,
 * and x e^(-0.353 x) < 1.1. The exponential is right to 4 u. A sum over m values in any order adds
 * (m + 1) u sum |c_i| sqrt(K_ii K_qq), twofold ones (kernel_short.c) as if m were at most
 * MGVI_SHORT_TERMS. docs/algorithms/kernel.md. */
#include "op/kernel_impl.h"

#include "op/kernel_origin.h"
#include "simd/short_points.h"

#include <math.h>
#include <string.h>

static const double UNIT = 0x1p-53;

/* How values are off, by kind of kernel and layout of the points. */
typedef struct law {
    const mgvi_kernel_op *k;
    double per_a, most;     /* of an a up to that */
    double per_short_root;  /* of min(sqrt(a), 1.1) */
    double per_root, least; /* of sqrt(a), of 1 */
    double relative;        /* poly: times sqrt(K_pp K_qq) */
} law;

/* How often the entries of the points are rounded; rows' lengths are sums. */
static double point_roundings(const mgvi_points *p)
{
    const mgvi_point_scaling *s = &p->scaling;
    return (s->view.centre ? 1 : 0) + (s->view.scale ? 1 : 0) +
           (s->view.row_scale ? 0.5 * (double)p->entries + 4 : 0);
}

/* The m of a sum of so many values. */
static double terms_of(const mgvi_kernel_op *k, const mgvi_vec *x, double count)
{
    const bool twofold = x->k == 1 && mgvi_kernel_sums_twofold(k);
    return twofold ? fmin(count, MGVI_SHORT_TERMS) : count;
}

static law law_of(const mgvi_kernel_op *k)
{
    const mgvi_points *p = k->points;
    const double d = (double)p->entries, v = point_roundings(p);
    const bool brief = mgvi_kernel_is_short(&k->kernel, p, p);
    const bool cancels = !brief || mgvi_kernel_short_cancels(&k->kernel, p, p);
    const double g = cancels ? (1.5 * d + 8) * UNIT : 0;
    const double own = k->kernel.origin == MGVI_ORIGIN_NONE ? 6 : 10; /* (24): five a degree */
    law l = {
        .k = k, .most = brief ? MGVI_SHORT_FAR : MGVI_KERNEL_FAR, .least = (0.2 * d + 5) * UNIT};
    if (k->kernel.kind == MGVI_KERNEL_RBF) {
        l.per_a = 2.1 * g;
        l.per_root = 0.9 * v * UNIT;
    } else if (k->kernel.kind == MGVI_KERNEL_LAPLACE) {
        l.per_short_root = 12 * g;
        l.per_root = 1.5 * v * UNIT;
    } else {
        l.least = 0;
        if (k->kernel.kind == MGVI_KERNEL_POLY)
            l.relative = 1.1 * k->kernel.degree * (d + 2 * v + own) * UNIT;
    }
    return l;
}

/* r of a point with |p|^2 = square. */
static double share(const law *l, double square)
{
    const double a = square / (2 * l->k->kernel.sigma2), root = sqrt(a);
    return (a > l->most ? 0 : l->per_a * a) + l->per_short_root * fmin(root, 1.1) +
           l->per_root * root + l->least;
}

/* Sums over the coefficients of a lane. */
typedef struct sums {
    double size;    /* sum |c_i| sqrt(K_ii), or h_i (25) */
    double shares;  /* sum |c_i| r_i */
    double tallest; /* the largest of those */
    double worst;   /* the largest r_i */
    double count;   /* coefficients that are not 0 */
} sums;

static sums sum_up(const law *l, const mgvi_vec *x, int32_t lane)
{
    const mgvi_kernel_op *k = l->k;
    const bool added = mgvi_kernel_of_differences(k->kernel.kind);
    sums s = {0};
    for (int64_t i = 0; i < k->op.rows; i++) {
        const double c = fabs(x->x[i * x->k + lane]);
        const double root = mgvi_kernel_size(&k->kernel, k->points, i, k->diagonal[i]);
        const double r = added ? share(l, k->points->square[i]) : 0;
        s.tallest = fmax(s.tallest, root);
        s.size += c * root;
        s.count += c != 0;
        s.shares += c * r;
        s.worst = fmax(s.worst, r);
    }
    return s;
}

double mgvi_kernel_mul_rounding(mgvi_op *op, const mgvi_vec *x, int32_t lane)
{
    const mgvi_kernel_op *k = (const mgvi_kernel_op *)op;
    const law l = law_of(k);
    const sums s = sum_up(&l, x, lane);
    const double largest = s.size * s.tallest;
    const double b = k->view.intercept && x->n > op->rows ? fabs(x->x[op->rows * x->k + lane]) : 0;
    const double values = mgvi_kernel_of_differences(k->kernel.kind) ? s.shares + s.size * s.worst
                                                                     : l.relative * largest;
    const double sum = values + (terms_of(k, x, s.count) + 3) * UNIT * largest;
    return 1.01 * (sum + 2 * UNIT * b);
}

/* The length may come from that of a multiple (5), which adds 1e-15 of itself. */
double mgvi_kernel_square_rounding(mgvi_op *op, const mgvi_vec *x, int32_t lane)
{
    const mgvi_kernel_op *k = (const mgvi_kernel_op *)op;
    const law l = law_of(k);
    const sums s = sum_up(&l, x, lane);
    const double values = mgvi_kernel_of_differences(k->kernel.kind) ? 2 * s.size * s.shares
                                                                     : l.relative * s.size * s.size;
    return 1.01 * (values + (2 * terms_of(k, x, s.count) + 16) * UNIT * s.size * s.size);
}
