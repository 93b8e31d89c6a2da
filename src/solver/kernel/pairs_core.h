/* kernel/pairs_core.h - pairwise ascent on the places that still move; docs/algorithms/kernel.md.
 *
 * Ill-conditioned blocks take hundreds of steps for each place, nearly all of them between a few
 * hundred free places, while a step sweeps over all. The core holds the free places and those at a
 * bound that violates their condition, with their own copy of K, small enough for the cache:
 *
 *   repeat  core = places with lo < c < hi, or c at a bound and v on the wrong side of b
 *           ascend on the core until its violation is a fraction of the block's                (11)
 *           v -= K dc on the whole block
 *
 * The largest violating pair is always in the core, so that the rounds end where (7) ends. */
#ifndef MGVI_SOLVER_PAIRS_CORE_H
#define MGVI_SOLVER_PAIRS_CORE_H

#include "solver/kernel/pairs.h"

typedef struct mgvi_pairs_core {
    mgvi_pairs pairs;
    int64_t *places; /* of the block; place t of `pairs` is places[t], places[0] = 0 */
    double *moved;   /* dc of the last ascent */
    int64_t room;
} mgvi_pairs_core;

/* Until most - least <= eps on the whole block or `most_work` values of K were swept over;
 * *work is what was. */
mgv_status mgvi_pairs_core_run(mgvi_pairs_core *core, mgvi_pairs *block, mgvi_arena *arena,
                               double eps, double most_work, double *work);
#endif
