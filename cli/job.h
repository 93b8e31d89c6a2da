/* job.h - one problem from data to model, and its outcome in words; `fit` and `demo` use it. */
#ifndef MGV_CLI_JOB_H
#define MGV_CLI_JOB_H

#include "cli.h"
#include "output.h"

typedef struct cli_job {
    cli *c;
    const char *file; /* the data's name */
    cli_table trace;
    struct {
        int64_t iteration;
        double bytes;
    } traced;                   /* the last row */
    mgv_data *data;             /* freed with the job */
    mgv_selection *selection;   /* NULL: the strength is given, nothing is chosen */
    const mgv_problem *problem; /* own_problem, or the selection's */
    mgv_solver *solver;
    mgv_problem *own_problem;
    mgv_model *model;
    mgv_run_info run;
    mgv_certificate certificate;
    struct cli_iterates *iterates; /* NULL: the trace has certificates */
} cli_job;

void cli_job_free(cli_job *job);
/* A row per certificate; closed by the caller. `file` NULL: none. */
void cli_job_trace(cli_job *job, const mgv_event *event); /* its row */
void cli_trace_number(FILE *trace, double x);             /* nothing where it is not known */
int cli_job_open_trace(cli_job *job, const char *file);
/* iterates.c: instead, a row for every `every`-th iterate as it is, best so far or not. */
typedef struct cli_iterates {
    int64_t every;
    const char *watch_file;     /* rows to score the iterate on; NULL: none */
    const char *reference_file; /* a model to measure its distance from; NULL: none */
    mgv_data *watch;
    mgv_model *reference;
    int failed; /* CLI_GO_ON, or the exit code of a row that could not be made */
} cli_iterates;
/* Reads `every`, the text of --trace-every or NULL, and the reference; job->iterates is `iterates`
 * where one of the three is given. CLI_GO_ON, or the exit code after a complaint. */
int cli_iterates_open(cli_job *job, const char *every, cli_iterates *iterates);
void cli_iterates_close(cli_job *job);

/* Binds the data under the settings, runs the solver until it stops and, unless it is proven that
 * there is none, makes the model. Signals and `trace` are looked after. CLI_GO_ON, or the exit code
 * after a complaint. */
int cli_job_run(cli_job *job);
/* The exit code that tells how the run ended. */
int cli_job_code(const cli_job *job);

/* Lines for people: "LABEL    words". */
void cli_job_print_data(const cli_job *job, FILE *out);
void cli_job_print_solver(const cli_job *job, FILE *out);
void cli_job_print_selection(const cli_job *job, FILE *out); /* nothing when nothing was chosen */
void cli_job_print_certificate(const cli_job *job, FILE *out);
void cli_job_print_bounds(const cli_job *job, FILE *out);
void cli_job_print_training(const cli_job *job, FILE *out);
/* The norm that a fit prints: |w|, or |w|_1 and the like. */
cli_text cli_norm_name(double p);
#endif
