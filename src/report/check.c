/* check.c - the data doctor: what is in a table, what looks odd, and what `fit` would do. */
#include "base/print.h"
#include "op/stats.h"
#include "report/report.h"
#include "report/scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum level { OK, NOTE, WARNING } level;
static const char *const level_names[] = {"ok", "note", "warning"};

typedef struct finding {
    level level;
    const char *code; /* stable, for programs */
    char text[600];
} finding;

enum { FINDINGS_MAX = 32 };

typedef struct doctor {
    mgv_ctx *ctx;
    mgvi_arena arena;
    mgv_data *data;
    const char *path;
    const mgv_settings *settings;
    mgvi_scan scan;
    int64_t *class_rows; /* of each class */
    finding *finding;
    int findings;
    mgv_problem *problem;          /* NULL: fit would refuse, for the reason in `refusal` */
    const mgvi_solver_ops *solver; /* likewise */
    char refusal[MGVI_ERROR_MAX];
} doctor;

__attribute__((format(printf, 4, 5))) static void find(doctor *d, level how, const char *code,
                                                       const char *format, ...)
{
    if (d->findings == FINDINGS_MAX)
        return;
    finding *f = &d->finding[d->findings++];
    va_list args;
    f->level = how;
    f->code = code;
    va_start(args, format);
    mgvi_vprint(f->text, sizeof f->text, format, args);
    va_end(args);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void look_at_file(doctor *d)
{
    static const char *const layouts[] = {"dense", "sparse by rows", "sparse by columns"};
    const mgv_data *data = d->data;
    const mgvi_matrix *X = &data->X;
    const double cells = (double)X->rows * (double)X->cols;
    find(d, OK, "format", "format %s%s; kept %s in %s, %.3g MB", data->format,
         data->first_index == 0   ? ", indices from 0"
         : data->first_index == 1 ? ", indices from 1"
                                  : "",
         layouts[X->layout], X->dtype == MGV_F32 ? "f32" : "f64",
         (double)mgvi_data_bytes(data) / 1e6);
    find(d, OK, "density", "%.3g %% of the entries are not zero",
         cells > 0 ? 100 * (double)d->scan.entries / cells : 0);
    if (data->stored_zeros > 0)
        find(d, NOTE, "stored_zeros", "zeros written out in the file and left out here: %" PRId64,
             data->stored_zeros);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void look_at_rows(doctor *d)
{
    const mgvi_scan *s = &d->scan;
    if (s->empty_rows > 0)
        find(d, NOTE, "empty_rows", "rows without any entry: %" PRId64, s->empty_rows);
    if (s->repeated_rows > 0)
        find(d, NOTE, "duplicates",
             "rows that repeat an earlier one: %" PRId64 " (keep copies on one side of a split)",
             s->repeated_rows);
    else
        find(d, OK, "duplicates", "no row occurs twice");
    if (s->contradictions > 0)
        find(d, WARNING, "contradictions",
             "groups of equal rows with different labels: %" PRId64
             " (no weights can fit them all)",
             s->contradictions);
}

static void look_at_order(doctor *d)
{
    const mgvi_scan *s = &d->scan;
    const mgv_data *data = d->data;
    if (!data->labels || s->label_runs < 2)
        return;
    const bool grouped = data->classes > 1 && s->label_runs == data->classes;
    if (grouped || s->labels_rise || s->labels_fall)
        find(d, WARNING, "order",
             "the rows are sorted by label: shuffle them before the file is cut into parts");
    else
        find(d, OK, "order", "the rows are not sorted by label");
}

/* ---- columns --------------------------------------------------------------------------------- */

typedef struct columns {
    int64_t empty, constant, once, binary, one_sided;
    double smallest, largest; /* of the columns' largest absolute values */
} columns;

static columns sum_up_columns(const doctor *d)
{
    columns k = {.smallest = INFINITY};
    const int64_t n = d->data->X.rows;
    for (int64_t j = 0; j < d->data->X.cols; j++) {
        const mgvi_scan_column *c = &d->scan.column[j];
        const double size = fmax(fabs(c->least), fabs(c->most));
        const bool constant = c->count == n && c->least == c->most;
        k.empty += c->count == 0;
        k.constant += c->count > 0 && constant;
        if (c->count == 0 || constant)
            continue;
        k.once += c->count == 1;
        k.binary += c->least == c->most;
        k.one_sided += c->least >= 0 || c->most <= 0;
        k.smallest = fmin(k.smallest, size);
        k.largest = fmax(k.largest, size);
    }
    return k;
}

static void look_at_columns(doctor *d)
{
    const int64_t cols = d->data->X.cols;
    const columns k = sum_up_columns(d);
    if (k.empty > 0)
        find(d, NOTE, "empty_columns", "empty columns: %" PRId64 " of %" PRId64, k.empty, cols);
    if (k.constant > 0)
        find(d, NOTE, "constant_columns",
             "constant columns: %" PRId64 " (they say nothing beside an intercept)", k.constant);
    if (k.once > 0)
        find(d, NOTE, "rare_columns", "columns used by one row only: %" PRId64, k.once);
    find(d, OK, "column_kinds",
         "%" PRId64 " columns are binary (0 or one value), %" PRId64 " are one-sided, of %" PRId64,
         k.binary, k.one_sided, cols);
    if (!(k.largest > 0))
        return;
    const bool dense = d->data->X.layout == MGV_DENSE;
    if (k.largest > 1e3 * k.smallest)
        find(d, WARNING, "scaling",
             "the columns' largest absolute values run from %.3g to %.3g: consider --scale %s",
             k.smallest, k.largest, dense ? "std" : "maxabs");
    else
        find(d, OK, "scaling", "the columns' largest absolute values run from %.3g to %.3g",
             k.smallest, k.largest);
}

/* "column 3 ('north')", "columns 1, 3, 4, ...": those whose mean is at least `times` their standard
 * deviation, as far as they fit; returns how many. */
static int64_t offset_list(const doctor *d, const double *mean, const double *std, double times,
                           char *out, size_t size)
{
    enum { SHOWN = 5 };
    char list[300];
    size_t used = 0;
    int64_t count = 0;
    for (int64_t j = 0; j < d->data->X.cols; j++) {
        if (!(std[j] > 0 && fabs(mean[j]) >= times * std[j]))
            continue;
        if (count++ >= SHOWN || used >= sizeof list)
            continue;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%" PRId64,
                                 count > 1 ? ", " : "", j + 1);
        if (d->data->names && used < sizeof list)
            used +=
                (size_t)snprintf(list + used, sizeof list - used, " ('%.30s')", d->data->names[j]);
    }
    snprintf(out, size, "column%s %s%s", count == 1 ? "" : "s", count > 0 ? list : "",
             count > SHOWN ? ", ..." : "");
    return count;
}

/* A mean far from 0 costs digits: of inner products, of the intercept, of a kernel's values. */
static mgv_status look_at_offsets(doctor *d)
{
    const mgvi_matrix *X = &d->data->X;
    const bool linear = d->settings->kernel == MGVI_KERNEL_LINEAR;
    const bool std_scaled = d->settings->scale == MGVI_SCALE_STD;
    const double times = linear ? 1e6 : 1e4;
    double *mean = mgvi_arena_array(&d->arena, (size_t)X->cols, sizeof *mean);
    double *std = mgvi_arena_array(&d->arena, (size_t)X->cols, sizeof *std);
    char list[400];
    if (!mean || !std)
        return MGV_E_MEMORY;
    if (d->settings->kernel == MGVI_KERNEL_PRECOMPUTED || (std_scaled && !linear))
        return MGV_OK;
    MGVI_TRY(mgvi_matrix_column_stats(d->ctx, X, NULL, mean, std, NULL, NULL));
    const int64_t count = offset_list(d, mean, std, times, list, sizeof list);
    if (count > 0)
        find(d, WARNING, "offsets",
             "%s: the mean is at least %.0e times the spread, and so many digits are lost: "
             "subtract a "
             "constant from %s%s",
             list, times, count == 1 ? "it" : "them",
             X->layout == MGV_DENSE && !std_scaled ? ", or take --scale std" : "");
    return MGV_OK;
}

/* ---- labels ---------------------------------------------------------------------------------- */

static mgv_status count_classes(doctor *d)
{
    const mgv_data *data = d->data;
    MGVI_TRY(MGVI_ARRAY(&d->arena, d->class_rows, (size_t)data->classes + 1));
    for (int64_t i = 0; data->classes > 0 && i < data->X.rows; i++)
        d->class_rows[mgvi_data_class_of(data, data->labels[i])]++;
    return MGV_OK;
}

/* "'-1' 24720, '+1' 7841", as far as it fits. */
static void class_list(const doctor *d, char *out, size_t size)
{
    enum { SHOWN = 10 };
    size_t used = 0;
    out[0] = 0;
    for (int64_t c = 0; c < d->data->classes && c < SHOWN && used < size; c++)
        used += (size_t)snprintf(out + used, size - used, "%s'%.20s' %" PRId64, c ? ", " : "",
                                 d->data->class_text[c], d->class_rows[c]);
    if (d->data->classes > SHOWN && used < size)
        snprintf(out + used, size - used, ", ...");
}

static void look_at_classes(doctor *d)
{
    const mgv_data *data = d->data;
    char list[480];
    class_list(d, list, sizeof list);
    find(d, data->classes > 1 ? OK : WARNING, "classes", "%" PRId64 " %s, with rows: %s",
         data->classes, data->classes == 1 ? "class" : "classes", list);
    int64_t rarest = 0;
    for (int64_t c = 1; c < data->classes; c++)
        if (d->class_rows[c] < d->class_rows[rarest])
            rarest = c;
    const double share = (double)d->class_rows[rarest] / (double)data->X.rows;
    if (data->classes > 1 && share * (double)data->classes < 0.2)
        find(d, WARNING, "imbalance",
             "class '%.40s' has %.3g %% of the rows: consider --class-weight balanced",
             data->class_text[rarest], 100 * share);
}

static void look_at_labels(doctor *d)
{
    const mgv_data *data = d->data;
    if (!data->labels) {
        find(d, WARNING, "no_labels", "there are no labels: this table is for predict only");
        return;
    }
    if (d->problem && !d->problem->classify) {
        double least = INFINITY, most = -INFINITY;
        for (int64_t i = 0; i < data->X.rows; i++) {
            least = fmin(least, data->labels[i]);
            most = fmax(most, data->labels[i]);
        }
        find(d, NOTE, "quantity", "the labels are taken for a quantity, from %.6g to %.6g", least,
             most);
    } else if (data->classes > 0) {
        look_at_classes(d);
    } else {
        find(d, WARNING, "classes", "the labels have more than %d distinct values",
             MGVI_CLASSES_MAX);
    }
}

/* ---- what fit would do ----------------------------------------------------------------------- */

static mgv_status try_solver(doctor *d)
{
    const char *name = d->settings->solver;
    if (mgvi_is_auto(name))
        return mgvi_solver_auto(d->ctx, d->problem, d->settings, 0, &d->solver);
    d->solver = mgvi_solver_find(name);
    if (!d->solver)
        return MGVI_FAIL(d->ctx, MGV_E_ARG, "there is no solver '%.40s'", name);
    return mgvi_solver_fits(d->ctx, d->solver, d->problem);
}

/* A refusal is a finding, not a failure. */
static mgv_status try_fit(doctor *d)
{
    mgv_status st = mgvi_problem_new(d->ctx, d->data, d->settings, MGVI_EVERY_CLASS, &d->problem);
    if (st == MGV_OK)
        st = try_solver(d);
    if (st == MGV_OK || st == MGV_E_MEMORY || st == MGV_E_INTERNAL)
        return st;
    d->solver = NULL;
    snprintf(d->refusal, sizeof d->refusal, "%s", d->ctx->error);
    return MGV_OK;
}

static void look_at_fit(doctor *d)
{
    const mgv_problem *p = d->problem;
    if (d->refusal[0])
        find(d, d->data->labels ? WARNING : NOTE, "fit", "fit would refuse: %s", d->refusal);
    else
        find(d, OK, "fit", "fit would %s with loss %s, penalty %s and solver %s: %s",
             p->classify ? "classify" : "regress", p->loss->name, p->penalty->name, d->solver->name,
             p->formula);
}

/* ---- the report ------------------------------------------------------------------------------ */

static mgv_status examine(doctor *d)
{
    MGVI_TRY(mgvi_data_check_once(d->ctx, d->data));
    MGVI_TRY(MGVI_ARRAY(&d->arena, d->finding, FINDINGS_MAX));
    MGVI_TRY(mgvi_scan_data(&d->arena, d->data, &d->scan));
    MGVI_TRY(count_classes(d));
    MGVI_TRY(try_fit(d));
    look_at_file(d);
    look_at_labels(d);
    look_at_order(d);
    look_at_rows(d);
    look_at_columns(d);
    MGVI_TRY(look_at_offsets(d));
    look_at_fit(d);
    return MGV_OK;
}

static json_t *findings_block(const doctor *d)
{
    json_t *list = json_array();
    for (int i = 0; i < d->findings; i++) {
        const finding *f = &d->finding[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "level", level_names[f->level],
                                              "code", f->code, "text", mgvi_json_string(f->text)));
    }
    return list;
}

