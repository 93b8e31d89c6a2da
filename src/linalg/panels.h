/* linalg/panels.h - rows packed for A'A: the operands of G = B'B are the same panels of
 * neighbouring columns, so rows that are in the cache for another reason can be packed by the way.
 * A place for `room` rows has the panels one after the other, each `room` rows deep. */
#ifndef MGVI_LINALG_PANELS_H
#define MGVI_LINALG_PANELS_H

#include "base/context.h"

struct mgvi_gemm_kernels;

typedef struct mgvi_panels {
    mgv_ctx *ctx;
    const struct mgvi_gemm_kernels *kernels;
    bool f64;    /* type of the packed rows; G is float64 */
    size_t size; /* of an entry */
    int lanes, tile_width;
    int64_t d, padded, count; /* columns, with the padding of the last panel; panels of them */
} mgvi_panels;

/* For rows of d >= 1 columns. float32 rows are summed in float32 over one place. */
mgvi_panels mgvi_panels_for(mgv_ctx *ctx, bool f64, int64_t d);
static inline size_t mgvi_panels_bytes(const mgvi_panels *p, int64_t room)
{
    return (size_t)(room * p->padded) * p->size;
}
/* scale times the d entries at x (of the panels' type) becomes row `at` of the place. */
void mgvi_panels_put(const mgvi_panels *p, void *place, int64_t room, int64_t at, double scale,
                     const void *x);
/* Tiles from the first row of G down to the diagonal in one panel, each `kernels->rows` high. */
int64_t mgvi_panels_tiles(const mgvi_panels *p, int64_t panel);
/* The tile of G (rows from i on, columns of `panel`): beta times itself plus the first `rows` rows
 * of the place. Below the diagonal entries may change or not. */
void mgvi_panels_add_tile(const mgvi_panels *p, const void *place, int64_t room, int64_t rows,
                          int64_t i, int64_t panel, double beta, double *g, int64_t ldg);
/* All tiles of the upper triangle; of many columns fewer, when the piece of work is cut. */
void mgvi_panels_add(const mgvi_panels *p, const void *place, int64_t room, int64_t rows,
                     double beta, double *g, int64_t ldg);
#endif
