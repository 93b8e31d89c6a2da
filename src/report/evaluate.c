/* evaluate.c - what `margrave evaluate --json` prints. */
#include "report/report.h"

#include <math.h>

static json_t *metrics_block(const mgv_metrics *m)
{
    if (!m || m->known == 0)
        return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "accuracy", mgvi_json_number(m->accuracy));
    json_object_set_new(o, "balanced_accuracy", mgvi_json_number(m->balanced_accuracy));
    json_object_set_new(o, "auc", mgvi_json_number(m->auc));
    json_object_set_new(o, "f1", mgvi_json_number(m->f1));
    json_object_set_new(o, "log_loss", mgvi_json_number(m->log_loss));
    json_object_set_new(o, "mse", mgvi_json_number(m->mse));
    json_object_set_new(o, "r2", mgvi_json_number(m->r2));
    return o;
}

/* With how far the best weights can be, where the problem says that. */
static json_t *certificate_block(const mgv_problem *p, const mgv_certificate *c)
{
    json_t *o = mgvi_report_certificate(c);
    const double distance = p->many ? NAN : mgvi_verdict_distance(p, c);
    json_object_set_new(o, "distance", mgvi_json_number(distance));
    return o;
}

mgv_status mgvi_report_evaluation(const mgv_problem *p, const mgv_certificate *certificate,
                                  const mgv_metrics *metrics, const char *model_file,
                                  const char *data_file, char **json)
{
    json_t *o = json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "version", mgv_version(), "command", "evaluate",
        "model", model_file ? mgvi_json_string(model_file) : json_null(), "data",
        mgvi_report_data(p->data, data_file), "problem", mgvi_report_problem(p), "certificate",
        certificate_block(p, certificate), "metrics", metrics_block(metrics));
    return mgvi_json_text(p->ctx, o, json);
}
