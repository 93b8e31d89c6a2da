/* penalty/shape.h - weights that are the entries of a matrix or image, by rows. */
#ifndef MGVI_PENALTY_SHAPE_H
#define MGVI_PENALTY_SHAPE_H

#include "penalty/whole.h"

typedef struct mgvi_shape {
    int64_t rows, cols;
} mgvi_shape;

/* From the setting `shape`, which must cover the n columns: MGV_E_ARG names the penalty. */
mgv_status mgvi_shape_read(mgv_ctx *ctx, const mgvi_penalty_input *input, const char *penalty,
                           mgvi_shape *out);
/* A random shape of n entries, for tests. */
mgvi_shape mgvi_shape_sample(mgvi_rng *rng, int64_t n);
#endif
