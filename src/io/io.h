/* io/io.h - readers and writers; io/list.h is the registry.
 * A reader gets the whole content in memory (mapped when it was a plain file, decompressed when
 * it was packed) and fills a table. It reports file, line and column of the first fault. */
#ifndef MGVI_IO_IO_H
#define MGVI_IO_IO_H

#include "base/settings.h"
#include "data/data.h"

#include <stdio.h>

/* What a reader is given. `bytes` stays valid for the reader's call only, unless the reader takes
 * it over by clearing `bytes` (then it must hand it to mgvi_data_own with `mapped`). */
typedef struct mgvi_source {
    const char *path;  /* for messages */
    const char *bytes; /* `size` bytes; not terminated */
    size_t size;
    size_t mapped; /* bytes of the mapping, 0: from the allocator */
    const mgv_settings *settings;
    const mgvi_column_names *known; /* the columns of the model that the rows are for; NULL: none */
    bool as_entries; /* a sparse matrix is a set of entries: zeros stay, nothing becomes dense */
} mgvi_source;

typedef struct mgvi_reader {
    const char *name, *summary;
    const char *extensions; /* ".svm .libsvm": tried after the content */
    /* How sure the reader is from the content and the name, 0 (no) to 100. */
    int (*probe)(const mgvi_source *source);
    mgv_status (*read)(mgv_ctx *ctx, mgvi_source *source, mgv_data *data);
} mgvi_reader;

typedef struct mgvi_writer {
    const char *name, *summary, *extensions;
    bool without_labels; /* the format has no room for them: those there are get a warning */
    mgv_status (*write)(mgv_ctx *ctx, const mgv_data *data, const char *path,
                        const mgv_settings *settings);
} mgvi_writer;

int mgvi_reader_count(void);
const mgvi_reader *mgvi_reader_at(int index);
int mgvi_writer_count(void);
const mgvi_writer *mgvi_writer_at(int index);

/* Loads the bytes of `path` ("-": standard input): maps plain files, unpacks gz, bz2, xz, zst as
 * far as max_expansion of the settings (NULL: the defaults) allows. */
mgv_status mgvi_source_open(mgv_ctx *ctx, const char *path, const mgv_settings *settings,
                            mgvi_source *out);
/* How many times its size packed content may grow to. */
double mgvi_source_expansion(const mgvi_source *source);
void mgvi_source_close(mgv_ctx *ctx, mgvi_source *source);
/* MGV_E_LIMIT and its sentence where the limit has cut the reading of `path` (NULL: of memory). */
mgv_status mgvi_read_whole(mgv_ctx *ctx, const char *path);
/* Reads from bytes already in memory (fuzzers, tests): picks the reader as mgvi_data_read does. */
mgv_status mgvi_read_source(mgv_ctx *ctx, mgvi_source *source, mgv_data **out);
mgv_status mgvi_read_file(mgv_ctx *ctx, const char *path, const mgv_settings *settings,
                          mgv_data **out);
/* The same for a model that knows these columns (NULL: none): text tables are put into its order by
 * their header or by the number of their columns, libsvm text is counted from where the training
 * data was, and labels may be absent. Other widths are left as they are. */
mgv_status mgvi_read_for(mgv_ctx *ctx, const char *path, const mgv_settings *settings,
                         const mgvi_column_names *known, mgv_data **out);
/* The reader that mgvi_read_source would take. */
mgv_status mgvi_pick_reader(mgv_ctx *ctx, const mgvi_source *source, const mgvi_reader **out);
/* Names for the columns from a file with one per line: MGV_E_INPUT when their number is another. */
mgv_status mgvi_read_column_names(mgv_ctx *ctx, const char *path, const mgv_settings *settings,
                                  mgv_data *data);
/* The settings `sample_weight`, `penalty_weight`, `groups`, `lower` and `upper`: into the data, until a call without
 * them. */
mgv_status mgvi_read_beside(mgv_ctx *ctx, const mgv_settings *settings, mgv_data *data);
/* The labels of the rows from a file of their own: NPY, IDX, or text with one per line. */
mgv_status mgvi_read_labels(mgv_ctx *ctx, const char *path, const mgv_settings *settings,
                            mgv_data *data);
mgv_status mgvi_write_file(mgv_ctx *ctx, const mgv_data *data, const char *path,
                           const mgv_settings *settings);

/* idx.c: labels in IDX, for readers of data that has them in a file of their own. */
extern const mgvi_reader mgvi_reader_idx;
/* Sets the labels from an IDX file of one number per row. */
mgv_status mgvi_idx_labels(mgv_ctx *ctx, const mgvi_source *source, mgv_data *data);

/* Whether `path`, less a suffix such as .gz, ends in one of the words of `extensions`. */
bool mgvi_name_fits(const char *path, const char *extensions);

/* Fills the array `buffer` with "a, b, c" from a registry's count and at functions. */
#define MGVI_LIST_NAMES(buffer, count, at)                                                         \
    do {                                                                                           \
        size_t used_ = 0;                                                                          \
        for (int k_ = 0; k_ < count() && used_ < sizeof(buffer); k_++)                             \
            used_ += (size_t)snprintf((buffer) + used_, sizeof(buffer) - used_, "%s%s",            \
                                      k_ ? ", " : "", at(k_)->name);                               \
    } while (0)
#endif
