/* job.c - binds, runs and makes the model. */
#include "job.h"

#include "signals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void cli_job_free(cli_job *job)
{
    mgv_ctx *ctx = job->c->ctx;
    mgv_model_free(ctx, job->model);
    if (!job->selection)
        mgv_solver_free(ctx, job->solver);
    mgv_problem_free(ctx, job->own_problem);
    mgv_selection_free(ctx, job->selection);
    mgv_data_free(ctx, job->data);
}

void cli_trace_number(FILE *trace, double x)
{
    if (isfinite(x))
        fprintf(trace, ",%.17g", x);
    else
        fputc(',', trace);
}

/* Bytes per iteration are those since the row before. */
void cli_job_trace(cli_job *job, const mgv_event *e)
{
    FILE *trace = cli_table_row(&job->trace);
    if (!trace)
        return;
    const double steps = (double)(e->iteration - job->traced.iteration);
    const double bytes = e->bytes - job->traced.bytes;
    const double numbers[] = {e->passes,      e->seconds,         e->primal, e->dual,
                              e->gap,         e->relative_gap,    e->margin, e->margin_upper,
                              e->train_score, e->validation_score};
    fprintf(trace, "%lld", (long long)e->iteration);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cli_trace_number(trace, numbers[i]);
    cli_trace_number(trace, e->nonzeros < 0 ? NAN : (double)e->nonzeros);
    cli_trace_number(trace, e->bytes);
    cli_trace_number(trace, steps > 0 ? bytes / steps : NAN);
    cli_trace_number(trace, e->strength);
    cli_trace_number(trace, e->validation_se);
    job->traced.iteration = e->iteration;
    job->traced.bytes = e->bytes;
    fputs(",,,,,,", trace); /* what iterates have */
    cli_trace_number(trace, e->smoothing);
    for (int64_t k = 0; k < e->fold_count; k++)
        fprintf(trace, isnan(e->folds[k]) ? "%c" : "%c%.17g", k ? ';' : ',', e->folds[k]);
    fputs(e->fold_count ? "\n" : ",\n", trace);
    cli_table_row_ends(&job->trace); /* a run that is killed leaves what it had */
}

static int on_event(void *user, const mgv_event *event)
{
    cli_job *job = user;
    cli_terminal_event(&job->c->terminal, event);
    if (event->kind == MGV_EVENT_TRACE && !job->iterates)
        cli_job_trace(job, event);
    return cli_signalled();
}

static mgv_status prepare(cli_job *job)
{
    cli *c = job->c;
    cli_count_time(c);
    const mgv_status st = mgv_problem_new(c->ctx, job->data, c->settings, &job->own_problem);
    job->problem = job->own_problem;
    if (st != MGV_OK)
        return st; /* at once: its sentence stays until the next call */
    cli_count_time(c);
    return mgv_solver_new(c->ctx, job->problem, c->settings, &job->solver);
}

static bool selects(const cli *c) { return strcmp(cli_setting(c, "select").text, "none") != 0; }

/* Chooses among the models of a path; the run of the chosen one is part of it. */
static mgv_status choose(cli_job *job)
{
    cli *c = job->c;
    cli_count_time(c);
    const mgv_status st = mgv_selection_run(c->ctx, job->data, c->settings, &job->selection);
    if (st == MGV_OK) {
        job->problem = mgv_selection_problem(job->selection);
        job->solver = mgv_selection_solver(job->selection);
    }
    return st;
}

static mgv_status solve(cli_job *job)
{
    cli *c = job->c;
    mgv_status st = selects(c) ? MGV_OK : prepare(job);
    if (st != MGV_OK)
        return st;
    cli_terminal_goal(&c->terminal, strtod(cli_setting(c, "tol").text, NULL));
    return selects(c) ? choose(job) : mgv_solver_run(c->ctx, job->solver);
}

int cli_job_open_trace(cli_job *job, const char *file)
{
    return cli_table_open(job->c, file,
                          "iteration,passes,seconds,primal,dual,gap,relative_gap,margin,"
                          "margin_upper,train_score,validation_score,nonzeros,bytes,"
                          "bytes_per_iteration,strength,validation_se,residual,norm,distance,"
                          "angle,f1,divergence,smoothing,folds\n",
                          &job->trace);
}

int cli_job_run(cli_job *job)
{
    cli *c = job->c;
    cli_signals_catch(c->ctx);
    mgv_ctx_on_event(c->ctx, on_event, job);
    mgv_status st = solve(job);
    cli_terminal_wipe(&c->terminal);
    mgv_ctx_on_event(c->ctx, NULL, NULL);
    if (st != MGV_OK)
        return cli_fail(c, st);
    if (job->iterates && job->iterates->failed != CLI_GO_ON)
        return job->iterates->failed;
    job->run.size = sizeof job->run;
    job->certificate.size = sizeof job->certificate;
    mgv_solver_describe(job->solver, &job->run, &job->certificate);
    if (job->run.stop != MGV_STOP_INFEASIBLE)
        st = mgv_model_new(c->ctx, job->solver, &job->model);
    return st == MGV_OK ? CLI_GO_ON : cli_fail(c, st);
}

int cli_job_code(const cli_job *job)
{
    switch (job->run.stop) {
    case MGV_STOP_CERTIFIED:
    case MGV_STOP_DISCREPANCY:
    case MGV_STOP_SELECTED:
    case MGV_STOP_APRIORI:
    case MGV_STOP_SCHEDULE:
        return CLI_DONE;
    case MGV_STOP_INFEASIBLE:
        return CLI_NO_SOLUTION;
    case MGV_STOP_MAX_ITER: /* the last iterate is what was asked for */
        return strcmp(cli_setting(job->c, "select").text, "last") == 0 ? CLI_DONE : CLI_STOPPED;
    default:
        return CLI_STOPPED;
    }
}

cli_text cli_norm_name(double p)
{
    cli_text name = {"|w|"};
    if (p != 2)
        snprintf(name.text, sizeof name.text, "|w|_%.3g", p);
    return name;
}
