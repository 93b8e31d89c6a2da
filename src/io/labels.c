/* labels.c - the setting `labels`: the label of every row in a file beside the data, as a NumPy
 * array, as IDX, or as text with one label per line. */
#include "base/number.h"
#include "io/io.h"
#include "io/lines.h"
#include "io/npy.h"

#include <string.h>

/* The lines of a file, terminated, with the pointers to them in one block. */
static mgv_status split_lines(mgv_ctx *ctx, const mgvi_source *source, int64_t rows, char ***out)
{
    const char *at = source->bytes, *end = source->bytes + source->size, *line;
    size_t length;
    int64_t count = 0;
    char **texts = mgvi_alloc(ctx, (size_t)rows * sizeof *texts + source->size + (size_t)rows, 1);
    if (!texts)
        return MGV_E_MEMORY;
    char *to = (char *)(texts + rows);
    while ((line = mgvi_next_line(&at, end, &length))) {
        while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
            length--;
        if (count++ >= rows)
            continue;
        texts[count - 1] = to;
        memcpy(to, line, length);
        to[length] = 0;
        to += length + 1;
        if (length == 0 || memchr(line, 0, length)) {
            mgvi_release(ctx, texts);
            return MGVI_FAIL(ctx, MGV_E_INPUT, "%s:%" PRId64 ": %s", source->path, count,
                             length ? "this is not text" : "the label is missing");
        }
    }
    if (count != rows) {
        mgvi_release(ctx, texts);
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: %" PRId64 " labels for %" PRId64 " rows: one per line is wanted",
                         source->path, count, rows);
    }
    *out = texts;
    return MGV_OK;
}

static bool number_of(const char *text, double *value)
{
    const char *end = text + strlen(text), *next;
    return mgvi_number_parse(text, end, value, &next) == MGVI_NUMBER_OK && next == end;
}

static void spelling(const void *user, int64_t row, char *buffer, size_t capacity)
{
    const char *const *texts = user;
    strncat(buffer, texts[row], capacity - 1);
}

/* Numbers when every line is one, else words. */
static mgv_status use_texts(mgv_ctx *ctx, char **texts, mgv_data *data)
{
    const int64_t rows = data->X.rows;
    double *values = mgvi_alloc(ctx, (size_t)rows, sizeof *values);
    if (!values)
        return MGV_E_MEMORY;
    bool numbers = true;
    for (int64_t i = 0; i < rows && numbers; i++)
        numbers = number_of(texts[i], &values[i]);
    const mgv_status st = numbers
                              ? mgvi_data_set_labels(ctx, data, values, spelling, texts)
                              : mgvi_data_set_text_labels(ctx, data, (const char *const *)texts);
    mgvi_release(ctx, values);
    return st;
}

static mgv_status parse_labels(mgv_ctx *ctx, const mgvi_source *source, mgv_data *data)
{
    char **texts = NULL;
    data->gaps = false; /* those of the data's own file are forgotten */
    if (mgvi_reader_npy.probe(source) > 0) {
        mgvi_npy npy;
        MGVI_TRY(mgvi_npy_parse(ctx, source->path, source->bytes, source->size, &npy));
        return mgvi_npy_labels(ctx, source->path, &npy, data);
    }
    if (mgvi_reader_idx.probe(source) > 0)
        return mgvi_idx_labels(ctx, source, data);
    MGVI_TRY(split_lines(ctx, source, data->X.rows, &texts));
    const mgv_status st = use_texts(ctx, texts, data);
    mgvi_release(ctx, texts);
    return st == MGV_E_INPUT ? mgvi_fail_in(ctx, st, source->path) : st;
}

mgv_status mgvi_read_labels(mgv_ctx *ctx, const char *path, const mgv_settings *settings,
                            mgv_data *data)
{
    mgvi_source source;
    MGVI_TRY(mgvi_source_open(ctx, path, settings, &source));
    const mgv_status st = parse_labels(ctx, &source, data);
    mgvi_source_close(ctx, &source);
    return st;
}
