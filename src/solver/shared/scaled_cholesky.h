/* shared/scaled_cholesky.h - H x = r for a positive semidefinite H known up to rounding: scaled to
 * unit diagonal, so that the units of columns do not matter, then with the smallest ridge that lets
 * Cholesky's factorisation through. */
#ifndef MGVI_SOLVER_SCALED_CHOLESKY_H
#define MGVI_SOLVER_SCALED_CHOLESKY_H

#include "base/memory.h"

typedef struct mgvi_scaled_cholesky {
    mgv_ctx *ctx;
    int64_t n;
    double *H;      /* n x n: the caller fills the upper triangle */
    double *factor; /* n x n */
    double *scale;  /* n: 1/sqrt(H_ii), 0 for an empty row */
    double *x;      /* n x 2 */
    double *rest;   /* n x 2: work space of a refinement */
    double ridge;   /* that was needed, relative */
} mgvi_scaled_cholesky;

mgv_status mgvi_scaled_cholesky_init(mgvi_scaled_cholesky *c, mgvi_arena *arena, int64_t n);
/* Factors what is in H, starting with a relative ridge. MGV_E_NUMERIC when H is not finite. */
mgv_status mgvi_scaled_cholesky_factor(mgvi_scaled_cholesky *c, double ridge);
/* Solves for r1, and for r2 unless that is NULL, in place. */
mgv_status mgvi_scaled_cholesky_solve(mgvi_scaled_cholesky *c, double *r1, double *r2);
/* Solves for r in place and refines `times`: undoes the ridge and the factor's rounding. */
mgv_status mgvi_scaled_cholesky_refine(mgvi_scaled_cholesky *c, double *r, int times);
#endif
