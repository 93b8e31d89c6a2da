/* penalty/shape.h - weights that are the entries of a matrix or image, by rows; the channels of an
 * entry are neighbours. */
#ifndef MGVI_PENALTY_SHAPE_H
#define MGVI_PENALTY_SHAPE_H

#include "penalty/whole.h"

typedef struct mgvi_shape {
    int64_t rows, cols, channels;
} mgvi_shape;

enum { MGVI_CHANNELS_MAX = 64 };

/* From the setting `shape`, ROWSxCOLUMNS or, where `channels`, ROWSxCOLUMNSxCHANNELS, which must
 * cover the n columns: MGV_E_ARG names the penalty. */
mgv_status mgvi_shape_read(mgv_ctx *ctx, const mgvi_penalty_input *input, const char *penalty,
                           bool channels, mgvi_shape *out);
/* A random shape of n entries, for tests. */
mgvi_shape mgvi_shape_sample(mgvi_rng *rng, int64_t n);
#endif
