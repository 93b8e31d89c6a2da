/* margin/factor.h - the Cholesky factor K_PP = U'U of a growing and shrinking set of rows P.
 * U is upper and stored by rows, so that substitutions and the rotations of a deletion run along
 * memory. Up to two vectors U^-T v_P are carried through every change. */
#ifndef MGVI_SOLVER_FACTOR_H
#define MGVI_SOLVER_FACTOR_H

#include "base/memory.h"
#include "simd/simd.h"

enum { MGVI_FACTOR_CARRIED = 2 };

typedef struct mgvi_factor {
    const mgvi_simd *simd;
    int64_t most, count; /* rows it has room for; |P| */
    double *U;           /* most x most */
    double *column;      /* work: the new column U^-T K_Pj */
    int carried;
    double *carry[MGVI_FACTOR_CARRIED]; /* U^-T v_P */
} mgvi_factor;

mgv_status mgvi_factor_init(mgvi_factor *f, mgvi_arena *arena, int64_t most, int carried);
/* More room, everything kept. */
mgv_status mgvi_factor_grow(mgvi_factor *f, mgvi_arena *arena, int64_t most);
/* x = U^-T x and x = U^-1 x in place. */
void mgvi_factor_forward(const mgvi_factor *f, double *x);
void mgvi_factor_backward(const mgvi_factor *f, double *x);
/* X = U^-T X for k columns at once, x count x k by rows; MGV_E_MEMORY. */
mgv_status mgvi_factor_forward_many(mgv_ctx *ctx, const mgvi_factor *f, int64_t k, double *x);
/* f->column holds K_Pj on entry and U^-T K_Pj on return; the Schur complement K_jj - |column|^2,
 * the squared distance of row j to the span of P. */
double mgvi_factor_project(mgvi_factor *f, double K_jj);
/* The row just projected enters behind the others; v its entries in the carried vectors. There must
 * be room, and schur > 0. */
void mgvi_factor_push(mgvi_factor *f, double schur, const double *v);
/* Drops the k-th row of P. Spoils f->column. */
void mgvi_factor_drop(mgvi_factor *f, int64_t k);
#endif
