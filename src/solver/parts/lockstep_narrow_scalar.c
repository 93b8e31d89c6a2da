/* lockstep_narrow_scalar.c - the loop of lock-step ascent in 8 lanes, for any processor. */
#define MGVI_LOCKSTEP_SWEEP mgvi_lockstep_sweep_narrow_scalar
#define MGVI_LOCKSTEP_WIDTH 8
#include "solver/parts/lockstep_sweep.h"
