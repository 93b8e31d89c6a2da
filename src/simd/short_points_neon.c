/* short_points_neon.c - kernel values between points of few columns: 64-bit ARM. */
#include "simd/short_points.h"

#if defined(__aarch64__)
#define SHORT(name) mgvi_short_##name##_neon
#include "simd/short_points_body.h"
#endif
