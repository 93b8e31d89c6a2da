/* select/lane_tables.h - the kernels of one instruction set, widths 8 and 16; the including file
 * names the table in MGVI_LANE_TABLE. */
#include "select/lanes.h"

#include <string.h>

#define WIDTH 8
#include "select/lane_kernels.h"
#undef WIDTH
#define WIDTH 16
#include "select/lane_kernels.h"
#undef WIDTH

extern const mgvi_lane_kernels MGVI_LANE_TABLE[2];
const mgvi_lane_kernels MGVI_LANE_TABLE[2] = {
    {sweep_8, gradient_8, subtract_8, mark_8, shrink_8, climb_8, rows_8, cols_8},
    {sweep_16, gradient_16, subtract_16, mark_16, shrink_16, climb_16, rows_16, cols_16}};
