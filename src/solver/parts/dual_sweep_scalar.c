/* dual_sweep_scalar.c - the hot loop built for any processor. */
#define MGVI_SWEEP_TABLE mgvi_dual_sweep_scalar
#include "solver/parts/dual_sweep.h"
