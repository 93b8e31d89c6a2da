/* assess.c - public functions on assessments. */
#include "assess/assess.h"
#include "api/need.h"
#include "base/limit.h"
#include "io/io.h"
#include "report/report.h"

#include <math.h>

mgv_status mgv_assess_new(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                          mgv_assess **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, data);
    MGVI_NEED(ctx, settings);
    MGVI_TRY(mgvi_settings_obey(ctx, settings));
    MGVI_TRY(mgvi_read_beside(ctx, settings, data));
    const double deadline = mgvi_ctx_clock(ctx) + settings->time_limit;
    mgvi_call_begin(ctx, settings->time_limit);
    const mgv_status st = mgvi_assess_new(ctx, data, settings, out);
    mgvi_limit_end(ctx);
    if (*out)
        (*out)->deadline = deadline;
    return mgvi_done(ctx, st);
}

mgv_status mgv_assess_next(mgv_ctx *ctx, mgv_assess *assess, int *more)
{
    bool another = false;
    MGVI_NEED(ctx, more);
    *more = 0;
    MGVI_NEED(ctx, assess);
    mgvi_call_begin(ctx, assess->deadline - mgvi_ctx_clock(ctx));
    const mgv_status st = mgvi_assess_next(assess, &another);
    *more = another;
    return mgvi_call_end(ctx, st);
}

void mgv_assess_free(mgv_ctx *ctx, mgv_assess *assess)
{
    (void)ctx;
    mgvi_assess_free(assess);
}

mgv_status mgv_assess_describe(const mgv_assess *a, mgv_assess_info *out)
{
    if (!a || !out)
        return MGV_E_ARG;
    mgv_assess_info info = {.classify = a->classify,
                            .outer = a->parts,
                            .repeat = a->settings.repeat,
                            .done = a->done,
                            .passes = a->passes,
                            .seconds = a->seconds};
    mgvi_assess_mean(a, mgvi_assess_score, &info.score, &info.score_se);
    mgvi_assess_mean(a, mgvi_assess_baseline, &info.baseline, &info.baseline_se);
    mgvi_assess_mean(a, mgvi_assess_r2, &info.r2, &info.r2_se);
    for (int64_t k = 0; k < a->done; k++)
        info.short_of += mgvi_assess_is_short(&a->fold[k]);
    mgvi_copy_out(out, &info, sizeof info);
    return MGV_OK;
}

mgv_status mgv_assess_at(const mgv_assess *a, int64_t index, mgv_assess_part *out)
{
    if (!a || !out)
        return MGV_E_ARG;
    if (index < 0 || index >= a->done)
        return MGVI_FAIL(a->ctx, MGV_E_ARG, "%" PRId64 " parts are done, not %" PRId64, a->done,
                         index + 1);
    const mgvi_assess_fold *f = &a->fold[index];
    const mgv_certificate *c = &f->summary.certificate;
    const mgv_assess_part part = {.repeat = f->repeat,
                                  .part = f->part,
                                  .train_rows = f->train_rows,
                                  .test_rows = f->test_rows,
                                  .score = f->score,
                                  .baseline = f->baseline,
                                  .r2 = f->r2,
                                  .lambda = f->lambda,
                                  .mu = f->mu,
                                  .iteration = f->iteration,
                                  .method = f->method,
                                  .inner_score = f->inner_score,
                                  .inner_se = f->inner_se,
                                  .nonzeros = f->nonzeros,
                                  .stop = f->summary.stop,
                                  .solver = f->summary.solver,
                                  .relative_gap = c->verified ? c->relative_gap : NAN,
                                  .passes = f->summary.passes,
                                  .seconds = f->seconds};
    mgvi_copy_out(out, &part, sizeof part);
    return MGV_OK;
}

mgv_status mgv_report_assess(mgv_ctx *ctx, const mgv_assess *assess, const char *data_file,
                             char **json)
{
    MGVI_NEED_OUT(ctx, json);
    MGVI_NEED(ctx, assess);
    return mgvi_done(ctx, mgvi_report_assess(ctx, assess, data_file, json));
}
