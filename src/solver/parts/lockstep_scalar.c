/* lockstep_scalar.c - the loop of lock-step ascent for any processor. */
#define MGVI_LOCKSTEP_SWEEP mgvi_lockstep_sweep_scalar
#include "solver/parts/lockstep_sweep.h"
