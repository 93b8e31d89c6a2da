/* shared/anderson.h - Anderson extrapolation of the iterates of a sweep.
 * The point sum_k c_k w_k, sum c = 1, of the last DEPTH iterates whose combined move
 * |sum_k c_k (w_k - w_{k-1})| is least: c = z / sum z with (U'U) z = 1, U the moves. */
#ifndef MGVI_SOLVER_ANDERSON_H
#define MGVI_SOLVER_ANDERSON_H

#include "base/memory.h"

enum { MGVI_ANDERSON_DEPTH = 5 };

typedef struct mgvi_anderson {
    double *history[MGVI_ANDERSON_DEPTH + 1]; /* oldest first */
    int64_t n;                                /* numbers of each */
    int held;
} mgvi_anderson;

mgv_status mgvi_anderson_new(mgvi_arena *arena, int64_t most, mgvi_anderson *out);
/* Forgets, for iterates of n <= most numbers. */
void mgvi_anderson_reset(mgvi_anderson *a, int64_t n);
/* Where the next iterate goes; call mgvi_anderson_push() when it is there. */
double *mgvi_anderson_slot(mgvi_anderson *a);
/* True: the history is full, `out` is the extrapolated point, and the history is empty again. */
bool mgvi_anderson_push(mgvi_anderson *a, double *out);
#endif
