/* assess.c - deals rows out, makes a model of all parts but one and judges it on that one. The rows
 * of a fold are a table of their own: whatever is computed of one, scales, widths, centres, steps,
 * how the inner folds are dealt out, cannot depend on the other. */
#include "assess/assess.h"

#include "base/event.h"
#include "base/limit.h"
#include "base/print.h"
#include "data/subset.h"
#include "op/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what there is to do --------------------------------------------------------------------- */

/* Every fold has the task of the whole: a few rows alone may look like something else. */
static mgv_status bind_task(mgv_assess *a)
{
    const mgv_settings any = mgvi_selection_any_strength(&a->settings);
    mgv_problem *probe;
    MGVI_TRY(mgvi_problem_new_in_time(a->ctx, a->data, &any, &probe));
    a->classify = probe->classify;
    mgvi_problem_free(probe);
    a->settings.task = a->classify ? MGVI_TASK_CLASSIFY : MGVI_TASK_REGRESS;
    return MGV_OK;
}

static mgv_status check_settings(mgv_ctx *ctx, const mgv_settings *s, const mgv_data *data)
{
    if (s->checkpoint[0] || s->resume[0])
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "assess has no checkpoints (got %s '%.200s'); leave it out",
                         s->checkpoint[0] ? "checkpoint" : "resume",
                         s->checkpoint[0] ? s->checkpoint : s->resume);
    if (s->kernel == MGVI_KERNEL_PRECOMPUTED)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "assess computes the kernel of its folds (got kernel precomputed); give "
                         "the features and --kernel rbf, laplace or poly");
    if (!data->labels || data->gaps)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "assess needs a label for every row; %s",
                         data->labels ? "leave out the rows without one" : "name their file");
    return MGV_OK;
}

static mgv_status prepare(mgv_assess *a)
{
    const int64_t n = a->data->X.rows;
    a->parts = a->settings.outer;
    a->count = a->parts * a->settings.repeat;
    mgvi_rule rule;
    MGVI_TRY(mgvi_rule_parse(a->ctx, &a->settings, &rule));
    a->chooses = rule.kind != MGVI_RULE_NONE;
    MGVI_TRY(check_settings(a->ctx, &a->settings, a->data));
    MGVI_TRY(bind_task(a));
    a->by_rows = *a->data;
    MGVI_TRY(mgvi_matrix_rows(&a->arena, &a->data->X, &a->by_rows.X));
    MGVI_TRY(MGVI_ARRAY(&a->arena, a->fold, a->count));
    MGVI_TRY(MGVI_ARRAY(&a->arena, a->class_rows, a->data->classes + 1));
    for (int64_t c = 0; c < a->data->classes; c++)
        a->class_rows[c] = c;
    return MGVI_ARRAY(&a->arena, a->row, n);
}

mgv_status mgvi_assess_new(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                           mgv_assess **out)
{
    *out = NULL;
    mgv_assess *a = mgvi_new(ctx, sizeof *a);
    if (!a)
        return MGV_E_MEMORY;
    a->ctx = ctx;
    a->data = data;
    a->settings = *settings;
    a->dealt = -1;
    a->deadline = INFINITY;
    mgvi_arena_init(&a->arena, ctx);
    mgvi_arena_init(&a->dealer, ctx);
    const mgv_status st = prepare(a);
    if (st == MGV_OK)
        *out = a;
    else
        mgvi_assess_free(a);
    return st;
}

