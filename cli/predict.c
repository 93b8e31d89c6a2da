/* predict.c - `margrave predict`: labels, scores, distances and metrics. */
#include "predict.h"
#include "options.h"
#include "output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef cli_prediction predict;

static void write_row(const predict *p, FILE *out, int64_t row)
{
    const int64_t outputs = p->about.outputs;
    const double *score = p->score + row * outputs;
    if (p->about.classes > 0)
        fputs(mgv_model_class(p->model, mgv_model_decide(p->model, score)), out);
    else
        fprintf(out, "%.17g", score[0]);
    for (int64_t k = 0; p->scores && k < outputs; k++)
        fprintf(out, "\t%.17g", score[k]);
    for (int64_t k = 0; p->distance && k < outputs; k++)
        fprintf(out, "\t%.17g", score[k] / p->about.norms[k]);
    for (int64_t k = 0; p->chance && k < p->about.classes; k++)
        fprintf(out, "\t%.17g", p->chance[row * p->about.classes + k]);
    fputc('\n', out);
}

static int write_file(predict *p)
{
    cli_output out;
    const int code = cli_output_open(p->c, p->output, &out);
    if (code != CLI_GO_ON)
        return code;
    for (int64_t i = 0; i < p->shape.rows; i++)
        write_row(p, out.stream, i);
    return cli_output_close(p->c, &out, true);
}

static int write_predictions(predict *p)
{
    const bool to_stdout = !p->output || strcmp(p->output, "-") == 0;
    if (!to_stdout)
        return write_file(p);
    for (int64_t i = 0; i < p->shape.rows && !p->c->json; i++)
        write_row(p, stdout, i);
    return CLI_GO_ON;
}

/* ---- completions ----------------------------------------------------------------------------- */

static void measure_pairs(predict *p)
{
    const double *want = mgv_triples_values(p->pairs);
    const int64_t n = p->shape.rows;
    double mean = 0, squares = 0, total = 0, absolute = 0;
    for (int64_t k = 0; k < n; k++)
        mean += want[k] / (double)n;
    for (int64_t k = 0; k < n; k++) {
        const double error = p->score[k] - want[k];
        squares += error * error;
        absolute += fabs(error);
        total += (want[k] - mean) * (want[k] - mean);
    }
    p->metrics.accuracy = p->metrics.balanced_accuracy = p->metrics.auc = NAN;
    p->metrics.f1 = p->metrics.log_loss = NAN;
    p->metrics.mse = squares / (double)n;
    p->metrics.r2 = total > 0 ? 1 - squares / total : NAN;
    p->metrics.known = n;
    p->mean_error = absolute / (double)n;
}

static mgv_status load_pairs(predict *p)
{
    mgv_ctx *ctx = p->c->ctx;
    mgv_triples_info info = {.size = sizeof info};
    mgv_status st = mgv_completion_load(ctx, p->c->argument[0], &p->completion);
    if (st == MGV_OK)
        st = mgv_completion_read_pairs(ctx, p->completion, p->c->argument[1], p->c->settings,
                                       &p->pairs);
    if (st != MGV_OK)
        return st;
    mgv_triples_describe(p->pairs, &info);
    p->shape.rows = info.count;
    p->shape.has_labels = info.has_values;
    p->unknown = info.unknown;
    p->about.outputs = 1;
    return MGV_OK;
}

/* ---- the command ----------------------------------------------------------------------------- */

static mgv_status compute_pairs(predict *p)
{
    const double started = cli_seconds();
    const mgv_status st =
        mgv_completion_predict(p->c->ctx, p->completion, p->pairs, p->clip, p->score);
    p->seconds = cli_seconds() - started;
    p->measured = p->shape.has_labels && p->shape.rows > 0;
    if (st == MGV_OK && p->measured)
        measure_pairs(p);
    return st;
}

