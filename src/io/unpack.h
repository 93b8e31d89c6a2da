/* io/unpack.h - packed content through libarchive: compressed streams and zip members. */
#ifndef MGVI_IO_UNPACK_H
#define MGVI_IO_UNPACK_H

#include "base/memory.h"

/* Bytes from the allocator. */
typedef struct mgvi_blob {
    char *bytes; /* NULL: absent */
    size_t size;
} mgvi_blob;

/* "gzip", "bzip2", "xz" or "zstd" from the first bytes; NULL: not packed. */
const char *mgvi_unpack_kind(const char *bytes, size_t size);
/* Length of `path` without a suffix .gz, .bz2, .xz or .zst. */
size_t mgvi_unpack_stem(const char *path);
/* How many bytes `size` packed ones may become: `expansion` times as many, but always 64 MiB, so
 * that it takes a file of some size to fill the memory. */
size_t mgvi_unpack_most(double expansion, size_t size);
/* Unpacks a whole stream. MGV_E_INPUT when it is damaged or cut, or grows beyond `most` bytes. */
mgv_status mgvi_unpack_stream(mgv_ctx *ctx, const char *path, const char *bytes, size_t size,
                              size_t most, mgvi_blob *out);
/* Reads those members of a zip file that are called names[0..count-1]; out[k] stays empty when
 * there is none. Together they may have `most` bytes. On failure all are released. */
mgv_status mgvi_unpack_members(mgv_ctx *ctx, const char *path, const char *bytes, size_t size,
                               size_t most, const char *const *names, int count, mgvi_blob *out);
#endif
