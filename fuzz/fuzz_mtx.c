/* fuzz_mtx.c - the mtx reader. */
#include "fuzz.h"

FUZZ_READER("mtx")
