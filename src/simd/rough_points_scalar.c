/* rough_points_scalar.c - float32 kernel values where they are used, on every processor. */
#define ROUGH(name) mgvi_rough_##name##_scalar
#include "simd/rough_points_body.h"
