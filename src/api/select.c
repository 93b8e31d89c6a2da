/* select.c - public functions on selections. */
#include "api/need.h"
#include "base/limit.h"
#include "io/io.h"
#include "select/selection.h"

#include <math.h>

mgv_status mgv_selection_run(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                             mgv_selection **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, data);
    MGVI_NEED(ctx, settings);
    MGVI_TRY(mgvi_settings_obey(ctx, settings));
    MGVI_TRY(mgvi_read_beside(ctx, settings, data));
    mgvi_call_begin(ctx, settings->time_limit);
    const mgv_status st = mgvi_selection_run(ctx, data, settings, out);
    return mgvi_call_end(ctx, st);
}

void mgv_selection_free(mgv_ctx *ctx, mgv_selection *selection)
{
    (void)ctx;
    mgvi_selection_free(selection);
}

const mgv_problem *mgv_selection_problem(const mgv_selection *selection)
{
    return selection ? selection->problem : NULL;
}

mgv_solver *mgv_selection_solver(mgv_selection *selection)
{
    return selection ? selection->solver : NULL;
}

/* Errors are shares misclassified where scores are accuracies. */
static double score(const mgv_selection *s, double error)
{
    return s->probe->classify ? 1 - error : error;
}

static mgv_path_point point_out(const mgv_selection *s, const mgvi_path_point *p)
{
    return (mgv_path_point){.lambda = p->lambda,
                            .mu = p->mu,
                            .iteration = p->iteration,
                            .score = score(s, p->error),
                            .score_se = p->error_se,
                            .gap = p->gap,
                            .nonzeros = p->nonzeros};
}

mgv_status mgv_selection_describe(const mgv_selection *s, mgv_selection_info *out)
{
    if (!s || !out)
        return MGV_E_ARG;
    const mgvi_path *path = mgvi_selection_path(s);
    const mgvi_path_point *point = mgvi_selection_point(s);
    const mgvi_path_point *last = &path->point[path->count - 1];
    const mgv_selection_info info = {.rule = s->settings.select,
                                     .method = path->method,
                                     .by = path->by,
                                     .points = path->count,
                                     .point = path->chosen,
                                     .compared = s->paths,
                                     .classify = s->probe->classify,
                                     .score = score(s, point->error),
                                     .score_se = point->error_se,
                                     .seconds = s->seconds,
                                     .debiased = last->debiased ? point->debiased : -1,
                                     .debiased_score = last->debiased ? last->error : NAN,
                                     .plain_score =
                                         last->debiased ? path->point[path->plain].error : NAN,
                                     .stable = s->stable};
    mgvi_copy_out(out, &info, sizeof info);
    return MGV_OK;
}

mgv_status mgv_selection_point(const mgv_selection *s, int64_t index, mgv_path_point *out)
{
    if (!s || !out)
        return MGV_E_ARG;
    const mgvi_path *path = mgvi_selection_path(s);
    if (index < 0 || index >= path->count)
        return MGVI_FAIL(s->ctx, MGV_E_ARG, "the path has %" PRId64 " points, not %" PRId64,
                         path->count, index + 1);
    const mgv_path_point point = point_out(s, &path->point[index]);
    mgvi_copy_out(out, &point, sizeof point);
    return MGV_OK;
}

mgv_status mgv_selection_compared(const mgv_selection *s, int64_t index, const char **method,
                                  mgv_path_point *out, double *seconds)
{
    if (!s || !method || !out || !seconds)
        return MGV_E_ARG;
    if (index < 0 || index >= s->paths)
        return MGVI_FAIL(s->ctx, MGV_E_ARG, "%d paths were compared, not %" PRId64, s->paths,
                         index + 1);
    const mgvi_path *path = &s->path[index];
    const mgv_path_point point = point_out(s, &path->point[path->chosen]);
    mgvi_copy_out(out, &point, sizeof point);
    *method = path->method;
    *seconds = path->seconds;
    return MGV_OK;
}

mgv_status mgv_selection_feature(mgv_ctx *ctx, mgv_selection *s, int64_t index, mgv_feature *out)
{
    MGVI_TRY(mgvi_need(ctx, s, "selection"));
    MGVI_NEED(ctx, out);
    const mgvi_feature *feature;
    MGVI_TRY(mgvi_selection_feature(s, index, &feature));
    if (!feature)
        return MGVI_FAIL(ctx, MGV_E_ARG, "the model has fewer than %" PRId64 " features",
                         index + 1);
    const mgv_feature info = {.column = feature->column,
                              .name = s->data->names ? s->data->names[feature->column] : NULL,
                              .coef = feature->coef,
                              .folds = feature->folds};
    mgvi_copy_out(out, &info, sizeof info);
    return mgvi_done(ctx, MGV_OK);
}
