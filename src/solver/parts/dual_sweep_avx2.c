/* dual_sweep_avx2.c - the hot loop built for AVX2. */
#if defined(__x86_64__)
#define MGVI_SWEEP_TABLE mgvi_dual_sweep_avx2
#include "solver/parts/dual_sweep.h"
#else
typedef int mgvi_not_for_this_processor;
#endif
