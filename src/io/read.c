/* read.c - picks the reader and runs it. */
#include "base/clock.h"
#include "base/limit.h"
#include "data/rows.h"
#include "io/convert.h"
#include "io/io.h"

#include <string.h>

enum {
    SURE = 100,        /* a magic number: nobody else needs to be asked */
    BY_EXTENSION = 20, /* what a fitting name adds to a possible content */
    NAME_ALONE = 1     /* an unlikely content under a fitting name: its reader explains best */
};

static mgv_status reader_by_name(mgv_ctx *ctx, const char *name, const mgvi_reader **out)
{
    char known[256];
    for (int k = 0; k < mgvi_reader_count(); k++) {
        if (strcmp(mgvi_reader_at(k)->name, name) == 0) {
            *out = mgvi_reader_at(k);
            return MGV_OK;
        }
    }
    MGVI_LIST_NAMES(known, mgvi_reader_count, mgvi_reader_at);
    return MGVI_FAIL(ctx, MGV_E_ARG, "there is no reader '%.40s'; known: %s", name, known);
}

mgv_status mgvi_pick_reader(mgv_ctx *ctx, const mgvi_source *source, const mgvi_reader **out)
{
    char known[256];
    int best = 0;
    if (strcmp(source->settings->format, "auto") != 0)
        return reader_by_name(ctx, source->settings->format, out);
    for (int k = 0; k < mgvi_reader_count() && best < SURE; k++) {
        const mgvi_reader *reader = mgvi_reader_at(k);
        int score = reader->probe(source);
        if (score < SURE && mgvi_name_fits(source->path, reader->extensions))
            score += score ? BY_EXTENSION : NAME_ALONE;
        if (score > best) {
            best = score;
            *out = reader;
        }
    }
    if (best)
        return MGV_OK;
    if (source->size == 0)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the file is empty", source->path);
    MGVI_LIST_NAMES(known, mgvi_reader_count, mgvi_reader_at);
    return MGVI_FAIL(ctx, MGV_E_INPUT,
                     "%s: the format is not recognised; name it with the setting format (%s)",
                     source->path, known);
}

mgv_status mgvi_read_whole(mgv_ctx *ctx, const char *path)
{
    if (!mgvi_ctx_was_cut(ctx))
        return MGV_OK;
    const char *advice = mgvi_ctx_interrupted(ctx)
                             ? ""
                             : "; a .mgd file made of it by `margrave convert` needs no reading";
    return MGVI_FAIL(ctx, MGV_E_LIMIT, "%s: %s before the file was read%s", path ? path : "memory",
                     mgvi_limit_words(ctx), advice);
}

/* The setting `features` for formats that know their own width: rows of CSR may be widened. */
static mgv_status fit_width(mgv_ctx *ctx, const mgvi_source *source, mgv_data *data)
{
    const int64_t want = source->settings->features;
    if (want == 0 || want == data->X.cols)
        return MGV_OK;
    if (data->X.layout != MGV_CSR || want < data->X.cols)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: the file has %" PRId64 " columns, but features is %" PRId64,
                         source->path, data->X.cols, want);
    if (data->names)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: the file names its %" PRId64 " columns, but features is %" PRId64,
                         source->path, data->X.cols, want);
    data->X.cols = want;
    return MGV_OK;
}

/* The setting `precision` for formats that come with their own. All readers leave the values of X
 * without gaps. */
static mgv_status fit_precision(mgv_ctx *ctx, const mgvi_source *source, mgv_data *data)
{
    mgvi_matrix *X = &data->X;
    const mgvi_wanted_precision want = source->settings->precision;
    const mgv_dtype dtype = want == MGVI_PRECISION_F32 ? MGV_F32 : MGV_F64;
    if (want == MGVI_PRECISION_AUTO || dtype == X->dtype)
        return MGV_OK;
    const mgvi_numbers from = {.type = X->dtype == MGV_F32 ? MGVI_N_F32 : MGVI_N_F64,
                               .count = (size_t)X->nnz,
                               .data = X->val};
    void *values = mgvi_alloc(ctx, from.count, mgvi_dtype_size(dtype));
    if (!values)
        return MGV_E_MEMORY;
    mgvi_numbers_convert(ctx, &from, dtype, values);
    X->val = values;
    X->dtype = dtype;
    data->checked = false; /* large numbers may have become infinite */
    MGVI_TRY(mgvi_data_own(ctx, data, values, 0));
    return mgvi_read_whole(ctx, source->path);
}

