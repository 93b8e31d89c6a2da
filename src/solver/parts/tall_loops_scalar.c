/* tall_loops_scalar.c - the loops of the smoothed hinge built for any processor. */
#define MGVI_TALL_TABLE mgvi_tall_loops_scalar
#include "solver/parts/tall_loops_body.h"
