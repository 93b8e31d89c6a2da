/* path.c - public functions on paths. */
#include "api/need.h"
#include "base/limit.h"
#include "io/io.h"
#include "report/report.h"
#include "select/walk.h"

#include <math.h>

mgv_status mgv_path_new(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings, mgv_path **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, data);
    MGVI_NEED(ctx, settings);
    MGVI_TRY(mgvi_settings_obey(ctx, settings));
    MGVI_TRY(mgvi_read_beside(ctx, settings, data));
    const double deadline = mgvi_ctx_clock(ctx) + settings->time_limit;
    mgvi_call_begin(ctx, settings->time_limit);
    const mgv_status st = mgvi_walk_new(ctx, data, settings, out);
    mgvi_limit_end(ctx);
    if (*out)
        (*out)->deadline = deadline;
    return mgvi_done(ctx, st);
}

mgv_status mgv_path_next(mgv_ctx *ctx, mgv_path *path, const mgv_solver **solver)
{
    MGVI_NEED(ctx, solver);
    MGVI_NEED(ctx, path);
    mgvi_call_begin(ctx, path->deadline - mgvi_ctx_clock(ctx));
    const mgv_status st = mgvi_walk_next(path, solver);
    return mgvi_call_end(ctx, st);
}

mgv_status mgv_path_describe(const mgv_path *path, mgv_path_info *out)
{
    if (!path || !out)
        return MGV_E_ARG;
    const mgv_path_info info = {.along = path->along_mu ? "mu" : "lambda",
                                .largest = path->largest,
                                .points = path->count,
                                .done = path->done,
                                .formula = path->problem->formula,
                                .classify = path->problem->classify,
                                .unsaved = path->keeper.unsaved,
                                .p = isnan(path->problem->p) ? 2 : path->problem->p};
    mgvi_copy_out(out, &info, sizeof info);
    return MGV_OK;
}

mgv_status mgv_path_at(const mgv_path *path, int64_t index, mgv_path_result *out)
{
    if (!path || !out)
        return MGV_E_ARG;
    if (index < 0 || index >= path->count)
        return MGVI_FAIL(path->ctx, MGV_E_ARG, "the path has no point %" PRId64, index);
    const mgvi_walk_point *p = &path->point[index];
    const mgv_certificate *c = &p->summary.certificate;
    const bool known = p->summary.stop != MGV_STOP_NONE;
    const mgv_path_result point = {.lambda = p->lambda,
                                   .mu = p->mu,
                                   .stop = p->summary.stop,
                                   .solver = known ? p->summary.solver : NULL,
                                   .iterations = p->summary.iterations,
                                   .passes = p->summary.passes,
                                   .seconds = p->summary.seconds,
                                   .primal = c->primal,
                                   .dual = c->dual,
                                   .relative_gap = c->relative_gap,
                                   .verified = c->verified,
                                   .nonzeros = p->nonzeros,
                                   .norm = p->norm,
                                   .train_score = p->train_score};
    mgvi_copy_out(out, &point, sizeof point);
    return MGV_OK;
}

void mgv_path_free(mgv_ctx *ctx, mgv_path *path)
{
    (void)ctx;
    mgvi_walk_free(path);
}

mgv_status mgv_report_path(mgv_ctx *ctx, const mgv_path *path, const char *data_file,
                           const char *const *model_files, char **json)
{
    MGVI_NEED(ctx, json);
    MGVI_NEED(ctx, path);
    return mgvi_done(ctx, mgvi_report_walk(ctx, path, data_file, model_files, json));
}
