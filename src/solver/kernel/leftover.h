/* kernel/leftover.h - what some rows of a kernel leave unsaid of the others. */
#ifndef MGVI_SOLVER_LEFTOVER_H
#define MGVI_SOLVER_LEFTOVER_H

#include "base/memory.h"

typedef struct mgvi_leftover {
    mgv_ctx *ctx;
    int64_t n, count;       /* rows of K; of those chosen */
    const int64_t *row;     /* chosen */
    const double *B;        /* n x count: K of all with these */
    const double *diagonal; /* of K */
} mgvi_leftover;

/* e_i, about K_ii - (B B_L^-1 B')_ii: docs/algorithms/kernel_subspace.md (13). Zeros where rows are
 * too few or too alike to tell. */
mgv_status mgvi_leftover_estimate(const mgvi_leftover *l, mgvi_arena *arena, double *e);
#endif
