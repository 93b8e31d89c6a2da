/* path.c - `margrave path`: a model for every strength, each certified, with a table. */
#include "job.h"
#include "options.h"
#include "signals.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct path_job {
    cli *c;
    const char *file;      /* the data's name */
    const char *directory; /* NULL: nothing is saved */
    mgv_data *data;
    mgv_path *path;
    mgv_path_info info;
    const char *trace;
    cli_job tracing; /* the trace alone */
    cli_table table;
    char **model; /* file names of the points that are done */
    bool early;   /* a point ended before its certificate, or the path before its last point */
} path_job;

/* ---- files ----------------------------------------------------------------------------------- */

static int make_directory(path_job *job)
{
    struct stat s;
    if (!job->directory)
        return CLI_GO_ON;
    if (mkdir(job->directory, 0777) != 0 && errno != EEXIST)
        return cli_complain(job->c, CLI_FAILURE, "%s: %s", job->directory, strerror(errno));
    if (stat(job->directory, &s) != 0 || !S_ISDIR(s.st_mode))
        return cli_complain(job->c, CLI_USAGE, "%s: this is not a directory", job->directory);
    return CLI_GO_ON;
}

/* DIR/NAME, to be freed. */
static char *in_directory(const path_job *job, const char *name)
{
    const size_t size = strlen(job->directory) + strlen(name) + 2;
    char *text = malloc(size);
    if (text)
        snprintf(text, size, "%s/%s", job->directory, name);
    return text;
}

/* DIR/point-001.mgm, to be freed. */
static char *point_file(const path_job *job, int64_t k)
{
    char name[32];
    snprintf(name, sizeof name, "point-%0*" PRId64 ".mgm", job->info.points > 999 ? 5 : 3, k + 1);
    return in_directory(job, name);
}

/* Neither the table nor a model may fall on the data. */
static int keep_apart(path_job *job, const char *table)
{
    int code = cli_keep_state_apart(job->c, &table, 1, &job->file, 1);
    for (int64_t k = 0; k < job->info.points && code == CLI_GO_ON; k++) {
        char *file = point_file(job, k);
        code = cli_keep_state_apart(job->c, (const char *const *)&file, 1, &job->file, 1);
        free(file);
    }
    return code;
}

static int open_table(path_job *job)
{
    job->model = calloc((size_t)job->info.points, sizeof *job->model);
    if (!job->model)
        return cli_complain(job->c, CLI_FAILURE, "no memory");
    if (!job->directory)
        return CLI_GO_ON;
    char *name = in_directory(job, "path.csv");
    int code = name ? keep_apart(job, name) : CLI_GO_ON;
    if (code == CLI_GO_ON)
        code = name ? cli_table_open(
                          job->c, name,
                          "point,lambda,mu,primal,dual,relative_gap,nonzeros,norm,train_score,"
                          "iterations,passes,seconds,stop,model\n",
                          &job->table)
                    : cli_complain(job->c, CLI_FAILURE, "no memory");
    free(name);
    return code;
}

/* The row is on the disk before the next point begins: a path that is killed leaves what it had. */
static void table_row(path_job *job, int64_t k, const mgv_path_result *p)
{
    FILE *table = cli_table_row(&job->table);
    if (!table)
        return;
    const double numbers[] = {p->lambda, p->mu,           p->primal,
                              p->dual,   p->relative_gap, (double)p->nonzeros,
                              p->norm,   p->train_score,  (double)p->iterations,
                              p->passes, p->seconds};
    fprintf(table, "%" PRId64, k + 1);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (isfinite(numbers[i]))
            fprintf(table, ",%.17g", numbers[i]);
        else
            fputc(',', table);
    const char *slash = job->model[k] ? strrchr(job->model[k], '/') : NULL;
    fprintf(table, ",%s,%s\n", mgv_stop_name(p->stop), slash ? slash + 1 : "");
    cli_table_row_ends(&job->table);
}

