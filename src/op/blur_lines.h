/* op/blur_lines.h - what the two ways to blur share: where a line of an image goes on beyond its
 * ends. */
#ifndef MGVI_OP_BLUR_LINES_H
#define MGVI_OP_BLUR_LINES_H

#include "op/op.h"

/* The pixel at position i of a line mirrored at both ends, again and again, or closed to a ring. */
static inline int64_t mgvi_line_source(int64_t i, int64_t size, mgvi_edges edges)
{
    if (edges == MGVI_EDGES_PERIODIC)
        return ((i % size) + size) % size;
    const int64_t period = 2 * size, r = ((i % period) + period) % period;
    return r < size ? r : period - 1 - r;
}

/* blur_direct.c: y = Y (X x), for a PSF that is the product of a column (psf_height) and a row
 * (psf_width). */
mgv_status mgvi_op_blur_direct(mgv_ctx *ctx, int64_t height, int64_t width, const double *column,
                               int64_t psf_height, const double *row, int64_t psf_width,
                               mgvi_edges edges, int32_t lanes, mgvi_op **out);
#endif
