/* fit.c - `margrave fit`: data in, model and certificate out. */
#include "job.h"
#include "options.h"
#include "signals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fit {
    cli_job job;
    const char *output;        /* the model's file; NULL: none */
    const char *trace, *every; /* every: of --trace-every */
    cli_iterates iterates;
    bool no_model, keep_pair, bounds;
    char *default_output;
} fit;

/* ---- results --------------------------------------------------------------------------------- */

static int save_model(fit *f)
{
    if (!f->output || !f->job.model)
        return CLI_GO_ON;
    mgv_status st = MGV_OK;
    if (f->keep_pair)
        st = mgv_model_keep_pair(f->job.c->ctx, f->job.model, f->job.solver);
    if (st == MGV_OK)
        st = mgv_model_save(f->job.c->ctx, f->job.model, f->output);
    return st == MGV_OK ? CLI_GO_ON : cli_fail(f->job.c, st);
}

static void print_model(const fit *f, FILE *out)
{
    mgv_model_info m = {.size = sizeof m};
    if (!f->job.model)
        return;
    mgv_model_describe(f->job.model, &m);
    fprintf(out, "model        %s: ",
            !f->output                    ? "not saved"
            : strcmp(f->output, "-") == 0 ? "on standard output"
                                          : f->output);
    if (m.support >= 0)
        fprintf(out, "%" PRId64 " support vectors", m.support);
    else
        fprintf(out, "%" PRId64 " of %" PRId64 " weights are nonzero", m.nonzeros,
                m.outputs * m.features);
    if (m.outputs == 1)
        fprintf(out, ", %s = %.6g", cli_norm_name(m.p).text, m.norm);
    fputc('\n', out);
}

static void print_next(const fit *f, FILE *out)
{
    const int code = cli_job_code(&f->job);
    const cli_text kernel = cli_setting(f->job.c, "kernel");
    const bool linear = strcmp(kernel.text, "linear") == 0;
    if (code == CLI_NO_SOLUTION && isnan(f->job.certificate.margin_upper))
        fprintf(out, "next         margrave fit %s --loss squared   (or a wider --epsilon)\n",
                f->job.file);
    else if (code == CLI_NO_SOLUTION)
        fprintf(out,
                "next         margrave fit %s%s%s --loss hinge   (a soft margin always exists)\n",
                f->job.file, linear ? "" : " --kernel ", linear ? "" : kernel.text);
    else if (f->job.run.stop == MGV_STOP_STALLED || f->job.run.stop == MGV_STOP_ROUNDING)
        fputs("next         another --solver, or a larger --tol\n", out);
    else if (f->job.run.stop == MGV_STOP_DIVERGED)
        fputs("next         --scale std, another --solver, or a larger --tol\n", out);
    else if (code == CLI_STOPPED && cli_print_resume(f->job.c, out, f->job.run.unsaved))
        ;
    else if (code == CLI_STOPPED)
        fputs("next         a larger --max-iter, --max-passes or --time-limit, or a larger --tol\n",
              out);
    else if (f->output && strcmp(f->output, "-") != 0)
        fprintf(out, "next         margrave predict %s DATA\n", f->output);
}

