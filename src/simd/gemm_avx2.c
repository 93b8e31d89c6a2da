/* gemm_avx2.c - the matrix product kernels of AVX2 with FMA. */
#include "simd/gemm_kernels.h"

#if defined(__x86_64__)
#include "simd/vec_avx2.h"

#include "simd/tiles.h"

const mgvi_gemm_kernels mgvi_gemm_avx2 = TILE_KERNELS;
#endif
