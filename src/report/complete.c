/* complete.c - the JSON object of `margrave complete --json`. */
#include "report/report.h"

static json_t *text_or_null(const char *text)
{
    return text ? mgvi_json_string(text) : json_null();
}

static json_t *errors(const mgv_completion_info *i)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "baseline", mgvi_json_number(i->baseline_error),
                     "path", mgvi_json_number(i->path_error), "held_out",
                     mgvi_json_number(i->held_out_error), "train",
                     mgvi_json_number(i->train_error));
}

mgv_status mgvi_report_completion(mgv_ctx *ctx, const mgv_completion *c, const char *data_file,
                                  const char *model_file, char **json)
{
    const mgv_completion_info *i = &c->info;
    json_t *o = json_pack(
        "{s:s, s:s, s:{s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:b, s:b},"
        " s:{s:s, s:o, s:b, s:b, s:I}, s:{s:I, s:I, s:I, s:s, s:f}, s:o,"
        " s:{s:o, s:o, s:o, s:o}, s:{s:o}}",
        "version", mgv_version(), "command", "complete", "data", "file", text_or_null(data_file),
        "rows", (json_int_t)i->rows, "cols", (json_int_t)i->cols, "entries", (json_int_t)i->entries,
        "given", (json_int_t)i->given, "held_out", (json_int_t)i->held_out, "low",
        mgvi_json_number(i->low), "high", mgvi_json_number(i->high), "mean",
        mgvi_json_number(i->mean), "row_names", (int)c->side[0].named, "col_names",
        (int)c->side[1].named, "problem", "formula", c->formula, "ridge",
        mgvi_json_number(i->ridge), "biases", i->biases, "finished", i->finished, "rank",
        (json_int_t)i->rank, "solver", "iterations", (json_int_t)i->iterations, "iteration",
        (json_int_t)i->iteration, "sweeps", (json_int_t)i->sweeps, "stop", mgv_stop_name(i->stop),
        "seconds", i->seconds, "rmse", errors(i), "certificate", "primal",
        mgvi_json_number(i->primal), "dual", mgvi_json_number(i->dual), "relative_gap",
        mgvi_json_number(i->relative_gap), "dual_norm", mgvi_json_number(i->dual_norm), "model",
        "file", text_or_null(model_file));
    return mgvi_json_text(ctx, o, json);
}
