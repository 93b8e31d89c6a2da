/* fit.c - public functions on problems, solvers, models and reports. */
#include "api/need.h"
#include "base/limit.h"
#include "io/io.h"
#include "problem/member.h"
#include "report/report.h"
#include "solver/classes/family.h"

#include <math.h>

mgv_status mgv_problem_new(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                           mgv_problem **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, data);
    MGVI_NEED(ctx, settings);
    MGVI_TRY(mgvi_settings_obey(ctx, settings));
    MGVI_TRY(mgvi_read_beside(ctx, settings, data));
    mgvi_call_begin(ctx, settings->time_limit);
    const mgv_status st = mgvi_problem_new_in_time(ctx, data, settings, out);
    return mgvi_call_end(ctx, st);
}

mgv_status mgv_problem_from_operator(mgv_ctx *ctx, const mgv_operator *op, const double *target,
                                     const int64_t *groups, const mgv_settings *settings,
                                     mgv_problem **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, op);
    MGVI_NEED(ctx, target);
    MGVI_NEED(ctx, settings);
    if (settings->sample_weight[0] || settings->penalty_weight[0] || settings->groups[0] ||
        settings->lower[0] || settings->upper[0])
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "sample_weight, penalty_weight, groups, lower and upper name files beside "
                         "a table; the "
                         "groups of an operator are an argument, its rows have one weight");
    MGVI_TRY(mgvi_settings_obey(ctx, settings));
    mgvi_op *A;
    MGVI_TRY(mgvi_op_user(ctx, op, 1, &A));
    return mgvi_done(ctx, mgvi_problem_over(ctx, A, target, groups, settings, out));
}

mgv_status mgv_problem_set_smooth(mgv_ctx *ctx, mgv_problem *problem, const mgv_smooth *smooth)
{
    MGVI_NEED(ctx, problem);
    return mgvi_done(ctx, mgvi_problem_set_smooth(problem, smooth));
}

void mgv_problem_free(mgv_ctx *ctx, mgv_problem *problem)
{
    (void)ctx;
    mgvi_problem_free(problem);
}

const char *mgv_problem_formula(const mgv_problem *problem)
{
    return problem ? problem->formula : "";
}

const char *mgv_problem_task(const mgv_problem *problem) { return problem->task; }

const char *mgv_stop_name(mgv_stop stop)
{
    static const char *const names[] = {
        "not run",    "certified",  "discrepancy", "max_iter", "time",    "user",     "diverged",
        "infeasible", "max_passes", "stalled",     "selected", "apriori", "rounding", "schedule"};
    return (unsigned)stop < sizeof names / sizeof *names ? names[stop] : "unknown";
}

mgv_status mgv_solver_new(mgv_ctx *ctx, const mgv_problem *problem, const mgv_settings *settings,
                          mgv_solver **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, problem);
    MGVI_NEED(ctx, settings);
    MGVI_TRY(mgvi_settings_obey(ctx, settings));
    mgvi_limit_begin(ctx, settings->time_limit);
    const double begun = mgvi_ctx_clock(ctx);
    mgv_status st = mgvi_driver_new(ctx, problem, settings, out);
    if (st == MGV_OK)
        mgvi_solver_warn(ctx, (*out)->run.ops, settings);
    if (st == MGV_OK && settings->resume[0])
        st = mgvi_checkpoint_read(*out, settings->resume);
    if (*out)
        (*out)->prepared = mgvi_ctx_clock(ctx) - begun;
    mgvi_limit_end(ctx);
    if (st != MGV_OK) {
        mgvi_driver_free(*out);
        *out = NULL;
    }
    return mgvi_done(ctx, st);
}

mgv_status mgv_solver_run(mgv_ctx *ctx, mgv_solver *solver)
{
    MGVI_NEED(ctx, solver);
    const mgvi_summary before = mgvi_driver_summary(solver);
    mgvi_call_begin(ctx, solver->settings.time_limit - before.seconds - solver->prepared);
    solver->prepared = 0;
    solver->shown = true;
    const mgv_status st = mgvi_driver_run(solver);
    mgvi_driver_close_judge(solver);
    return mgvi_call_end(ctx, st);
}

