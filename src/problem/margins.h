/* problem/margins.h - rows of a hard margin and the intercepts that are best for them; two classes
 * have the difference of two (op/class_graph.h). */
#ifndef MGVI_PROBLEM_MARGINS_H
#define MGVI_PROBLEM_MARGINS_H

#include "op/rows.h"
#include "problem/problem.h"

/* The rows with weight: no others are constraints. */
typedef struct mgvi_live_rows {
    int32_t *row; /* in order, with room for all; NULL: not listed */
    int64_t count;
    double total, most, least; /* of |a_i|^2 */
    int64_t endless;           /* the first row whose square overflows; -1: none */
} mgvi_live_rows;

/* Fills `live`, but for its room; `work` is a vector of the rows. */
void mgvi_problem_live_rows(const mgv_problem *problem, const mgvi_rows *rows, mgvi_vec *work,
                            mgvi_live_rows *live);
/* Adds to z the intercepts for which sum_i exp(-z_i) is least. */
void mgvi_problem_balance_edges(const mgv_problem *problem, const mgvi_live_rows *live,
                                mgvi_class_graph *graph, mgvi_vec *z);
/* min z with the best intercepts, and the first row on every edge of the cycle of least mean that
 * holds it down: graph->length of them. */
double mgvi_problem_worst_edges(const mgv_problem *problem, const mgvi_live_rows *live,
                                mgvi_class_graph *graph, const mgvi_vec *z, int32_t *row);
#endif
