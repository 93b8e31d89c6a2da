/* study.c - sets, runs and curves of reproductions. */
#include "study.h"
#include "sheet.h"
#include "signals.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- pieces ----------------------------------------------------------------------------------- */

bool study_ok(study *s, mgv_status status)
{
    if (s->code == CLI_GO_ON && status != MGV_OK)
        s->code = cli_fail(s->c, status);
    return s->code == CLI_GO_ON;
}

bool study_goes_on(study *s)
{
    if (s->code == CLI_GO_ON && cli_signalled())
        s->code = cli_complain(s->c, CLI_STOPPED, "stopped within %s", s->item->name);
    return s->code == CLI_GO_ON;
}

static void no_memory(study *s)
{
    if (s->code == CLI_GO_ON)
        s->code = cli_complain(s->c, CLI_FAILURE, "no memory for the curves of %s", s->item->name);
}

study_chart *study_new_chart(study *s, const char *title, const char *x_label, const char *y_label,
                             const char *logarithmic)
{
    if (s->charts == STUDY_CHARTS)
        return NULL;
    study_chart *chart = &s->chart[s->charts++];
    snprintf(chart->title, sizeof chart->title, "%s", title);
    chart->x_label = x_label;
    chart->y_label = y_label;
    chart->log_x = strchr(logarithmic, 'x') != NULL;
    chart->log_y = strchr(logarithmic, 'y') != NULL;
    return chart;
}

study_curve *study_new_curve(study *s, study_chart *chart, const char *name)
{
    (void)s;
    if (!chart || chart->curves == STUDY_CURVES)
        return NULL;
    study_curve *curve = &chart->curve[chart->curves++];
    snprintf(curve->name, sizeof curve->name, "%s", name);
    return curve;
}

void study_add(study *s, study_curve *curve, double x, double y)
{
    if (!curve)
        return;
    if (curve->count == curve->room) {
        const int64_t room = curve->room ? 2 * curve->room : 64;
        double *xs = realloc(curve->x, (size_t)room * sizeof *xs);
        curve->x = xs ? xs : curve->x;
        double *ys = realloc(curve->y, (size_t)room * sizeof *ys);
        curve->y = ys ? ys : curve->y;
        if (!xs || !ys) {
            no_memory(s);
            return;
        }
        curve->room = room;
    }
    curve->x[curve->count] = x;
    curve->y[curve->count++] = y;
}

double study_last(const study_curve *curve)
{
    return curve && curve->count ? curve->y[curve->count - 1] : NAN;
}

study_table *study_new_table(study *s, const char *caption, const char *const *head, int columns)
{
    if (s->tables == STUDY_TABLES || columns > STUDY_COLUMNS)
        return NULL;
    study_table *table = &s->table[s->tables++];
    snprintf(table->caption, sizeof table->caption, "%s", caption);
    table->head = head;
    table->columns = columns;
    return table;
}

void study_cell(study_table *table, int column, const char *format, ...)
{
    va_list args;
    if (!table || column >= table->columns || (column == 0 && table->rows == STUDY_ROWS))
        return;
    table->rows += column == 0;
    va_start(args, format);
    vsnprintf(table->cell[table->rows - 1][column], sizeof table->cell[0][0], format, args);
    va_end(args);
}

void study_find(study *s, mgv_mark mark, const char *format, ...)
{
    va_list args;
    s->mark = mark;
    va_start(args, format);
    vsnprintf(s->found, sizeof s->found, format, args);
    va_end(args);
}

const char *study_mark_text(mgv_mark mark)
{
    return mark == MGV_MARK_GOOD   ? "reproduced"
           : mark == MGV_MARK_HALF ? "partly"
           : mark == MGV_MARK_BAD  ? "not reproduced"
                                   : "";
}

bool study_samples(int64_t t)
{
    int64_t power = 1;
    while (power <= t / 10)
        power *= 10;
    return t > 0 && (power == 1 || t % (power / 2) == 0);
}

/* Whether an option says yes by itself, and no as --no-NAME. */
static bool is_switch(const char *name)
{
    for (size_t i = 0; i < mgv_setting_count(); i++) {
        const mgv_setting_info setting = cli_setting_at(i);
        if (strcmp(setting.name, name) == 0)
            return cli_setting_is_switch(&setting);
    }
    return false;
}

void study_remember(study *s, const char *what, const char *options)
{
    char text[400], *rest = text, *item;
    size_t used = strlen(s->how);
    used += (size_t)snprintf(s->how + used, sizeof s->how - used, "margrave %s", what);
    snprintf(text, sizeof text, "%s", options);
    while ((item = strsep(&rest, " ")) && used < sizeof s->how) {
        char *equals = strchr(item, '=');
        if (!equals)
            continue;
        *equals = 0;
        const bool alone = is_switch(item), off = alone && strcmp(equals + 1, "no") == 0;
        for (char *at = item; *at; at++)
            *at = *at == '_' ? '-' : *at;
        used += (size_t)snprintf(s->how + used, sizeof s->how - used, " --%s%s%s%s",
                                 off ? "no-" : "", item, alone ? "" : " ", alone ? "" : equals + 1);
    }
    if (used < sizeof s->how)
        snprintf(s->how + used, sizeof s->how - used, "\n");
}

/* ---- sets ------------------------------------------------------------------------------------- */

