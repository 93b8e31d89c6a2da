/* fuzz_npy.c - the npy reader. */
#include "fuzz.h"

FUZZ_READER("npy")
