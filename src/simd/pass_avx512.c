/* pass_avx512.c - the kernels of float32 passes of AVX-512. */
#include "simd/pass_kernels.h"

#if defined(__x86_64__)
#include "simd/vec_avx512.h"

enum { SCORE_CLASSES = 5, GRADIENT_CLASSES = 10 }; /* 20 of the 32 registers hold sums */
#include "simd/pass.h"

const mgvi_pass_kernels mgvi_pass_avx512 = PASS_KERNELS;
#endif
