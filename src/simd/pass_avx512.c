/* pass_avx512.c - the kernels of float32 passes of AVX-512. */
#include "simd/pass_kernels.h"

#if defined(__x86_64__)
#include "simd/vec_avx512.h"

#include "simd/pass.h"

const mgvi_pass_kernels mgvi_pass_avx512 = PASS_KERNELS;
#endif
