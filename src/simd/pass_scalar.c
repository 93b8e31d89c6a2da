/* pass_scalar.c - the kernels of float32 passes of every processor. */
#include "simd/pass_kernels.h"

#include "simd/vec_portable.h"

enum { SCORE_CLASSES = 3, GRADIENT_CLASSES = 5 }; /* of at least 16 registers */
#include "simd/pass.h"

const mgvi_pass_kernels mgvi_pass_scalar = PASS_KERNELS;