bool study_settings(study *s, const char *options, mgv_settings **out)
{
    char text[400], *rest = text, *item;
    *out = NULL;
    snprintf(text, sizeof text, "%s", options);
    if (!study_ok(s, mgv_settings_new(s->c->ctx, out)))
        return false;
    while ((item = strsep(&rest, " "))) {
        char *equals = strchr(item, '=');
        if (!equals)
            continue;
        *equals = 0;
        if (!study_ok(s, mgv_settings_set(s->c->ctx, *out, item, equals + 1)))
            return false;
    }
    return true;
}

bool study_generate(study *s, study_set *set, const char *name, const char *options, bool test,
                    bool truth)
{
    mgv_settings *settings;
    mgv_data_info info = {.size = sizeof info};
    char what[80];
    *set = (study_set){0};
    snprintf(what, sizeof what, "generate %s", name);
    study_remember(s, what, options);
    if (!study_goes_on(s))
        return false;
    if (study_settings(s, options, &settings))
        study_ok(s, mgv_data_generate(s->c->ctx, name, settings, &set->data,
                                      test ? &set->test : NULL, truth ? &set->truth : NULL));
    mgv_settings_free(s->c->ctx, settings);
    if (!set->data)
        return false;
    mgv_data_describe(set->data, &info);
    set->rows = info.rows;
    set->cols = info.cols;
    return true;
}

bool study_read(study *s, study_set *set, const char *file, const char *options)
{
    const char *folder = getenv("MARGRAVE_DATA");
    char name[1100], what[100];
    mgv_settings *settings = NULL;
    mgv_data_info info = {.size = sizeof info};
    *set = (study_set){0};
    snprintf(name, sizeof name, "%.1000s/%.80s", folder ? folder : "", file);
    if (!folder || access(name, R_OK) != 0 || !study_goes_on(s))
        return false;
    snprintf(what, sizeof what, "convert %.80s DATA", file);
    study_remember(s, what, options);
    cli_terminal_status(&s->c->terminal, "%s: reading %s", s->item->name, file);
    if (study_settings(s, options, &settings))
        study_ok(s, mgv_data_read(s->c->ctx, name, settings, &set->data));
    mgv_settings_free(s->c->ctx, settings);
    if (!set->data)
        return false;
    mgv_data_describe(set->data, &info);
    set->rows = info.rows;
    set->cols = info.cols;
    return true;
}

void study_free_set(study *s, study_set *set)
{
    mgv_data_free(s->c->ctx, set->data);
    mgv_data_free(s->c->ctx, set->test);
    mgv_data_free(s->c->ctx, set->truth);
    *set = (study_set){0};
}

double *study_column(study *s, const mgv_data *data, int64_t count)
{
    double *x = calloc((size_t)count + 1, sizeof *x);
    if (!x)
        no_memory(s);
    for (int64_t i = 0; x && i < count; i++)
        study_ok(s, mgv_data_row(s->c->ctx, data, i, &x[i], NULL));
    return x;
}

/* ---- runs ------------------------------------------------------------------------------------- */

typedef struct watcher {
    study *s;
    const study_run *run;
} watcher;

static int on_iterate(void *user, const mgv_iterate *at)
{
    watcher *w = user;
    if (w->run->every || study_samples(at->iteration))
        w->run->watch(w->s, w->run->user, at);
    return !study_goes_on(w->s);
}

static bool work(study *s, study_run *run, mgv_problem *problem, const mgv_settings *settings)
{
    mgv_ctx *ctx = s->c->ctx;
    mgv_solver *solver = NULL;
    watcher w = {s, run};
    bool done = study_ok(s, mgv_solver_new(ctx, problem, settings, &solver));
    if (done && run->watch)
        done = study_ok(s, mgv_ctx_on_iterate(ctx, 1, on_iterate, &w));
    done = done && study_ok(s, mgv_solver_run(ctx, solver));
    mgv_ctx_on_iterate(ctx, 1, NULL, NULL);
    if (done) {
        run->info.size = sizeof run->info;
        run->certificate.size = sizeof run->certificate;
        mgv_solver_describe(solver, &run->info, &run->certificate);
        done = study_ok(s, mgv_model_new(ctx, solver, &run->model));
    }
    if (done && run->pair)
        done = study_ok(s, mgv_model_keep_pair(ctx, run->model, solver));
    mgv_solver_free(ctx, solver);
    return done && study_goes_on(s);
}

bool study_solve(study *s, mgv_data *data, study_run *run)
{
    mgv_settings *settings = NULL;
    mgv_problem *problem = NULL;
    run->model = NULL;
    study_remember(s, "fit DATA", run->options);
    if (!study_goes_on(s))
        return false;
    cli_terminal_status(&s->c->terminal, "%s: %s", s->item->name, run->name);
    bool done = study_settings(s, run->options, &settings) &&
                study_ok(s, mgv_problem_new(s->c->ctx, data, settings, &problem)) &&
                work(s, run, problem, settings);
    mgv_problem_free(s->c->ctx, problem);
    mgv_settings_free(s->c->ctx, settings);
    if (!done) {
        mgv_model_free(s->c->ctx, run->model);
        run->model = NULL;
    }
    return done;
}

double study_error(study *s, const mgv_model *model, mgv_data *data)
{
    mgv_metrics m = {.size = sizeof m};
    if (!study_ok(s, mgv_model_evaluate(s->c->ctx, model, data, NULL, &m)))
        return NAN;
    return isnan(m.accuracy) ? m.mse : 1 - m.accuracy;
}

double study_iterate_error(study *s, const mgv_iterate *at, mgv_data *data)
{
    mgv_model *model = NULL;
    double error = NAN;
    if (study_ok(s, mgv_iterate_model(s->c->ctx, at, &model)))
        error = study_error(s, model, data);
    mgv_model_free(s->c->ctx, model);
    return error;
}
