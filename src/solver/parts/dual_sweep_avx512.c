/* dual_sweep_avx512.c - the hot loop built for AVX-512. */
#if defined(__x86_64__)
#define MGVI_SWEEP_TABLE mgvi_dual_sweep_avx512
#include "solver/parts/dual_sweep.h"
#else
typedef int mgvi_not_for_this_processor;
#endif
