/* coordinate/free_rows.h - Newton's method on the free rows of a dual;
 * docs/algorithms/dual_coordinate.md.
 *
 *   F(u) = -|A'u|^2/(2 lambda) - sum_i c_i(u_i) + b0 a0'u - kappa/2 (a0'u)^2,   c_i = (s_i G_i)*
 *
 * is smooth in the rows E that rest at no bound of their box. Its maximiser over them, all others
 * fixed, is reached by steps
 *   (A_E A_E'/lambda + kappa a0 a0' + diag(c'')) delta = z_E - c'(u_E)                        (6)
 * which are found by conjugate gradients on a packed copy of the rows of E and its transpose, so
 * that both products are gathers. Rows that would leave the box stop at its side and the others
 * are solved for again (a primal-dual active set method).                                    (7)
 * For losses that know c' (MGVI_MIRROR). Where it jumps at 0 (MGVI_BETWEEN) 0 is a bound too: a row
 * keeps its sign, and others change it. */
#ifndef MGVI_SOLVER_FREE_ROWS_H
#define MGVI_SOLVER_FREE_ROWS_H

#include "op/rows.h"
#include "problem/problem.h"

typedef struct mgvi_free_rows mgvi_free_rows;

/* Work space for any E, from the arena. */
mgv_status mgvi_free_rows_new(const mgv_problem *problem, const mgvi_rows *rows, mgvi_arena *arena,
                              mgvi_free_rows **out);

typedef struct mgvi_free_goal {
    double inverse_lambda, kappa;
    const double *curvature; /* |a_i|^2/lambda + kappa of every row */
    double target;           /* E's share of the duality gap that is good enough */
    double most;             /* stored entries that products may read */
    double most_rows;        /* of E: with more the step does nothing */
} mgvi_free_goal;

/* What one step did. */
typedef struct mgvi_free_step {
    int64_t rows;     /* |E| */
    int64_t products; /* with A_E A_E' */
    double gain;      /* F after minus F before; when not above 0, u has not been changed */
    double free_sum;  /* by how much a0'u grew */
    double touched;   /* stored entries read */
} mgvi_free_step;

/* Maximises F over the box in the rows of E from u and w = -A'u/lambda (`acc`, with b0 - kappa a0'u
 * in its intercept), until their share of the gap is at most the target or a limit is reached.
 * Takes more room from the arena when E has more entries than ever before. */
mgv_status mgvi_free_rows_step(mgvi_free_rows *f, const mgvi_free_goal *goal, double *u,
                               double *acc, mgvi_free_step *out);

/* The diagonal of a dual's curvature, exact where rows are copies of each other:
 *   M = diag(h) + sum over groups g of equal rows of v_g v_g',   v_k = +-sqrt(r_k)            (8)
 * Copies with different labels pull at each other: of their curvature [r -r; -r r] nothing but h is
 * left along (1, 1), and a diagonal alone would take r/h times too short steps there. */
typedef struct mgvi_free_metric {
    int64_t count;
    int64_t *row;  /* of the matrix */
    int64_t *twin; /* the first row of the group */
    double *root;  /* v */
    double *bend;  /* h > 0 */
    double *pull;  /* per group: sum of v x/h, */
    double *width; /* and of v^2/h */
} mgvi_free_metric;

enum { MGVI_FREE_METRIC_BYTES = 6 * 8 }; /* a row */

/* y = M^-1 x over the rows of the face, 0 elsewhere; returns x.y. */
double mgvi_free_metric_solve(const mgvi_free_metric *metric, const bool *face, const double *x,
                              double *y);
#endif
