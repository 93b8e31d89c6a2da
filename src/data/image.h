/* data/image.h - an image in memory: numbers between 0 (black) and 1 (white), channels of a pixel
 * beside each other. */
#ifndef MGVI_DATA_IMAGE_H
#define MGVI_DATA_IMAGE_H

#include "base/memory.h"

enum { MGVI_IMAGE_SIDE_MAX = 1 << 15, MGVI_IMAGE_CHANNELS_MAX = 64 };
#define MGVI_IMAGE_NUMBERS_MAX ((int64_t)1 << 28) /* pixels times channels */

struct mgv_image {
    int64_t height, width;
    int32_t channels; /* of colour: alpha is apart */
    int32_t depth;    /* bits of a number in a file, 8 or 16; 0: not from a file */
    double *pixels;   /* height x width x channels */
    double *alpha;    /* height x width, 0: transparent; NULL: opaque */
};

/* Sizes are checked; `what` begins the sentence: MGV_E_INPUT, e.g. a file's name. Pixels are not
 * cleared. */
mgv_status mgvi_image_new(mgv_ctx *ctx, const char *what, int64_t height, int64_t width,
                          int32_t channels, bool alpha, mgv_image **out);
void mgvi_image_free(mgv_ctx *ctx, mgv_image *image); /* NULL is accepted */
static inline int64_t mgvi_image_numbers(const mgv_image *image)
{
    return image->height * image->width * image->channels;
}
bool mgvi_image_same_shape(const mgv_image *a, const mgv_image *b);
/* 10 log10(1 / mean (x - y)^2) in dB, both clipped to 0..1; infinite where they are equal. */
double mgvi_psnr(mgv_ctx *ctx, const double *x, const double *y, int64_t n);
#endif
