/* restore/noise.h - the standard deviation of white noise in an image. */
#ifndef MGVI_RESTORE_NOISE_H
#define MGVI_RESTORE_NOISE_H

#include "data/image.h"

/* One number for each channel. MGV_E_INPUT: the image is too small to tell. */
mgv_status mgvi_noise_estimate(mgv_ctx *ctx, const mgv_image *image, double *out);
/* What rounding to the image's depth leaves at least. */
double mgvi_noise_floor(const mgv_image *image);
#endif