static mgv_status compute(predict *p)
{
    mgv_ctx *ctx = p->c->ctx;
    const double started = cli_seconds();
    mgv_status st = mgv_model_scores(ctx, p->model, p->data, p->score);
    p->seconds = cli_seconds() - started;
    p->measured = p->shape.has_labels && p->shape.rows > 0;
    if (st == MGV_OK && p->measured)
        st = mgv_model_evaluate(ctx, p->model, p->data, p->score, &p->metrics);
    p->measured = p->measured && p->metrics.known > 0;
    if (st == MGV_OK && p->chance)
        st = mgv_model_probabilities(ctx, p->model, p->shape.rows, p->score, p->chance);
    if (st == MGV_OK && p->measured && p->counts)
        st = mgv_model_confusion(ctx, p->model, p->data, p->score, p->counts);
    return st;
}

/* What the library says of the file and of its columns: the answers depend on it. */
static int on_event(void *user, const mgv_event *event)
{
    const cli *c = ((predict *)user)->c;
    if (event->kind == MGV_EVENT_LOG && event->level == MGV_INFO &&
        c->terminal.verbosity == CLI_NORMAL)
        fprintf(stderr, "note: %s\n", event->text);
    else
        cli_terminal_event(&((predict *)user)->c->terminal, event);
    return 0;
}

/* LIBLINEAR's order is DATA MODEL: a swap is told from a bad file. */
static int refuse_model(predict *p, mgv_status status)
{
    cli *c = p->c;
    char sentence[1024];
    mgv_model *other = NULL;
    snprintf(sentence, sizeof sentence, "%s", mgv_ctx_error(c->ctx));
    if (status != MGV_E_INPUT || strcmp(c->argument[1], "-") == 0)
        return cli_fail(c, status);
    const bool swapped = mgv_completion_is(c->ctx, c->argument[1]) ||
                         mgv_model_load(c->ctx, c->argument[1], &other) == MGV_OK;
    mgv_model_free(c->ctx, other);
    return swapped
               ? cli_complain(c, CLI_USAGE, "%s is not a model, but %s is: the order is MODEL DATA",
                              c->argument[0], c->argument[1])
               : cli_complain(c, CLI_USAGE, "%s", sentence);
}

static int read_rows(predict *p)
{
    cli *c = p->c;
    cli_terminal_status(&c->terminal, "reading %s", c->argument[1]);
    const mgv_status st =
        mgv_model_read_data(c->ctx, p->model, c->argument[1], c->settings, &p->data);
    cli_terminal_wipe(&c->terminal);
    if (st != MGV_OK)
        return cli_fail(c, st);
    mgv_data_describe(p->data, &p->shape);
    return CLI_GO_ON;
}

/* The model and the data, or the completion and the pairs. */
static int load(predict *p)
{
    cli *c = p->c;
    if (mgv_completion_is(c->ctx, c->argument[0])) {
        if (p->scores || p->distance || p->probability || p->confusion)
            return cli_complain(c, CLI_USAGE,
                                "a completion has no scores, distances, probabilities or classes");
        const mgv_status st = load_pairs(p);
        return st == MGV_OK ? CLI_GO_ON : cli_fail(c, st);
    }
    if (p->clip)
        return cli_complain(c, CLI_USAGE, "--clip is for completions");
    const mgv_status st = mgv_model_load(c->ctx, c->argument[0], &p->model);
    if (st != MGV_OK)
        return refuse_model(p, st);
    mgv_model_describe(p->model, &p->about);
    if (p->confusion && p->about.classes == 0)
        return cli_complain(c, CLI_USAGE, "%s: predicts a quantity, which nothing confuses",
                            c->argument[0]);
    for (int64_t k = 0; p->distance && k < p->about.outputs; k++)
        if (!(p->about.norms[k] > 0))
            return cli_complain(c, CLI_USAGE,
                                "%s: all weights%s%s are zero, so there is no boundary to "
                                "measure a distance from",
                                c->argument[0], p->about.outputs > 1 ? " of class " : "",
                                p->about.outputs > 1 ? mgv_model_class(p->model, k) : "");
    return read_rows(p);
}

