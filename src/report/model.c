/* model.c - what `margrave show --json` prints. */
#include "problem/member.h"
#include "report/report.h"

static json_t *text_or_null(const char *text)
{
    return text ? mgvi_json_string(text) : json_null();
}

static json_t *count_or_null(int64_t count)
{
    return count < 0 ? json_null() : json_integer(count);
}

static json_t *certificate_block(const mgvi_about *a)
{
    json_t *o = json_object();
    json_object_set_new(o, "primal", mgvi_json_number(a->primal));
    json_object_set_new(o, "dual", mgvi_json_number(a->dual));
    json_object_set_new(o, "relative_gap", mgvi_json_number(a->relative_gap));
    json_object_set_new(o, "margin", mgvi_json_number(a->margin));
    json_object_set_new(o, "margin_upper", mgvi_json_number(a->margin_upper));
    json_object_set_new(o, "verified", json_boolean(a->verified));
    return o;
}

static json_t *problem_block(const mgv_model *m)
{
    const mgvi_about *a = &m->about;
    json_t *o = json_object();
    json_object_set_new(o, "formula", text_or_null(a->formula));
    json_object_set_new(o, "loss", text_or_null(a->loss));
    json_object_set_new(o, "penalty", text_or_null(a->penalty));
    json_object_set_new(o, "lambda", mgvi_json_number(a->lambda));
    json_object_set_new(o, "mu", mgvi_json_number(a->mu));
    json_object_set_new(o, "scale", text_or_null(a->scale));
    json_object_set_new(o, "kernel", json_string(mgvi_kernel_name(m->kernel.kind)));
    return o;
}

static json_t *run_block(const mgvi_about *a)
{
    json_t *o = json_object();
    json_object_set_new(o, "name", text_or_null(a->solver));
    json_object_set_new(o, "iterations", count_or_null(a->iterations));
    json_object_set_new(o, "runs", count_or_null(a->runs));
    json_object_set_new(o, "stop", text_or_null(a->stop));
    return o;
}

/* null without a path */
static json_t *path_block(const mgv_model *m)
{
    const mgvi_model_path *p = &m->path;
    if (p->count == 0)
        return json_null();
    json_t *points = json_array();
    for (int64_t k = 0; k < p->count; k++) {
        const int64_t iteration = mgvi_model_point_iteration(p, k);
        json_t *o = json_object();
        json_object_set_new(o, "lambda", mgvi_json_number(p->lambda[k]));
        json_object_set_new(o, "mu", mgvi_json_number(p->mu[k]));
        json_object_set_new(o, "iteration", iteration ? json_integer(iteration) : json_null());
        json_object_set_new(o, "score", mgvi_json_number(p->score[k]));
        json_object_set_new(o, "score_se", mgvi_json_number(p->score_se[k]));
        json_object_set_new(o, "nonzeros", count_or_null(mgvi_model_point_nonzeros(p, k)));
        json_array_append_new(points, o);
    }
    const mgvi_about *a = &m->about;
    const bool known = a->point >= 0 && a->point < p->count;
    json_t *o = json_object();
    json_object_set_new(o, "rule", text_or_null(a->rule));
    json_object_set_new(o, "method", text_or_null(a->method));
    /* from 1, as rows are */
    json_object_set_new(o, "point", known ? json_integer(a->point + 1) : json_null());
    json_object_set_new(o, "points", points);
    return o;
}

static json_t *weight_block(const mgv_model *m, int64_t output, int64_t feature)
{
    json_t *o = json_pack("{s:I, s:f}", "column", (json_int_t)feature + 1, "coef",
                          m->coef[output * m->features + feature]);
    if (m->columns.names)
        json_object_set_new(o, "name", mgvi_json_string(m->columns.names[feature]));
    return o;
}

/* Whose scores they are: a class of several, or of two of them the one that scores above 0. */
static void name_output(const mgv_model *m, int64_t output, json_t *o)
{
    const bool several = m->classify && m->outputs > 1;
    const mgvi_class_pair pair = m->pairwise ? mgvi_class_pair_at(m->classes, output)
                                             : (mgvi_class_pair){0, (int32_t)output};
    json_object_set_new(o, "class",
                        several ? mgvi_json_string(m->class_text[pair.second]) : json_null());
    json_object_set_new(o, "against",
                        several && m->pairwise ? mgvi_json_string(m->class_text[pair.first])
                                               : json_null());
}

/* An output's class, intercept, length and largest weights; `feature` has room for `largest`. */
static mgv_status output_block(const mgv_model *m, int64_t k, int64_t largest, int64_t *feature,
                               json_t *list)
{
    int64_t found;
    MGVI_TRY(mgvi_model_largest(m, k, largest, feature, &found));
    json_t *o = json_object(), *weights = json_array();
    for (int64_t t = 0; t < found; t++)
        json_array_append_new(weights, weight_block(m, k, feature[t]));
    name_output(m, k, o);
    json_object_set_new(o, "intercept", mgvi_json_number(m->intercept[k]));
    json_object_set_new(o, "norm", mgvi_json_number(m->norm[k]));
    json_object_set_new(o, "largest", weights);
    json_array_append_new(list, o);
    return MGV_OK;
}

static mgv_status outputs_block(const mgv_model *m, int64_t largest, json_t **out)
{
    *out = json_array();
    int64_t *feature = mgvi_alloc(m->ctx, (size_t)largest + 1, sizeof *feature);
    mgv_status st = feature ? MGV_OK : MGV_E_MEMORY;
    for (int64_t k = 0; k < m->outputs && st == MGV_OK; k++)
        st = output_block(m, k, largest, feature, *out);
    mgvi_release(m->ctx, feature);
    return st;
}

static json_t *model_block(const mgv_model *m, const char *file, json_t *outputs)
{
    json_t *classes = m->classify ? json_array() : json_null();
    for (int64_t c = 0; m->classify && c < m->classes; c++)
        json_array_append_new(classes, mgvi_json_string(m->class_text[c]));
    json_t *o = json_object();
    json_object_set_new(o, "file", text_or_null(file));
    json_object_set_new(o, "task", json_string(m->classify ? "classify" : "regress"));
    json_object_set_new(o, "classes", classes);
    json_object_set_new(o, "pairwise", json_boolean(m->pairwise));
    json_object_set_new(o, "features", json_integer(m->features));
    json_object_set_new(o, "nonzeros", json_integer(mgvi_model_nonzeros(m)));
    json_object_set_new(o, "support", count_or_null(m->support));
    json_object_set_new(o, "p", mgvi_json_number(m->p));
    json_object_set_new(o, "data_format", text_or_null(m->format && *m->format ? m->format : NULL));
    json_object_set_new(o, "label_name", text_or_null(m->columns.label));
    json_object_set_new(o, "outputs", outputs);
    return o;
}

mgv_status mgvi_report_model(mgv_ctx *ctx, const mgv_model *m, const char *file, int64_t largest,
                             char **json)
{
    json_t *outputs;
    *json = NULL;
    const mgv_status st = outputs_block(m,
                                        largest < 0             ? 0
                                        : largest < m->features ? largest
                                                                : m->features,
                                        &outputs);
    if (st != MGV_OK) {
        json_decref(outputs);
        return st;
    }
    json_t *o = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "version", mgv_version(),
                          "command", "show", "model", model_block(m, file, outputs), "problem",
                          problem_block(m), "solver", run_block(&m->about), "certificate",
                          certificate_block(&m->about), "path", path_block(m));
    return mgvi_json_text(ctx, o, json);
}
