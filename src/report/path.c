/* path.c - what `margrave path --json` prints. */
#include "report/report.h"
#include "select/walk.h"

static json_t *point_block(const mgvi_walk_point *p, const char *file)
{
    const mgv_certificate *c = &p->summary.certificate;
    const bool known = p->summary.stop != MGV_STOP_NONE;
    json_t *o = json_object();
    json_object_set_new(o, "lambda", mgvi_json_number(p->lambda));
    json_object_set_new(o, "mu", mgvi_json_number(p->mu));
    json_object_set_new(o, "stop", json_string(mgv_stop_name(p->summary.stop)));
    if (!known)
        return o;
    json_object_set_new(o, "solver", json_string(p->summary.solver));
    json_object_set_new(o, "iterations", json_integer(p->summary.iterations));
    json_object_set_new(o, "passes", mgvi_json_number(p->summary.passes));
    json_object_set_new(o, "seconds", mgvi_json_number(p->summary.seconds));
    json_object_set_new(o, "primal", c->verified ? mgvi_json_number(c->primal) : json_null());
    json_object_set_new(o, "dual", c->verified ? mgvi_json_number(c->dual) : json_null());
    json_object_set_new(o, "relative_gap",
                        c->verified ? mgvi_json_number(c->relative_gap) : json_null());
    json_object_set_new(o, "verified", json_boolean(c->verified));
    json_object_set_new(o, "nonzeros", json_integer(p->nonzeros));
    json_object_set_new(o, "norm", mgvi_json_number(p->norm));
    json_object_set_new(o, "train_score", mgvi_json_number(p->train_score));
    json_object_set_new(o, "model", file ? mgvi_json_string(file) : json_null());
    return o;
}

mgv_status mgvi_report_walk(mgv_ctx *ctx, const mgv_path *path, const char *data_file,
                            const char *const *model_files, char **json)
{
    const mgv_problem *p = path->problem;
    json_t *points = json_array();
    *json = NULL;
    for (int64_t k = 0; k < path->count; k++)
        json_array_append_new(
            points,
            point_block(&path->point[k], model_files && k < path->done ? model_files[k] : NULL));
    json_t *o =
        json_pack("{s:s, s:s, s:o, s:o, s:{s:s, s:f, s:I, s:I, s:f}, s:o}", "version",
                  mgv_version(), "command", "path", "data", mgvi_report_data(p->data, data_file),
                  "problem", mgvi_report_problem(p), "path", "by", path->along_mu ? "mu" : "lambda",
                  "largest", path->largest, "points", (json_int_t)path->count, "done",
                  (json_int_t)path->done, "seconds", path->spent, "points", points);
    return mgvi_json_text(ctx, o, json);
}
