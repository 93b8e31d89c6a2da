/* shared/sparse_quadratic.h - a convex quadratic with an l1 term over some columns.
 *
 *   min over x of  g.(x - x0) + 1/2 |Q (x - x0)|^2 + sum_k ridge_k/2 x_k^2 + scale_k |x_k| (5)
 *
 * by exact coordinate steps, which find the signs (of sparse columns with Anderson's extrapolation),
 * and Newton steps on the support, which keep them; docs/algorithms/proximal_newton.md. Q'Q comes as a matrix (GRAM), or as the columns p_k -
 * c_k e of Q with p_k stored dense or sparse: then Y = Q (x - x0) is kept as R + off e, and e.Y as
 * T. */
#ifndef MGVI_SOLVER_SPARSE_QUADRATIC_H
#define MGVI_SOLVER_SPARSE_QUADRATIC_H

#include "base/memory.h"
#include "simd/simd.h"
#include "solver/shared/anderson.h"

typedef enum mgvi_quadratic_form {
    MGVI_GRAM_FORM,
    MGVI_DENSE_FORM,
    MGVI_SPARSE_FORM
} mgvi_quadratic_form;

typedef struct mgvi_quadratic {
    mgv_ctx *ctx;
    mgvi_arena *arena;
    const mgvi_simd *simd;
    int64_t count, room; /* columns, and what there is room for */
    mgvi_quadratic_form form;
    double *x;             /* in and out */
    double *scale, *ridge; /* of the l1 and the squared term */
    double *linear;        /* the gradient of the first two terms: GRAM keeps it up to date */
    double *square;        /* |Q_k|^2 */
    double *gram;          /* GRAM: count x count */
    int64_t gram_room;
    /* The other forms. */
    int64_t rows;
    const int64_t *ptr;
    const int32_t *idx;
    const double *val, *e;
    double *sum, *mean; /* p_k.e, c_k */
    double *R, *Y;      /* rows; Y is work space */
    double W, off, T;   /* W = |e|^2 */
    double touched;     /* stored entries read */
    double work;        /* multiplications with the Gram matrix and its factors */
    double allowance;   /* of both: an entry read costs `entry_cost` */
    double entry_cost;
    bool last;       /* SPARSE: signs are known, supports are polished to their end */
    double products; /* the most that conjugate gradients needed so far */
    /* work space, per column */
    double *residual, *dir, *image, *delta, *size;
    double *origin; /* x0 */
    mgvi_anderson anderson;
    int32_t *support;
    int64_t support_count;
    double *H;
    int64_t factor_room;
    mgvi_arena *by_rows; /* work space of support_gram.c */
} mgvi_quadratic;

/* Room for `count` columns, and for their Gram matrix when `gram`; what was there is lost. */
mgv_status mgvi_quadratic_room(mgvi_quadratic *q, int64_t count, bool gram);
/* (Q_k - c_k e).(Q_l - c_l e) for the columns l = k, ..., last - 1, into out[l]; not for GRAM. */
void mgvi_quadratic_products(mgvi_quadratic *q, int64_t k, int64_t last, double *out);
/* Y = column k, centred; returns e.Y. Not for GRAM. */
double mgvi_quadratic_spread(mgvi_quadratic *q, int64_t k);
/* Columns that are factored, or have a Gram matrix, at most: 15 MiB each. */
#define MGVI_QUADRATIC_MOST 1400
/* A number that is read, in multiplications of a matrix product. */
#define MGVI_QUADRATIC_STREAMED 8.0
/* Accuracies from which sparse columns are swept alone. */
#define MGVI_QUADRATIC_ROUGH 0.01
/* From x0 = x until a single step could gain no more than accuracy^2 of what the best first one
 * could. R, off and T must be 0 at the start. */
mgv_status mgvi_quadratic_solve(mgvi_quadratic *q, double accuracy);

/* support_gram.c. */
/* The upper triangle of Q'Q over the support, support_count numbers apart, into H. */
mgv_status mgvi_support_gram(mgvi_quadratic *q, double *H);
#endif
