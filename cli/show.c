/* show.c - `margrave show`: what is in a model. */
#include "job.h"
#include "options.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct show {
    cli *c;
    const char *weights, *largest_text;
    bool curve;
    int64_t largest;
    mgv_model *model;
    mgv_model_info info;
    mgv_model_origin origin;
} show;

/* Whose scores an output has: "'a'" of several classes, "'a' against 'b'" of two of them; "" of one
 * output. */
static cli_text output_name(const show *s, int64_t output)
{
    cli_text name = {""};
    const int64_t classes = s->info.classes;
    if (s->info.outputs == 1)
        return name;
    if (!s->info.pairwise) {
        snprintf(name.text, sizeof name.text, "'%.400s'", mgv_model_class(s->model, output));
        return name;
    }
    int64_t first = 0, left = output; /* (0, 1), (0, 2), ..., (1, 2), ... */
    while (left >= classes - 1 - first)
        left -= classes - 1 - first++;
    snprintf(name.text, sizeof name.text, "'%.400s' against '%.400s'",
             mgv_model_class(s->model, first + 1 + left), mgv_model_class(s->model, first));
    return name;
}

static cli_text feature_name(const show *s, int64_t feature)
{
    cli_text name;
    const char *known = mgv_model_name(s->model, feature);
    if (known)
        snprintf(name.text, sizeof name.text, "%.1000s", known);
    else
        snprintf(name.text, sizeof name.text, "column %" PRId64, feature + 1);
    return name;
}

/* ---- lines for people ------------------------------------------------------------------------ */

static void print_model(const show *s)
{
    const mgv_model_info *i = &s->info;
    printf("model        %s: ", s->c->argument[0]);
    if (i->classes == 0)
        printf("predicts a quantity");
    else if (i->classes == 2 && i->outputs == 1)
        printf("tells '%s' from '%s', which has the scores above 0", mgv_model_class(s->model, 0),
               mgv_model_class(s->model, 1));
    else
        printf("tells %" PRId64 " classes apart, '%s' to '%s'%s", i->classes,
               mgv_model_class(s->model, 0), mgv_model_class(s->model, i->classes - 1),
               i->pairwise ? ", two by two" : "");
    fputc('\n', stdout);
    if (s->origin.version)
        printf("made by      margrave %s%s%s\n", s->origin.version, i->format[0] ? " from " : "",
               i->format);
    if (i->label_name)
        printf("label        column '%s'\n", i->label_name);
    if (s->origin.formula)
        printf("problem      %s\n", s->origin.formula);
    if (s->origin.scale && strcmp(s->origin.scale, "none") != 0)
        printf("scale        %s, undone in the weights\n", s->origin.scale);
}

static void print_certificate(const mgv_model_origin *o)
{
    if (o->solver)
        printf("solver       %s, %" PRId64 " iteration%s, stop %s\n", o->solver, o->iterations,
               o->iterations == 1 ? "" : "s", o->stop ? o->stop : "unknown");
    if (!o->verified)
        puts("certificate  none was verified when the model was saved");
    else if (!isnan(o->margin_upper))
        printf("certificate  margin in [%.8g, %.8g]; relative gap %.1e, verified\n", o->margin,
               o->margin_upper, o->relative_gap);
    else if (o->runs > 1)
        printf("certificate  each of %" PRId64
               " optima is known to a relative gap of %.1e or less, verified\n",
               o->runs, o->relative_gap);
    else
        printf("certificate  the optimum lies between %.10g (proven)\n"
               "             and %.10g (attained by the model); relative gap %.1e, verified\n",
               o->dual, o->primal, o->relative_gap);
}

static void print_point(const show *s, const mgv_path_point *p)
{
    if (p->iteration > 0)
        printf("iteration %" PRId64, p->iteration);
    else
        printf("%s %.4g", p->mu > 0 ? "mu" : "lambda", p->mu > 0 ? p->mu : p->lambda);
    if (isnan(p->score))
        return;
    if (s->info.classes)
        printf(", held-out accuracy %.2f %%", 100 * p->score);
    else
        printf(", held-out mean squared error %.6g", p->score);
    if (!isnan(p->score_se))
        printf(" +- %.2g", s->info.classes ? 100 * p->score_se : p->score_se);
    if (p->nonzeros >= 0)
        printf(", %" PRId64 " nonzero", p->nonzeros);
}

