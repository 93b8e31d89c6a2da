/* numbers.c - numbers beside the data, from files that settings name: weights, groups. */
#include "job.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a file of numbers holds: `noun` for `owner`, "weights" for "rows of data". */
typedef struct numbers {
    const char *setting, *noun, *owner;
    bool whole;   /* integers only */
    double least; /* the smallest allowed */
} numbers;

/* Reads exactly `count` numbers, one per line. */
static int read_lines(cli *c, FILE *in, const char *file, const numbers *kind, double *out,
                      int64_t count)
{
    char *line = NULL;
    size_t capacity = 0;
    int64_t seen = 0;
    int code = CLI_GO_ON;
    while (code == CLI_GO_ON && getline(&line, &capacity, in) >= 0) {
        char *end;
        line[strcspn(line, "\r\n")] = 0;
        const double x = strtod(line, &end);
        end += strspn(end, " \t");
        if (end == line || *end || (kind->whole && x != floor(x)))
            code = cli_complain(c, CLI_USAGE, "%s:%" PRId64 ": '%.60s' is not a %snumber", file,
                                seen + 1, line, kind->whole ? "whole " : "");
        else if (!(x >= kind->least) || isinf(x))
            code = cli_complain(c, CLI_USAGE,
                                "%s:%" PRId64 ": the %s is %g; allowed: finite, %g or more", file,
                                seen + 1, kind->noun, x, kind->least);
        else if (seen == count)
            code = cli_complain(c, CLI_USAGE, "%s:%" PRId64 ": more %ss than the %" PRId64 " %s",
                                file, seen + 1, kind->noun, count, kind->owner);
        else
            out[seen++] = x;
    }
    free(line);
    if (code == CLI_GO_ON && ferror(in))
        return cli_complain(c, CLI_FAILURE, "%s: %s", file, strerror(errno));
    if (code == CLI_GO_ON && seen < count)
        return cli_complain(c, CLI_USAGE, "%s: %" PRId64 " %ss for %" PRId64 " %s", file, seen,
                            kind->noun, count, kind->owner);
    return code;
}

/* The numbers of the file that a setting names, to be freed; NULL: none, or a failure in *code. */
static double *read_numbers(cli *c, const numbers *kind, int64_t count, int *code)
{
    const cli_text file = cli_setting(c, kind->setting);
    *code = CLI_GO_ON;
    if (!file.text[0])
        return NULL;
    FILE *in = strcmp(file.text, "-") == 0 ? stdin : fopen(file.text, "r");
    if (!in) {
        *code = cli_complain(c, CLI_FAILURE, "%s: %s", file.text, strerror(errno));
        return NULL;
    }
    double *out = malloc((size_t)(count ? count : 1) * sizeof *out);
    *code = out ? read_lines(c, in, file.text, kind, out, count)
                : cli_complain(c, CLI_FAILURE, "no memory for the %ss", kind->noun);
    if (in != stdin)
        fclose(in);
    if (*code == CLI_GO_ON)
        return out;
    free(out);
    return NULL;
}

static int apply_weights(cli *c, mgv_data *data, int64_t rows)
{
    static const numbers kind = {"sample_weight", "weight", "rows of data", false, 0};
    int code;
    double *weights = read_numbers(c, &kind, rows, &code);
    if (weights && mgv_data_set_weights(c->ctx, data, weights) != MGV_OK)
        code = cli_fail(c, MGV_E_INPUT);
    free(weights);
    return code;
}

static int apply_penalty_weights(cli *c, mgv_data *data, int64_t cols)
{
    static const numbers kind = {"penalty_weight", "weight", "columns of data", false, 0};
    int code;
    double *weights = read_numbers(c, &kind, cols, &code);
    if (weights && mgv_data_set_penalty_weights(c->ctx, data, weights) != MGV_OK)
        code = cli_fail(c, MGV_E_INPUT);
    free(weights);
    return code;
}

static int apply_groups(cli *c, mgv_data *data, int64_t cols)
{
    static const numbers kind = {"groups", "group", "columns of data", true, -1};
    int code;
    double *read = read_numbers(c, &kind, cols, &code);
    int64_t *groups = read ? malloc((size_t)(cols ? cols : 1) * sizeof *groups) : NULL;
    for (int64_t j = 0; groups && j < cols; j++)
        groups[j] = read[j] < 9e18 ? (int64_t)read[j] : INT64_MAX;
    if (read && (!groups || mgv_data_set_groups(c->ctx, data, groups) != MGV_OK))
        code = groups ? cli_fail(c, MGV_E_MEMORY)
                      : cli_complain(c, CLI_FAILURE, "no memory for the groups");
    free(read);
    free(groups);
    return code;
}

int cli_apply_numbers(cli *c, mgv_data *data)
{
    mgv_data_info info = {.size = sizeof info};
    mgv_data_describe(data, &info);
    int code = apply_weights(c, data, info.rows);
    if (code == CLI_GO_ON)
        code = apply_penalty_weights(c, data, info.cols);
    return code == CLI_GO_ON ? apply_groups(c, data, info.cols) : code;
}
