/* model.c - what is in a model. */
#include "model/model.h"
#include "api/need.h"
#include "report/report.h"

#include <math.h>

mgv_status mgv_model_largest(mgv_ctx *ctx, const mgv_model *model, int64_t output, int64_t count,
                             int64_t *features, int64_t *found)
{
    MGVI_NEED(ctx, model);
    MGVI_NEED(ctx, found);
    *found = 0;
    if (count > 0)
        MGVI_NEED(ctx, features);
    if (output < 0 || output >= model->outputs)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "there is no output %" PRId64 " (the model has %" PRId64 ", from 0)",
                         output, model->outputs);
    return mgvi_done(ctx, mgvi_model_largest(model, output, count, features, found));
}

mgv_status mgv_model_keep_pair(mgv_ctx *ctx, mgv_model *model, const mgv_solver *solver)
{
    MGVI_NEED(ctx, model);
    MGVI_NEED(ctx, solver);
    return mgvi_done(ctx, mgvi_model_keep_pair(model, solver));
}

mgv_status mgv_model_made_by(const mgv_model *model, mgv_model_origin *out)
{
    if (!model || !out)
        return MGV_E_ARG;
    const mgvi_about *a = &model->about;
    const mgv_model_origin origin = {.version = a->version,
                                     .formula = a->formula,
                                     .loss = a->loss,
                                     .penalty = a->penalty,
                                     .scale = a->scale,
                                     .solver = a->solver,
                                     .stop = a->stop,
                                     .rule = a->rule,
                                     .method = a->method,
                                     .lambda = a->lambda,
                                     .mu = a->mu,
                                     .primal = a->primal,
                                     .dual = a->dual,
                                     .relative_gap = a->relative_gap,
                                     .margin = a->margin,
                                     .margin_upper = a->margin_upper,
                                     .verified = a->verified,
                                     .iterations = a->iterations,
                                     .runs = a->runs,
                                     .points = model->path.count,
                                     .point = model->path.count > a->point ? a->point : -1};
    mgvi_copy_out(out, &origin, sizeof origin);
    return MGV_OK;
}

mgv_status mgv_model_point(const mgv_model *model, int64_t index, mgv_path_point *out)
{
    if (!model || !out)
        return MGV_E_ARG;
    const mgvi_model_path *p = &model->path;
    if (index < 0 || index >= p->count)
        return MGVI_FAIL(model->ctx, MGV_E_ARG,
                         "there is no point %" PRId64 " (the path has %" PRId64 ", from 0)", index,
                         p->count);
    const mgv_path_point point = {.lambda = p->lambda[index],
                                  .mu = p->mu[index],
                                  .iteration = mgvi_model_point_iteration(p, index),
                                  .score = p->score[index],
                                  .score_se = p->score_se[index],
                                  .gap = NAN,
                                  .nonzeros = mgvi_model_point_nonzeros(p, index)};
    mgvi_copy_out(out, &point, sizeof point);
    return MGV_OK;
}

mgv_status mgv_report_model(mgv_ctx *ctx, const mgv_model *model, const char *model_file,
                            int64_t largest, char **json)
{
    MGVI_NEED_OUT(ctx, json);
    MGVI_NEED(ctx, model);
    return mgvi_done(ctx, mgvi_report_model(ctx, model, model_file, largest, json));
}