static void print_path(const show *s)
{
    const mgv_model_origin *o = &s->origin;
    mgv_path_point p = {.size = sizeof p};
    if (o->points > 0 && mgv_model_point(s->model, o->point, &p) == MGV_OK) {
        printf("selection    %s: point %" PRId64 " of %" PRId64 " of the %s,\n             ",
               o->rule ? o->rule : "path", o->point + 1, o->points, o->method ? o->method : "path");
        print_point(s, &p);
        fputc('\n', stdout);
    }
    for (int64_t k = 0; s->curve && k < o->points; k++) {
        mgv_model_point(s->model, k, &p);
        printf("%-12s %c %4" PRId64 "  ", k ? "" : "curve", k == o->point ? '*' : ' ', k + 1);
        print_point(s, &p);
        fputc('\n', stdout);
    }
}

static void print_size(const show *s)
{
    const mgv_model_info *i = &s->info;
    if (i->support >= 0) {
        printf("vectors      %" PRId64 " support vectors of %" PRId64 " features, kernel %s\n",
               i->support, i->features, i->kernel);
        return;
    }
    printf("weights      %" PRId64 " of %" PRId64 " are nonzero", i->nonzeros,
           i->features * i->outputs);
    if (i->outputs == 1)
        printf(", %s = %.6g, intercept %.6g", cli_norm_name(i->p).text, i->norm, i->intercept);
    fputc('\n', stdout);
}

static int print_largest(const show *s)
{
    enum { OUTPUTS = 30 };
    cli *c = s->c;
    int64_t found, *feature = calloc((size_t)s->largest + 1, sizeof *feature);
    mgv_status st = MGV_OK;
    if (!feature)
        return cli_complain(c, CLI_FAILURE, "no memory");
    for (int64_t k = 0; k < s->info.outputs && k < OUTPUTS && st == MGV_OK; k++) {
        st = mgv_model_largest(c->ctx, s->model, k, s->largest, feature, &found);
        for (int64_t t = 0; st == MGV_OK && t < found; t++) {
            if (t == 0 && s->info.outputs > 1)
                printf("largest      %s, intercept %.6g\n", output_name(s, k).text,
                       s->info.intercepts[k]);
            printf("%-12s %+12.6g  %s\n", t == 0 && s->info.outputs == 1 ? "largest" : "",
                   s->info.coef[k * s->info.features + feature[t]],
                   feature_name(s, feature[t]).text);
        }
    }
    free(feature);
    if (st == MGV_OK && s->info.coef && s->info.outputs > OUTPUTS)
        printf("             ... of %" PRId64 " more; --weights FILE has all\n",
               s->info.outputs - OUTPUTS);
    return st == MGV_OK ? CLI_GO_ON : cli_fail(c, st);
}

/* ---- all weights ----------------------------------------------------------------------------- */

/* A name as a cell of a table: what would end the cell becomes a blank. */
static void print_cell(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc(*text == '\t' || *text == '\n' || *text == '\r' ? ' ' : *text, out);
}

