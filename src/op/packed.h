/* op/packed.h - a copy of a stored matrix by columns, rows and columns multiplied by factors, rows renumbered:
 * what coordinate methods over columns read. Matrices may be stacked: the rows of the second follow
 * those of the first. */
#ifndef MGVI_OP_PACKED_H
#define MGVI_OP_PACKED_H

#include "base/memory.h"
#include "op/matrix.h"

typedef struct mgvi_packed {
    int64_t rows, cols;
    bool dense;   /* every column has `rows` entries, entry t belongs to row t */
    int64_t *ptr; /* cols + 1: where columns begin */
    int32_t *idx; /* the number given to the row of each entry; NULL when dense */
    float *f32;   /* the values: one of them is NULL */
    double *f64;
} mgvi_packed;

/* Sparse: idx = number[i] for row i of the stack. Dense (when the first matrix is): row i becomes
 * entry number[i], a permutation of 0..rows-1. `number` NULL: i. `factor`
 * of the rows, `scale` of the columns; NULL: 1. Everything lives
 * in the arena. MGV_E_UNSUPPORTED beyond 2^31 rows. */
mgv_status mgvi_packed_new(mgvi_arena *arena, const mgvi_matrix *const *stack, int count,
                           const double *factor, const double *scale, const int32_t *number,
                           mgv_dtype dtype, mgvi_packed *out);
/* Bytes of such a copy. */
double mgvi_packed_bytes(const mgvi_matrix *m, mgv_dtype dtype);
static inline int64_t mgvi_packed_nnz(const mgvi_packed *p, int64_t j)
{
    return p->ptr[j + 1] - p->ptr[j];
}
#endif
