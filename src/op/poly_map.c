/* poly_map.c - the loop of poly_map.h (simd/isa.h). */
#include "op/poly_map.h"

#include "simd/isa.h"

#include <string.h>

enum { LANES = 32 }; /* values side by side */

/* (24) from m = 1 on, where k~ = s, a = p, b = q. */
static void map_lanes(int degree, double f, double p, const double *restrict q, double *restrict s)
{
    double b[LANES], k[LANES], a = p, power = f;
    memcpy(b, q, sizeof b);
    memcpy(k, s, sizeof k);
    for (int m = 1; m < degree; m++) {
        for (int l = 0; l < LANES; l++) {
            const double total = (f + s[l]) + (p + q[l]);
            k[l] = total * k[l] + (((q[l] + s[l]) * a + (p + s[l]) * b[l]) + s[l] * power);
            b[l] = (f + q[l]) * b[l] + q[l] * power;
        }
        a = (f + p) * a + p * power;
        power *= f;
    }
    memcpy(s, k, sizeof k);
}

static void map(int degree, double f, double p, const double *q, double *s, int64_t n)
{
    int64_t t = 0;
    for (; t + LANES <= n; t += LANES)
        map_lanes(degree, f, p, q + t, s + t);
    if (t < n) {
        double last_q[LANES] = {0}, last[LANES] = {0};
        memcpy(last_q, q + t, (size_t)(n - t) * sizeof *q);
        memcpy(last, s + t, (size_t)(n - t) * sizeof *s);
        map_lanes(degree, f, p, last_q, last);
        memcpy(s + t, last, (size_t)(n - t) * sizeof *s);
    }
}

const mgvi_poly_loops MGVI_OF_ISA(mgvi_poly) = {.map = map};
