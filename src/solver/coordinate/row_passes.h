/* coordinate/row_passes.h - which rows a pass of mirror_coordinate visits: all of them in a fresh
 * random order, then in short passes only those that moved, until these have settled; a full pass
 * brings the others back, so nothing is ever lost. Or as many as there are, drawn at random. */
#ifndef MGVI_SOLVER_ROW_PASSES_H
#define MGVI_SOLVER_ROW_PASSES_H

#include "solver/solver_impl.h"

typedef struct mgvi_row_passes {
    int32_t *all; /* every row that can move */
    int64_t all_count;
    int32_t *order; /* the present pass; rows that move are collected at its beginning */
    double *until;  /* row_order=importance: L_i summed up over `all`; else NULL */
    /* Plain numbers, saved as they are. */
    struct {
        int64_t full, brief; /* passes; brief ones since the last full one */
        int64_t active;      /* rows that moved in the last pass, at the beginning of `order` */
        double first_move;   /* worst move of the first brief pass */
    } m;
} mgvi_row_passes;

/* Memory for the problem's rows, part of checkpoints; mgvi_row_passes_add() each row that counts. */
mgv_status mgvi_row_passes_new(mgvi_run *run, mgvi_row_passes *out);
void mgvi_row_passes_add(mgvi_row_passes *passes, int64_t row);
/* Prepares `order` for the next pass; returns its length. *full: all rows are in it, or drawn from. */
int64_t mgvi_row_passes_next(mgvi_run *run, mgvi_row_passes *passes, bool *full);
/* After the pass: `active` rows moved, the worst by `move` in any unit. */
void mgvi_row_passes_done(mgvi_row_passes *passes, int64_t active, double move);
/* For `restored`: nothing of a file may lead outside our arrays. */
mgv_status mgvi_row_passes_check(mgvi_run *run, const mgvi_row_passes *passes);
#endif
