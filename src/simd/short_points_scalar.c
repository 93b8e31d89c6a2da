/* short_points_scalar.c - kernel values between points of few columns, on every processor. */
#define SHORT(name) mgvi_short_##name##_scalar
#include "simd/short_points_body.h"
