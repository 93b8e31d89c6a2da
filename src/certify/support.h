/* certify/support.h - the rows that a proof u, A'u = 0, weighs, from the data as it is.
 *
 * A proof is about the numbers given: rows y_i (x_i, 1). Scaled columns are only coordinates, and
 * so are centred ones where there is an intercept; a factor of a row goes into its weight. What is
 * left of the view's rounding is `fuzz`: 0 but for rows divided by their norms beside an intercept.
 */
#ifndef MGVI_CERTIFY_SUPPORT_H
#define MGVI_CERTIFY_SUPPORT_H

#include "base/memory.h"
#include "base/twofold.h"
#include "op/raw_rows.h"

typedef struct mgvi_proof_support {
    const mgvi_rows *rows;
    int64_t m, c;
    int64_t *row;   /* m rows with weight */
    double *dual;   /* u_i */
    double *weight; /* the same times the row's own factor */
    double *factor; /* of the row's entries but the intercept's; 1 */
    int64_t *col;   /* c columns that are not 0 in all of these rows, and imply all others */
    int32_t *at;    /* its inverse: per column of A, -1: not there */
    double *centre; /* per live column, to be subtracted from x; 0: none */
    double *sum;    /* r_j = sum_i u_i y_i (x_ij - centre_j): an upper bound of |r_j| */
    double *size;   /* sum_i |u_i| (|x_ij| + |centre_j|) */
    double fuzz;    /* relative error of the entries */
} mgvi_proof_support;

/* The support of u, of rows whose entries have a relative error of `fuzz`. MGV_E_MEMORY. */
mgv_status mgvi_support_open(mgvi_proof_support *s, mgvi_arena *arena, const mgvi_rows *rows,
                             double fuzz, const double *u);
/* Row t of the support, centred, as c numbers; each has a relative error of 2^-53, or is exact
 * where nothing is centred. */
void mgvi_support_row(const mgvi_proof_support *s, int64_t t, double *out);
/* The same as it is in the data: exact but for `fuzz`. */
void mgvi_support_raw_row(const mgvi_proof_support *s, int64_t t, double *out);

/* nearby.c: bounds by how much, relative to each weight, u must change for A'u = 0 to hold exactly
 * in the `count` columns listed in `col` (positions, 0 to c): at most *change; infinite where no
 * bound is found (columns that depend on each other), or where it would take more than `most`
 * multiplications. MGV_E_MEMORY. */
mgv_status mgvi_support_nearby(mgv_ctx *ctx, const mgvi_proof_support *s, const int32_t *col,
                               int64_t count, double most, double *change);
#endif
