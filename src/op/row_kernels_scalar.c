/* row_kernels_scalar.c - the loops over dense rows built for any processor. */
#define MGVI_ROW_TABLE mgvi_row_kernels_scalar
#include "op/row_kernel_loops.h"
