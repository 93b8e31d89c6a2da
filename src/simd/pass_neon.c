/* pass_neon.c - the kernels of float32 passes of 64-bit ARM. */
#include "simd/pass_kernels.h"

#if defined(__aarch64__)
#include "simd/vec_neon.h"

enum { SCORE_CLASSES = 5, GRADIENT_CLASSES = 10 }; /* 20 of the 32 registers hold sums */
#include "simd/pass.h"

const mgvi_pass_kernels mgvi_pass_neon = PASS_KERNELS;
#endif
