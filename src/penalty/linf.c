/* linf.c - R(w) = c max_j |w_j|,  c = scale.  R*(v) = 0 if sum |v_j| <= c, else infinite.
 * The prox is w less its projection onto the l1 ball of radius step c (Moreau). docs/terms.md
 * (P12). */
#include "penalty/registry.h"

static double sum_abs(const double *v, int64_t n)
{
    double sum = 0;
    for (int64_t j = 0; j < n; j++)
        sum += fabs(v[j]);
    return sum;
}

static double linf_value(const mgvi_whole *self, const double *w)
{
    double most = 0;
    for (int64_t j = 0; j < self->n; j++)
        most = r_max(most, fabs(w[j]));
    return self->c.scale * most;
}

/* The level at which |x| is cut: sum_j max(|x_j| - level, 0) = radius. Michelot: of the entries
 * still above the level the level follows; those below it leave, until none does. Each round is
 * exact for its set, and the sets shrink. */
static double cut_level(const double *x, int64_t n, double radius)
{
    double level = 0;
    if (!(sum_abs(x, n) > radius))
        return 0;
    for (int64_t count = -1;;) {
        double sum = 0;
        int64_t above = 0;
        for (int64_t j = 0; j < n; j++)
            if (fabs(x[j]) > level) {
                sum += fabs(x[j]);
                above++;
            }
        if (above == count || above == 0)
            return level;
        count = above;
        level = r_max(level, (sum - radius) / (double)above);
    }
}

static void linf_prox(const mgvi_whole *self, const double *x, double step, double *out)
{
    const double level = cut_level(x, self->n, step * self->c.scale);
    for (int64_t j = 0; j < self->n; j++)
        out[j] = r_clip(x[j], -level, level);
}

static double linf_dual_scale(const mgvi_whole *self, const double *v)
{
    const double sum = sum_abs(v, self->n);
    return sum > self->c.scale ? self->c.scale / sum : 1;
}

static double linf_conj(const mgvi_whole *self, const double *v)
{
    return sum_abs(v, self->n) <= self->c.scale * (1 + MGVI_ON_BOUNDARY) ? 0 : INFINITY;
}

const mgvi_penalty_ops mgvi_penalty_linf = {
    .name = "linf",
    .summary = "scale max |w|",
    .can = MGVI_VALUE | MGVI_PROX | MGVI_CONJ | MGVI_DUAL_CLIP | MGVI_NORM | MGVI_LENGTH,
    .whole = &(const mgvi_whole_ops){.value = linf_value,
                                     .prox = linf_prox,
                                     .conj = linf_conj,
                                     .dual_scale = linf_dual_scale},
    .sample_coef = mgvi_penalty_sample_scale,
};
