/* parts/interior.h - primal-dual interior point on a working set, for the margin in any norm p;
 * docs/algorithms/exact_margin.md, "Other norms".
 *
 *   min over b >= 0 of  1/2 |A'b|_q^2 - 1'b   (y'b = 0 with an intercept),  1/p + 1/q = 1       (8)
 *
 * with slacks z >= 0, A th(b) + b0 y - 1 = z, b_i z_i = 0, where
 *   v = A'b,  th_j = N^(2-q) |v_j|^(q-1) sign v_j,  N = |v|_q = |th|_p                          (9)
 */
#ifndef MGVI_SOLVER_PARTS_INTERIOR_H
#define MGVI_SOLVER_PARTS_INTERIOR_H

#include "solver/parts/working_set.h"

typedef struct mgvi_interior {
    mgv_ctx *ctx;
    mgvi_arena *arena;
    const mgvi_working_set *set;
    int64_t size, capacity; /* rows of the set that are here; room */
    int64_t columns;        /* without the intercept */
    double q;
    double *T;             /* the rows as columns: columns x capacity */
    double *H;             /* capacity squared: the second derivative, then its factor */
    double *y;             /* entries of the intercept; NULL: none */
    double *b, *z, *f;     /* per row: solution, slacks, A th(b) */
    double b0;             /* the intercept */
    double *step, *z_step; /* of b and z */
    double *rhs;           /* two right-hand sides, interleaved */
    double *v, *th, *h;    /* per column: (9), and the diagonal of the second derivative */
    double norm;           /* N */
    double sum;            /* sum b = N^2 */
    double gap;            /* relative, of the margin on the working set alone */
    bool changed;          /* the set did: the next solve starts from b alone */
    int64_t iterations;
    double work; /* multiplications so far */
} mgvi_interior;

mgv_status mgvi_interior_init(mgvi_interior *s, const mgvi_working_set *set, mgvi_arena *arena,
                              double q, int64_t capacity);
mgv_status mgvi_interior_reserve(mgvi_interior *s, int64_t capacity);
/* Rows have joined the set behind those known here; `b` their starting weights, NULL: small ones.
 */
void mgvi_interior_joined(mgvi_interior *s, const double *b);
/* The set has kept these rows only (mgvi_working_set_keep). */
void mgvi_interior_kept(mgvi_interior *s, const int32_t *keep, int64_t count);
/* Goes on, or from the present b when the set has changed, until the gap is at most `tol`, rounding
 * ends all progress, or after `most` iterations: false
 * then, or when the numbers are beyond repair. th, b0 and b are the answer. */
mgv_status mgvi_interior_solve(mgvi_interior *s, double tol, int most, bool *solved);
#endif
