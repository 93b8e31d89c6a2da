/* fit.c - what `margrave fit --json` prints. */
#include "report/report.h"

#include "base/threads.h"
#include "problem/member.h"
#include "solver/classes/family.h"

#include <stdio.h>
#include <sys/resource.h>

json_t *mgvi_report_problem(const mgv_problem *p)
{
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:b, s:s, s:s, s:s}", "task",
                          p->classify ? "classify" : "regress", "task_reason", p->task, "loss",
                          p->loss->name, "penalty", p->penalty->name, "intercept", p->free_cols > 0,
                          "kernel", mgvi_kernel_name(p->settings.kernel), "scale",
                          mgvi_scale_name(p->settings.scale), "formula", p->formula);
    json_object_set_new(o, "lambda", mgvi_json_number(p->lambda));
    json_object_set_new(o, "mu", mgvi_json_number(p->mu));
    json_object_set_new(o, "C", mgvi_json_number(mgvi_problem_C(p)));
    json_object_set_new(o, "p", mgvi_json_number(p->p));
    return o;
}

static json_t *solver_block(const mgv_solver *s)
{
    const mgv_ctx *ctx = s->run.ctx;
    const mgvi_summary sum = mgvi_driver_summary(s);
    const mgvi_kernel_op *kernel = mgvi_kernel_of(s->run.problem->A);
    const mgv_dtype dtype = kernel ? mgvi_kernel_fast(kernel) : s->run.problem->data->X.dtype;
    const bool f32 = dtype == MGV_F32;
    return json_pack("{s:s, s:I, s:f, s:f, s:i, s:s, s:s, s:I, s:s}", "name", sum.solver,
                     "iterations", (json_int_t)sum.iterations, "passes", sum.passes, "seconds",
                     sum.seconds, "threads", mgvi_pool_threads(ctx->pool), "backend", "cpu",
                     "precision", f32 ? "f32" : "f64", "seed", (json_int_t)s->settings.seed, "stop",
                     mgv_stop_name(sum.stop));
}

/* The examples in a proof of inseparability with their weights, heaviest rows as they come; of a
 * joint margin beside each the class that it was held against. */
static json_t *proof_block(const mgv_solver *s, const mgv_certificate *c)
{
    const mgvi_vec *u = s->family ? &s->family->proof : &s->answer.u;
    if (c->separable != 0)
        return json_null();
    const mgv_problem *p = s->run.problem;
    const int64_t k = mgvi_problem_has_contrasts(p) ? p->outputs : 1;
    json_t *rows = json_array(), *weights = json_array(), *rivals = json_array();
    for (int64_t i = 0; i < u->n; i++) {
        if (u->x[i] == 0)
            continue;
        json_array_append_new(rows, json_integer(i / k + 1));
        json_array_append_new(weights, json_real(-u->x[i]));
        if (k > 1)
            json_array_append_new(rivals, mgvi_json_string(p->data->class_text[i % k]));
    }
    json_t *o =
        json_pack("{s:f, s:o, s:o}", "norm", c->proof_norm, "rows", rows, "weights", weights);
    if (k > 1)
        json_object_set(o, "rivals", rivals);
    json_decref(rivals);
    return o;
}

json_t *mgvi_report_certificate(const mgv_certificate *c)
{
    if (!c->verified) /* a certificate that fails its check is not printed */
        return json_pack("{s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:b}", "primal", "dual", "gap",
                         "relative_gap", "margin", "margin_upper", "separable", "verified", 0);
    json_t *o = json_object();
    json_object_set_new(o, "primal", mgvi_json_number(c->primal));
    json_object_set_new(o, "dual", mgvi_json_number(c->dual));
    json_object_set_new(o, "gap", mgvi_json_number(c->gap));
    json_object_set_new(o, "relative_gap", mgvi_json_number(c->relative_gap));
    json_object_set_new(o, "margin", mgvi_json_number(c->margin));
    json_object_set_new(o, "margin_upper", mgvi_json_number(c->margin_upper));
    json_object_set_new(o, "separable",
                        c->separable < 0 ? json_null() : json_boolean(c->separable));
    json_object_set_new(o, "verified", json_true());
    return o;
}

