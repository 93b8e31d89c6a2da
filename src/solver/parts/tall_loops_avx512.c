/* tall_loops_avx512.c - the loops of the smoothed hinge built for AVX-512. */
#if defined(__x86_64__)
#define MGVI_TALL_TABLE mgvi_tall_loops_avx512
#include "solver/parts/tall_loops_body.h"
#else
typedef int mgvi_not_for_this_processor;
#endif
