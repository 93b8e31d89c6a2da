/* select.c - the blocks `path`, `selected` and `validation` of `margrave fit --json`. */
#include "report/report.h"

#include <math.h>

static json_t *score(const mgv_selection *s, double error)
{
    return mgvi_json_number(s->probe->classify ? 1 - error : error);
}

static json_t *point_block(const mgv_selection *s, const mgvi_path_point *p)
{
    json_t *o = json_pack("{s:I}", "nonzeros", (json_int_t)p->nonzeros);
    json_object_set_new(o, "score", score(s, p->error));
    json_object_set_new(o, "score_se", mgvi_json_number(p->error_se));
    json_object_set_new(o, "lambda", mgvi_json_number(p->lambda));
    json_object_set_new(o, "mu", mgvi_json_number(p->mu));
    json_object_set_new(o, "iteration", p->iteration ? json_integer(p->iteration) : json_null());
    return o;
}

json_t *mgvi_report_path(const mgv_selection *s)
{
    if (!s)
        return json_pack("{s:i, s:s}", "points", 1, "by", "iteration");
    const mgvi_path *path = mgvi_selection_path(s);
    json_t *score_list = json_array(), *nonzeros = json_array(), *strength = json_array();
    json_t *errors = json_array();
    for (int64_t k = 0; k < path->count; k++) {
        const mgvi_path_point *p = &path->point[k];
        const double x = p->iteration ? (double)p->iteration : p->mu > 0 ? p->mu : p->lambda;
        json_array_append_new(score_list, score(s, p->error));
        json_array_append_new(errors, mgvi_json_number(p->error_se));
        json_array_append_new(nonzeros, json_integer(p->nonzeros));
        json_array_append_new(strength, mgvi_json_number(x));
    }
    return json_pack("{s:I, s:s, s:s, s:o, s:o, s:o, s:o}", "points", (json_int_t)path->count, "by",
                     path->by, "method", path->method, "at", strength, "score", score_list,
                     "score_se", errors, "nonzeros", nonzeros);
}

static json_t *compared_block(const mgv_selection *s)
{
    json_t *list = json_array();
    for (int k = 0; k < s->paths; k++) {
        const mgvi_path *path = &s->path[k];
        json_t *o = point_block(s, &path->point[path->chosen]);
        json_object_set_new(o, "method", json_string(path->method));
        json_object_set_new(o, "seconds", json_real(path->seconds));
        json_array_append_new(list, o);
    }
    return list;
}

/* Columns with a weight, from 1 as in the data's files, largest weights first. */
static mgv_status features_block(mgv_selection *s, json_t **out)
{
    enum { MOST = 1000 };
    const mgvi_feature *f = NULL;
    json_t *list = json_array();
    *out = list;
    for (int64_t k = 0; k < MOST; k++) {
        MGVI_TRY(mgvi_selection_feature(s, k, &f));
        if (!f)
            break;
        json_t *o = json_pack("{s:I, s:f}", "column", (json_int_t)f->column + 1, "coef", f->coef);
        if (s->data->names)
            json_object_set_new(o, "name", mgvi_json_string(s->data->names[f->column]));
        if (f->folds >= 0)
            json_object_set_new(o, "folds", json_integer(f->folds));
        json_array_append_new(list, o);
    }
    return MGV_OK;
}

static json_t *debias_block(const mgvi_path *path)
{
    const mgvi_path_point *last = &path->point[path->count - 1];
    json_t *o = json_null();
    if (last->debiased)
        o = json_pack("{s:b, s:f, s:f}", "used", path->chosen == path->count - 1, "score",
                      last->error, "plain_score", path->point[path->plain].error);
    return o;
}

mgv_status mgvi_report_selected(mgv_selection *s, json_t **out)
{
    *out = json_null();
    if (!s)
        return MGV_OK;
    const mgvi_path *path = mgvi_selection_path(s);
    json_t *features, *o = point_block(s, mgvi_selection_point(s));
    const mgv_status st = features_block(s, &features);
    json_object_set_new(o, "rule", mgvi_json_string(s->settings.select));
    json_object_set_new(o, "one_se", json_boolean(s->rule.one_se));
    json_object_set_new(o, "point", json_integer(path->chosen + 1)); /* from 1, as rows are */
    json_object_set_new(o, "method", json_string(path->method));
    json_object_set_new(o, "seconds", json_real(s->seconds));
    json_object_set_new(o, "compared", compared_block(s));
    json_object_set_new(o, "debias", debias_block(path));
    json_object_set_new(o, "stable", s->stable < 0 ? json_null() : json_integer(s->stable));
    json_object_set_new(o, "features", features);
    *out = o;
    return st;
}

json_t *mgvi_report_validation(const mgv_selection *s)
{
    if (!s || isnan(mgvi_selection_point(s)->error))
        return json_null();
    const double error = mgvi_selection_point(s)->error;
    return s->probe->classify ? json_pack("{s:f, s:n}", "accuracy", 1 - error, "mse")
                              : json_pack("{s:n, s:f}", "accuracy", "mse", error);
}
