/* io/triples.h - entries of a matrix from text lines `row column value` or from a sparse matrix. */
#ifndef MGVI_IO_TRIPLES_H
#define MGVI_IO_TRIPLES_H

#include "data/triples.h"
#include "io/io.h"

/* `known` (two sides, or NULL) are the names and numbers of a completion: what it does not know
 * becomes -1, and values may be absent. */
mgv_status mgvi_triples_read(mgv_ctx *ctx, const char *path, const mgv_settings *settings,
                             const mgvi_side *known, mgv_triples **out);
/* From bytes in memory; text is cut into chunks of `chunk_bytes`. */
mgv_status mgvi_triples_from_source(mgv_ctx *ctx, mgvi_source *source, const mgvi_side *known,
                                    size_t chunk_bytes, mgv_triples **out);
#endif
