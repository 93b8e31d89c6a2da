/* op/twins.h - equal rows of a matrix. */
#ifndef MGVI_OP_TWINS_H
#define MGVI_OP_TWINS_H

#include "op/matrix.h"

/* twin[i]: the first of our rows whose numbers are exactly those of row i, i itself if there is
 * none before it. `m` is stored by rows (CSR, or dense with any strides); our row i is its row
 * row[i], NULL: all, in order. Zeros that are stored and those that are not are the same.
 * MGV_E_MEMORY. */
mgv_status mgvi_matrix_twins(mgv_ctx *ctx, const mgvi_matrix *m, const int64_t *row, int64_t n,
                             int64_t *twin);
/* The same of all rows for those that are exactly a positive multiple of one another: the same
 * points once every row is divided by its length. */
mgv_status mgvi_matrix_rays(mgv_ctx *ctx, const mgvi_matrix *m, int64_t n, int64_t *twin);
#endif
