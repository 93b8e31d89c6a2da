/* lanes_avx512.c - the k-lane kernels with all 512 bits: they are bound by arithmetic, and a
 * partial vector costs a mask only. */
#if defined(__x86_64__)
#include "simd/lanes_avx512.h"
#include "simd/vec_avx512.h"

#define LANE_SCOPE
#define T float
#define NAME(kernel) mgvi_avx512_##kernel##_f32
#include "simd/lanes.h"
#undef T
#undef NAME

#define T double
#define NAME(kernel) mgvi_avx512_##kernel##_f64
#include "simd/lanes.h"
#endif
