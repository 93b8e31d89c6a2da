/* column_names.c - the setting `names`: one column name per line. */
#include "io/io.h"
#include "io/lines.h"

#include <string.h>

static mgv_status parse_names(mgv_ctx *ctx, const mgvi_source *source, mgv_data *data)
{
    const char *at = source->bytes, *end = source->bytes + source->size, *line;
    const int64_t cols = data->X.cols;
    size_t length;
    int64_t count = 0;
    char **names = mgvi_data_array(ctx, data, (size_t)cols, sizeof *names);
    if (!names)
        return MGV_E_MEMORY;
    while ((line = mgvi_next_line(&at, end, &length))) {
        if (memchr(line, 0, length))
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "%s: a zero byte in name %" PRId64 ": this is not text", source->path,
                             count + 1);
        if (count < cols) {
            names[count] = mgvi_data_array(ctx, data, length + 1, 1);
            if (!names[count])
                return MGV_E_MEMORY;
            memcpy(names[count], line, length);
        }
        count++;
    }
    if (count != cols)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: %" PRId64 " names for %" PRId64 " columns",
                         source->path, count, cols);
    data->names = names;
    return MGV_OK;
}

mgv_status mgvi_read_column_names(mgv_ctx *ctx, const char *path, const mgv_settings *settings,
                                  mgv_data *data)
{
    mgvi_source source;
    MGVI_TRY(mgvi_source_open(ctx, path, settings, &source));
    const mgv_status st = parse_names(ctx, &source, data);
    mgvi_source_close(ctx, &source);
    return st;
}