static int save_model(path_job *job, int64_t k, const mgv_solver *solver)
{
    cli *c = job->c;
    mgv_model *model = NULL;
    if (!job->directory)
        return CLI_GO_ON;
    char *file = point_file(job, k);
    if (!file)
        return cli_complain(c, CLI_FAILURE, "no memory");
    mgv_status st = mgv_model_new(c->ctx, solver, &model);
    if (st == MGV_OK)
        st = mgv_model_save(c->ctx, model, file);
    mgv_model_free(c->ctx, model);
    if (st == MGV_OK)
        job->model[k] = file;
    else
        free(file);
    return st == MGV_OK ? CLI_GO_ON : cli_fail(c, st);
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_head(const path_job *job)
{
    const cli_job data = {.c = job->c, .file = job->file, .data = job->data};
    cli_job_print_data(&data, stdout);
    printf("path         %" PRId64 " points along %s, the largest %.8g\n\n", job->info.points,
           job->info.along, job->info.largest);
    printf("point %12s %9s %11s %14s %8s %9s %8s %8s\n", job->info.along, "nonzeros",
           cli_norm_name(job->info.p).text, "objective", "gap",
           job->info.classify ? "accuracy" : "mse", "passes", "seconds");
}

static void print_point(const path_job *job, int64_t k, const mgv_path_result *p)
{
    const double strength = strcmp(job->info.along, "mu") == 0 ? p->mu : p->lambda;
    printf("%5" PRId64 " %12.6g %9" PRId64 " %11.5g ", k + 1, strength, p->nonzeros, p->norm);
    if (p->verified)
        printf("%14.9g %8.1e ", p->primal, fmax(p->relative_gap, 0));
    else
        printf("%14s %8s ", "-", "-");
    if (job->info.classify)
        printf("%8.2f%%", 100 * p->train_score);
    else
        printf("%9.4g", p->train_score);
    printf(" %8.1f %8.2g%s%s\n", p->passes, p->seconds, p->stop == MGV_STOP_CERTIFIED ? "" : "  ",
           p->stop == MGV_STOP_CERTIFIED ? "" : mgv_stop_name(p->stop));
    fflush(stdout);
}

static void print_tail(const path_job *job)
{
    if (job->info.done < job->info.points)
        printf("\nThe path ended after %" PRId64 " of %" PRId64 " points.\n", job->info.done,
               job->info.points);
    if (job->early)
        cli_print_resume(job->c, stdout, job->info.unsaved);
    if (job->directory && job->info.done > 0)
        printf("\nmodels       %s/point-*.mgm, %s/path.csv has this table\n"
               "next         margrave predict %s DATA\n",
               job->directory, job->directory, job->model[job->info.done - 1]);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int on_event(void *user, const mgv_event *event)
{
    path_job *job = user;
    cli_terminal_event(&job->c->terminal, event);
    if (event->kind == MGV_EVENT_TRACE) {
        mgv_path_result point = {.size = sizeof point};
        mgv_event e = *event;
        mgv_path_describe(job->path, &job->info);
        mgv_path_at(job->path, job->info.done, &point);
        e.strength = strcmp(job->info.along, "mu") == 0 ? point.mu : point.lambda;
        cli_job_trace(&job->tracing, &e);
    }
    return cli_signalled();
}

/* The points that a checkpoint has: their models are where the run before has left them. */
static int show_done(path_job *job)
{
    int code = CLI_GO_ON;
    for (int64_t k = 0; k < job->info.done && code == CLI_GO_ON; k++) {
        mgv_path_result point = {.size = sizeof point};
        mgv_path_at(job->path, k, &point);
        job->early = job->early || point.stop != MGV_STOP_CERTIFIED;
        if (job->directory && !(job->model[k] = point_file(job, k)))
            return cli_complain(job->c, CLI_FAILURE, "no memory");
        if (job->directory && access(job->model[k], R_OK) != 0)
            return cli_complain(job->c, CLI_USAGE,
                                "%s: the model of a point that is done is missing (got %s); resume "
                                "with the -o of the run that wrote the checkpoint",
                                job->model[k], strerror(errno));
        table_row(job, k, &point);
        if (!job->c->json)
            print_point(job, k, &point);
    }
    return code;
}

static int walk(path_job *job)
{
    cli *c = job->c;
    const mgv_solver *solver;
    int code = show_done(job);
    for (int64_t k = job->info.done; code == CLI_GO_ON && !cli_signalled(); k++) {
        mgv_path_result point = {.size = sizeof point};
        memset(&job->tracing.traced, 0, sizeof job->tracing.traced);
        const mgv_status st = mgv_path_next(c->ctx, job->path, &solver);
        cli_terminal_wipe(&c->terminal);
        if (st != MGV_OK)
            return cli_fail(c, st);
        if (!solver)
            break;
        mgv_path_at(job->path, k, &point);
        job->early = job->early || point.stop != MGV_STOP_CERTIFIED;
        code = save_model(job, k, solver);
        table_row(job, k, &point);
        if (!c->json && code == CLI_GO_ON)
            print_point(job, k, &point);
    }
    mgv_path_describe(job->path, &job->info);
    job->early = job->early || job->info.done < job->info.points;
    return code;
}

static int print_json(const path_job *job)
{
    char *json = NULL;
    const mgv_status st =
        mgv_report_path(job->c->ctx, job->path, job->file,
                        job->directory ? (const char *const *)job->model : NULL, &json);
    if (st != MGV_OK)
        return cli_fail(job->c, st);
    puts(json);
    mgv_string_free(job->c->ctx, json);
    return CLI_GO_ON;
}

static int work(path_job *job)
{
    cli *c = job->c;
    int code = make_directory(job);
    if (code == CLI_GO_ON)
        code = cli_keep_state_apart(c, &job->trace, 1, &job->file, 1);
    if (code == CLI_GO_ON && c->json && job->trace && strcmp(job->trace, "-") == 0)
        code = cli_complain(
            c, CLI_USAGE, "standard output can take one thing only: the JSON object or the trace");
    if (code == CLI_GO_ON)
        code = cli_job_open_trace(&job->tracing, job->trace);
    if (code != CLI_GO_ON)
        return code;
    cli_signals_catch(c->ctx);
    job->data = cli_read(c, job->file, &code);
    if (!job->data)
        return code;
    cli_terminal_status(&c->terminal, "finding the largest strength");
    cli_count_time(c);
    const mgv_status st = mgv_path_new(c->ctx, job->data, c->settings, &job->path);
    cli_terminal_wipe(&c->terminal);
    if (st != MGV_OK)
        return cli_fail(c, st);
    job->info.size = sizeof job->info;
    mgv_path_describe(job->path, &job->info);
    if ((code = open_table(job)) != CLI_GO_ON)
        return code;
    if (!c->json)
        print_head(job);
    cli_terminal_goal(&c->terminal, strtod(cli_setting(c, "tol").text, NULL));
    mgv_ctx_on_event(c->ctx, on_event, job);
    code = walk(job);
    mgv_ctx_on_event(c->ctx, NULL, NULL);
    if (code != CLI_GO_ON)
        return code;
    if (c->json)
        code = print_json(job);
    else
        print_tail(job);
    return code != CLI_GO_ON ? code
                             : cli_unsaved(c, job->info.unsaved, job->directory ? "path" : NULL,
                                           job->early ? CLI_STOPPED : CLI_DONE);
}

int cli_path(cli *c, int argc, char **argv)
{
    path_job job = {.c = c, .tracing = {.c = c}};
    const cli_option options[] = {
        {"output", 'o', "DIR",
         "where the models and path.csv go; made if it is not there (nothing is saved)", NULL,
         &job.directory},
        {"trace", 0, "FILE", "CSV with a row per certificate; - is stdout", NULL, &job.trace}};
    const cli_usage usage = {
        .arguments = "DATA",
        .purpose = "Fits a model for every strength of the penalty, from the largest that means "
                   "anything down,\neach started from the last one and each with its own "
                   "certificate; prints a table.",
        .example = "margrave path leukemia --penalty l1 -o leukemia.path",
        .least = 1,
        .most = 1,
        .settings = "problem solver stop path path_points path_end data run",
        .options = options,
        .option_count = sizeof options / sizeof *options};
    int code = cli_parse(c, &usage, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    job.file = c->argument[0];
    code = cli_table_close(c, &job.table, work(&job));
    code = cli_table_close(c, &job.tracing.trace, code);
    for (int64_t k = 0; job.model && k < job.info.points; k++)
        free(job.model[k]);
    free(job.model);
    mgv_path_free(c->ctx, job.path);
    mgv_data_free(c->ctx, job.data);
    return code;
}