static int print_results(fit *f)
{
    cli_job *job = &f->job;
    char *json = NULL;
    if (job->c->json) {
        const mgv_status st = mgv_report_fit(job->c->ctx, job->solver, job->model, job->file,
                                             job->model ? f->output : NULL, &json);
        if (st != MGV_OK)
            return cli_fail(job->c, st);
        puts(json);
        mgv_string_free(job->c->ctx, json);
        return CLI_GO_ON;
    }
    FILE *out = f->output && strcmp(f->output, "-") == 0 ? stderr : stdout;
    if (out == stderr && job->c->terminal.verbosity == CLI_QUIET)
        return CLI_GO_ON;
    cli_job_print_data(job, out);
    cli_job_print_selection(job, out);
    cli_job_print_solver(job, out);
    cli_job_print_certificate(job, out);
    if (f->bounds)
        cli_job_print_bounds(job, out);
    cli_job_print_training(job, out);
    print_model(f, out);
    print_next(f, out);
    return CLI_GO_ON;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int try_names(fit *f)
{
    cli *c = f->job.c;
    const char *const files[] = {f->output, f->trace}, *const input = f->job.file;
    const int code = cli_keep_state_apart(c, files, 2, &input, 1);
    const bool named = f->output && strcmp(f->output, "-") != 0;
    return code == CLI_GO_ON && named ? cli_try_name(c, f->output) : code;
}

static int open_outputs(fit *f)
{
    cli *c = f->job.c;
    if (f->no_model && f->output)
        return cli_complain(c, CLI_USAGE, "--no-model and --output exclude each other");
    if (!f->no_model && !f->output)
        f->output = f->default_output = cli_model_name(f->job.file);
    if (!f->no_model && !f->output)
        return cli_complain(c, CLI_FAILURE, "no memory");
    if (f->output && strcmp(f->output, "-") == 0 &&
        (c->json || (f->trace && !strcmp(f->trace, "-"))))
        return cli_complain(c, CLI_USAGE,
                            "standard output can take one thing only: the model, the "
                            "JSON object or the trace");
    if (c->json && f->trace && strcmp(f->trace, "-") == 0)
        return cli_complain(c, CLI_USAGE,
                            "standard output can take one thing only: the JSON object "
                            "or the trace");
    int code = try_names(f);
    if (code == CLI_GO_ON)
        code = cli_iterates_open(&f->job, f->every, &f->iterates);
    if (code == CLI_GO_ON && f->job.iterates && !f->trace)
        return cli_complain(c, CLI_USAGE,
                            "--trace-every, --watch and --reference say what the trace holds; "
                            "--trace FILE says where it goes");
    return code == CLI_GO_ON ? cli_job_open_trace(&f->job, f->trace) : code;
}

static int work(fit *f)
{
    int code = open_outputs(f);
    if (code != CLI_GO_ON)
        return code;
    cli_signals_catch(f->job.c->ctx); /* also while reading, which it then ends */
    f->job.data = cli_read(f->job.c, f->job.file, &code);
    if (!f->job.data)
        return code;
    if ((code = cli_job_run(&f->job)) != CLI_GO_ON || (code = save_model(f)) != CLI_GO_ON ||
        (code = print_results(f)) != CLI_GO_ON)
        return code;
    return cli_unsaved(f->job.c, f->job.run.unsaved, f->output ? "model" : NULL,
                       cli_job_code(&f->job));
}

int cli_fit(cli *c, int argc, char **argv)
{
    fit f = {.job = {.c = c}};
    const cli_option options[] = {
        {"output", 'o', "FILE", "the model; - is stdout (DATA's name with .mgm, in this directory)",
         NULL, &f.output},
        {"no-model", 0, NULL, "save no model", &f.no_model, NULL},
        {"bounds", 0, NULL, "what is proven at the last iteration, by the method's paper too",
         &f.bounds, NULL},
        {"keep-pair", 0, NULL, "the model carries the dual point too, for --reference",
         &f.keep_pair, NULL},
        {"trace", 0, "FILE", "CSV with a row per certificate; - is stdout", NULL, &f.trace},
        {"trace-every", 0, "N", "instead a row for every N-th iterate as it is (1 beside --watch)",
         NULL, &f.every},
        {"watch", 0, "FILE", "rows to score every such iterate on; nothing is chosen by them", NULL,
         &f.iterates.watch_file},
        {"reference", 0, "MODEL", "a model: how far every such iterate is from it", NULL,
         &f.iterates.reference_file}};
    const cli_usage usage = {
        .arguments = "DATA",
        .purpose = "Fits a model to DATA (- is stdin), saves it, and prints a certificate: how far "
                   "it can\nbe from the best possible one, recomputed in float64 from the weights "
                   "alone.",
        .example = "margrave fit a9a --loss hinge --C 1 -o a9a.mgm",
        .least = 1,
        .most = 1,
        .settings = "problem solver select stop data run",
        .options = options,
        .option_count = sizeof options / sizeof *options};
    int code = cli_parse(c, &usage, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    f.job.file = c->argument[0];
    code = cli_table_close(c, &f.job.trace, work(&f));
    cli_iterates_close(&f.job);
    cli_job_free(&f.job);
    free(f.default_output);
    return code;
}