static json_t *bounds_block(const mgv_solver *s)
{
    mgv_bound all[MGVI_BOUNDS + 1];
    json_t *list = json_array();
    const int count = mgvi_driver_bounds((mgv_solver *)(uintptr_t)s, all); /* work space changes */
    for (int k = 0; k < count; k++) {
        json_t *o = json_pack("{s:s, s:s}", "item", all[k].item, "quantity", all[k].quantity);
        json_object_set_new(o, "low", mgvi_json_number(all[k].low));
        json_object_set_new(o, "high", mgvi_json_number(all[k].high));
        json_object_set_new(o, "found", mgvi_json_number(all[k].found));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *certificate_block(const mgv_solver *s)
{
    const mgvi_summary sum = mgvi_driver_summary(s);
    const mgv_certificate *c = &sum.certificate;
    json_t *o = mgvi_report_certificate(c);
    const double distance = s->family ? NAN : mgvi_verdict_distance(s->run.problem, c);
    json_object_set_new(o, "distance", mgvi_json_number(distance));
    json_object_set_new(o, "bounds", bounds_block(s));
    json_object_set_new(o, "proof", c->verified ? proof_block(s, c) : json_null());
    return o;
}

/* More than two classes: what each run came to. */
static json_t *classes_block(const mgv_solver *s)
{
    const mgvi_family *f = s->family;
    const mgv_problem *p = s->run.problem;
    if (!f)
        return json_null();
    json_t *list = json_array();
    for (int64_t c = 0; c < f->members; c++) {
        const mgvi_summary *one = &f->member[c];
        const mgvi_class_pair pair =
            p->pairwise ? mgvi_class_pair_at(p->data->classes, c) : (mgvi_class_pair){c, -1};
        const int64_t each = mgvi_problem_coefs(p);
        json_t *o = json_pack("{s:o, s:s, s:I, s:f, s:f, s:I, s:o}", "class",
                              mgvi_json_string(p->data->class_text[pair.first]), "stop",
                              mgv_stop_name(one->stop), "iterations", (json_int_t)one->iterations,
                              "passes", one->passes, "seconds", one->seconds, "nonzeros",
                              (json_int_t)mgvi_count_nonzeros(f->coef + c * each, each),
                              "certificate", mgvi_report_certificate(&one->certificate));
        if (p->pairwise)
            json_object_set_new(o, "rival", mgvi_json_string(p->data->class_text[pair.second]));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *model_block(const mgv_model *m, const char *file)
{
    if (!m)
        return json_null();
    return json_pack("{s:o, s:I, s:f, s:o}", "file", file ? mgvi_json_string(file) : json_null(),
                     "nonzeros", (json_int_t)mgvi_model_nonzeros(m), "norm", m->norm[0],
                     "support_vectors",
                     m->support < 0 ? json_null() : json_integer((json_int_t)m->support));
}

static mgv_status train_block(mgv_ctx *ctx, const mgv_solver *s, const mgv_model *model,
                              json_t **out)
{
    const mgv_stop stop = mgvi_driver_summary(s).stop;
    *out = json_null();
    if (!model || s->run.problem->own_data) /* an operator has no table to predict from */
        return MGV_OK;
    if (model->support >= 0 && (stop == MGV_STOP_TIME || stop == MGV_STOP_USER))
        return MGV_OK; /* the scores of all rows may take longer than the fit */
    mgv_data *data = s->run.problem->data;
    mgv_metrics metrics = {.size = sizeof metrics};
    MGVI_TRY(mgvi_model_measure(ctx, model, data, &metrics));
    *out = json_pack("{s:o, s:o}", "accuracy", mgvi_json_number(metrics.accuracy), "mse",
                     mgvi_json_number(metrics.mse));
    return MGV_OK;
}

/* The most memory this program has held. Linux says it exactly; elsewhere, and in getrusage(), it
 * may be that of the program that started it. */
static json_int_t memory_peak(void)
{
    struct rusage usage;
    char line[128];
    long long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && kib < 0 && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lld", &kib) != 1)
            kib = -1;
    if (f)
        fclose(f);
    getrusage(RUSAGE_SELF, &usage);
    return 1024 * (json_int_t)(kib >= 0 ? kib : (long long)usage.ru_maxrss);
}

mgv_status mgvi_report_fit(mgv_ctx *ctx, const mgv_solver *s, const mgv_model *model,
                           const char *data_file, const char *model_file, char **json)
{
    const mgv_problem *p = s->run.problem;
    json_t *train, *selected;
    *json = NULL;
    MGVI_TRY(train_block(ctx, s, model, &train));
    const mgv_status st = mgvi_report_selected(s->selection, &selected);
    json_t *o = json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "version",
        mgv_version(), "command", "fit", "data", mgvi_report_data(p->data, data_file), "problem",
        mgvi_report_problem(p), "solver", solver_block(s), "certificate", certificate_block(s),
        "classes", classes_block(s), "path", mgvi_report_path(s->selection), "selected", selected,
        "model", model_block(model, model_file), "train", train, "validation",
        mgvi_report_validation(s->selection), "memory_peak_bytes", memory_peak());
    if (st != MGV_OK) {
        json_decref(o);
        return st;
    }
    return mgvi_json_text(ctx, o, json);
}
