/* rough_points_avx512.c - float32 kernel values where they are used: AVX-512. */
#include "simd/rough_points.h"

#if defined(__x86_64__)
#define ROUGH(name) mgvi_rough_##name##_avx512
#include "simd/rough_points_body.h"
#endif
