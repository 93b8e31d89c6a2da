/* certify/residues.h - signs of a linear dependency between rows of doubles, without rounding.
 *
 * Doubles are whole multiples of powers of two, so a column times its own power is a column of
 * integers, which changes no dependency between rows. If m rows have rank m - 1, their dependency
 * v, v'A = 0, is up to a factor the vector of minors (Cramer), bounded by Hadamard:
 *     v_i = +-det(A without row i, on m - 1 independent columns),   |v_i| <= prod_j |a_j|    (13)
 * These are known once they are known modulo primes whose product exceeds twice the bound. So are
 * the v'a_j of all other columns, which must be 0. */
#ifndef MGVI_CERTIFY_RESIDUES_H
#define MGVI_CERTIFY_RESIDUES_H

#include "base/context.h"

/* m rows of c columns, row-major; no row and no column of zeros is needed. `sign` (-1 or +1 per
 * row) is what v should be like, `target` a number per row. */
typedef struct mgvi_dependency {
    int64_t m, c;
    const double *a;
    const int8_t *sign;
    const double *target;
} mgvi_dependency;

/* *holds: the rows have exactly one dependency v, and it, or -v, has v_i sign_i >= 0 in every row
 * and sum_i v_i target_i < 0. False otherwise, and when it would take more than `most`
 * multiplications to know. MGV_E_MEMORY. */
mgv_status mgvi_dependency_prove(mgv_ctx *ctx, const mgvi_dependency *d, double most, bool *holds);

/* Columns of a (m x c, row-major) that are independent and that all others depend on, proven: the
 * rank is at most theirs modulo primes whose product exceeds every larger minor. *count of them in
 * `col` (c numbers); 0 when it would take more than `most` multiplications. MGV_E_MEMORY. */
mgv_status mgvi_columns_prove(mgv_ctx *ctx, int64_t m, int64_t c, const double *a, double most,
                              int32_t *col, int64_t *count);
#endif
