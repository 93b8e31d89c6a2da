/* entropy.c - R(w) = c sum_j w_j log(d w_j) on the simplex {w >= 0, sum w = 1}, else infinite;
 * c = scale, d columns. R >= 0, and 0 at the uniform w. docs/terms.md (P8) to (P10).
 *   R*(v) = c log((1/d) sum_j e^(v_j/c)),   its gradient: softmax(v/c)                     (P8) */
#include "penalty/registry.h"

/* What rounding may make of n numbers that add up to 1, and of their sum: more of it would be
 * weights outside, with less than the least R. */
static double on_simplex(int64_t n) { return 8 * ((double)n + 8) * 0x1p-53; }

static double largest(const double *v, int64_t n)
{
    double most = -INFINITY;
    for (int64_t j = 0; j < n; j++)
        most = r_max(most, v[j]);
    return most;
}

static double entropy_value(const mgvi_whole *self, const double *w)
{
    const double d = (double)self->n;
    double sum = 0, total = 0;
    for (int64_t j = 0; j < self->n; j++) {
        if (!(w[j] >= 0))
            return INFINITY;
        total += w[j];
        sum += w[j] > 0 ? w[j] * log(d * w[j]) : 0;
    }
    return fabs(total - 1) <= on_simplex(self->n) ? self->c.scale * sum : INFINITY;
}

/* At a corner of the simplex. */
static double entropy_most(const mgvi_whole *self) { return self->c.scale * log((double)self->n); }

static double entropy_conj(const mgvi_whole *self, const double *v)
{
    const double most = largest(v, self->n);
    double sum = 0;
    for (int64_t j = 0; j < self->n; j++)
        sum += exp(r_ratio(v[j] - most, self->c.scale));
    return most + self->c.scale * log(sum / (double)self->n);
}

static void entropy_mirror(const mgvi_whole *self, const double *v, double *out)
{
    const double most = largest(v, self->n);
    double sum = 0;
    for (int64_t j = 0; j < self->n; j++)
        sum += out[j] = exp(r_ratio(v[j] - most, self->c.scale));
    for (int64_t j = 0; j < self->n; j++)
        out[j] /= sum;
}

/* The root w > 0 of  w + s log w = y  (P10), as w = e^l: e^l + s l is convex and increasing in l,
 * and Newton descends from the right of the root, where either term alone exceeds y. */
static double entropy_root(double y, double s)
{
    if (s == 0)
        return r_max(0, y);
    double l = r_min(y / s, y > 1 ? log(y) : 0);
    for (int i = 0; i < R_NEWTON_MOST; i++) {
        const double w = exp(l), step = (w + s * l - y) / (w + s);
        if (!(l - step < l))
            break;
        l -= step;
    }
    return exp(l);
}

/* w_j + s log w_j = x_j - m with sum_j w_j = 1, s = step c (P9). The sum is convex and decreasing
 * in m; where the largest w_j is 1 it is at least 1, and Newton climbs from there. */
static void entropy_prox(const mgvi_whole *self, const double *x, double step, double *out)
{
    enum { MOST = 200 }; /* with s = 0 the sum has as many kinks as columns; 20 were seen */
    const double s = step * self->c.scale;
    const double top = largest(x, self->n);
    double m = -1; /* relative to top, which may be large */
    for (int i = 0; i < MOST; i++) {
        double sum = 0, slope = 0;
        for (int64_t j = 0; j < self->n; j++) {
            const double w = entropy_root(x[j] - top - m, s);
            sum += w;
            slope += s == 0 ? w > 0 : w / (w + s);
        }
        const double next = m + (sum - 1) / slope;
        if (!(next > m))
            break;
        m = next;
    }
    double total = 0;
    for (int64_t j = 0; j < self->n; j++)
        total += out[j] = entropy_root(x[j] - top - m, s);
    for (int64_t j = 0; j < self->n; j++)
        out[j] /= total;
}

const mgvi_penalty_ops mgvi_penalty_entropy = {
    .name = "entropy",
    .summary = "scale sum w log(d w) on the simplex w >= 0, sum w = 1",
    .can = MGVI_VALUE | MGVI_PROX | MGVI_CONJ | MGVI_MIRROR | MGVI_STRONG | MGVI_CANCELS,
    .words = "sum w log(d w) over the simplex",
    .whole = &(const mgvi_whole_ops){.value = entropy_value,
                                     .prox = entropy_prox,
                                     .conj = entropy_conj,
                                     .mirror = entropy_mirror,
                                     .most = entropy_most},
    .sample_coef = mgvi_penalty_sample_scale,
};