/* For the sentence about a fault that is found when the arrays are first used. */
static mgv_status keep_name(mgv_ctx *ctx, const mgvi_source *source, mgv_data *data)
{
    if (!source->path)
        return MGV_OK;
    data->file = mgvi_strdup(ctx, source->path);
    return data->file ? mgvi_data_own(ctx, data, data->file, 0) : MGV_E_MEMORY;
}

mgv_status mgvi_read_source(mgv_ctx *ctx, mgvi_source *source, mgv_data **out)
{
    mgv_status st;
    const mgvi_reader *reader = NULL;
    mgv_settings defaults;
    mgv_data *data = NULL;
    *out = NULL;
    if (!source->settings) {
        mgvi_settings_defaults(&defaults);
        source->settings = &defaults;
    }
    MGVI_CHECK(st, done, mgvi_pick_reader(ctx, source, &reader));
    MGVI_CHECK(st, done, mgvi_data_new(ctx, &data));
    data->format = reader->name;
    MGVI_CHECK(st, done, keep_name(ctx, source, data));
    MGVI_CHECK(st, done, reader->read(ctx, source, data));
    MGVI_CHECK(st, done, fit_width(ctx, source, data));
    MGVI_CHECK(st, done, fit_precision(ctx, source, data));
    *out = data;
    data = NULL;
done:
    if (source->settings == &defaults)
        source->settings = NULL;
    mgvi_data_free(ctx, data);
    return st;
}

mgv_status mgvi_read_file(mgv_ctx *ctx, const char *path, const mgv_settings *settings,
                          mgv_data **out)
{
    return mgvi_read_for(ctx, path, settings, NULL, out);
}

/* The settings `classes` and `flip_labels`. */
static mgv_status fit_rows(mgv_ctx *ctx, const mgv_settings *settings, mgv_data *data)
{
    if (settings->classes[0] && settings->kernel == MGVI_KERNEL_PRECOMPUTED)
        return MGVI_FAIL(
            ctx, MGV_E_UNSUPPORTED,
            "classes (got %.60s) leaves rows out, but the columns of kernel values are "
            "examples too; make the table of those examples alone",
            settings->classes);
    if (settings->classes[0])
        MGVI_TRY(mgvi_data_keep_classes(ctx, data, settings->classes));
    return mgvi_data_flip_labels(ctx, data, settings->flip_labels, (uint64_t)settings->seed);
}

/* Source, and the files of labels and names beside it. */
static mgv_status read_opened(mgv_ctx *ctx, mgvi_source *source, const mgv_settings *settings,
                              const mgvi_column_names *known, mgv_data **out)
{
    const bool labelled = settings && settings->labels[0];
    mgv_settings apart;
    source->settings = settings;
    source->known = known;
    if (labelled && strcmp(settings->label_column, "auto") == 0) { /* every column is a feature */
        apart = *settings;
        apart.label_column = "none";
        source->settings = &apart;
    }
    const mgv_status st = mgvi_read_source(ctx, source, out);
    source->settings = settings;
    MGVI_TRY(st);
    if (labelled)
        MGVI_TRY(mgvi_read_labels(ctx, settings->labels, settings, *out));
    if (settings && settings->names[0])
        MGVI_TRY(mgvi_read_column_names(ctx, settings->names, settings, *out));
    if (!settings || (!settings->classes[0] && !(settings->flip_labels > 0)))
        return MGV_OK;
    const mgv_status rows = fit_rows(ctx, settings, *out);
    return rows == MGV_E_ARG ? mgvi_fail_in(ctx, rows, source->path) : rows;
}

mgv_status mgvi_read_for(mgv_ctx *ctx, const char *path, const mgv_settings *settings,
                         const mgvi_column_names *known, mgv_data **out)
{
    const double start = mgvi_clock_seconds();
    mgvi_source source;
    *out = NULL;
    mgvi_ctx_open(ctx, MGVI_GRACE);
    mgv_status st = mgvi_source_open(ctx, path, settings, &source);
    if (st == MGV_OK) {
        st = read_opened(ctx, &source, settings, known, out);
        mgvi_source_close(ctx, &source);
    }
    if (mgvi_limit_explains(st) && mgvi_ctx_was_cut(ctx))
        st = mgvi_read_whole(ctx, source.path);
    mgvi_ctx_close(ctx);
    if (st != MGV_OK) {
        mgvi_data_free(ctx, *out);
        *out = NULL;
        return st;
    }
    (*out)->load_seconds = mgvi_clock_seconds() - start;
    return MGV_OK;
}
