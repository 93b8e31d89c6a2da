/* lockstep_narrow.c - the loop of lock-step ascent in 8 lanes. */
#define MGVI_LOCKSTEP mgvi_lockstep_narrow
#define MGVI_LOCKSTEP_WIDTH 8
#include "solver/classes/lockstep_sweep.h"
