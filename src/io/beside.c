/* beside.c - numbers beside the data, from files that settings name: weights of rows and columns,
 * groups. One number per line. */
#include "base/number.h"
#include "io/io.h"
#include "io/lines.h"

#include <math.h>
#include <string.h>

/* What a file of numbers holds: `noun`s for `owner`, "weight" for "rows of data". */
typedef struct numbers {
    const char *noun, *owner;
    bool whole;   /* integers only */
    bool open;    /* may be infinite */
    double least; /* the smallest allowed */
} numbers;

/* "inf", "+inf", "-inf" */
static bool is_infinity(const char *text, size_t length, double *out)
{
    const bool sign = length > 0 && (text[0] == '-' || text[0] == '+');
    if (length != 3 + (size_t)sign || memcmp(text + sign, "inf", 3) != 0)
        return false;
    *out = text[0] == '-' ? -INFINITY : INFINITY;
    return true;
}

/* One line's number. */
static mgv_status parse(mgv_ctx *ctx, const char *where, int64_t at, const numbers *kind,
                        const char *line, size_t length, double *out)
{
    const char *end = line + length, *next;
    while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    while (line < end && (*line == ' ' || *line == '\t'))
        line++;
    const int shown = end - line < 60 ? (int)(end - line) : 60;
    if (kind->open && is_infinity(line, (size_t)(end - line), out))
        return MGV_OK;
    if (line == end || mgvi_number_parse(line, end, out, &next) != MGVI_NUMBER_OK || next != end ||
        (kind->whole && *out != floor(*out)))
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s:%" PRId64 ": '%.*s' is not a %snumber", where, at,
                         shown, line, kind->whole ? "whole " : "");
    if ((!kind->open && !(*out >= kind->least)) || isinf(*out))
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s:%" PRId64 ": the %s is %g; allowed: finite, %g or more", where, at,
                         kind->noun, *out, kind->least);
    return MGV_OK;
}

static mgv_status read_lines(mgv_ctx *ctx, const mgvi_source *source, const numbers *kind,
                             int64_t count, double *out)
{
    const char *at = source->bytes, *end = source->bytes + source->size, *line;
    size_t length;
    int64_t seen = 0;
    while ((line = mgvi_next_line(&at, end, &length))) {
        double x;
        MGVI_TRY(parse(ctx, source->path, seen + 1, kind, line, length, &x));
        if (seen == count)
            return MGVI_FAIL(ctx, MGV_E_INPUT, "%s:%" PRId64 ": more %ss than the %" PRId64 " %s",
                             source->path, seen + 1, kind->noun, count, kind->owner);
        out[seen++] = x;
    }
    if (seen < count)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: %" PRId64 " %ss for %" PRId64 " %s", source->path,
                         seen, kind->noun, count, kind->owner);
    return MGV_OK;
}

/* `count` numbers, the data's own; *out stays as it is on failure. */
static mgv_status read_numbers(mgv_ctx *ctx, const mgv_settings *settings, const char *path,
                               const numbers *kind, mgv_data *data, int64_t count, double **out)
{
    mgvi_source source;
    double *fresh = mgvi_data_array(ctx, data, (size_t)count, sizeof *fresh);
    if (!fresh)
        return MGV_E_MEMORY;
    MGVI_TRY(mgvi_source_open(ctx, path, settings, &source));
    const mgv_status st = read_lines(ctx, &source, kind, count, fresh);
    mgvi_source_close(ctx, &source);
    *out = st == MGV_OK ? fresh : *out;
    return st;
}

/* One number for every row of the file, of which ours may be some. */
static mgv_status read_rows(mgv_ctx *ctx, const mgv_settings *s, const char *file,
                            const numbers *kind, mgv_data *data, double **out)
{
    const int64_t count = data->kept ? data->kept_of : data->X.rows;
    MGVI_TRY(read_numbers(ctx, s, file, kind, data, count, out));
    for (int64_t t = 0; data->kept && t < data->X.rows; t++)
        (*out)[t] = (*out)[data->kept[t]];
    return MGV_OK;
}

static mgv_status read_groups(mgv_ctx *ctx, const mgv_settings *settings, const char *file,
                              const numbers *kind, mgv_data *data, int64_t count, int64_t **out)
{
    int64_t *group = mgvi_data_array(ctx, data, (size_t)count, sizeof *group);
    double *read = NULL;
    if (!group)
        return MGV_E_MEMORY;
    MGVI_TRY(read_numbers(ctx, settings, file, kind, data, count, &read));
    for (int64_t j = 0; j < count; j++)
        group[j] = read[j] < 9e18 ? (int64_t)read[j] : INT64_MAX;
    *out = group;
    return MGV_OK;
}

/* What an earlier call has read is gone when its setting is. */
static void forget(const mgv_settings *s, mgv_data *data)
{
    if ((data->beside & MGVI_BESIDE_ROWS) && !s->sample_weight[0])
        data->weights = NULL;
    if ((data->beside & MGVI_BESIDE_COLS) && !s->penalty_weight[0])
        data->col_weights = NULL;
    if ((data->beside & MGVI_BESIDE_GROUPS) && !s->groups[0])
        data->group = NULL;
    if (data->beside & MGVI_BESIDE_ENDS)
        data->lower = data->upper = NULL;
    if ((data->beside & MGVI_BESIDE_ROW_GROUPS) && !s->row_groups[0])
        data->row_group = NULL;
    data->beside = 0;
}

/* Ends of intervals, one file or two. */
static mgv_status read_ends(mgv_ctx *ctx, const mgv_settings *s, mgv_data *data)
{
    static const numbers kind = {"end of an interval", "rows of data", false, true, 0};
    if (s->lower[0])
        MGVI_TRY(read_rows(ctx, s, s->lower, &kind, data, &data->lower));
    if (s->upper[0])
        MGVI_TRY(read_rows(ctx, s, s->upper, &kind, data, &data->upper));
    data->beside |= s->lower[0] || s->upper[0] ? MGVI_BESIDE_ENDS : 0;
    return MGV_OK;
}

mgv_status mgvi_read_beside(mgv_ctx *ctx, const mgv_settings *s, mgv_data *data)
{
    static const numbers rows = {"weight", "rows of data", false, false, 0};
    static const numbers cols = {"weight", "columns of data", false, false, 0};
    static const numbers groups = {"group", "columns of data", true, false, -1};
    static const numbers row_groups = {"group", "rows of data", true, false, 0};
    forget(s, data);
    if (s->sample_weight[0]) {
        MGVI_TRY(read_rows(ctx, s, s->sample_weight, &rows, data, &data->weights));
        data->beside |= MGVI_BESIDE_ROWS;
    }
    if (s->penalty_weight[0]) {
        MGVI_TRY(
            read_numbers(ctx, s, s->penalty_weight, &cols, data, data->X.cols, &data->col_weights));
        data->beside |= MGVI_BESIDE_COLS;
    }
    MGVI_TRY(read_ends(ctx, s, data));
    if (s->groups[0]) {
        MGVI_TRY(read_groups(ctx, s, s->groups, &groups, data, data->X.cols, &data->group));
        data->beside |= MGVI_BESIDE_GROUPS;
    }
    if (s->row_groups[0]) {
        const int64_t count = data->kept ? data->kept_of : data->X.rows;
        MGVI_TRY(read_groups(ctx, s, s->row_groups, &row_groups, data, count, &data->row_group));
        for (int64_t t = 0; data->kept && t < data->X.rows; t++)
            data->row_group[t] = data->row_group[data->kept[t]];
        data->beside |= MGVI_BESIDE_ROW_GROUPS;
    }
    return MGV_OK;
}