mgv_status mgv_solver_describe(const mgv_solver *solver, mgv_run_info *run,
                               mgv_certificate *certificate)
{
    if (!solver)
        return MGV_E_ARG;
    const mgv_problem *p = solver->run.problem;
    const mgvi_summary sum = mgvi_driver_summary(solver);
    mgv_run_info info = {.solver = sum.solver,
                         .stop = sum.stop,
                         .iterations = sum.iterations,
                         .passes = sum.passes,
                         .seconds = sum.seconds,
                         .runs = 1,
                         .impossible_class = -1,
                         .impossible_rival = -1,
                         .distance = NAN,
                         .p = 2,
                         .unsaved = solver->keeper.unsaved,
                         .normal_residual = mgvi_driver_normal_residual(solver)};
    if (solver->family) {
        const int64_t count = solver->family->members * mgvi_problem_coefs(p);
        info.nonzeros = mgvi_count_nonzeros(solver->family->coef, count);
        info.norm = NAN; /* every class has its own */
        info.runs = solver->family->members;
        info.impossible_class = solver->family->impossible;
        if (p->pairwise && info.impossible_class >= 0) {
            const mgvi_class_pair pair =
                mgvi_class_pair_at(p->data->classes, solver->family->impossible);
            info.impossible_class = pair.first;
            info.impossible_rival = pair.second;
        }
    } else {
        info.nonzeros = mgvi_problem_nonzeros(p, solver->answer.w.x);
        info.p = mgvi_problem_has_margin(p) ? p->p : 2;
        info.distance = mgvi_verdict_distance(p, &sum.certificate);
        info.norm = p->lanes == 1 ? mgvi_problem_user_norm(p, solver->answer.w.x) : NAN;
    }
    if (run)
        mgvi_copy_out(run, &info, sizeof info);
    if (certificate)
        mgvi_copy_out(certificate, &sum.certificate, sizeof *certificate);
    return MGV_OK;
}

mgv_status mgv_solver_checkpoint(mgv_ctx *ctx, const mgv_solver *solver, const char *path)
{
    MGVI_NEED(ctx, solver);
    MGVI_NEED(ctx, path);
    return mgvi_done(ctx, mgvi_checkpoint_write(solver, path));
}

mgv_status mgv_solver_resume(mgv_ctx *ctx, mgv_solver *solver, const char *path)
{
    MGVI_NEED(ctx, solver);
    MGVI_NEED(ctx, path);
    return mgvi_done(ctx, mgvi_checkpoint_read(solver, path));
}

mgv_status mgv_solver_dual(const mgv_solver *solver, const double **values, int64_t *count)
{
    if (!solver || !values || !count)
        return MGV_E_ARG;
    const mgvi_vec *u = solver->family ? &solver->family->proof : &solver->answer.u;
    *values = u->x;
    *count = u->n * u->k;
    return MGV_OK;
}

mgv_status mgv_solver_weights(const mgv_solver *solver, const double **values, int64_t *count)
{
    if (!solver || !values || !count)
        return MGV_E_ARG;
    const mgvi_family *family = solver->family;
    const mgvi_vec *w = &solver->answer.w;
    *values = family ? family->coef : w->x;
    *count = family ? family->members * mgvi_problem_coefs(solver->run.problem) : w->n * w->k;
    return MGV_OK;
}

void mgv_solver_free(mgv_ctx *ctx, mgv_solver *solver)
{
    (void)ctx;
    mgvi_driver_free(solver);
}

mgv_status mgv_model_new(mgv_ctx *ctx, const mgv_solver *solver, mgv_model **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, solver);
    if (solver->stop == MGV_STOP_NONE)
        return MGVI_FAIL(ctx, MGV_E_ARG, "the solver has not run; call mgv_solver_run() first");
    return mgvi_done(ctx, mgvi_model_new(ctx, solver, out));
}

mgv_status mgv_model_save(mgv_ctx *ctx, const mgv_model *model, const char *path)
{
    MGVI_NEED(ctx, model);
    MGVI_NEED(ctx, path);
    return mgvi_done(ctx, mgvi_model_save(ctx, model, path));
}

mgv_status mgv_model_load(mgv_ctx *ctx, const char *path, mgv_model **out)
{
    MGVI_NEED(ctx, out);
    MGVI_NEED(ctx, path);
    return mgvi_done(ctx, mgvi_model_load(ctx, path, out));
}

