/* gemm_scalar.c - the matrix product kernels of every processor. */
#include "simd/gemm_kernels.h"

#include "simd/vec_portable.h"

#include "simd/tiles.h"

const mgvi_gemm_kernels mgvi_gemm_scalar = TILE_KERNELS;
