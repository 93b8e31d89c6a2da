/* op/poly_map.h - values of poly seen from an origin (kernel_origin.h), many at a time:
 * ctx->simd->poly. */
#ifndef MGVI_OP_POLY_MAP_H
#define MGVI_OP_POLY_MAP_H

#include <stdint.h>

typedef struct mgvi_poly_loops {
    /* s_t = x'.z_t' becomes k~(x, z_t) by (24): f as there, p of x, and q of every z_t */
    void (*map)(int degree, double f, double p, const double *q, double *s, int64_t n);
} mgvi_poly_loops;
#endif
