/* lanes_avx512.c - the lane kernels built for AVX-512. */
#if defined(__x86_64__)
#define MGVI_LANE_TABLE mgvi_lane_kernels_avx512
#include "select/lane_tables.h"
#else
typedef int mgvi_not_for_this_processor;
#endif
