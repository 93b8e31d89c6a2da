/* margin/peel.h - rows that can be in no proof of inseparability, found without arithmetic;
 * docs/algorithms/exact_margin.md, "Who decides". A column whose entries y_i x_ij have one sign only
 * forces q_i = 0 in sum_i q_i y_i x_ij = 0, q >= 0, wherever it is not zero: those rows go, the
 * column is empty then, and others may have become one-signed. A large weight of such a column puts
 * its rows on their side again. */
#ifndef MGVI_SOLVER_MARGIN_PEEL_H
#define MGVI_SOLVER_MARGIN_PEEL_H

#include "op/rows.h"
#include "problem/problem.h"

typedef struct mgvi_peeling {
    int32_t *live; /* rows that are left, */
    int64_t count;
    int32_t *gone, *column; /* those that went, first to last, and the column that each went by */
    int64_t dropped;
    int64_t *above, *below; /* live rows with y_i x_ij > 0 and < 0, per column */
    double *room;           /* for a row */
} mgvi_peeling;

/* Room for so many rows. */
mgv_status mgvi_peeling_new(const mgvi_rows *rows, mgvi_arena *arena, int64_t most,
                            mgvi_peeling *out);
/* The rows of W in `live` and `gone`. All live where the rows are contrasts, or columns are centred
 * without an intercept. Each round of a chain of rows costs a pass over W, so that some rounds are
 * all there are: what is left then is right, though not the least. */
mgv_status mgvi_peel(mgvi_peeling *peeling, const mgv_problem *problem, const mgvi_rows *rows,
                     const int32_t *W, int64_t size);
/* Weights, with a margin of 1 on what lives, get one of 1 at least on what went. */
void mgvi_peel_lift(mgvi_peeling *peeling, const mgv_problem *problem, const mgvi_rows *rows,
                    double *w, double *free);
#endif
