/* solver/checkpoint_file.h - what every checkpoint says of itself, whichever command wrote it: files
 * of tensors (data/tensors.h) under a temporary name, synchronised and renamed. */
#ifndef MGVI_SOLVER_CHECKPOINT_FILE_H
#define MGVI_SOLVER_CHECKPOINT_FILE_H

#include "data/tensors.h"

/* Whose state it is. `print` (base/hash.h) is of all that decides the steps: data, problem, settings, seed. */
typedef struct mgvi_checkpoint_id {
    const char *command, *solver;
    uint64_t print;
} mgvi_checkpoint_id;

/* Where a state goes: a file, or fresh memory, for mgvi_release. */
typedef struct mgvi_checkpoint_goal {
    const char *path; /* NULL: bytes */
    void *bytes;
    size_t size;
} mgvi_checkpoint_goal;
/* A line of numbers for one; `format` names it, with `number` where it has a place for that. */
mgvi_tensor mgvi_checkpoint_array(mgvi_tensor_type type, int64_t count, const void *data,
                                  const char *format, int64_t number);
mgv_status mgvi_checkpoint_put(mgv_ctx *ctx, const mgvi_checkpoint_id *id,
                               const mgvi_tensor *tensors, int count, mgvi_checkpoint_goal *to);
/* The same of a state that was packed before. */
mgv_status mgvi_checkpoint_put_bytes(mgv_ctx *ctx, const void *bytes, size_t size,
                                     mgvi_checkpoint_goal *to);
/* What became of one on the way. That it cannot be written is a warning and true, no failure: the
 * run is worth more than its checkpoint. */
bool mgvi_checkpoint_lost(mgv_ctx *ctx, mgv_status *st);

/* Who goes on from a state; `take` is given one that is of this command and, unless the solver is
 * NULL, of this solver, data and settings. */
typedef struct mgvi_checkpoint_heir {
    mgvi_checkpoint_id id;
    void *owner;
    mgv_status (*take)(void *owner, const char *path, const mgvi_tensors *file);
} mgvi_checkpoint_heir;
/* Of bytes, or, where they are NULL, of the file `path`. */
mgv_status mgvi_checkpoint_take(mgv_ctx *ctx, const mgvi_checkpoint_heir *heir, const char *path,
                                const void *bytes, size_t size);
/* A copy of such a line, where the file has it; its length must be `count` unless that is -1. */
mgv_status mgvi_checkpoint_copy(mgv_ctx *ctx, const mgvi_tensors *file, const char *format,
                                int64_t number, mgvi_tensor_type type, int64_t count, void **out,
                                size_t *size);
/* MGV_E_INPUT unless it is of this solver, data and settings. */
mgv_status mgvi_checkpoint_fits(mgv_ctx *ctx, const char *path, const mgvi_tensors *file,
                                const mgvi_checkpoint_id *id);
#endif
