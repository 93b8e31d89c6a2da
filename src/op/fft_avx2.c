/* fft_avx2.c - the loops of transforms built for AVX2. */
#if defined(__x86_64__)
#define MGVI_FFT_TABLE mgvi_fft_loops_avx2
#include "op/fft_body.h"
#else
typedef int mgvi_not_for_this_processor;
#endif
