/* lockstep_scalar.c - the loop of lock-step ascent in 16 lanes, for any processor. */
#define MGVI_LOCKSTEP_SWEEP mgvi_lockstep_sweep_scalar
#define MGVI_LOCKSTEP_WIDTH 16
#include "solver/parts/lockstep_sweep.h"
