/* op/blur_lines.h - what the two ways to blur share: a line of an image and what lies beyond its
 * ends. */
#ifndef MGVI_OP_BLUR_LINES_H
#define MGVI_OP_BLUR_LINES_H

#include "op/op.h"

/* `size` pixels, continued by `reach` on both sides. */
typedef struct mgvi_line {
    int64_t size, reach;
    int64_t *source; /* size + 2 reach: the pixel at position i - reach */
    int64_t *first;  /* size + 2: where the positions a pixel stands for begin in `position`, ... */
    int64_t *position; /* size + 2 reach: ... from 0 on */
} mgvi_line;

mgv_status mgvi_line_new(mgv_ctx *ctx, int64_t size, int64_t reach, mgvi_edges edges,
                         mgvi_line *out);
void mgvi_line_free(mgv_ctx *ctx, mgvi_line *line); /* also a cleared or half-made one */

/* blur_direct.c: y = Y (X x), for a PSF that is the product of a column (psf_height) and a row
 * (psf_width). */
mgv_status mgvi_op_blur_direct(mgv_ctx *ctx, int64_t height, int64_t width, const double *column,
                               int64_t psf_height, const double *row, int64_t psf_width,
                               mgvi_edges edges, int32_t lanes, mgvi_op **out);
#endif