/* A name that promises another format than text is refused. */
static bool is_text_name(const char *name)
{
    static const char *const others[] = {".npy", ".npz", ".mgd", ".mgm", ".mtx"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (length > strlen(others[i]) && !strcmp(name + length - strlen(others[i]), others[i]))
            return false;
    return true;
}

static int work(predict *p)
{
    cli *c = p->c;
    int code;
    if ((code = cli_keep_apart(c, &p->output, 1, c->argument, 2)) != CLI_GO_ON)
        return code;
    if (p->output && !is_text_name(p->output))
        return cli_complain(c, CLI_USAGE,
                            "%s: predictions are lines of text; give the file another ending",
                            p->output);
    if (c->json && p->output && strcmp(p->output, "-") == 0)
        return cli_complain(c, CLI_USAGE,
                            "standard output can take one thing only: the predictions "
                            "or the JSON object");
    if ((code = load(p)) != CLI_GO_ON)
        return code;
    const size_t rows = (size_t)p->shape.rows + 1, classes = (size_t)p->about.classes;
    p->score = calloc(rows, (size_t)p->about.outputs * sizeof *p->score);
    p->chance = p->probability ? calloc(rows, (classes + 1) * sizeof *p->chance) : NULL;
    p->counts = p->confusion ? calloc(classes, classes * sizeof *p->counts) : NULL;
    if (!p->score || (p->probability && !p->chance) || (p->confusion && !p->counts))
        return cli_complain(c, CLI_FAILURE, "no memory for %" PRId64 " scores",
                            p->shape.rows * p->about.outputs);
    const mgv_status st = p->completion ? compute_pairs(p) : compute(p);
    if (st != MGV_OK)
        return cli_fail(c, st);
    if ((code = write_predictions(p)) != CLI_GO_ON)
        return code;
    if (c->json)
        cli_prediction_print_json(p);
    else
        cli_prediction_print(p);
    return CLI_DONE;
}

int cli_predict(cli *c, int argc, char **argv)
{
    predict p = {.c = c,
                 .about = {.size = sizeof p.about},
                 .shape = {.size = sizeof p.shape},
                 .metrics = {.size = sizeof p.metrics}};
    const cli_option options[] = {
        {"output", 'o', "FILE", "the predictions (standard output)", NULL, &p.output},
        {"scores", 0, NULL,
         "also x.w + b, after a tab; with many classes one per class, or per two (ovo)", &p.scores,
         NULL},
        {"distance", 0, NULL,
         "also the signed distance to the boundary, (x.w + b)/|w|_p in the norm of the fit, after "
         "a tab",
         &p.distance, NULL},
        {"probability", 0, NULL,
         "also the probability of every class, after a tab (losses logistic and softmax)",
         &p.probability, NULL},
        {"confusion", 0, NULL, "with the metrics a table of labels by answers", &p.confusion, NULL},
        {"clip", 0, NULL, "of a completion: values within the range of those seen", &p.clip, NULL}};
    const cli_usage usage = {
        .arguments = "MODEL DATA",
        .purpose =
            "Prints the label of every row of DATA (- is stdin) as the training data spelled "
            "it, one per\nline, and the metrics when DATA has labels. With --json and no -o "
            "only the metrics.\nThe MODEL of `complete` takes pairs `row column`, with values for "
            "the metrics, "
            "and prints a\nvalue for each.",
        .example = "margrave predict a9a.mgm a9a.t --scores -o a9a.predictions",
        .least = 2,
        .most = 2,
        .settings = "data =seed threads",
        .options = options,
        .option_count = sizeof options / sizeof *options};
    int code = cli_parse(c, &usage, argc, argv);
    mgv_ctx_on_event(c->ctx, on_event, &p);
    if (code == CLI_GO_ON)
        code = work(&p);
    mgv_ctx_on_event(c->ctx, NULL, NULL);
    free(p.score);
    free(p.chance);
    free(p.counts);
    mgv_data_free(c->ctx, p.data);
    mgv_model_free(c->ctx, p.model);
    mgv_triples_free(c->ctx, p.pairs);
    mgv_completion_free(c->ctx, p.completion);
    return code;
}
