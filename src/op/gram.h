/* op/gram.h - A' diag(h) A of a view over a stored matrix. */
#ifndef MGVI_OP_GRAM_H
#define MGVI_OP_GRAM_H

#include "op/op.h"

/* G = A' diag(h) A, cols x cols, both triangles, rows of G `ld` apart; h_i >= 0 per row of A, and
 * rows with h_i = 0 are not read. Dense matrices in C order and CSR (with few enough columns for a
 * square of them), with whatever a view (op/matrix.h) lays over them: with
 *   X-hat = X - 1 c',  k_i = h_i p_i^2,
 *   X-hat' K X-hat = X'KX - c m' - m c' + (sum k) c c',   m = X'k                              (1)
 * and the intercept's column is s (X'(h p) - c sum h p). Signs drop out, except beside the
 * intercept, where they cancel too. `exact`: sums of float64 products; else float32 data is
 * multiplied in float32 (linalg/gemm.h), which is twice as fast and good for directions.
 * Allocates work space: MGV_E_MEMORY. MGV_E_UNSUPPORTED for other operators. */
mgv_status mgvi_op_gram(mgvi_op *op, const double *h, bool exact, double *G, int64_t ld);
#endif
