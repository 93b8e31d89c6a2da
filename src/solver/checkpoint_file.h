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
mgv_status mgvi_checkpoint_put(mgv_ctx *ctx, const mgvi_checkpoint_id *id,
                               const mgvi_tensor *tensors, int count, mgvi_checkpoint_goal *to);
/* The same of a state that was packed before. */
mgv_status mgvi_checkpoint_put_bytes(mgv_ctx *ctx, const void *bytes, size_t size,
                                     mgvi_checkpoint_goal *to);
/* What became of one on the way. That it cannot be written is a warning and true, no failure: the
 * run is worth more than its checkpoint. */
bool mgvi_checkpoint_lost(mgv_ctx *ctx, mgv_status *st);

/* MGV_E_INPUT unless the file is a checkpoint of this format and command; then, unless it is of this
 * solver, data and settings. */
mgv_status mgvi_checkpoint_is_of(mgv_ctx *ctx, const char *path, const mgvi_tensors *file,
                                 const char *command);
mgv_status mgvi_checkpoint_fits(mgv_ctx *ctx, const char *path, const mgvi_tensors *file,
                                const mgvi_checkpoint_id *id);
#endif
