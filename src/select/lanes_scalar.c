/* lanes_scalar.c - the lane kernels built for any processor. */
#define MGVI_LANE_TABLE mgvi_lane_kernels_scalar
#include "select/lane_tables.h"
