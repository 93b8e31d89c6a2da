/* fft_scalar.c - the loops of transforms, without an instruction set of their own. */
#define MGVI_FFT_TABLE mgvi_fft_loops_scalar
#include "op/fft_body.h"
