/* lane_loops.c - the kernels of lanes.h, widths 8 and 16 (simd/isa.h). */
#include "select/lanes.h"

#include "simd/isa.h"

#include <string.h>

#define WIDTH 8
#include "select/lane_kernels.h"
#undef WIDTH
#define WIDTH 16
#include "select/lane_kernels.h"
#undef WIDTH

const mgvi_lane_loops MGVI_OF_ISA(mgvi_lanes) = {
    {sweep_8, gradient_8, subtract_8, mark_8, shrink_8, climb_8, rows_8, cols_8},
    {sweep_16, gradient_16, subtract_16, mark_16, shrink_16, climb_16, rows_16, cols_16}};
