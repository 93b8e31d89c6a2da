/* poly_map_avx2.c - poly from an origin compiled for AVX2 with FMA. */
#if defined(__x86_64__)
#define MGVI_POLY_MAP mgvi_poly_map_avx2
#include "op/poly_map_loops.h"
#else
typedef int mgvi_not_for_this_processor;
#endif
