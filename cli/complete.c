/* complete.c - `margrave complete`: some entries of a matrix in, its factors out. */
#include "options.h"
#include "output.h"
#include "signals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct complete {
    cli *c;
    const char *output; /* NULL: no model */
    const char *trace_name;
    bool no_model, truth;
    char *default_output;
    cli_table trace;
    double drawn_at;
    mgv_triples *triples;
    mgv_triples_info data;
    mgv_completion *completion;
    mgv_completion_info info;
} complete;

/* ---- the run --------------------------------------------------------------------------------- */

static void trace_row(complete *p, const mgv_event *e)
{
    FILE *trace = cli_table_row(&p->trace);
    if (!trace)
        return;
    fprintf(trace, "%s,%" PRId64 ",%.6f,%" PRId64, e->text, e->iteration, e->seconds, e->nonzeros);
    const double numbers[] = {e->train_score, e->validation_score, e->primal};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (isfinite(numbers[i]))
            fprintf(trace, ",%.17g", numbers[i]);
        else
            fputc(',', trace);
    if (p->truth)
        fputc(',', trace);
    if (isfinite(e->distance))
        fprintf(trace, "%.17g", e->distance);
    fputc('\n', trace);
    cli_table_row_ends(&p->trace); /* a run that is killed leaves what it had */
}

static void show_progress(complete *p, const mgv_event *e)
{
    cli_terminal *t = &p->c->terminal;
    const double now = cli_seconds();
    if (t->verbosity == CLI_VERBOSE) {
        cli_terminal_wipe(t);
        fprintf(stderr, "%-5s %5" PRId64 "  rank %4" PRId64 "  held-out error %.6g  %.2f s\n",
                e->text, e->iteration, e->nonzeros, e->validation_score, e->seconds);
    } else if (now - p->drawn_at > 0.1) {
        p->drawn_at = now;
        cli_terminal_status(t, "%s %" PRId64 ": rank %" PRId64 ", held-out error %.5g, %.1f s",
                            e->text, e->iteration, e->nonzeros, e->validation_score, e->seconds);
    }
}

static int on_event(void *user, const mgv_event *event)
{
    complete *p = user;
    if (event->kind == MGV_EVENT_LOG)
        cli_terminal_event(&p->c->terminal, event);
    if (event->kind == MGV_EVENT_TRACE) {
        show_progress(p, event);
        trace_row(p, event);
    }
    return cli_signalled();
}

static int run(complete *p)
{
    cli *c = p->c;
    cli_terminal_status(&c->terminal, "reading %s", c->argument[0]);
    mgv_status st = mgv_triples_read(c->ctx, c->argument[0], c->settings, &p->triples);
    cli_terminal_wipe(&c->terminal);
    if (st != MGV_OK)
        return cli_fail(c, st);
    mgv_triples_describe(p->triples, &p->data);
    mgv_ctx_on_event(c->ctx, on_event, p);
    cli_count_time(c);
    st = mgv_completion_run(c->ctx, p->triples, c->settings, &p->completion);
    cli_terminal_wipe(&c->terminal);
    mgv_ctx_on_event(c->ctx, NULL, NULL);
    if (st == MGV_OK)
        st = mgv_completion_describe(p->completion, &p->info);
    if (st == MGV_OK && p->output)
        st = mgv_completion_save(c->ctx, p->completion, p->output);
    return st == MGV_OK ? CLI_GO_ON : cli_fail(c, st);
}

/* ---- results --------------------------------------------------------------------------------- */

static void print_data(const complete *p, FILE *out)
{
    const mgv_completion_info *i = &p->info;
    fprintf(out,
            "data         %s: %" PRId64 " entries of a %" PRId64 " x %" PRId64
            " matrix (%.3g %%), values %.4g to %.4g",
            p->c->argument[0], i->entries, i->rows, i->cols,
            100 * (double)i->entries / ((double)i->rows * (double)i->cols), i->low, i->high);
    if (i->given > i->entries)
        fprintf(out, ", %" PRId64 " given twice were averaged", i->given - i->entries);
    fprintf(out, "; read in %.2g s\n", p->data.load_seconds);
}

static void print_run(const complete *p, FILE *out)
{
    static const char *const ends[] = {[MGV_STOP_DISCREPANCY] = " (the noise level is reached)",
                                       [MGV_STOP_MAX_ITER] = " (max_iter)",
                                       [MGV_STOP_MAX_PASSES] = " (max_passes)",
                                       [MGV_STOP_TIME] = " (out of time)",
                                       [MGV_STOP_USER] = " (interrupted)"};
    const mgv_completion_info *i = &p->info;
    const char *end = (size_t)i->stop < sizeof ends / sizeof *ends ? ends[i->stop] : NULL;
    fprintf(out, "problem      %s\n", i->formula);
    fprintf(out, "path         iteration %" PRId64 " of %" PRId64 "%s", i->iteration, i->iterations,
            end ? end : "");
    if (isfinite(i->path_error))
        fprintf(out, ": held-out error %.5g", i->path_error);
    fprintf(out, "; %.3g s in all\n", i->seconds);
    if (i->finished)
        fprintf(out,
                "finish       %" PRId64 " sweeps of alternating least squares: held-out error "
                "%.5g\n",
                i->sweeps, i->held_out_error);
    else if (i->sweeps)
        fprintf(out, "finish       %" PRId64 " sweeps of alternating least squares did not help\n",
                i->sweeps);
}

