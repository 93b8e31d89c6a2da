/* base/sort.h - numbers in increasing order, in place: the C library's sort may take as much memory
 * again, and is several times slower. */
#ifndef MGVI_BASE_SORT_H
#define MGVI_BASE_SORT_H

#include <stdint.h>

/* NaN may end up anywhere. */
void mgvi_sort_reals(double *x, int64_t count);
#endif
