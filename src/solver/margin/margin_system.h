/* margin/margin_system.h - the linear system of an interior point over a block of rows,
 *   Z dw + B dx + D dq = r,   dw = K (Z'dq - e dt + k),   B'dq = rb,   (K e).Z'dq - kappa dt = rt
 * (1) with diagonal K >= 0 and D > 0: the rows' weights q, the columns' w, up to two borders B (the
 * intercept's column y, and ones) and one number t that couples the columns. In the size of the
 * rows or of the columns, with S = sqrt K,
 *   (Z K Z' + D) dq + B dx - Z K e dt = r - Z K k                                              (2)
 *   (I + S Z'D^-1 Z S) S^-1 dw + S Z'D^-1 B dx + S e dt = S k + S Z'D^-1 r                     (3)
 * refined with (1) itself. */
#ifndef MGVI_SOLVER_MARGIN_SYSTEM_H
#define MGVI_SOLVER_MARGIN_SYSTEM_H

#include "solver/margin/margin_block.h"

enum { MGVI_SYSTEM_BORDERS = 3 };

typedef struct mgvi_margin_system {
    const mgvi_margin_block *Z;
    /* the caller's, before mgvi_margin_system_factor() */
    double *K, *D;      /* cols, rows */
    const double *B[2]; /* rows */
    int rims;           /* how many of them */
    bool coupled;       /* there is a t */
    double *e;          /* cols */
    double kappa;
    /* its own */
    int borders;
    double *H, *S;
    double *F[MGVI_SYSTEM_BORDERS],
        *Y[MGVI_SYSTEM_BORDERS];                        /* of order: borders, their solutions */
    double G[MGVI_SYSTEM_BORDERS][MGVI_SYSTEM_BORDERS]; /* Schur complement */
    double *u, *of_rows, *of_cols;
    double work; /* multiplications so far */
} mgvi_margin_system;

/* The right-hand sides of (1), and its solution. */
typedef struct mgvi_system_sides {
    const double *r, *k;             /* rows; cols, NULL: 0 */
    double rim[MGVI_SYSTEM_BORDERS]; /* rb, then rt */
} mgvi_system_sides;
typedef struct mgvi_system_step {
    double *q, *w, *g;               /* rows; cols; Z'dq */
    double rim[MGVI_SYSTEM_BORDERS]; /* dx, then dt */
} mgvi_system_step;

mgv_status mgvi_margin_system_new(mgvi_arena *arena, const mgvi_margin_block *Z,
                                  mgvi_margin_system *out);
/* False: not positive definite even with a ridge. */
mgv_status mgvi_margin_system_factor(mgvi_margin_system *s, bool *definite);
mgv_status mgvi_margin_system_solve(mgvi_margin_system *s, const mgvi_system_sides *sides,
                                    int refinements, mgvi_system_step *out);
#endif
