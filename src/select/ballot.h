/* select/ballot.h - many classes: the scores of the rows that a lane of a split does not train on,
 * the class they speak for, and the share that is wrong. */
#ifndef MGVI_SELECT_BALLOT_H
#define MGVI_SELECT_BALLOT_H

#include "select/selection.h"

typedef struct mgvi_ballot {
    const mgv_selection *s;
    const mgv_problem *problem; /* of the lane: borrowed */
    int64_t outputs;
    int64_t *row, count; /* the rows, as the split numbers them */
    mgvi_op *op;         /* their features; NULL: the problem's operator has the kernel */
    mgvi_vec coef, z;
} mgvi_ballot;

/* For lane `lane`, whose problem is given. Arrays come from the arena; freed by mgvi_ballot_free.
 */
mgv_status mgvi_ballot_new(mgvi_arena *arena, const mgv_selection *s, const mgv_problem *problem,
                           int32_t lane, mgvi_ballot *out);
void mgvi_ballot_free(mgvi_ballot *ballot);
/* The weighted share misclassified by coef (outputs x mgvi_problem_coefs) and intercept (outputs),
 * in the user's units; NaN: the lane trains on every row. */
double mgvi_ballot_error(mgvi_ballot *ballot, const double *coef, const double *intercept);
#endif
