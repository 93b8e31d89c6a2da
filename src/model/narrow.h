/* model/narrow.h - a matrix without the columns that a model does not know. */
#ifndef MGVI_MODEL_NARROW_H
#define MGVI_MODEL_NARROW_H

#include "base/memory.h"
#include "op/matrix.h"

typedef struct mgvi_narrow {
    mgvi_matrix X;             /* at most `cols` columns; borrows from the matrix and the arena */
    int64_t entries, features; /* left out: entries that are not 0, and the columns they are in */
} mgvi_narrow;
mgv_status mgvi_narrow_to(mgvi_arena *arena, const mgvi_matrix *X, int64_t cols, mgvi_narrow *out);
#endif
