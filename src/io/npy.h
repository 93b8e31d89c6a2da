/* io/npy.h - one array in NumPy's NPY format, alone in a file or inside an NPZ. */
#ifndef MGVI_IO_NPY_H
#define MGVI_IO_NPY_H

#include "io/convert.h"
#include "io/io.h"

enum { MGVI_NPY_RANK_MAX = 8 };

typedef struct mgvi_npy {
    bool numeric;
    char kind;           /* 'f', 'i', 'u', 'b'; text is 'S' (bytes) or 'U' (UCS-4) */
    size_t item;         /* bytes per element */
    mgvi_numbers values; /* numeric: all elements; text: only data, count and swapped */
    bool fortran;
    int rank;
    int64_t shape[MGVI_NPY_RANK_MAX];
} mgvi_npy;

extern const mgvi_reader mgvi_reader_npy;
/* Checks the header and that the data is there. `what` names the array in messages. */
mgv_status mgvi_npy_parse(mgv_ctx *ctx, const char *what, const char *bytes, size_t size,
                          mgvi_npy *out);
/* Fills `X` from a numeric array: rows by the product of the other sides. *in_place says that X
 * points into the bytes parsed; else into memory owned by `data`. */
mgv_status mgvi_npy_matrix(mgv_ctx *ctx, const char *what, const mgvi_npy *npy, mgv_data *data,
                           mgvi_matrix *X, bool *in_place);
/* Sets the labels (numbers or text) from an array with one element per row. */
mgv_status mgvi_npy_labels(mgv_ctx *ctx, const char *what, const mgvi_npy *npy, mgv_data *data);
/* The elements of a text array as UTF-8, pointers and bytes in one block. */
mgv_status mgvi_npy_texts(mgv_ctx *ctx, const char *what, const mgvi_npy *npy, char ***out);

/* ---- Writing -------------------------------------------------------------------------------- */
enum { MGVI_NPY_HEADER_MAX = 256, MGVI_NPY_DESCR_MAX = 32 };
/* Fills `buffer` with a header for the given type and shape (rank <= 2); returns its length. */
size_t mgvi_npy_header(char buffer[MGVI_NPY_HEADER_MAX], const char *descr, bool fortran, int rank,
                       const int64_t *shape);
static inline const char *mgvi_npy_descr(mgv_dtype dtype)
{
    return dtype == MGV_F32 ? "<f4" : "<f8";
}
/* Words as a block of `count` elements of *item bytes: UCS-4, or bytes when they are not UTF-8. */
mgv_status mgvi_npy_from_texts(mgv_ctx *ctx, const char *const *texts, int64_t count,
                               char descr[MGVI_NPY_DESCR_MAX], void **out, size_t *item);
#endif
