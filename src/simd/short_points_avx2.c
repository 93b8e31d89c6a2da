/* short_points_avx2.c - kernel values between points of few columns: AVX2. */
#include "simd/short_points.h"

#if defined(__x86_64__)
#define SHORT(name) mgvi_short_##name##_avx2
#include "simd/short_points_body.h"
#endif
