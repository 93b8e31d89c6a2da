/* iterates.c - the trace of iterates: scored on other rows, measured from another model. */
#include "job.h"

#include <math.h>
#include <stdlib.h>

/* ---- beside another model -------------------------------------------------------------------- */

typedef struct nearness {
    double distance, angle, f1, divergence;
} nearness;

static const nearness unknown = {NAN, NAN, NAN, NAN};

/* Of all outputs' weights, without intercepts. The angle from the chord of the unit vectors, which
 * keeps the digits of a small one. */
static nearness compare(const mgv_model_info *a, const mgv_model_info *b)
{
    const int64_t count = a->outputs * a->features;
    double aa = 0, bb = 0, square = 0, chord = 0, both = 0, either = 0;
    for (int64_t j = 0; j < count; j++) {
        aa += a->coef[j] * a->coef[j];
        bb += b->coef[j] * b->coef[j];
        square += (a->coef[j] - b->coef[j]) * (a->coef[j] - b->coef[j]);
        both += a->coef[j] != 0 && b->coef[j] != 0;
        either += (a->coef[j] != 0) + (b->coef[j] != 0);
    }
    const double la = sqrt(aa), lb = sqrt(bb);
    for (int64_t j = 0; j < count; j++) {
        const double gap = a->coef[j] / la - b->coef[j] / lb;
        chord += gap * gap;
    }
    return (nearness){.distance = sqrt(square),
                      .angle = la > 0 && lb > 0 ? 2 * asin(fmin(1, sqrt(chord) / 2)) : NAN,
                      .f1 = either > 0 ? 2 * both / either : NAN,
                      .divergence = NAN};
}

/* The divergence only where the reference carries its pair. */
static int measure(cli_job *job, const mgv_iterate *at, const mgv_model_info *iterate,
                   nearness *out)
{
    const cli_iterates *it = job->iterates;
    mgv_model_info other = {.size = sizeof other};
    *out = unknown;
    if (!it->reference)
        return CLI_GO_ON;
    mgv_model_describe(it->reference, &other);
    if (!iterate->coef || !other.coef || other.features != iterate->features ||
        other.outputs != iterate->outputs)
        return cli_complain(job->c, CLI_USAGE,
                            "%s: a reference has the weights of a linear model of the same columns "
                            "and classes as the fit",
                            it->reference_file);
    *out = compare(iterate, &other);
    if (!other.has_pair)
        return CLI_GO_ON;
    const mgv_status st = mgv_iterate_divergence(job->c->ctx, at, it->reference, &out->divergence);
    return st == MGV_OK ? CLI_GO_ON : cli_fail(job->c, st);
}

/* ---- on other rows --------------------------------------------------------------------------- */

/* Under the settings of the fit, but with the labels that the file has. */
static mgv_status read_watched(cli_job *job, const mgv_model *model)
{
    cli *c = job->c;
    const cli_text flips = cli_setting(c, "flip_labels");
    mgv_status st = mgv_settings_set(c->ctx, c->settings, "flip_labels", "0");
    if (st == MGV_OK)
        st = mgv_model_read_data(c->ctx, model, job->iterates->watch_file, c->settings,
                                 &job->iterates->watch);
    if (st == MGV_OK)
        st = mgv_settings_set(c->ctx, c->settings, "flip_labels", flips.text);
    return st;
}

/* Reads them when there is a model to read them for. */
static mgv_status score(cli_job *job, const mgv_model *model, double *out)
{
    cli_iterates *it = job->iterates;
    mgv_ctx *ctx = job->c->ctx;
    mgv_metrics m = {.size = sizeof m};
    mgv_status st = MGV_OK;
    *out = NAN;
    if (!it->watch_file)
        return MGV_OK;
    if (!it->watch)
        st = read_watched(job, model);
    if (st == MGV_OK)
        st = mgv_model_evaluate(ctx, model, it->watch, NULL, &m);
    *out = isnan(m.accuracy) ? m.mse : m.accuracy;
    return st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void write_row(cli_job *job, const mgv_iterate *at, const mgv_certificate *c,
                      const mgv_model_info *model, const double scores[2], const nearness *near)
{
    FILE *trace = cli_table_row(&job->trace);
    const double first[] = {at->passes,      at->seconds, c->primal,       c->dual,   c->gap,
                            c->relative_gap, c->margin,   c->margin_upper, scores[0], scores[1]};
    const double last[] = {at->residual,   model->outputs == 1 ? model->norm : NAN,
                           near->distance, near->angle,
                           near->f1,       near->divergence,
                           at->smoothing};
    if (!trace)
        return;
    fprintf(trace, "%lld", (long long)at->iteration);
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        cli_trace_number(trace, first[i]);
    fprintf(trace, ",%lld,,,,", (long long)model->nonzeros);
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        cli_trace_number(trace, last[i]);
    fputs(",\n", trace); /* folds */
    cli_table_row_ends(&job->trace);
}

static int on_iterate(void *user, const mgv_iterate *at)
{
    cli_job *job = user;
    mgv_ctx *ctx = job->c->ctx;
    mgv_certificate c = {.size = sizeof c};
    mgv_model_info info = {.size = sizeof info};
    double scores[2] = {NAN, NAN};
    nearness near = unknown;
    mgv_model *model = NULL;
    mgv_status st = mgv_iterate_certify(ctx, at, &c, &scores[0]);
    if (st == MGV_OK)
        st = mgv_iterate_model(ctx, at, &model);
    if (st == MGV_OK)
        st = score(job, model, &scores[1]);
    if (st == MGV_OK) {
        mgv_model_describe(model, &info);
        job->iterates->failed = measure(job, at, &info, &near);
    } else {
        job->iterates->failed = cli_fail(job->c, st);
    }
    if (job->iterates->failed == CLI_GO_ON)
        write_row(job, at, &c, &info, scores, &near);
    mgv_model_free(ctx, model);
    return job->iterates->failed != CLI_GO_ON;
}

int cli_iterates_open(cli_job *job, const char *every, cli_iterates *it)
{
    mgv_ctx *ctx = job->c->ctx;
    char *end = NULL;
    if (!every && !it->watch_file && !it->reference_file)
        return CLI_GO_ON;
    job->iterates = it;
    it->failed = CLI_GO_ON;
    it->every = every ? strtoll(every, &end, 10) : 1;
    if (every && (*end || end == every || it->every < 1))
        return cli_complain(job->c, CLI_USAGE, "--trace-every is '%.40s'; allowed: at least 1",
                            every);
    mgv_status st = MGV_OK;
    if (it->reference_file)
        st = mgv_model_load(ctx, it->reference_file, &it->reference);
    if (st == MGV_OK)
        st = mgv_ctx_on_iterate(ctx, it->every, on_iterate, job);
    return st == MGV_OK ? CLI_GO_ON : cli_fail(job->c, st);
}

void cli_iterates_close(cli_job *job)
{
    if (!job->iterates)
        return;
    mgv_ctx_on_iterate(job->c->ctx, 1, NULL, NULL);
    mgv_model_free(job->c->ctx, job->iterates->reference);
    mgv_data_free(job->c->ctx, job->iterates->watch);
}
