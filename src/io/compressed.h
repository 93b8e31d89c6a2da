/* io/compressed.h - CSR or CSC arrays from outside made canonical: indices in range and strictly
 * increasing, duplicates summed, zeros left out unless they are to be kept. */
#ifndef MGVI_IO_COMPRESSED_H
#define MGVI_IO_COMPRESSED_H

#include "base/memory.h"

/* "Major" is the compressed side: rows of CSR, columns of CSC. The arrays are changed in place. */
typedef struct mgvi_compressed {
    int64_t major, minor;
    int64_t *ptr; /* major + 1 */
    int32_t *idx;
    void *val;
    mgv_dtype dtype;
    bool keep_zeros;      /* zeros are entries like others */
    int64_t stored;       /* entries that idx and val hold */
    int64_t stored_zeros; /* out: how many entries were zero */
} mgvi_compressed;

/* MGV_E_INPUT says what is wrong with `what`. */
mgv_status mgvi_compressed_make_canonical(mgv_ctx *ctx, const char *what, mgvi_compressed *c);
/* Sorts triplets by their major index (stably), and makes the result canonical. `major` has one
 * index per stored entry; idx and val are rearranged, ptr is filled. */
mgv_status mgvi_compressed_from_triplets(mgv_ctx *ctx, const char *what, const int64_t *major,
                                         mgvi_compressed *c);
#endif
