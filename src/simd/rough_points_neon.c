/* rough_points_neon.c - float32 kernel values where they are used: NEON. */
#include "simd/rough_points.h"

#if defined(__aarch64__)
#define ROUGH(name) mgvi_rough_##name##_neon
#include "simd/rough_points_body.h"
#endif
