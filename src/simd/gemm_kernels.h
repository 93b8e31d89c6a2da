/* simd/gemm_kernels.h - the inner kernels of matrix products over packed panels.
 * A panel holds `depth` steps of a few neighbouring rows of A' or columns of B, one step after the
 * other. A tile of the result is `rows` x (vecs * lanes): all its sums live in registers. */
#ifndef MGVI_SIMD_GEMM_KERNELS_H
#define MGVI_SIMD_GEMM_KERNELS_H

#include <stdint.h>

/* With s_ij = sum_p a[p*a_step + i] b[p*b_step + j], 0 <= p < depth:
 *   c[i*ldc + j] = alpha s_ij + beta c[i*ldc + j],  i < rows, j < cols;  c is not read if beta = 0.
 * `vecs` vectors of b are read in each step, cols <= vecs * lanes; `a` is read for a whole tile. */
#define MGVI_TILE_FN(name, in, out)                                                                \
    void (*name)(int64_t depth, const in *a, int64_t a_step, const in *b, int64_t b_step,          \
                 int vecs, out alpha, out beta, out *c, int64_t ldc, int rows, int cols)

typedef struct mgvi_gemm_kernels {
    int rows;                 /* of a tile; divides vecs * lanes */
    int vecs;                 /* most vectors across a tile */
    int lanes_f32, lanes_f64; /* entries of a vector */
    MGVI_TILE_FN(tile_f32, float, float);
    MGVI_TILE_FN(tile_f64, double, double);
    MGVI_TILE_FN(tile_wide, float, double); /* sums in float32 over this depth, then float64 */
    /* One step of a panel: to[j] = scale x[j], j < count, then zeros; width is a multiple of lanes.
     */
    void (*pack_f32)(float scale, const float *x, int count, float *to, int width);
    void (*pack_f64)(double scale, const double *x, int count, double *to, int width);
} mgvi_gemm_kernels;
#endif
