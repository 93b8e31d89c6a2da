/* tall_loops.c - the loops of tall_loops.h (simd/isa.h). */
#include "solver/newton/tall_loops.h"

#include "simd/isa.h"

#include <math.h>
#include <stddef.h>

enum { LANES = 8 };

/* What is wanted is known where it is inlined: one root and one division for all three. */
static inline __attribute__((always_inline)) void
all_coefficients(const double *restrict u, const double *restrict v, int64_t n, double alpha,
                 double least, double *restrict t1, double *restrict t2, double *restrict h)
{
    const double inverse = 1 / alpha;
    for (int64_t i = 0; i < n; i++) {
        const double t = u[i] * inverse, a = fabs(t), r = sqrt(1 + t * t);
        const double tail = 1 / (2 * r * (r + a)); /* of psi' */
        t1[i] = v[i] * (t < 0 ? tail : 1 - tail);
        if (t2 || h) {
            const double inverse_r = 2 * tail * (r + a),
                         c = 0.5 * inverse_r * inverse_r * inverse_r;
            const double weighted = v[i] * inverse * c;
            if (t2)
                t2[i] = -t * weighted;
            if (h)
                h[i] = c < least ? 0 : weighted;
        }
    }
}

static void coefficients(const double *restrict u, const double *restrict v,
                         const uint8_t *restrict steep, int64_t n, double alpha, double least,
                         double *restrict t1, double *restrict t2, double *restrict h)
{
    if (t2 && h)
        all_coefficients(u, v, n, alpha, least, t1, t2, h);
    else if (h)
        all_coefficients(u, v, n, alpha, least, t1, NULL, h);
    else if (t2)
        all_coefficients(u, v, n, alpha, least, t1, t2, NULL);
    else
        all_coefficients(u, v, n, alpha, least, t1, NULL, NULL);
    for (int64_t i = 0; steep && h && i < n; i++)
        if (steep[i]) {
            const double t = u[i] / alpha, c = 0.5 / sqrt(1 + t * t);
            h[i] = c < least ? 0 : v[i] / alpha * c;
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

const mgvi_tall_loops MGVI_OF_ISA(mgvi_tall) = {
    .coefficients = coefficients, .line = line, .majoriser = majoriser};
