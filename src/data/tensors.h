/* data/tensors.h - the safetensors layout: 8 bytes of header length, a JSON header, raw arrays.
 * Models (.mgm), caches (.mgd) and checkpoints are such files; "__metadata__" maps text to text. */
#ifndef MGVI_DATA_TENSORS_H
#define MGVI_DATA_TENSORS_H

#include "base/memory.h"

typedef enum mgvi_tensor_type {
    MGVI_T_F32,
    MGVI_T_F64,
    MGVI_T_I32,
    MGVI_T_I64,
    MGVI_T_U8
} mgvi_tensor_type;

typedef struct mgvi_tensor {
    char name[64];
    mgvi_tensor_type type;
    int rank; /* 0, 1 or 2 */
    int64_t shape[2];
    const void *data; /* aligned to its element size; NULL: zeros are written */
} mgvi_tensor;

/* A parsed file; all pointers go into the bytes given, which must outlive it. */
typedef struct mgvi_tensors mgvi_tensors;
/* Checks every offset, size and type: MGV_E_INPUT says what is wrong in `path`. */
mgv_status mgvi_tensors_parse(mgv_ctx *ctx, const char *path, const void *bytes, size_t size,
                              mgvi_tensors **out);
void mgvi_tensors_free(mgv_ctx *ctx, mgvi_tensors *tensors);
const mgvi_tensor *mgvi_tensors_find(const mgvi_tensors *tensors, const char *name);
const char *mgvi_tensors_meta(const mgvi_tensors *tensors, const char *key); /* NULL: absent */
bool mgvi_tensors_meta_is(const mgvi_tensors *tensors, const char *key, const char *text);
/* MGV_E_INPUT when the tensor is absent or of another type or shape (-1: any). */
mgv_status mgvi_tensors_need(mgv_ctx *ctx, const mgvi_tensors *tensors, const char *name,
                             mgvi_tensor_type type, int rank, int64_t rows, int64_t cols,
                             const void **data);
/* Fills texts[0..count) with pointers to the texts, each ended by a zero byte, that the array
 * `name` (U8) is made of; NULL: only checks. MGV_E_INPUT when it holds another number of them, so
 * `count` may be believed before memory is asked for. */
mgv_status mgvi_tensors_texts(mgv_ctx *ctx, const mgvi_tensors *tensors, const char *name,
                              int64_t count, char **texts);
/* The texts one after the other, each with its zero byte, in fresh memory; NULL: none left. */
char *mgvi_texts_join(mgv_ctx *ctx, char *const *texts, int64_t count, int64_t *bytes);
size_t mgvi_tensor_type_size(mgvi_tensor_type type);

typedef struct mgvi_meta {
    const char *key, *value;
} mgvi_meta;
/* Writes to a temporary name and renames. Big arrays are written from where they lie. Arrays with
 * wider elements come first, the first at a multiple of 64 bytes. Names must differ; metadata must
 * be UTF-8: MGV_E_INPUT. */
mgv_status mgvi_tensors_write(mgv_ctx *ctx, const char *path, const mgvi_tensor *tensors, int count,
                              const mgvi_meta *meta, int meta_count);
/* The same into fresh memory, for mgvi_release. */
mgv_status mgvi_tensors_pack(mgv_ctx *ctx, const mgvi_tensor *tensors, int count,
                             const mgvi_meta *meta, int meta_count, void **bytes, size_t *size);
#endif
