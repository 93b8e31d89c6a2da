/* parts/tall_loops_body.h - the loops of tall_loops.h, included once per instruction set by a
 * file that names its table in MGVI_TALL_TABLE. */
#include "solver/parts/tall_loops.h"

#include <math.h>

enum { LANES = 8 };

static void coefficients(const double *restrict u, const double *restrict v,
                         const uint8_t *restrict steep, int64_t n, double alpha, double least,
                         double *restrict t1, double *restrict t2, double *restrict h)
{
    const double inverse = 1 / alpha;
    for (int64_t i = 0; i < n; i++) {
        const double t = u[i] * inverse, a = fabs(t), r2 = 1 + t * t, r = sqrt(r2);
        const double tail = 1 / (2 * r * (r + a));
        t1[i] = v[i] * (t < 0 ? tail : 1 - tail);
    }
    if (t2)
        for (int64_t i = 0; i < n; i++) {
            const double t = u[i] * inverse, r2 = 1 + t * t;
            t2[i] = -0.5 * v[i] * inverse * t / (r2 * sqrt(r2));
        }
    if (!h)
        return;
    for (int64_t i = 0; i < n; i++) {
        const double t = u[i] * inverse, r2 = 1 + t * t, c = 0.5 / (r2 * sqrt(r2));
        h[i] = c < least ? 0 : v[i] * inverse * c;
    }
    for (int64_t i = 0; steep && i < n; i++)
        if (steep[i]) {
            const double t = u[i] * inverse, c = 0.5 / sqrt(1 + t * t);
            h[i] = c < least ? 0 : v[i] * inverse * c;
        }
}

static void majoriser(const double *restrict u, const double *restrict v, int64_t n, double alpha,
                      double *restrict h)
{
    const double inverse = 1 / alpha;
    for (int64_t i = 0; i < n; i++) {
        const double t = u[i] * inverse;
        h[i] = 0.5 * v[i] * inverse / sqrt(1 + t * t);
    }
}

static void line(const double *restrict u, const double *restrict u1, const double *restrict v,
                 int64_t n, double s, double alpha, double out[2])
{
    const double inverse = 1 / alpha;
    double slope[LANES] = {0}, bend[LANES] = {0};
    for (int64_t i = 0; i < n; i += LANES) {
        double e[LANES], t[LANES], weight[LANES];
        const int m = n - i < LANES ? (int)(n - i) : LANES;
        if (m == LANES) {
            for (int l = 0; l < LANES; l++) {
                e[l] = u1[i + l] - u[i + l];
                t[l] = (u[i + l] + s * e[l]) * inverse;
                weight[l] = v[i + l] * e[l];
            }
        } else {
            for (int l = 0; l < LANES; l++) {
                e[l] = l < m ? u1[i + l] - u[i + l] : 0;
                t[l] = l < m ? (u[i + l] + s * e[l]) * inverse : 0;
                weight[l] = l < m ? v[i + l] * e[l] : 0;
            }
        }
        for (int l = 0; l < LANES; l++) {
            const double r2 = 1 + t[l] * t[l], inverse_r = 1 / sqrt(r2);
            slope[l] += weight[l] * (0.5 + 0.5 * t[l] * inverse_r);
            bend[l] += weight[l] * e[l] * (inverse_r / r2);
        }
    }
    out[0] = out[1] = 0;
    for (int l = 0; l < LANES; l++) {
        out[0] += slope[l];
        out[1] += 0.5 * inverse * bend[l];
    }
}

const mgvi_tall_loops MGVI_TALL_TABLE = {
    .coefficients = coefficients, .line = line, .majoriser = majoriser};
