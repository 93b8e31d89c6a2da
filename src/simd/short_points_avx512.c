/* short_points_avx512.c - kernel values between points of few columns: AVX-512. */
#include "simd/short_points.h"

#if defined(__x86_64__)
#define SHORT(name) mgvi_short_##name##_avx512
#include "simd/short_points_body.h"
#endif
