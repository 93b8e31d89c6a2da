/* io/image_io.h - images from and to files: PNG, and PGM/PPM. */
#ifndef MGVI_IO_IMAGE_IO_H
#define MGVI_IO_IMAGE_IO_H

#include "base/sink.h"
#include "data/image.h"
#include "io/io.h"

/* Formats of image_io.c's table. */
typedef struct mgvi_image_format {
    const char *name, *extensions;
    bool (*probe)(const char *bytes, size_t size);
    mgv_status (*read)(mgv_ctx *ctx, const mgvi_source *source, mgv_image **out);
    /* With `depth` bits a number. */
    mgv_status (*write)(mgv_ctx *ctx, const mgv_image *image, int depth, const char *path,
                        mgvi_sink *sink);
} mgvi_image_format;

/* The format of these bytes; NULL: none of ours. */
const mgvi_image_format *mgvi_image_recognise(const char *bytes, size_t size);

/* "-" is standard input; packed files are unpacked. */
mgv_status mgvi_image_read(mgv_ctx *ctx, const char *path, mgv_image **out);
/* From bytes in memory, as a fuzzer has them. */
mgv_status mgvi_image_parse(mgv_ctx *ctx, const mgvi_source *source, mgv_image **out);
/* In the format that the name ends in, PNG for "-"; numbers are clipped to 0..1 and rounded to the
 * image's depth, 16 bits where it has none. To a temporary name, then renamed. */
mgv_status mgvi_image_write(mgv_ctx *ctx, const mgv_image *image, const char *path);

/* A point spread function: an image of one channel, or a dense table by any reader of io.h; scaled
 * to the sum 1, sides made odd by a line of zeros at the end. */
mgv_status mgvi_psf_read(mgv_ctx *ctx, const char *path, mgv_image **out);

/* round(x (2^depth - 1)), x clipped to 0..1; NaN becomes 0. */
static inline unsigned mgvi_image_level(double x, int depth)
{
    const double most = depth == 16 ? 65535 : 255;
    return x > 0 ? (unsigned)((x < 1 ? x : 1) * most + 0.5) : 0;
}
#endif
