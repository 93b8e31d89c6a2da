/* lanes.c - the k-lane kernels of simd.h (simd/isa.h): they are bound by arithmetic, and a partial
 * vector costs a mask only. */
#include "simd/simd.h"

#include "simd/isa.h"

MGVI_SIMD_LANES(float, f32, MGVI_OF_ISA)
MGVI_SIMD_LANES(double, f64, MGVI_OF_ISA)

#if MGVI_ISA_BYTES == 8
#define LANES "simd/scalar_lanes.h"
#else
#include "simd/vector.h"
#define LANES "simd/lanes.h"
#endif

#define T float
#define NAME(kernel) kernel##_f32
#define ENTRY(kernel) MGVI_OF_ISA(mgvi_##kernel##_f32)
#include LANES
#undef T
#undef NAME
#undef ENTRY

#define T double
#define NAME(kernel) kernel##_f64
#define ENTRY(kernel) MGVI_OF_ISA(mgvi_##kernel##_f64)
#include LANES
