/* column_generation/hinge_rows.h - the rows of a problem that have weight, and its solution without any
 * weights w; docs/algorithms/column_generation.md.
 *
 * Rows as those of column_generation/hinge_block.h. The squared hinge has no upper bound, but P(w) <= P(0)
 * keeps theta below sqrt(weight sum). */
#ifndef MGVI_SOLVER_HINGE_ROWS_H
#define MGVI_SOLVER_HINGE_ROWS_H

#include "solver/column_generation/hinge_block.h"
#include "solver/solver_impl.h"

typedef struct mgvi_hinge_rows {
    mgvi_hinge_kind kind;
    int64_t n;      /* rows with weight; the others neither score nor pull */
    int32_t *row;   /* which rows they are */
    double *s;      /* their upper bounds, NULL: none */
    double *low;    /* lower bounds, NULL: 0 or none */
    double *target; /* NULL: `aim` */
    double aim;
    bool *upper;    /* the upper end of an interval, else the lower; NULL: no intervals */
    double *y;      /* their intercept entries, NULL: no intercept */
    double *weight; /* their weights: s, but for the squared hinge */
    double *bend;   /* NULL: the hinge */
    double side[2]; /* the weight of the rows with y = -1 and +1; without intercept of all, first */
    double lone;    /* the best intercept of w = 0, */
    double *lone_theta; /* and theta with it; NULL: hinges */
    double at_zero;     /* P of w = 0 with it */
} mgvi_hinge_rows;

mgv_status mgvi_hinge_rows_bind(mgvi_run *run, mgvi_hinge_rows *rows);
/* theta of w = 0 with its best intercept; for the hinge the heavier class scaled down where the
 * intercept asks for balance. */
void mgvi_hinge_rows_lone_theta(const mgv_problem *problem, const mgvi_hinge_rows *rows,
                                double *theta);
/* theta = -u, of u by the problem's rows. */
void mgvi_hinge_rows_theta(const mgvi_hinge_rows *rows, const double *u, double *theta);
/* A block's rows, without columns and strengths. */
mgvi_hinge_block mgvi_hinge_rows_outline(const mgvi_hinge_rows *rows);
/* theta of hinges from the margins z of the problem's rows: at its bound where they are clear of the
 * hinge, in the middle of the box for the `near` rows nearest to it. */
mgv_status mgvi_hinge_rows_near(mgvi_run *run, const mgvi_hinge_rows *rows, const double *z,
                                int64_t near, double *theta);
/* Rows with theta off its bounds. */
int64_t mgvi_hinge_rows_open(const mgvi_hinge_rows *rows, const double *theta);
#endif
