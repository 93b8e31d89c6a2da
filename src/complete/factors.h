/* complete/factors.h - a matrix as a product L R' of an m x r and an n x r factor.
 * Rows of the factors are `width` numbers apart, a multiple of MGVI_FACTOR_LANES; those beyond the
 * rank are 0. */
#ifndef MGVI_COMPLETE_FACTORS_H
#define MGVI_COMPLETE_FACTORS_H

#include "complete/entries.h"
#include "complete/loops.h"

typedef struct mgvi_factors {
    mgv_ctx *ctx;
    int64_t rows, cols, rank, width;
    double *left, *right;
    size_t room; /* numbers per row that there is memory for */
} mgvi_factors;

static inline int64_t mgvi_factors_width(int64_t rank)
{
    const int64_t lanes = MGVI_FACTOR_LANES;
    return rank ? (rank + lanes - 1) / lanes * lanes : lanes;
}

void mgvi_factors_init(mgvi_factors *f, mgv_ctx *ctx, int64_t rows, int64_t cols);
void mgvi_factors_free(mgvi_factors *f);
/* Rank r, all numbers 0. */
mgv_status mgvi_factors_reset(mgvi_factors *f, int64_t rank);
/* The first `rank` columns of another's, and room for `more` columns of 0 behind them. */
mgv_status mgvi_factors_copy(mgvi_factors *f, const mgvi_factors *from, int64_t rank, int64_t more);
static inline void mgvi_factors_swap(mgvi_factors *a, mgvi_factors *b)
{
    const mgvi_factors c = *a;
    *a = *b;
    *b = c;
}
/* The same product from its singular value decomposition P diag(s) Q': left P diag(s)^{1/2}, right
 * Q diag(s)^{1/2}. Singular values below 1e-7 of the largest are dropped; `s` has room for the old
 * rank and gets those that are left. Exact enough for that: the values come from Gram matrices. */
mgv_status mgvi_factors_balance(mgvi_factors *f, double *s);

/* Root mean squared errors of L R' over the entries trained on and those held out, NaN where there
 * are none; `train` may be NULL, which is cheaper. */
mgv_status mgvi_factors_errors(const mgvi_known *e, const mgvi_factors *f, double *train,
                               double *held);
/* residual[t] = b - (L R')_ij at the entries trained on, 0 at those held out. */
void mgvi_factors_residual(const mgvi_known *e, const mgvi_factors *f, double *residual);
/* error[r - 1] of the first r columns alone, r = 1 ... rank, over the entries held out. */
mgv_status mgvi_factors_truncated_errors(const mgvi_known *e, const mgvi_factors *f, double *error);
#endif
