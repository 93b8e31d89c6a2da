/* stop/early.h - runs whose answer is an iterate before convergence: hard losses under the setting
 * `select` last, discrepancy:DELTA or apriori:DELTA. With a soft loss the strength regularises, and
 * `select` is the business of src/select/. */
#ifndef MGVI_STOP_EARLY_H
#define MGVI_STOP_EARLY_H

#include "problem/problem.h"

typedef struct mgvi_early {
    bool on;
    double noise; /* DELTA: the first iterate with |A w - y| <= DELTA; NaN: the last one */
    bool apriori; /* the number of iterations follows from DELTA alone instead */
} mgvi_early;

/* `problem` may be one of many classes, and has its loss. */
mgvi_early mgvi_early_read(const mgv_problem *problem, const mgv_settings *settings);
#endif
