/* short_points_scalar.c - kernel values between points of few columns, on every processor. */
#define SHORT_VALUES mgvi_short_values_scalar
#include "simd/short_points_body.h"
