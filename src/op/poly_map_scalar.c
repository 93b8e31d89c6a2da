/* poly_map_scalar.c - poly from an origin for any processor. */
#define MGVI_POLY_MAP mgvi_poly_map_scalar
#include "op/poly_map_loops.h"
