/* fuzz_idx.c - the idx reader. */
#include "fuzz.h"

FUZZ_READER("idx")
