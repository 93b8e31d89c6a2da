/* problem/votes.h - the class that a row's scores speak for. */
#ifndef MGVI_PROBLEM_VOTES_H
#define MGVI_PROBLEM_VOTES_H

#include <stdbool.h>
#include <stdint.h>

/* One score per class: the largest wins. `pairwise`: one for every two classes, (0, 1), (0, 2),
 * ..., (1, 2), ..., each a vote for the second where it is positive. The first of equal classes
 * wins. */
int64_t mgvi_classes_decide(const double *scores, int64_t classes, bool pairwise);
#endif
