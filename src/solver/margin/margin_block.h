/* margin/margin_block.h - rows of a hard margin's A, without the intercept, as an interior point
 * needs them: products, and the matrix of its linear systems,
 *   Z diag(K) Z' by rows,  or  Z' diag(1/D) Z by columns,                                      (1)
 * whichever takes less work. Held dense, or sparse where rows stay sparse: with a free intercept
 * nothing needs to be centred, for the centre only moves the intercept. */
#ifndef MGVI_SOLVER_MARGIN_BLOCK_H
#define MGVI_SOLVER_MARGIN_BLOCK_H

#include "op/rows.h"
#include "problem/problem.h"

/* One of the two orders of a sparse matrix. */
typedef struct mgvi_block_lines {
    int64_t *ptr;
    int32_t *idx;
    double *val;
} mgvi_block_lines;

typedef struct mgvi_margin_block {
    mgv_ctx *ctx;
    int64_t rows, cols;
    int32_t *kept;          /* the problem's numbers of the columns; NULL: all of them are here */
    bool by_columns;        /* which of (1) */
    int64_t order, across;  /* of (1): its size, and the number of terms it sums */
    double *dense;          /* across x order, NULL: sparse */
    mgvi_block_lines line;  /* `order` lines, */
    mgvi_block_lines other; /* `across` lines of the same entries, */
    int64_t *place;         /* and where in `other` each entry of `line` lies */
    double work;            /* multiplications of (1) and its factor */
} mgvi_margin_block;

/* What a block of these rows takes, from counts alone: multiplications of a linear system, bytes.
 */
typedef struct mgvi_block_plan {
    bool sparse, by_columns;
    int64_t entries; /* stored, where sparse */
    double work, bytes;
} mgvi_block_plan;
mgv_status mgvi_margin_block_plan(const mgv_problem *problem, const mgvi_rows *rows,
                                  const int32_t *W, int64_t count, mgvi_block_plan *out);
/* The rows W of the problem; all memory from the arena. MGV_E_MEMORY. */
mgv_status mgvi_margin_block_new(const mgv_problem *problem, const mgvi_rows *rows,
                                 const int32_t *W, int64_t count, mgvi_arena *arena,
                                 mgvi_margin_block *out);
/* out = Z x (rows), out = Z'x (cols) */
void mgvi_margin_block_mul(const mgvi_margin_block *block, const double *x, double *out);
void mgvi_margin_block_mul_t(const mgvi_margin_block *block, const double *x, double *out);
/* What the centre that was left out adds to the intercept beside w: c.(s w). */
double mgvi_margin_block_shift(const mgvi_margin_block *block, const mgvi_rows *rows,
                               const double *w);
/* The root of the mean |z_i|^2. */
double mgvi_margin_block_size(const mgvi_margin_block *block);
/* sum_i weight_i z_ij^2 for every column; NULL: 1 */
void mgvi_margin_block_squares(const mgvi_margin_block *block, const double *weight, double *out);
/* Column j times unit_j. */
void mgvi_margin_block_scale(mgvi_margin_block *block, const double *unit);
/* The upper triangle of (1): `weight` has a number >= 0 for each term. H is order x order. */
mgv_status mgvi_margin_block_gram(const mgvi_margin_block *block, const double *weight, double *H);
#endif
