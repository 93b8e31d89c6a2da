/* complete.c - public functions on triples and completions. */
#include "api/need.h"
#include "base/limit.h"
#include "complete/completion.h"
#include "io/triples.h"
#include "report/report.h"

#include <string.h>

mgv_status mgv_triples_read(mgv_ctx *ctx, const char *path, const mgv_settings *settings,
                            mgv_triples **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, path);
    MGVI_NEED(ctx, settings);
    mgvi_call_begin(ctx, settings->time_limit);
    const mgv_status st = mgvi_triples_read(ctx, path, settings, NULL, out);
    return mgvi_call_end(ctx, st);
}

/* The count of rows or columns: what was said, or what the largest index needs. */
static mgv_status side_count(mgv_ctx *ctx, const char *what, int64_t count, const int64_t *index,
                             int64_t said, int64_t *out)
{
    const int64_t most = said ? said : INT32_MAX;
    int64_t largest = -1;
    for (int64_t k = 0; k < count; k++) {
        if (index[k] < 0 || index[k] >= most)
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "entry %" PRId64 ": %s %" PRId64 "; allowed: 0 to %" PRId64, k, what,
                             index[k], most - 1);
        largest = index[k] > largest ? index[k] : largest;
    }
    *out = said ? said : largest + 1;
    return MGV_OK;
}

mgv_status mgv_triples_new(mgv_ctx *ctx, int64_t count, const int64_t *row, const int64_t *col,
                           const double *values, int64_t rows, int64_t cols, mgv_triples **out)
{
    MGVI_NEED_OUT(ctx, out);
    mgv_triples *t;
    if (count < 0 || rows < 0 || rows > INT32_MAX || cols < 0 || cols > INT32_MAX)
        return MGVI_FAIL(
            ctx, MGV_E_ARG,
            "a matrix needs rows, columns and a count of entries of at least 0 (got %" PRId64
            " entries of %" PRId64 " x %" PRId64 ")",
            count, rows, cols);
    if (count && (!row || !col))
        return MGVI_FAIL(ctx, MGV_E_ARG, "row or col is NULL");
    MGVI_TRY(side_count(ctx, "row", count, row, rows, &rows));
    MGVI_TRY(side_count(ctx, "column", count, col, cols, &cols));
    MGVI_TRY(mgvi_triples_new(ctx, count, values != NULL, &t));
    for (int64_t k = 0; k < count; k++) {
        t->row[k] = (int32_t)row[k];
        t->col[k] = (int32_t)col[k];
    }
    if (values && count)
        memcpy(t->value, values, (size_t)count * sizeof *values);
    t->rows = t->side[0].count = rows;
    t->cols = t->side[1].count = cols;
    const mgv_status st = mgvi_triples_check(t);
    if (st == MGV_OK)
        *out = t;
    else
        mgvi_triples_free(t);
    return mgvi_done(ctx, st);
}

void mgv_triples_free(mgv_ctx *ctx, mgv_triples *triples)
{
    (void)ctx;
    mgvi_triples_free(triples);
}

mgv_status mgv_triples_describe(const mgv_triples *t, mgv_triples_info *out)
{
    if (!t || !out)
        return MGV_E_ARG;
    mgv_triples_info info = {.rows = t->rows,
                             .cols = t->cols,
                             .count = t->count,
                             .has_values = t->value != NULL,
                             .row_names = t->side[0].named,
                             .col_names = t->side[1].named,
                             .format = t->format,
                             .load_seconds = t->load_seconds};
    for (int64_t k = 0; t->row && k < t->count; k++)
        info.unknown += t->row[k] < 0 || t->col[k] < 0;
    mgvi_copy_out(out, &info, sizeof info);
    return MGV_OK;
}

const double *mgv_triples_values(const mgv_triples *triples)
{
    return triples ? triples->value : NULL;
}

mgv_status mgv_completion_run(mgv_ctx *ctx, mgv_triples *triples, const mgv_settings *settings,
                              mgv_completion **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, triples);
    MGVI_NEED(ctx, settings);
    if (!triples->value)
        return MGVI_FAIL(ctx, MGV_E_ARG, "a completion needs entries with values");
    MGVI_TRY(mgvi_settings_obey(ctx, settings));
    mgvi_call_begin(ctx, settings->time_limit);
    const mgv_status st = mgvi_completion_run(ctx, triples, settings, out);
    return mgvi_call_end(ctx, st);
}

void mgv_completion_free(mgv_ctx *ctx, mgv_completion *completion)
{
    (void)ctx;
    mgvi_completion_free(completion);
}

mgv_status mgv_completion_describe(const mgv_completion *c, mgv_completion_info *out)
{
    if (!c || !out)
        return MGV_E_ARG;
    mgv_completion_info info = c->info;
    info.left = c->left;
    info.right = c->right;
    info.row_bias = c->row_bias;
    info.col_bias = c->col_bias;
    info.formula = c->formula;
    mgvi_copy_out(out, &info, sizeof info);
    return MGV_OK;
}

mgv_status mgv_completion_save(mgv_ctx *ctx, const mgv_completion *completion, const char *path)
{
    MGVI_NEED(ctx, completion);
    MGVI_NEED(ctx, path);
    return mgvi_done(ctx, mgvi_completion_save(ctx, completion, path));
}

mgv_status mgv_completion_load(mgv_ctx *ctx, const char *path, mgv_completion **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, path);
    return mgvi_done(ctx, mgvi_completion_load(ctx, path, out));
}

int mgv_completion_is(mgv_ctx *ctx, const char *path)
{
    return ctx && path && mgvi_completion_is(ctx, path);
}

mgv_status mgv_completion_read_pairs(mgv_ctx *ctx, const mgv_completion *completion,
                                     const char *path, const mgv_settings *settings,
                                     mgv_triples **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, completion);
    MGVI_NEED(ctx, path);
    MGVI_NEED(ctx, settings);
    return mgvi_done(ctx, mgvi_triples_read(ctx, path, settings, completion->side, out));
}

mgv_status mgv_completion_predict(mgv_ctx *ctx, const mgv_completion *completion,
                                  const mgv_triples *pairs, int clip, double *values)
{
    MGVI_NEED(ctx, completion);
    MGVI_NEED(ctx, pairs);
    MGVI_NEED(ctx, values);
    return mgvi_done(ctx, mgvi_completion_predict(ctx, completion, pairs, clip != 0, values));
}

mgv_status mgv_report_completion(mgv_ctx *ctx, const mgv_completion *completion,
                                 const char *data_file, const char *model_file, char **json)
{
    MGVI_NEED_OUT(ctx, json);
    MGVI_NEED(ctx, completion);
    return mgvi_done(ctx, mgvi_report_completion(ctx, completion, data_file, model_file, json));
}
