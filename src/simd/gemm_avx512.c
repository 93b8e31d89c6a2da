/* gemm_avx512.c - the matrix product kernels of AVX-512. */
#include "simd/gemm_kernels.h"

#if defined(__x86_64__)
#include "simd/vec_avx512.h"

#include "simd/tiles.h"

const mgvi_gemm_kernels mgvi_gemm_avx512 = TILE_KERNELS;
#endif
