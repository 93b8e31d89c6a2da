/* io/idx.h - labels in IDX, for readers of data that has them in a file of their own. */
#ifndef MGVI_IO_IDX_H
#define MGVI_IO_IDX_H

#include "io/io.h"

extern const mgvi_reader mgvi_reader_idx;
/* Sets the labels from an IDX file of one number per row. */
mgv_status mgvi_idx_labels(mgv_ctx *ctx, const mgvi_source *source, mgv_data *data);
#endif
