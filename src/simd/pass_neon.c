/* pass_neon.c - the kernels of float32 passes of 64-bit ARM. */
#include "simd/pass_kernels.h"

#if defined(__aarch64__)
#include "simd/vec_neon.h"

#include "simd/pass.h"

const mgvi_pass_kernels mgvi_pass_neon = PASS_KERNELS;
#endif
