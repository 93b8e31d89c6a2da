/* loops_scalar.c - the loops of completion built for any processor. */
#define MGVI_LOOP_TABLE mgvi_complete_loops_scalar
#include "complete/loops_body.h"
