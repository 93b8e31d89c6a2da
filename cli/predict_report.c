/* predict_report.c - the metrics of predictions, and why there are none, for people and as JSON. */
#include "predict.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void print_number(const char *name, double x, const char *end)
{
    if (isfinite(x))
        printf("\"%s\": %.17g%s", name, x, end);
    else
        printf("\"%s\": null%s", name, end);
}

static void print_json_text(const char *text)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c < 0x20)
            printf("\\u%04x", *c);
        else
            printf(*c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    }
    putchar('"');
}

/* The labels of the data that are no classes of the model. */
static void print_json_unknown(const cli_prediction *p)
{
    bool any = false;
    putchar('[');
    for (int64_t k = 0; p->model && p->about.classes > 0 && k < p->shape.classes; k++)
        if (mgv_model_class_of(p->model, p->data, k) < 0) {
            fputs(any ? ", " : "", stdout);
            print_json_text(mgv_data_class(p->data, k));
            any = true;
        }
    putchar(']');
}

static void print_json_confusion(const cli_prediction *p)
{
    const int64_t classes = p->about.classes;
    fputs(",\n \"confusion\": {\"classes\": [", stdout);
    for (int64_t k = 0; k < classes; k++) {
        fputs(k ? ", " : "", stdout);
        print_json_text(mgv_model_class(p->model, k));
    }
    fputs("], \"counts\": [", stdout);
    for (int64_t t = 0; t < classes; t++) {
        fputs(t ? ", [" : "[", stdout);
        for (int64_t k = 0; k < classes; k++)
            printf("%s%" PRId64, k ? ", " : "", p->counts[t * classes + k]);
        putchar(']');
    }
    fputs("]}", stdout);
}

void cli_prediction_print_json(const cli_prediction *p)
{
    const mgv_metrics *m = &p->metrics;
    printf("{\"version\": \"%s\", \"command\": \"predict\",\n \"metrics\": ", mgv_version());
    if (p->measured) {
        putchar('{');
        print_number("accuracy", m->accuracy, ", ");
        print_number("balanced_accuracy", m->balanced_accuracy, ", ");
        print_number("auc", m->auc, ", ");
        print_number("f1", m->f1, ", ");
        print_number("log_loss", m->log_loss, ", ");
        print_number("mse", m->mse, ", ");
        if (p->completion) {
            print_number("rmse", sqrt(m->mse), ", ");
            print_number("mae", p->mean_error, ", ");
        }
        print_number("r2", m->r2, "}");
    } else {
        fputs("null", stdout);
    }
    if (p->measured && p->counts)
        print_json_confusion(p);
    printf(",\n \"n\": %" PRId64 ", \"measured\": %" PRId64 ", \"unknown_labels\": ", p->shape.rows,
           p->measured ? m->known : 0);
    print_json_unknown(p);
    printf(", \"seconds\": %.6g}\n", p->seconds);
}

/* Rows: the label; columns: the answer. */
static void print_confusion(const cli_prediction *p, FILE *out)
{
    enum { NAME_MOST = 16 };
    const int64_t classes = p->about.classes;
    int width = 6;
    for (int64_t k = 0; k < classes; k++) {
        const int length = (int)strlen(mgv_model_class(p->model, k));
        width = length > width ? length : width;
    }
    width = width > NAME_MOST ? NAME_MOST : width;
    fprintf(out, "%*s  answered\n%*s", width, "label", width, "");
    for (int64_t k = 0; k < classes; k++)
        fprintf(out, "  %*.*s", width, NAME_MOST, mgv_model_class(p->model, k));
    for (int64_t t = 0; t < classes; t++) {
        fprintf(out, "\n%*.*s", width, NAME_MOST, mgv_model_class(p->model, t));
        for (int64_t k = 0; k < classes; k++)
            fprintf(out, "  %*" PRId64, width, p->counts[t * classes + k]);
    }
    fputc('\n', out);
}

