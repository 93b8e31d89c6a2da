/* op/poly_map.h - values of poly seen from an origin (kernel_origin.h), many at a time; one function
 * per instruction set, picked by MGVI_SIMD_PICK. */
#ifndef MGVI_OP_POLY_MAP_H
#define MGVI_OP_POLY_MAP_H

#include <stdint.h>

/* s_t = x'.z_t' becomes k~(x, z_t) by (24): f as there, p of x, and q of every z_t. */
typedef void mgvi_poly_map(int degree, double f, double p, const double *q, double *s, int64_t n);
mgvi_poly_map mgvi_poly_map_scalar;
#if defined(__x86_64__)
mgvi_poly_map mgvi_poly_map_avx2, mgvi_poly_map_avx512;
#endif
#endif
