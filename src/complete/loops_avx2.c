/* loops_avx2.c - the loops of completion built for AVX2. */
#if defined(__x86_64__)
#define MGVI_LOOP_TABLE mgvi_complete_loops_avx2
#include "complete/loops_body.h"
#else
typedef int mgvi_not_for_this_processor;
#endif
