/* margin/working_set.h - a growing list W of rows of A and the products between them.
 *   K_ij = a_i.a_j (+ rho y_i y_j with an intercept, whose column is multiplied by sqrt(rho))
 * Rows are kept dense on request, so that K comes from matrix products; else they are multiplied
 * one by one. Of contrasts (op/contrast.h) the examples are kept, and K is their product times a
 * small number for the classes. */
#ifndef MGVI_SOLVER_WORKING_SET_H
#define MGVI_SOLVER_WORKING_SET_H

#include "op/rows.h"
#include "problem/problem.h"

typedef struct mgvi_working_set {
    const mgv_problem *problem;
    mgvi_arena *arena;
    mgvi_rows *rows;
    int64_t size, capacity;
    int32_t *W;    /* rows of A */
    double *dense; /* W by rows, `width` numbers each, in the problem's columns; NULL: not asked for
                    */
    int64_t width;
    double *examples; /* contrasts: the examples of W, `example_width` numbers each, or NULL */
    int64_t example_width;
    double rho;     /* weight of the intercept's column; 1 unless set before a row joins */
    double *part;   /* work rows of the threads */
    double touched; /* entries read so far */
} mgvi_working_set;

mgv_status mgvi_working_set_init(mgvi_working_set *s, const mgv_problem *problem, mgvi_rows *rows,
                                 mgvi_arena *arena, int64_t capacity, bool dense);
/* Room for `capacity` rows at least; what is outgrown stays in the arena. */
mgv_status mgvi_working_set_reserve(mgvi_working_set *s, int64_t capacity);
/* Rows of A join behind the others; there must be room. */
void mgvi_working_set_join(mgvi_working_set *s, const int32_t *rows, int64_t count);
/* Only W[keep[0]], W[keep[1]], ... stay, in this order. */
mgv_status mgvi_working_set_keep(mgvi_working_set *s, const int32_t *keep, int64_t count);
/* K_ij for first <= i < size and j < size, and its mirror image; rows of K `ld` apart. */
mgv_status mgvi_working_set_gram(mgvi_working_set *s, int64_t first, double *K, int64_t ld);
#endif
