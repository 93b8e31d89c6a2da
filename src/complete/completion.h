/* complete/completion.h - a completed matrix: factors, biases, names, and how they came about.
 * Files (.mgm) are tensors (data/tensors.h): left (m x rank), right (n x rank), row_bias and
 * col_bias (the row's with the mean in it) where there are biases, row_seen and col_seen,
 * row_names and col_names (texts with their terminators) where they are words, and metadata. */
#ifndef MGVI_COMPLETE_COMPLETION_H
#define MGVI_COMPLETE_COMPLETION_H

#include "base/settings.h"
#include "complete/low_rank.h"

struct mgv_completion {
    mgv_ctx *ctx;
    mgvi_arena arena;
    mgv_completion_info info;
    double *left, *right;         /* m x rank and n x rank, no gaps */
    double *row_bias, *col_bias;  /* NULL: none */
    uint8_t *row_seen, *col_seen; /* whether there was an entry to learn from */
    mgvi_side side[2];            /* the words are its own */
    char *formula;
};

/* Sorts the triples. */
mgv_status mgvi_completion_run(mgv_ctx *ctx, mgv_triples *triples, const mgv_settings *settings,
                               mgv_completion **out);
void mgvi_completion_free(mgv_completion *completion);
/* An empty one, for run.c and file.c to fill. */
mgv_status mgvi_completion_new(mgv_ctx *ctx, mgv_completion **out);
mgv_status mgvi_completion_save(mgv_ctx *ctx, const mgv_completion *completion, const char *path);
mgv_status mgvi_completion_load(mgv_ctx *ctx, const char *path, mgv_completion **out);
mgv_status mgvi_completion_parse(mgv_ctx *ctx, const char *path, const void *bytes, size_t size,
                                 mgv_completion **out);
/* Whether the file says so; false also when it cannot be read. */
bool mgvi_completion_is(mgv_ctx *ctx, const char *path);
/* values[k] at pair k. A row or column that is not known counts as one without entries: its biases
 * are 0, and without biases the answer is the mean of all values. MGV_E_NUMERIC names the first
 * pair whose value is not finite. */
mgv_status mgvi_completion_predict(mgv_ctx *ctx, const mgv_completion *completion,
                                   const mgv_triples *pairs, bool clip, double *values);
#endif
