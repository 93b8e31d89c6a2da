/* lockstep_avx512.c - the loop of lock-step ascent in 16 lanes, built for AVX-512. */
#if defined(__x86_64__)
#define MGVI_LOCKSTEP_SWEEP mgvi_lockstep_sweep_avx512
#define MGVI_LOCKSTEP_WIDTH 16
#include "solver/parts/lockstep_sweep.h"
#else
typedef int mgvi_not_for_this_processor;
#endif
