/* gemm.c - the three kernels of gemm_kernels.h (simd/isa.h). */
#include "simd/gemm_kernels.h"
#include "simd/vector.h"

_Static_assert(2 <= TILE_VECS && TILE_VECS <= 4, "tile.h has copies for 1, 2, 3 and all vectors");

INLINE void merge_f32(float alpha, fvec sum, float beta, float *c)
{
    const fvec s = f_mul(f_set(alpha), sum);
    f_store(c, beta == 0 ? s : f_fma(f_set(beta), f_load(c), s));
}

INLINE void merge_f64(double alpha, vec sum, double beta, double *c)
{
    const vec s = v_mul(v_set(alpha), sum);
    v_store(c, beta == 0 ? s : v_fma(v_set(beta), v_load_f64(c), s));
}

INLINE void merge_wide(double alpha, fvec sum, double beta, double *c)
{
    merge_f64(alpha, f_low(sum), beta, c);
    merge_f64(alpha, f_high(sum), beta, c + W);
}

#define PACK(T, S, VEC, V, LOAD, LOAD_PART, LANES)                                                 \
    static void pack_##S(T scale, const T *x, int count, T *to, int width)                         \
    {                                                                                              \
        const VEC s = V##_set(scale);                                                              \
        int j = 0;                                                                                 \
        for (; j + (LANES) <= count; j += (LANES))                                                 \
            V##_store(to + j, V##_mul(s, LOAD(x + j)));                                            \
        if (j < count) {                                                                           \
            V##_store(to + j, V##_mul(s, LOAD_PART(x + j, count - j)));                            \
            j += (LANES);                                                                          \
        }                                                                                          \
        for (; j < width; j += (LANES))                                                            \
            V##_store(to + j, V##_zero());                                                         \
    }
PACK(float, f32, fvec, f, f_load, f_load_part, 2 * W)
PACK(double, f64, vec, v, v_load_f64, v_load_part_f64, W)
#undef PACK

#define IN float
#define VEC fvec
#define LANES (2 * W)
#define V(verb) f_##verb
#define OUT float
#define TILE(part) tile_f32_##part
#define MERGE merge_f32
#include "simd/tile.h"
#undef OUT
#undef TILE
#undef MERGE
#define OUT double
#define TILE(part) tile_wide_##part
#define MERGE merge_wide
#include "simd/tile.h"
#undef IN
#undef VEC
#undef LANES
#undef V
#undef TILE
#undef MERGE
#define IN double
#define VEC vec
#define LANES W
#define V(verb) v_##verb
#define TILE(part) tile_f64_##part
#define MERGE merge_f64
#define v_load v_load_f64
#include "simd/tile.h"
#undef v_load
#undef IN
#undef VEC
#undef LANES
#undef V
#undef OUT
#undef TILE
#undef MERGE

const mgvi_gemm_kernels MGVI_OF_ISA(mgvi_gemm) = {
    .rows = TILE_ROWS,
    .vecs = TILE_VECS,
    .lanes_f32 = 2 * W,
    .lanes_f64 = W,
    .tile_f32 = tile_f32_kernel,
    .tile_f64 = tile_f64_kernel,
    .tile_wide = tile_wide_kernel,
    .pack_f32 = pack_f32,
    .pack_f64 = pack_f64,
};