void mgvi_assess_free(mgv_assess *a)
{
    if (!a)
        return;
    mgvi_arena_free(&a->dealer);
    mgvi_arena_free(&a->arena);
    mgvi_release(a->ctx, a);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The split of a repeat; every part gets its share of every class. */
static mgv_status deal(mgv_assess *a, int64_t repeat)
{
    const int64_t n = a->data->X.rows;
    const mgvi_rule rule = {.kind = MGVI_RULE_CV, .folds = (int32_t)a->parts};
    int32_t *group = NULL;
    if (a->dealt == repeat)
        return MGV_OK;
    mgvi_arena_free(&a->dealer);
    mgvi_arena_init(&a->dealer, a->ctx);
    if (a->classify) {
        MGVI_TRY(MGVI_ARRAY(&a->dealer, group, n));
        for (int64_t i = 0; i < n; i++)
            group[i] = (int32_t)mgvi_data_class_of(a->data, a->data->labels[i]);
    }
    const mgvi_deal how = {.own = n,
                           .group = group,
                           .together = a->data->row_group,
                           .seed = (uint64_t)(a->settings.seed + repeat)};
    MGVI_TRY(mgvi_split_new(&a->dealer, &rule, &how, &a->split));
    a->dealt = repeat;
    return MGV_OK;
}

/* The rows of a part, or the others, as a table. */
static mgv_status table_of(mgv_assess *a, int64_t part, bool others, mgv_data **out)
{
    mgvi_subset rows = {.rows = a->row,
                        .classes = a->class_rows,
                        .class_count = a->data->classes,
                        .weights = a->data->weights};
    for (int64_t i = 0; i < a->data->X.rows; i++)
        if ((a->split.code[i] == part) != others)
            a->row[rows.count++] = i;
    MGVI_TRY(mgvi_data_subset(a->ctx, &a->by_rows, &rows, out));
    (*out)->checked = false; /* its largest entries are its own */
    (*out)->X.size = NULL;
    return mgvi_data_check_once(a->ctx, *out);
}

/* ---- a fold ---------------------------------------------------------------------------------- */

/* Of the test rows, for who says the same of every row: the training rows' larger class, or mean. */
static double baseline(const mgv_assess *a, const mgv_data *train, const mgv_data *test)
{
    const int64_t n = train->X.rows, m = test->X.rows;
    double mean = 0, error = 0, best = 0, said = NAN;
    for (int64_t c = 0; a->classify && c < train->classes; c++) {
        double count = 0;
        for (int64_t i = 0; i < n; i++)
            count += train->labels[i] == train->class_value[c];
        if (count > best) {
            best = count;
            said = train->class_value[c];
        }
    }
    for (int64_t i = 0; i < n; i++)
        mean += train->labels[i] / (double)n;
    for (int64_t i = 0; i < m; i++)
        error += a->classify ? test->labels[i] == said
                             : (test->labels[i] - mean) * (test->labels[i] - mean);
    return a->classify ? error / (double)m : sqrt(error / (double)m);
}

static mgv_status judge(const mgv_assess *a, const mgv_solver *solver, mgv_data *test,
                        mgvi_assess_fold *fold)
{
    mgv_model *model;
    mgv_metrics m = {.size = sizeof m};
    MGVI_TRY(mgvi_model_new(a->ctx, solver, &model));
    const mgv_status st = mgvi_model_measure(a->ctx, model, test, &m);
    fold->score = a->classify ? m.accuracy : sqrt(m.mse);
    fold->r2 = a->classify ? NAN : m.r2;
    fold->nonzeros = mgvi_model_nonzeros(model);
    fold->summary = mgvi_driver_summary(solver);
    mgvi_model_free(model);
    return st;
}

static void take_choice(const mgv_assess *a, const mgv_selection *s, mgvi_assess_fold *fold)
{
    const mgvi_path *path = mgvi_selection_path(s);
    const mgvi_path_point *point = mgvi_selection_point(s);
    fold->chosen = true;
    fold->method = path->method;
    fold->by = path->by;
    fold->iteration = point->iteration;
    fold->inner_score = a->classify ? 1 - point->error : sqrt(point->error);
    fold->inner_se = a->classify ? point->error_se : NAN;
}

/* Whether the limit, not the method, has ended the run: then it says nothing of the method. */
static bool was_cut(const mgv_solver *solver)
{
    const mgv_stop stop = mgvi_driver_summary(solver).stop;
    return stop == MGV_STOP_TIME || stop == MGV_STOP_USER || stop == MGV_STOP_MAX_PASSES;
}

/* A model of these rows: chosen, or of the strength that is given. */
typedef struct fitted {
    mgv_selection *selection;
    mgv_problem *problem;
    mgv_solver *solver;
    double passes;
} fitted;

static mgv_status fit(const mgv_assess *a, mgv_data *train, fitted *out)
{
    mgv_settings own = a->settings;
    own.time_limit = a->deadline - mgvi_ctx_clock(a->ctx);
    own.max_passes -= a->passes;
    if (a->chooses) {
        MGVI_TRY(mgvi_selection_run(a->ctx, train, &own, &out->selection));
        out->solver = out->selection->solver;
        for (int k = 0; k < out->selection->paths; k++)
            out->passes += out->selection->path[k].passes;
    } else {
        MGVI_TRY(mgvi_problem_new(a->ctx, train, &own, MGVI_EVERY_CLASS, &out->problem));
        MGVI_TRY(mgvi_driver_new(a->ctx, out->problem, &own, &out->solver));
        MGVI_TRY(mgvi_driver_run(out->solver));
    }
    out->passes += mgvi_driver_summary(out->solver).passes;
    return MGV_OK;
}

static void fitted_free(fitted *f)
{
    if (!f->selection)
        mgvi_driver_free(f->solver);
    mgvi_problem_free(f->problem);
    mgvi_selection_free(f->selection);
}

static mgv_status run_fold(mgv_assess *a, mgv_data *train, mgv_data *test, mgvi_assess_fold *fold,
                           bool *whole)
{
    fitted f = {0};
    mgv_status st = fit(a, train, &f);
    a->passes += f.passes;
    *whole = st == MGV_OK && !was_cut(f.solver);
    if (st == MGV_E_LIMIT && a->done > 0)
        st = MGV_OK; /* without this one */
    if (*whole && mgvi_driver_summary(f.solver).stop == MGV_STOP_INFEASIBLE)
        st = MGVI_FAIL(a->ctx, MGV_E_INPUT,
                       "no weights meet the constraints of the rows beside part %" PRId64
                       " (got loss %s); assess a soft loss, --loss hinge",
                       fold->part + 1, f.solver->run.problem->loss->name);
    if (*whole && st == MGV_OK) {
        const mgv_problem *p = f.selection ? f.selection->problem : f.problem;
        const bool soft = !(p->loss->can & MGVI_HARD);
        fold->lambda = soft && !(p->penalty->can & MGVI_NORM) ? p->lambda : NAN;
        fold->mu = soft && p->mu > 0 ? p->mu : NAN;
        if (f.selection)
            take_choice(a, f.selection, fold);
        st = judge(a, f.solver, test, fold);
    }
    fitted_free(&f);
    return st;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Where we are goes before what the selection says of itself. */
typedef struct telling {
    mgv_event_fn listener;
    void *user;
    char place[64];
} telling;

static int tell(void *user, const mgv_event *event)
{
    const telling *t = user;
    char text[MGVI_ERROR_MAX];
    mgv_event e = *event;
    if (event->kind == MGV_EVENT_PROGRESS) {
        mgvi_print(text, sizeof text, "%s%s%s", t->place, event->text ? ", " : "",
                   event->text ? event->text : "");
        e.text = text;
    }
    return t->listener(t->user, &e);
}

static mgv_status run_told(mgv_assess *a, mgv_data *train, mgv_data *test, mgvi_assess_fold *fold,
                           bool *whole)
{
    mgv_ctx *ctx = a->ctx;
    telling t = {.listener = ctx->on_event, .user = ctx->event_user};
    if (!t.listener)
        return run_fold(a, train, test, fold, whole);
    mgvi_print(t.place, sizeof t.place, "part %" PRId64 " of %" PRId64, a->done + 1, a->count);
    ctx->on_event = tell;
    ctx->event_user = &t;
    const mgv_status st = run_fold(a, train, test, fold, whole);
    ctx->on_event = t.listener;
    ctx->event_user = t.user;
    return st;
}

mgv_status mgvi_assess_next(mgv_assess *a, bool *more)
{
    mgv_data *train = NULL, *test = NULL;
    mgvi_assess_fold *fold = &a->fold[a->done];
    *more = false;
    if (a->done == a->count || mgvi_ctx_late(a->ctx) != MGV_STOP_NONE ||
        !(a->settings.max_passes > a->passes))
        return MGV_OK;
    const double started = mgvi_ctx_clock(a->ctx);
    *fold = (mgvi_assess_fold){.repeat = a->done / a->parts,
                               .part = a->done % a->parts,
                               .lambda = NAN,
                               .mu = NAN,
                               .inner_score = NAN,
                               .inner_se = NAN};
    mgv_status st = deal(a, fold->repeat);
    if (st == MGV_OK)
        st = table_of(a, fold->part, true, &train);
    if (st == MGV_OK)
        st = table_of(a, fold->part, false, &test);
    if (st == MGV_OK) {
        fold->train_rows = train->X.rows;
        fold->test_rows = test->X.rows;
        fold->baseline = baseline(a, train, test);
        st = run_told(a, train, test, fold, more);
    }
    fold->seconds = mgvi_ctx_clock(a->ctx) - started;
    a->seconds += fold->seconds;
    *more = *more && st == MGV_OK;
    a->done += *more;
    mgvi_data_free(a->ctx, train);
    mgvi_data_free(a->ctx, test);
    return st;
}

/* ---- what came of it ------------------------------------------------------------------------- */

double mgvi_assess_score(const mgvi_assess_fold *fold) { return fold->score; }
double mgvi_assess_baseline(const mgvi_assess_fold *fold) { return fold->baseline; }
double mgvi_assess_r2(const mgvi_assess_fold *fold) { return fold->r2; }

bool mgvi_assess_is_short(const mgvi_assess_fold *fold)
{
    switch (fold->summary.stop) {
    case MGV_STOP_CERTIFIED:
    case MGV_STOP_DISCREPANCY:
    case MGV_STOP_SELECTED:
    case MGV_STOP_APRIORI:
    case MGV_STOP_SCHEDULE:
        return false;
    default:
        return true;
    }
}

void mgvi_assess_mean(const mgv_assess *a, mgvi_assess_number of, double *mean, double *se)
{
    const double n = (double)a->done;
    double sum = 0, square = 0;
    for (int64_t k = 0; k < a->done; k++)
        sum += of(&a->fold[k]);
    *mean = a->done > 0 ? sum / n : NAN;
    for (int64_t k = 0; k < a->done; k++)
        square += (of(&a->fold[k]) - *mean) * (of(&a->fold[k]) - *mean);
    *se = a->done > 1 ? sqrt(square / (n - 1) / fmin(n, (double)a->parts)) : NAN;
}
