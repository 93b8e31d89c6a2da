/* rough_points_avx2.c - float32 kernel values where they are used: AVX2. */
#include "simd/rough_points.h"

#if defined(__x86_64__)
#define ROUGH(name) mgvi_rough_##name##_avx2
#include "simd/rough_points_body.h"
#endif