void mgv_model_free(mgv_ctx *ctx, mgv_model *model)
{
    (void)ctx;
    mgvi_model_free(model);
}

mgv_status mgv_model_describe(const mgv_model *model, mgv_model_info *out)
{
    if (!model || !out)
        return MGV_E_ARG;
    const mgv_model_info info = {.features = model->features,
                                 .classes = model->classes,
                                 .nonzeros = mgvi_model_nonzeros(model),
                                 .coef = model->support < 0 ? model->coef : NULL,
                                 .intercept = model->intercept[0],
                                 .norm = model->norm[0],
                                 .metadata = model->metadata,
                                 .outputs = model->outputs,
                                 .intercepts = model->intercept,
                                 .norms = model->norm,
                                 .kernel = mgvi_kernel_name(model->kernel.kind),
                                 .support = model->support,
                                 .p = model->p,
                                 .label_name = model->columns.label,
                                 .format = model->format,
                                 .first_index = model->columns.first_index,
                                 .pairwise = model->pairwise,
                                 .has_pair = model->pair.w.x != NULL};
    mgvi_copy_out(out, &info, sizeof info);
    return MGV_OK;
}

const char *mgv_model_class(const mgv_model *model, int64_t index)
{
    return model && index >= 0 && index < model->classes ? model->class_text[index] : NULL;
}

int64_t mgv_model_class_of(const mgv_model *model, const mgv_data *data, int64_t index)
{
    return index >= 0 && index < data->classes ? mgvi_model_class_of(model, data, index) : -1;
}

const char *mgv_model_name(const mgv_model *model, int64_t index)
{
    return model->columns.names && index >= 0 && index < model->features
               ? model->columns.names[index]
               : NULL;
}

mgv_status mgv_model_read_data(mgv_ctx *ctx, const mgv_model *model, const char *path,
                               const mgv_settings *settings, mgv_data **out)
{
    *out = NULL;
    if (!model || !path || !settings)
        return MGVI_FAIL(ctx, MGV_E_ARG, "rows are read for a model, from a path, under settings");
    return mgvi_model_read(ctx, model, path, settings, out);
}

mgv_status mgv_model_scores(mgv_ctx *ctx, const mgv_model *model, mgv_data *data, double *scores)
{
    MGVI_NEED(ctx, model);
    MGVI_NEED(ctx, data);
    MGVI_NEED(ctx, scores);
    return mgvi_done(ctx, mgvi_model_scores(ctx, model, data, scores));
}

int64_t mgv_model_decide(const mgv_model *model, const double *scores)
{
    return model && scores ? mgvi_model_decide(model, scores) : -1;
}

mgv_status mgv_model_probabilities(mgv_ctx *ctx, const mgv_model *model, int64_t rows,
                                   const double *scores, double *probabilities)
{
    MGVI_NEED(ctx, model);
    MGVI_NEED(ctx, scores);
    MGVI_NEED(ctx, probabilities);
    return mgvi_done(ctx, mgvi_model_probabilities(ctx, model, rows, scores, probabilities));
}

mgv_status mgv_model_confusion(mgv_ctx *ctx, const mgv_model *model, const mgv_data *data,
                               const double *scores, int64_t *counts)
{
    MGVI_NEED(ctx, model);
    MGVI_NEED(ctx, data);
    MGVI_NEED(ctx, scores);
    MGVI_NEED(ctx, counts);
    return mgvi_done(ctx, mgvi_model_confusion(ctx, model, data, scores, counts));
}

mgv_status mgv_model_evaluate(mgv_ctx *ctx, const mgv_model *model, mgv_data *data,
                              const double *scores, mgv_metrics *out)
{
    MGVI_NEED(ctx, model);
    MGVI_NEED(ctx, data);
    MGVI_NEED(ctx, out);
    return mgvi_done(ctx, scores ? mgvi_model_evaluate(ctx, model, data, scores, out)
                                 : mgvi_model_measure(ctx, model, data, out));
}

mgv_status mgv_report_fit(mgv_ctx *ctx, const mgv_solver *solver, const mgv_model *model,
                          const char *data_file, const char *model_file, char **json)
{
    MGVI_NEED(ctx, json);
    MGVI_NEED(ctx, solver);
    return mgvi_done(ctx, mgvi_report_fit(ctx, solver, model, data_file, model_file, json));
}
