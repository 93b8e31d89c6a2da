/* shared/ranking.h - who comes first: orders of rows and columns, the same on every machine. */
#ifndef MGVI_SOLVER_RANKING_H
#define MGVI_SOLVER_RANKING_H

#include <stdint.h>

typedef struct mgvi_ranked {
    double value;
    int32_t index;
} mgvi_ranked;

/* The largest values first, ties by index. */
void mgvi_rank(mgvi_ranked *list, int64_t count);
/* The `most` largest, which is how many are returned if there are so many, join the *held numbers
 * of the working set; all of it is in order then. `set` has room. */
int64_t mgvi_rank_join(mgvi_ranked *list, int64_t count, int64_t most, int32_t *set, int64_t *held);
/* order[0..count) holds indices of z: afterwards the `most` smallest z come first, ties by index.
 */
void mgvi_select_smallest(const double *z, int64_t *order, int64_t count, int64_t most);
#endif
