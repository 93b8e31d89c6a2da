/* column_generation/hinge_block.h - a problem of some rows and columns, held densely or sparsely: what is left
 * of a large one when rows are frozen at a bound and columns at zero;
 * docs/algorithms/column_generation.md.
 *
 *   P(w, b) = lambda/2 |w|^2 + mu |w|_1 - lin.w - lin_free b
 *             + sum_i max over theta_i of  theta_i (target_i - z_i) - f_i(theta_i)             (1)
 *   z = Z w + y b,   v = Z'theta + lin,   low <= theta <= s,   y.theta + lin_free = 0
 *   D(theta) = sum target theta - f(theta) - |S_mu(v)|^2 / (2 lambda)                         (2)
 * lambda = 0: without the last term, where |v| <= mu. f(theta) = bend/2 theta^2 with
 *   target = 1, low = 0:   bend = 0 the hinge s max(0, 1 - z), bend = g/s the smooth hinge of width
 *                          g, bend = 1/(own weight) and a large s the squared hinge;
 *   target = y, low = -s:  bend = 1/(own weight), the loss of Huber, without bounds the square, and
 *                          bend = 0 the absolute loss;
 *   target an end of an interval, bend = 0: low = 0 the distance below it, s = 0 that above it;
 * or f(theta) = theta log(theta/s) + (s - theta) log(1 - theta/s) with target = 0: the logistic.
 *
 * lin and lin_free are the frozen rows' share of A'theta; theta = -u. Their constant, the weight of
 * the frozen rows, is left out on both sides. */
#ifndef MGVI_SOLVER_HINGE_BLOCK_H
#define MGVI_SOLVER_HINGE_BLOCK_H

#include "solver/column_generation/hinge_sparse.h"

typedef enum mgvi_hinge_kind {
    MGVI_ROWS_BOXED,  /* low <= theta <= s */
    MGVI_ROWS_FREE,   /* theta has no bounds, bend > 0 */
    MGVI_ROWS_ENTROPY /* 0 < theta < s by itself */
} mgvi_hinge_kind;

typedef struct mgvi_hinge_block {
    mgvi_hinge_kind kind;
    int64_t rows, cols;
    const double *Z; /* entry (i, j) is Z[i*row_stride + j*col_stride]; one of the two is 1 */
    int64_t row_stride, col_stride;
    const mgvi_hinge_sparse *sparse; /* in place of Z, NULL: Z is dense */
    const double *y;                 /* rows: the intercept's column, NULL: no intercept */
    const double *s;                 /* rows: upper bounds, > low; NULL: FREE */
    const double *low;               /* rows: lower bounds, NULL: 0 */
    const double *target;            /* rows, NULL: all the same, `aim` */
    double aim;
    const double *bend; /* rows, NULL: 0 (or ENTROPY) */
    const double *lin;  /* cols, NULL: 0 */
    double lin_free;    /* 0 without an intercept */
    const double *lone; /* rows that are no hinges: theta of w = 0, with its best */
    double lone_free;   /* intercept; NULL: start in the middle of the box */
    double lambda, mu;  /* one of them > 0 */
    const double *gram; /* mu = 0 only, may be NULL: ZZ', both triangles; Z and w are then not
                           looked at, lin must be NULL and w is Z'theta/lambda throughout */
    int64_t gram_stride;
} mgvi_hinge_block;

typedef struct mgvi_hinge_point {
    double *theta; /* rows */
    double *w;     /* cols; NULL with a gram matrix */
    double b;
} mgvi_hinge_point;

/* out = Z x, or Z'x when `transposed`. */
void mgvi_hinge_multiply(mgv_ctx *ctx, const mgvi_hinge_block *block, bool transposed,
                         const double *x, double *out);
/* z = Z w + y b (or G theta / lambda + y b), v = Z'theta + lin. */
void mgvi_hinge_scores(mgv_ctx *ctx, const mgvi_hinge_block *block, const mgvi_hinge_point *at,
                       double *z);
void mgvi_hinge_duals(mgv_ctx *ctx, const mgvi_hinge_block *block, const double *theta, double *v);

static inline double mgvi_hinge_target(const mgvi_hinge_block *p, int64_t i)
{
    return p->target ? p->target[i] : p->aim;
}
static inline double mgvi_hinge_low(const mgvi_hinge_block *p, int64_t i)
{
    return p->low ? p->low[i] : 0;
}
static inline double mgvi_hinge_bend(const mgvi_hinge_block *p, int64_t i)
{
    return p->bend ? p->bend[i] : 0;
}

/* The loss of row i at z: its term of (1). */
double mgvi_hinge_loss(const mgvi_hinge_block *block, int64_t i, double z);

/* (2) from v = Z'theta + lin on `cols` columns; for lambda = 0, and where it is better, theta is
 * scaled into |v| <= mu. */
double mgvi_hinge_dual(const mgvi_hinge_block *block, int64_t cols, const double *theta,
                       const double *v);

typedef struct mgvi_hinge_values {
    double primal, dual;
} mgvi_hinge_values;
/* (1) and (2) from z and v (NULL with a gram matrix); a theta that misses the intercept's equation
 * pays |b| for what it misses. */
mgvi_hinge_values mgvi_hinge_judge(const mgvi_hinge_block *block, const mgvi_hinge_point *at,
                                   const double *z, const double *v);

/* Where the solution is thought to lie: the rows with 0 < theta < s, the columns with w != 0. */
typedef struct mgvi_hinge_face {
    int64_t free_rows, active_cols;
    const int32_t *row, *col;
    const bool *upper;  /* per row of the block: theta = s; false for the free rows */
    const double *sign; /* per active column: the sign of w */
} mgvi_hinge_face;

/* The point of that face with
 *   z_E = 1,  v_A = lambda w_A + mu sign_A,  y.theta + lin_free = 0,                           (3)
 * w zero elsewhere: the exact solution of the block when the face is right. lambda = 0 needs as
 * many free rows as active columns and intercept. *solved is false where (3) has no unique solution
 * or theta leaves [0, s]; `out` is then spoiled. Works in its own memory: MGV_E_MEMORY. */
mgv_status mgvi_hinge_polish(mgv_ctx *ctx, const mgvi_hinge_block *block,
                             const mgvi_hinge_face *face, const mgvi_hinge_point *near,
                             mgvi_hinge_point *out, bool *solved);
#endif