static void print_errors(const complete *p, FILE *out)
{
    const mgv_completion_info *i = &p->info;
    if (i->held_out)
        fprintf(out, "held out     %" PRId64 " entries: error %.5g, %s alone %.5g%s\n", i->held_out,
                i->held_out_error, i->biases ? "the biases" : "zero", i->baseline_error,
                i->stop == MGV_STOP_TIME || i->stop == MGV_STOP_USER ||
                        i->stop == MGV_STOP_MAX_PASSES
                    ? ""
                    : "; then fitted again to all entries");
    if (isfinite(i->dual) && !i->finished)
        fprintf(out,
                "certificate  |X|_* = %.7g; no matrix with these values at the entries has less "
                "than %.7g\n             (its dual norm is estimated)\n",
                i->primal, i->dual);
    fprintf(out, "training     error %.5g\n", i->train_error);
}

/* Whether a budget has ended the run. */
static bool is_stopped(const complete *p)
{
    const mgv_stop stop = p->info.stop;
    const bool last = strcmp(cli_setting(p->c, "select").text, "last") == 0;
    return stop != MGV_STOP_SELECTED && stop != MGV_STOP_DISCREPANCY &&
           !(stop == MGV_STOP_MAX_ITER && last);
}

static int print_results(complete *p)
{
    cli *c = p->c;
    if (c->json) {
        char *json;
        const mgv_status st =
            mgv_report_completion(c->ctx, p->completion, c->argument[0], p->output, &json);
        if (st != MGV_OK)
            return cli_fail(c, st);
        puts(json);
        mgv_string_free(c->ctx, json);
        return CLI_GO_ON;
    }
    const bool taken = p->output && strcmp(p->output, "-") == 0;
    FILE *out = taken ? stderr : stdout;
    if (taken && c->terminal.verbosity == CLI_QUIET)
        return CLI_GO_ON;
    print_data(p, out);
    print_run(p, out);
    print_errors(p, out);
    fprintf(out, "model        %s: rank %" PRId64 "\n",
            !p->output ? "not saved"
            : taken    ? "on standard output"
                       : p->output,
            p->info.rank);
    if (is_stopped(p) && cli_print_resume(c, out, p->info.unsaved))
        ;
    else if (p->output && !taken)
        fprintf(out, "next         margrave predict %s PAIRS\n", p->output);
    return CLI_GO_ON;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int open_outputs(complete *p)
{
    cli *c = p->c;
    if (p->no_model && p->output)
        return cli_complain(c, CLI_USAGE, "--no-model and --output exclude each other");
    if (!p->no_model && !p->output)
        p->output = p->default_output = cli_model_name(c->argument[0]);
    if (!p->no_model && !p->output)
        return cli_complain(c, CLI_FAILURE, "no memory");
    const bool model = p->output && strcmp(p->output, "-") == 0;
    const bool trace = p->trace_name && strcmp(p->trace_name, "-") == 0;
    if (model + trace + c->json > 1)
        return cli_complain(c, CLI_USAGE,
                            "standard output can take one thing only: the model, the JSON object "
                            "or the trace");
    const char *const files[] = {p->output, p->trace_name};
    int code = cli_keep_state_apart(c, files, 2, c->argument, 1);
    if (code == CLI_GO_ON && p->output && !model)
        code = cli_try_name(c, p->output);
    p->truth = cli_setting(c, "truth").text[0] != 0;
    return code == CLI_GO_ON
               ? cli_table_open(c, p->trace_name,
                                p->truth ? "phase,iteration,seconds,rank,train_rmse,held_out_rmse,"
                                           "nuclear_norm,distance\n"
                                         : "phase,iteration,seconds,rank,train_rmse,held_out_rmse,"
                                           "nuclear_norm\n",
                                &p->trace)
               : code;
}

static int work(complete *p)
{
    int code = open_outputs(p);
    if (code != CLI_GO_ON)
        return code;
    cli_signals_catch(p->c->ctx);
    if ((code = run(p)) != CLI_GO_ON || (code = print_results(p)) != CLI_GO_ON)
        return code;
    return cli_unsaved(p->c, p->info.unsaved, p->output ? "model" : NULL,
                       is_stopped(p) ? CLI_STOPPED : CLI_DONE);
}

int cli_complete(cli *c, int argc, char **argv)
{
    complete p = {.c = c, .data = {.size = sizeof p.data}, .info = {.size = sizeof p.info}};
    const cli_option options[] = {
        {"output", 'o', "FILE",
         "the model; - is stdout (RATINGS' name with .mgm, in this directory)", NULL, &p.output},
        {"no-model", 0, NULL, "save no model", &p.no_model, NULL},
        {"trace", 0, "FILE", "CSV with a row per iteration and sweep; - is stdout", NULL,
         &p.trace_name}};
    const cli_usage usage = {
        .arguments = "RATINGS",
        .purpose =
            "Fills in a matrix of which RATINGS has some entries: lines `row column value` "
            "(blanks, "
            "tabs,\ncommas or ::, names or numbers, - is stdin), or a sparse .mtx or .npz. "
            "Iterates "
            "of least\nnuclear norm are followed until the entries held out by --select "
            "(holdout:0.1) "
            "choose one;\nleast squares on its factors finish it where that helps. `predict` then "
            "answers for any pair.",
        .example = "margrave complete ratings.csv && margrave predict ratings.mgm pairs.csv",
        .least = 1,
        .most = 1,
        .settings = "complete seed sigma sigma_factor =select patience_iterations max_iter "
                    "max_passes time_limit format "
                    "base max_expansion "
                    "header separator threads checkpoint every resume",
        .options = options,
        .option_count = sizeof options / sizeof *options};
    int code = cli_parse(c, &usage, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    code = cli_table_close(c, &p.trace, work(&p));
    mgv_completion_free(c->ctx, p.completion);
    mgv_triples_free(c->ctx, p.triples);
    free(p.default_output);
    return code;
}
