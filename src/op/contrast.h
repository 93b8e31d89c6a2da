/* op/contrast.h - a row for every example i and class j: the score of i's own class c_i less that
 * of j. Over an operator A of one score per lane, with W (columns x k classes) read by rows as one
 * long vector,
 *     (E W)_ij = (A W)_i,c_i - (A W)_ij,                                                     (1)
 *     E'q      = A'V,   V_ij = -q_ij,   V_i,c_i = sum over j != c_i of q_ij.                 (2)
 * Rows i k + c_i are zero: they are no constraints. Nothing of the n k x d k matrix is ever
 * written: a product costs one of A with k lanes. docs/algorithms/multiclass.md. */
#ifndef MGVI_OP_CONTRAST_H
#define MGVI_OP_CONTRAST_H

#include "op/op.h"

typedef struct mgvi_contrast {
    mgvi_op op;
    mgvi_op *base;
    bool intercepts;    /* the base's last column: no part of lengths */
    int32_t k;          /* classes */
    const int32_t *own; /* class of each of the base's rows */
    double *scores;     /* base rows x k */
    double *in, *out;   /* one lane, where the base takes one at a time; else NULL */
} mgvi_contrast;

/* `intercepts`: the base's last column is one. Borrows `own`; takes over `base` (also on failure),
 * whose lanes must be at least `k` unless it is a kernel. */
mgv_status mgvi_op_contrast(mgv_ctx *ctx, mgvi_op *base, bool intercepts, const int32_t *own,
                            int32_t k, mgvi_op **out);
/* NULL when `op` is not such an operator. */
mgvi_contrast *mgvi_contrast_of(mgvi_op *op);
/* The length of every class's weights in w, in the base's columns. */
void mgvi_contrast_lengths(mgvi_contrast *c, const double *w, double *length);
/* The scores themselves: z = A W, of the base's rows, k lanes each. */
void mgvi_contrast_scores(mgvi_contrast *c, const mgvi_vec *W, mgvi_vec *z);
/* (e_a - e_i).(e_b - e_j) for the rows of examples of the classes a and b against i and j: rows r
 * and s of E have the product of their examples times this. */
static inline double mgvi_contrast_factor(int32_t a, int32_t i, int32_t b, int32_t j)
{
    return (a == b) - (a == j) - (i == b) + (i == j);
}
#endif
