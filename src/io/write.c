/* write.c - picks the writer by name or extension. */
#include "base/event.h"
#include "io/io.h"
#include "io/unpack.h"

#include <string.h>

static mgv_status pick_writer(mgv_ctx *ctx, const char *path, const char *format,
                              const mgvi_writer **out)
{
    char known[256];
    const bool by_name = strcmp(format, "auto") != 0;
    for (int k = 0; k < mgvi_writer_count(); k++) {
        const mgvi_writer *writer = mgvi_writer_at(k);
        if (by_name ? strcmp(writer->name, format) == 0
                    : mgvi_name_fits(path, writer->extensions)) {
            *out = writer;
            return MGV_OK;
        }
    }
    MGVI_LIST_NAMES(known, mgvi_writer_count, mgvi_writer_at);
    if (by_name)
        return MGVI_FAIL(ctx, MGV_E_ARG, "there is no writer '%.40s'; known: %s", format, known);
    return MGVI_FAIL(ctx, MGV_E_ARG,
                     "%s: the name does not tell the format; name it with the setting format (%s)",
                     strcmp(path, "-") == 0 ? "standard output" : path, known);
}

mgv_status mgvi_write_file(mgv_ctx *ctx, const mgv_data *data, const char *path,
                           const mgv_settings *settings)
{
    mgv_settings defaults;
    const mgvi_writer *writer = NULL;
    if (!settings) {
        mgvi_settings_defaults(&defaults);
        settings = &defaults;
    }
    if (mgvi_unpack_stem(path) != strlen(path))
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "%s: packed files are read but not written; write without the suffix '%s' "
                         "and pack the result",
                         path, path + mgvi_unpack_stem(path));
    MGVI_TRY(pick_writer(ctx, path, settings->format, &writer));
    if (data->gaps)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "%s: some rows have no label: they can be predicted, not written", path);
    if (!data->checked)
        MGVI_TRY(mgvi_data_verify(ctx, data, NULL, NULL));
    if (data->labels && writer->without_labels)
        mgvi_log(ctx, MGV_WARNING,
                 "%s: the format %s has no labels, those of the data are left out; npz, mgd, csv "
                 "and libsvm keep them",
                 path, writer->name);
    return writer->write(ctx, data, path, settings);
}
