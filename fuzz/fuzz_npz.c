/* fuzz_npz.c - the npz reader. */
#include "fuzz.h"

FUZZ_READER("npz")
