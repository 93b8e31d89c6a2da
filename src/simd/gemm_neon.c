/* gemm_neon.c - the matrix product kernels of 64-bit ARM. */
#include "simd/gemm_kernels.h"

#if defined(__aarch64__)
#include "simd/vec_neon.h"

#include "simd/tiles.h"

const mgvi_gemm_kernels mgvi_gemm_neon = TILE_KERNELS;
#endif
