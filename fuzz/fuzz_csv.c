/* fuzz_csv.c - the csv reader. */
#include "fuzz.h"

FUZZ_READER("csv")
