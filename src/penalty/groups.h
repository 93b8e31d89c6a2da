/* penalty/groups.h - disjoint groups of columns. */
#ifndef MGVI_PENALTY_GROUPS_H
#define MGVI_PENALTY_GROUPS_H

#include "base/memory.h"

typedef struct mgvi_groups {
    int64_t count;
    int64_t
        *first; /* count + 1: where a group begins in `column`; behind the last, columns of none */
    int64_t *column; /* all columns, by group */
    double *weight;  /* count */
} mgvi_groups;

/* From the group of each of n columns, -1: none. Weights are 1, or the root of the group's size.
 * MGV_E_INPUT names a column whose group is out of range. */
mgv_status mgvi_groups_new(mgvi_arena *arena, const int64_t *group, int64_t n, bool by_size,
                           const mgvi_groups **out);
#endif
