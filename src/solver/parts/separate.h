/* parts/separate.h - is there any w with A w > 0? docs/algorithms/exact_margin.md, "The prover".
 *
 *   phi(w) = 1/2 sum_i (1 - a_i.w)_+^2 over the live rows                                      (5)
 *
 * by damped Newton steps with an exact line search. At a minimiser r = (1 - A w)_+ satisfies A'r =
 * 0: either r = 0 somewhere on the way and w separates, or r/sum r is the proof. Neither needs the
 * minimiser itself: a cheap correction of r is tried along the way (6). */
#ifndef MGVI_SOLVER_PARTS_SEPARATE_H
#define MGVI_SOLVER_PARTS_SEPARATE_H

#include "problem/problem.h"

typedef enum mgvi_separable {
    MGVI_SEPARABLE_UNKNOWN,
    MGVI_SEPARABLE_YES, /* w separates the live rows */
    MGVI_SEPARABLE_NO /* q is non-negative with A'q = 0 up to rounding; the judge has the last word
                       */
} mgvi_separable;

typedef struct mgvi_separate mgvi_separate;
/* All work space, from the arena: two squares of the columns. MGV_E_UNSUPPORTED when A has no
 * A'diag(h)A or more than `most_columns` columns. */
mgv_status mgvi_separate_new(const mgv_problem *problem, mgvi_arena *arena, int64_t most_columns,
                             mgvi_separate **out);
/* At most `most` Newton steps; *w and *q point into the work space. */
mgv_status mgvi_separate_run(mgvi_separate *s, int most, mgvi_separable *answer, const mgvi_vec **w,
                             const mgvi_vec **q);
#endif