static void print_class_metrics(const cli_prediction *p, FILE *out)
{
    const mgv_metrics *m = &p->metrics;
    fprintf(out, "accuracy %.2f %%", 100 * m->accuracy);
    if (isfinite(m->balanced_accuracy)) /* none where all rows are of one class */
        fprintf(out, ", balanced accuracy %.2f %%", 100 * m->balanced_accuracy);
    if (isfinite(m->auc))
        fprintf(out, ", area under the curve %.4f", m->auc);
    if (isfinite(m->log_loss))
        fprintf(out, ", log loss %.4f", m->log_loss);
    fputc('\n', out);
}

/* " ('a', 'b', 'c', ...)": the classes of the model, or the labels of the data; `strange`: those
 * that are no classes. Nothing where the data has too many to name. */
static void print_names(const cli_prediction *p, bool of_model, bool strange, FILE *out)
{
    enum { SHOWN = 3 };
    const int64_t count = of_model ? p->about.classes : p->shape.classes;
    int64_t shown = 0;
    for (int64_t k = 0; k < count; k++) {
        if (strange && mgv_model_class_of(p->model, p->data, k) >= 0)
            continue;
        if (shown++ == SHOWN) {
            fputs(", ...", out);
            break;
        }
        fprintf(out, "%s'%.40s'", shown > 1 ? ", " : " (",
                of_model ? mgv_model_class(p->model, k) : mgv_data_class(p->data, k));
    }
    fputs(shown ? ")" : "", out);
}

/* Why there are no metrics although there are labels, or of how many rows they are. */
static void print_unmeasured(const cli_prediction *p, FILE *out)
{
    const bool classes = p->about.classes > 0;
    const int64_t rows = p->shape.rows, missing = rows - p->metrics.known;
    if (p->completion || !p->shape.has_labels || rows == 0 || missing == 0)
        return;
    if (p->measured) {
        fprintf(out, "%" PRId64 " of %" PRId64 " rows ha%s no label%s", missing, rows,
                missing == 1 ? "s" : "ve", classes ? " that is a class of this model" : "");
        if (classes)
            print_names(p, false, true, out);
        fprintf(out, ": the metrics are of the other %" PRId64 "\n", p->metrics.known);
    } else if (classes) {
        fprintf(out, "none of the %" PRId64 " labels", rows);
        print_names(p, false, false, out);
        fputs(" is a class of this model", out);
        print_names(p, true, false, out);
        fputs(": no metrics\n", out);
    } else {
        fputs("the labels are words", out);
        print_names(p, false, false, out);
        fputs(", the model predicts a quantity: no metrics\n", out);
    }
}

static void print_quantity_metrics(const cli_prediction *p, FILE *out)
{
    const mgv_metrics *m = &p->metrics;
    if (p->completion)
        fprintf(out, "root mean squared error %.6g, mean absolute error %.6g", sqrt(m->mse),
                p->mean_error);
    else
        fprintf(out, "mean squared error %.6g", m->mse);
    if (isfinite(m->r2)) /* none where all labels are equal */
        fprintf(out, ", R2 %.4f", m->r2);
    fputc('\n', out);
}

void cli_prediction_print(const cli_prediction *p)
{
    FILE *out = p->output && strcmp(p->output, "-") != 0 ? stdout : stderr;
    if (p->c->terminal.verbosity == CLI_QUIET)
        return;
    if (out == stdout)
        fprintf(out, "%s: %" PRId64 " predictions in %.2g s\n", p->output, p->shape.rows,
                p->seconds);
    if (p->unknown)
        fprintf(out, "%" PRId64 " pair%s a row or column that was never seen\n", p->unknown,
                p->unknown == 1 ? " has" : "s have");
    print_unmeasured(p, out);
    if (p->measured && p->about.classes == 0)
        print_quantity_metrics(p, out);
    else if (p->measured)
        print_class_metrics(p, out);
    if (p->measured && p->counts)
        print_confusion(p, out);
}
