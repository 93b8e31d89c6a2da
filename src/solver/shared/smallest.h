/* shared/smallest.h - the smallest of many numbers, not in order. */
#ifndef MGVI_SOLVER_SMALLEST_H
#define MGVI_SOLVER_SMALLEST_H

#include <stdint.h>

/* order[0..count) holds indices of z: afterwards the `most` smallest z come first, ties by index.
 */
void mgvi_select_smallest(const double *z, int64_t *order, int64_t count, int64_t most);
#endif
