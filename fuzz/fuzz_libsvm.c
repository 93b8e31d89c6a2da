/* fuzz_libsvm.c - the libsvm reader. */
#include "fuzz.h"

FUZZ_READER("libsvm")
