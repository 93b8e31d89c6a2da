/* pass_avx2.c - the kernels of float32 passes of AVX2 with FMA. */
#include "simd/pass_kernels.h"

#if defined(__x86_64__)
#include "simd/vec_avx2.h"

enum { SCORE_CLASSES = 3, GRADIENT_CLASSES = 6 }; /* 12 of the 16 registers hold sums */
#include "simd/pass.h"

const mgvi_pass_kernels mgvi_pass_avx2 = PASS_KERNELS;
#endif