static json_t *fit_block(const doctor *d)
{
    const mgv_problem *p = d->problem;
    if (d->refusal[0])
        return json_pack("{s:n, s:n, s:n, s:n, s:n, s:o}", "task", "loss", "penalty", "solver",
                         "formula", "refusal", mgvi_json_string(d->refusal));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:n}", "task", p->classify ? "classify" : "regress",
                     "loss", p->loss->name, "penalty", p->penalty->name, "solver", d->solver->name,
                     "formula", p->formula, "refusal");
}

static json_t *class_block(const doctor *d)
{
    json_t *rows = d->data->classes ? json_array() : json_null();
    for (int64_t c = 0; c < d->data->classes; c++)
        json_array_append_new(rows, json_integer(d->class_rows[c]));
    return rows;
}

static mgv_status write_json(const doctor *d, char **json)
{
    json_t *o = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "version", mgv_version(), "command",
                          "check", "data", mgvi_report_data(d->data, d->path), "class_rows",
                          class_block(d), "findings", findings_block(d), "fit_would", fit_block(d));
    return mgvi_json_text(d->ctx, o, json);
}

static mgv_status write_text(const doctor *d, char **text)
{
    char *lines = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&lines, &size);
    if (!out)
        return MGVI_FAIL(d->ctx, MGV_E_MEMORY, "no memory for the report");
    fprintf(out,
            "data     %s: %" PRId64 " rows, %" PRId64 " features, %" PRId64 " stored entries\n",
            d->path ? d->path : "memory", d->data->X.rows, d->data->X.cols, d->data->X.nnz);
    for (int i = 0; i < d->findings; i++)
        fprintf(out, "%-8s %s\n", level_names[d->finding[i].level], d->finding[i].text);
    const bool bad = ferror(out) != 0;
    if (fclose(out) == 0 && !bad)
        *text = mgvi_strdup(d->ctx, lines);
    else
        mgvi_fail(d->ctx, MGV_E_MEMORY, "no memory for the report");
    free(lines);
    return *text ? MGV_OK : MGV_E_MEMORY;
}

static mgv_status check(mgv_ctx *ctx, mgv_data *data, const char *path,
                        const mgv_settings *settings,
                        mgv_status (*write)(const doctor *d, char **out), char **out)
{
    doctor d = {.ctx = ctx, .data = data, .path = path, .settings = settings};
    *out = NULL;
    mgvi_arena_init(&d.arena, ctx);
    mgv_status st = examine(&d);
    if (st == MGV_OK)
        st = write(&d, out);
    mgvi_problem_free(d.problem);
    mgvi_arena_free(&d.arena);
    return st;
}

mgv_status mgvi_report_check(mgv_ctx *ctx, mgv_data *data, const char *path,
                             const mgv_settings *settings, char **json)
{
    return check(ctx, data, path, settings, write_json, json);
}

mgv_status mgvi_report_check_text(mgv_ctx *ctx, mgv_data *data, const char *path,
                                  const mgv_settings *settings, char **text)
{
    return check(ctx, data, path, settings, write_text, text);
}
