/* fuzz_mgd.c - the mgd reader. */
#include "fuzz.h"

FUZZ_READER("mgd")
