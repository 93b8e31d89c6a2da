/* select/ballot.h - many classes: rows are scored by every run's weights at once, and each goes to
 * the class its scores speak for. */
#ifndef MGVI_SELECT_BALLOT_H
#define MGVI_SELECT_BALLOT_H

#include "op/points.h"
#include "problem/problem.h"

/* Whose rows: `count` of X, divided by their length where `row_scale` says so. With a kernel they
 * are examples of the problem, and X and row_scale are not looked at, or all rows of another file,
 * which are in `points`; of a precomputed kernel X has the values. All of it is borrowed. */
typedef struct mgvi_electorate {
    const mgvi_matrix *X;
    const int64_t *row;
    int64_t count;
    const double *row_scale; /* one per row of `row`; NULL: 1 */
    bool others;             /* with a kernel: not examples of the problem */
    const mgvi_points *points;
} mgvi_electorate;

typedef struct mgvi_ballot {
    const mgv_problem *problem; /* borrowed: the kernel, and what there are scores of */
    mgvi_electorate rows;
    int64_t outputs;
    mgvi_op *op; /* the rows' features; NULL: the problem's operator has the kernel */
    mgvi_vec coef, z;
    int64_t *example; /* of points: those with a weight, the weights, and sums, outputs x rows */
    double *weight, *sum;
} mgvi_ballot;

/* Work space comes from the arena; freed by mgvi_ballot_free. */
mgv_status mgvi_ballot_new(mgvi_arena *arena, const mgv_problem *problem,
                           const mgvi_electorate *rows, mgvi_ballot *out);
void mgvi_ballot_free(mgvi_ballot *ballot);
/* Scores the rows by coef (outputs x mgvi_problem_coefs) and intercept (outputs), in the user's
 * units. MGV_E_MEMORY. */
mgv_status mgvi_ballot_hold(mgvi_ballot *ballot, const double *coef, const double *intercept);
/* The class of row number t of `row`. */
int64_t mgvi_ballot_class(const mgvi_ballot *ballot, int64_t t);
#endif