static int write_weights(const show *s)
{
    const mgv_model_info *i = &s->info;
    cli *c = s->c;
    cli_output file;
    if (!i->coef)
        return cli_complain(c, CLI_USAGE,
                            "%s: has no weights of features, but %" PRId64
                            " support vectors; leave out --weights",
                            c->argument[0], i->support);
    int code = cli_output_open(c, s->weights, &file);
    if (code != CLI_GO_ON)
        return code;
    fputs(i->outputs > 1 ? "output\tfeature\tweight\n" : "feature\tweight\n", file.stream);
    for (int64_t k = 0; k < i->outputs; k++)
        for (int64_t j = -1; j < i->features; j++) {
            const double x = j < 0 ? i->intercepts[k] : i->coef[k * i->features + j];
            if (x == 0 && j >= 0)
                continue;
            if (i->outputs > 1) {
                print_cell(file.stream, output_name(s, k).text);
                fputc('\t', file.stream);
            }
            print_cell(file.stream, j < 0 ? "(intercept)" : feature_name(s, j).text);
            fprintf(file.stream, "\t%.17g\n", x);
        }
    return cli_output_close(c, &file, true);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* The model of `complete`. */
static int show_completion(cli *c)
{
    mgv_completion *completion;
    mgv_completion_info i = {.size = sizeof i};
    const mgv_status st = mgv_completion_load(c->ctx, c->argument[0], &completion);
    if (st != MGV_OK)
        return cli_fail(c, st);
    mgv_completion_describe(completion, &i);
    if (c->json) {
        char *json = NULL;
        const mgv_status told =
            mgv_report_completion(c->ctx, completion, NULL, c->argument[0], &json);
        if (told == MGV_OK)
            puts(json);
        mgv_string_free(c->ctx, json);
        mgv_completion_free(c->ctx, completion);
        return told == MGV_OK ? CLI_DONE : cli_fail(c, told);
    }
    printf("model        %s: completes a matrix of %" PRId64 " x %" PRId64 ", rank %" PRId64 "%s\n",
           c->argument[0], i.rows, i.cols, i.rank, i.biases ? ", with biases" : "");
    printf("problem      %s\n", i.formula);
    printf("values       mean %.6g, from %.6g to %.6g\n", i.mean, i.low, i.high);
    if (!isnan(i.held_out_error))
        printf("held out     root mean squared error %.6g (%.6g without the factors)\n",
               i.held_out_error, i.baseline_error);
    mgv_completion_free(c->ctx, completion);
    return CLI_DONE;
}

static int show_model(show *s)
{
    cli *c = s->c;
    int code;
    if (s->weights && (code = write_weights(s)) != CLI_GO_ON)
        return code;
    if (s->weights && strcmp(s->weights, "-") == 0)
        return CLI_DONE;
    if (c->json) {
        char *json = NULL;
        const mgv_status st = mgv_report_model(c->ctx, s->model, c->argument[0], s->largest, &json);
        if (st == MGV_OK)
            puts(json);
        mgv_string_free(c->ctx, json);
        return st == MGV_OK ? CLI_DONE : cli_fail(c, st);
    }
    print_model(s);
    print_certificate(&s->origin);
    print_path(s);
    print_size(s);
    code = print_largest(s);
    return code == CLI_GO_ON ? CLI_DONE : code;
}

static int work(show *s)
{
    cli *c = s->c;
    int code;
    char *end;
    s->largest = s->largest_text ? strtoll(s->largest_text, &end, 10) : 10;
    if (s->largest < 0 || s->largest > INT32_MAX ||
        (s->largest_text && (!*s->largest_text || *end)))
        return cli_complain(c, CLI_USAGE, "--largest takes a whole number from 0 on (got '%.40s')",
                            s->largest_text);
    if (c->json && s->weights && strcmp(s->weights, "-") == 0)
        return cli_complain(
            c, CLI_USAGE,
            "standard output can take one thing only: the weights or the JSON object");
    if ((code = cli_keep_apart(c, &s->weights, 1, c->argument, 1)) != CLI_GO_ON)
        return code;
    if (mgv_completion_is(c->ctx, c->argument[0])) {
        if (s->weights || s->curve)
            return cli_complain(c, CLI_USAGE, "%s: a completion has no weights and no curve",
                                c->argument[0]);
        return show_completion(c);
    }
    const mgv_status st = mgv_model_load(c->ctx, c->argument[0], &s->model);
    if (st != MGV_OK)
        return cli_fail(c, st);
    mgv_model_describe(s->model, &s->info);
    mgv_model_made_by(s->model, &s->origin);
    code = show_model(s);
    mgv_model_free(c->ctx, s->model);
    return code;
}

int cli_show(cli *c, int argc, char **argv)
{
    show s = {.c = c, .info = {.size = sizeof s.info}, .origin = {.size = sizeof s.origin}};
    const cli_option options[] = {
        {"weights", 0, "FILE", "all nonzero weights and the intercepts, tab-separated", NULL,
         &s.weights},
        {"largest", 0, "N", "how many of the largest weights of every output (10)", NULL,
         &s.largest_text},
        {"curve", 0, NULL, "every point of the path the model was chosen from", &s.curve, NULL}};
    const cli_usage usage = {
        .arguments = "MODEL",
        .purpose = "Says what is in a model of `fit`, `path` or `complete`: what it tells apart, "
                   "the problem it\nsolves, its certificate, how it was chosen, and its largest "
                   "weights by name.",
        .example = "margrave show a9a.mgm --largest 20",
        .least = 1,
        .most = 1,
        .settings = "",
        .options = options,
        .option_count = sizeof options / sizeof *options};
    const int code = cli_parse(c, &usage, argc, argv);
    return code == CLI_GO_ON ? work(&s) : code;
}
