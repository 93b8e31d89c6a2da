/* lockstep_wide.c - the loop of lock-step ascent in 16 lanes. */
#define MGVI_LOCKSTEP mgvi_lockstep
#define MGVI_LOCKSTEP_WIDTH 16
#include "solver/classes/lockstep_sweep.h"
