/* loops_avx512.c - the loops of completion built for AVX-512. */
#if defined(__x86_64__)
#define MGVI_LOOP_TABLE mgvi_complete_loops_avx512
#include "complete/loops_body.h"
#else
typedef int mgvi_not_for_this_processor;
#endif
