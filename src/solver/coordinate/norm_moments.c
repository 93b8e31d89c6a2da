/* norm_moments.c - a norm along a line as a polynomial. */
#include "solver/coordinate/norm_moments.h"

#include <math.h>
#include <string.h>

bool mgvi_norm_moments_serve(double q)
{
    return q >= 4 && q <= MGVI_MOMENTS_MOST && fabs(q / 2 - round(q / 2)) < 1e-12;
}

/* M_k += factor x^(q-k) y^k */
static void add(mgvi_norm_moments *m, double x, double y, double factor)
{
    double power[MGVI_MOMENTS_MOST + 1];
    power[0] = factor;
    for (int k = 1; k <= m->q; k++)
        power[k] = power[k - 1] * y;
    double px = 1;
    for (int k = m->q; k >= 0; k--) {
        m->M[k] += power[k] * px;
        px *= x;
    }
}

void mgvi_norm_moments_sum(mgvi_norm_moments *m, const double *x, const double *y, int64_t n)
{
    memset(m->M, 0, sizeof m->M);
    for (int64_t j = 0; j < n; j++)
        add(m, x[j] / m->unit, y[j] / m->unit, 1);
}

void mgvi_norm_moments_move(mgvi_norm_moments *m, double x, double y, double dx, double dy)
{
    add(m, x / m->unit, y / m->unit, -1);
    add(m, (x + dx) / m->unit, (y + dy) / m->unit, 1);
}

double mgvi_norm_moments_at(const mgvi_norm_moments *m, double c)
{
    double sum = 0, binomial = 1, power = 1;
    for (int k = 0; k <= m->q; k++) {
        sum += binomial * m->M[k] * power;
        binomial *= (double)(m->q - k) / (k + 1);
        power *= c;
    }
    return sum > 0 ? m->unit * pow(sum, 1.0 / m->q) : 0;
}
