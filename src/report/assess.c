/* assess.c - what `margrave assess --json` prints. */
#include "assess/assess.h"
#include "report/report.h"

#include <math.h>

static json_t *mean_block(const mgv_assess *a, mgvi_assess_number of)
{
    double mean, se;
    json_t *o = json_object();
    mgvi_assess_mean(a, of, &mean, &se);
    json_object_set_new(o, "mean", mgvi_json_number(mean));
    json_object_set_new(o, "se", mgvi_json_number(se));
    return o;
}

static json_t *choice_block(const mgvi_assess_fold *f)
{
    json_t *o = json_object();
    if (!f->chosen)
        return json_null();
    json_object_set_new(o, "method", json_string(f->method));
    json_object_set_new(o, "by", json_string(f->by));
    json_object_set_new(o, "iteration", f->iteration ? json_integer(f->iteration) : json_null());
    json_object_set_new(o, "score", mgvi_json_number(f->inner_score));
    json_object_set_new(o, "score_se", mgvi_json_number(f->inner_se));
    return o;
}

static json_t *fold_block(const mgvi_assess_fold *f)
{
    const mgv_certificate *c = &f->summary.certificate;
    json_t *o = json_pack("{s:I, s:I, s:I, s:I}", "repeat", (json_int_t)f->repeat + 1, "part",
                          (json_int_t)f->part + 1, "train_rows", (json_int_t)f->train_rows,
                          "test_rows", (json_int_t)f->test_rows);
    json_object_set_new(o, "score", mgvi_json_number(f->score));
    json_object_set_new(o, "baseline", mgvi_json_number(f->baseline));
    json_object_set_new(o, "r2", mgvi_json_number(f->r2));
    json_object_set_new(o, "lambda", mgvi_json_number(f->lambda));
    json_object_set_new(o, "mu", mgvi_json_number(f->mu));
    json_object_set_new(o, "chosen", choice_block(f));
    json_object_set_new(o, "nonzeros", json_integer(f->nonzeros));
    json_object_set_new(o, "solver", json_string(f->summary.solver));
    json_object_set_new(o, "stop", json_string(mgv_stop_name(f->summary.stop)));
    json_object_set_new(o, "relative_gap",
                        c->verified ? mgvi_json_number(c->relative_gap) : json_null());
    json_object_set_new(o, "seconds", mgvi_json_number(f->seconds));
    return o;
}

mgv_status mgvi_report_assess(mgv_ctx *ctx, const mgv_assess *a, const char *data_file, char **json)
{
    json_t *parts = json_array(), *whole = json_object();
    *json = NULL;
    for (int64_t k = 0; k < a->done; k++)
        json_array_append_new(parts, fold_block(&a->fold[k]));
    json_object_set_new(whole, "metric", json_string(a->classify ? "accuracy" : "rmse"));
    json_object_set_new(whole, "outer", json_integer(a->parts));
    json_object_set_new(whole, "repeat", json_integer(a->settings.repeat));
    json_object_set_new(whole, "done", json_integer(a->done));
    json_object_set_new(whole, "select", mgvi_json_string(a->settings.select));
    json_object_set_new(whole, "score", mean_block(a, mgvi_assess_score));
    json_object_set_new(whole, "baseline", mean_block(a, mgvi_assess_baseline));
    json_object_set_new(whole, "r2", a->classify ? json_null() : mean_block(a, mgvi_assess_r2));
    json_object_set_new(whole, "passes", mgvi_json_number(a->passes));
    json_object_set_new(whole, "seconds", mgvi_json_number(a->seconds));
    json_object_set_new(whole, "parts", parts);
    json_t *o = json_pack("{s:s, s:s, s:o, s:o}", "version", mgv_version(), "command", "assess",
                          "data", mgvi_report_data(a->data, data_file), "assess", whole);
    return mgvi_json_text(ctx, o, json);
}
