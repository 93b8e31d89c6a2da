/* row_kernels_avx2.c - the loops over dense rows built for AVX2. */
#if defined(__x86_64__)
#define MGVI_ROW_TABLE mgvi_row_kernels_avx2
#include "op/row_kernel_loops.h"
#else
typedef int mgvi_not_for_this_processor;
#endif
