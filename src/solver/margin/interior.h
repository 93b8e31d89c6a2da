/* margin/interior.h - Mehrotra's interior point on some rows, for the margin in any norm;
 * docs/algorithms/exact_margin.md, "Other norms". 1 < p:
 *
 *   min over b >= 0 of  1/2 |A'b|_q^2 - 1'b   (y'b = 0 with an intercept),  1/p + 1/q = 1       (8)
 *
 * with slacks z >= 0, A th(b) + b0 y - 1 = z, b_i z_i = 0, where
 *   v = A'b,  th_j = N^(2-q) |v_j|^(q-1) sign v_j,  N = |v|_q = |th|_p                          (9)
 * p = 1 and p = infinity are linear programs, always feasible and bounded:
 *   max gamma:  A w + b0 y - gamma = z >= 0,  |w|_p <= 1;   min |A'b|_q:  b >= 0, 1'b = 1 (13)
 */
#ifndef MGVI_SOLVER_INTERIOR_H
#define MGVI_SOLVER_INTERIOR_H

#include "solver/margin/margin_system.h"

/* The columns of (13): w = pos - neg with 1'(pos + neg) = 1, or pos = 1 - w and neg = 1 + w; their
 * multipliers; steps. */
typedef struct mgvi_linear_columns {
    double *pos, *neg, *z_pos, *z_neg, *d_pos, *d_neg, *dz_pos, *dz_neg;
    double *k;         /* right-hand sides */
    double gamma, tau; /* tau >= |A'b|, p = 1 only */
    double size, last; /* of the rows: an upper bound far below it is none; the last one, in it */
} mgvi_linear_columns;

/* The best bounds of the margin of these rows, and what gives them. */
typedef struct mgvi_interior_best {
    double lower, upper;
    double *w, b0, *b;
} mgvi_interior_best;

typedef struct mgvi_interior {
    mgv_ctx *ctx;
    const mgv_problem *problem;
    const mgvi_rows *rows;
    mgvi_arena *room;      /* what belongs to the present rows */
    int64_t size, columns; /* that are here; without the intercept */
    double p, q;
    bool scaled;  /* set by who only wants to know about a margin: columns of one size */
    double *unit; /* of them, powers of two */
    mgvi_margin_block Z;
    mgvi_margin_system system;
    double *y, *minus;     /* entries of the intercept, NULL: none; -1 */
    double *b, *z, *f;     /* per row: solution, slacks, A w */
    double b0;             /* the intercept */
    double *step, *z_step; /* of b and z */
    double *rhs;           /* per row */
    double *v, *w;         /* per column: A'b, w */
    double *image, *k;     /* th(b) of (9), and what w lacks of it, in units of its derivative */
    double *w_step, *g;    /* per column: of the system */
    double norm;           /* N */
    double sum;            /* sum b = N^2 */
    mgvi_linear_columns linear;
    mgvi_interior_best best;
    double *u, *th, free; /* the answer: weights of the rows, of the columns, the intercept */
    double gap;           /* relative, of the best margin on these rows alone */
    bool changed;         /* the rows did: the next solve starts from b alone */
    bool separates;       /* some w on the way had a margin on all these rows */
    bool ray;             /* u is nearly a proof that these rows have no margin */
    int64_t iterations;
    double work; /* multiplications so far */
} mgvi_interior;

/* In the norm p: 1, infinity, or between. */
mgv_status mgvi_interior_init(mgvi_interior *s, const mgv_problem *problem, double p,
                              const mgvi_rows *rows, mgvi_arena *arena);
/* These rows of the problem from now on; `b` their starting weights, NULL: all alike. Neither may
 * be the interior point's own. */
mgv_status mgvi_interior_take(mgvi_interior *s, const int32_t *W, int64_t count, const double *b);
/* Goes on, or from the present b when the rows have changed, until the gap is at most `tol`,
 * rounding ends all progress, or after `most` iterations: false then, when the numbers are beyond
 * repair, and for a ray. th and `free`, with least margin about 1, and u with sum u = |th|_p / (the
 * upper bound) are the answer. */
mgv_status mgvi_interior_solve(mgvi_interior *s, double tol, int most, bool *solved);

/* interior_linear.c: p = 1 and infinity. */
mgv_status mgvi_linear_new(mgvi_interior *s);
void mgvi_linear_start(mgvi_interior *s);
mgv_status mgvi_linear_iterate(mgvi_interior *s, bool *moved);
/* Whether the upper bound is as good as 0; then its weights become a proof, up to rounding. */
bool mgvi_linear_ray(mgvi_interior *s);
mgv_status mgvi_linear_prove(mgvi_interior *s);

static inline bool mgvi_interior_linear(const mgvi_interior *s) { return s->p == 1 || isinf(s->p); }
#endif
