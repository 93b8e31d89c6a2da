/* selection.c - rows, paths, the choice, and the final fit. */
#include "select/selection.h"

#include "base/event.h"
#include "base/limit.h"
#include "base/print.h"
#include "io/io.h"
#include "op/stats.h"
#include "solver/classes/family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the data -------------------------------------------------------------------------------- */

mgv_settings mgvi_selection_any_strength(const mgv_settings *settings)
{
    mgv_settings any = *settings;
    const mgvi_loss_ops *loss = mgvi_loss_find(any.loss);
    const mgvi_penalty_ops *penalty = mgvi_penalty_find(any.penalty);
    const bool sparse = penalty && ((penalty->can & MGVI_NORM) || mgvi_penalty_is_net(penalty));
    if ((loss && (loss->can & MGVI_HARD)) || !isnan(any.C))
        return any; /* a constraint has none, C is all of them */
    if (isnan(any.lambda) && !sparse && isnan(any.mu))
        any.lambda = 1;
    if (sparse && isnan(any.mu))
        any.mu = 1;
    return any;
}

/* Many classes without a word about the loss: softmax, whose epochs held-out rows choose; folds
 * choose for the loss that a fit without them has. */
static mgv_status bind_probe(mgv_selection *s)
{
    mgv_settings any = mgvi_selection_any_strength(&s->settings);
    MGVI_TRY(mgvi_problem_new_in_time(s->ctx, s->data, &any, &s->probe));
    const bool one_part = s->rule.kind == MGVI_RULE_HOLDOUT || s->rule.kind == MGVI_RULE_FILE;
    if (!s->probe->many || !one_part || !mgvi_is_auto(any.loss) ||
        any.multiclass != MGVI_MULTICLASS_AUTO || !mgvi_is_auto(any.solver) ||
        mgvi_penalty_parts(s->probe->penalty) != MGVI_SQUARE ||
        s->probe->kernel.kind != MGVI_KERNEL_LINEAR)
        return MGV_OK;
    s->settings.loss = any.loss = "softmax";
    mgvi_problem_free(s->probe);
    s->probe = NULL;
    return mgvi_problem_new_in_time(s->ctx, s->data, &any, &s->probe);
}

static mgv_status read_validation(mgv_selection *s)
{
    if (s->rule.kind != MGVI_RULE_FILE)
        return MGV_OK;
    mgv_settings reading = s->settings;
    reading.features = s->data->X.cols;
    reading.names = "";
    reading.labels = s->settings.validation_labels;
    reading.flip_labels = 0; /* of the training data alone */
    const mgvi_column_names columns = mgvi_data_columns(s->data);
    MGVI_TRY(mgvi_read_for(s->ctx, s->rule.file, &reading, &columns, &s->validation));
    if (!s->validation->labels)
        return MGVI_FAIL(s->ctx, MGV_E_INPUT,
                         "%s has no labels to validate with; --validation-labels FILE names theirs",
                         s->rule.file);
    if (s->validation->gaps)
        return MGVI_FAIL(s->ctx, MGV_E_INPUT, "%s has rows without a label to validate with",
                         s->rule.file);
    if (s->validation->X.cols != s->data->X.cols)
        return MGVI_FAIL(s->ctx, MGV_E_INPUT, "%s has %" PRId64 " columns, the data %" PRId64,
                         s->rule.file, s->validation->X.cols, s->data->X.cols);
    return mgvi_data_check_once(s->ctx, s->validation);
}

bool mgvi_selection_numbers(const mgv_selection *s)
{
    return s->probe->many || (s->probe->loss->can & MGVI_JOINT) ||
           mgvi_problem_has_contrasts(s->probe);
}

/* The class of a validation row, as the training data numbers its classes; -1: none. */
static int64_t class_in_training(const mgv_selection *s, int64_t i)
{
    const mgv_data *v = s->validation, *data = s->data;
    if (!v->text_labels && !data->text_labels)
        return mgvi_data_class_of(data, v->labels[i]);
    const int64_t own = mgvi_data_class_of(v, v->labels[i]);
    for (int64_t c = 0; own >= 0 && c < data->classes; c++)
        if (strcmp(v->class_text[own], data->class_text[c]) == 0)
            return c;
    return -1;
}

mgv_status mgvi_selection_class(const mgv_selection *s, int64_t i, int64_t *out)
{
    *out = class_in_training(s, i);
    if (*out >= 0)
        return MGV_OK;
    return MGVI_FAIL(s->ctx, MGV_E_INPUT,
                     "%s: the label of row %" PRId64 " is not a class of the training data",
                     s->rule.file, i + 1);
}

/* Row i of the validation file, as the rows of the data have it. */
static mgv_status validation_target(const mgv_selection *s, int64_t i, double *out)
{
    int64_t c;
    *out = s->validation->labels[i];
    if (!s->probe->classify)
        return MGV_OK;
    MGVI_TRY(mgvi_selection_class(s, i, &c));
    *out = mgvi_selection_numbers(s) ? (double)c : c > 0 ? 1 : -1;
    return MGV_OK;
}

static mgv_status validation_rows(mgv_selection *s, int64_t own)
{
    const mgv_data *v = s->validation;
    double *norm = s->factor + own;
    MGVI_TRY(mgvi_matrix_row_norms(s->ctx, &v->X, norm));
    for (int64_t i = 0; i < v->X.rows; i++) {
        s->e[own + i] = v->weights ? sqrt(v->weights[i]) : 1;
        norm[i] = s->probe->view.row_scale && norm[i] > 0 ? s->e[own + i] / norm[i] : s->e[own + i];
        MGVI_TRY(validation_target(s, i, &s->y[own + i]));
    }
    return MGV_OK;
}

/* Of example i; contrasts have a row for each rival of its class. */
static double row_weight(const mgv_problem *p, int64_t i)
{
    if (!mgvi_problem_has_contrasts(p))
        return mgvi_coef_pick(&p->row.scale, i, 0);
    const int64_t rival = p->target[i] == 0;
    return mgvi_coef_pick(&p->row.scale, i * p->outputs + rival, 0);
}

static mgv_status fill_rows(mgv_selection *s)
{
    const mgv_problem *p = s->probe;
    const int64_t own = s->data->X.rows, rows = s->split.rows;
    s->e = mgvi_arena_array(&s->arena, (size_t)rows, sizeof *s->e);
    s->factor = mgvi_arena_array(&s->arena, (size_t)rows, sizeof *s->factor);
    s->y = mgvi_arena_array(&s->arena, (size_t)rows, sizeof *s->y);
    if (!s->e || !s->factor || !s->y)
        return MGV_E_MEMORY;
    const bool hard = p->loss->can & MGVI_HARD; /* weights are 0 or 1 then */
    for (int64_t i = 0; i < own; i++) {
        const double weight = row_weight(p, i) * (hard ? 1 : p->total_weight);
        s->e[i] = sqrt(weight);
        s->factor[i] = p->view.row_scale ? s->e[i] * p->view.row_scale[i] : s->e[i];
        s->y[i] = p->many ? (double)mgvi_data_class_of(s->data, s->data->labels[i])
                          : mgvi_problem_target(p, i);
    }
    return s->validation ? validation_rows(s, own) : MGV_OK;
}

mgv_status mgvi_selection_split(mgv_selection *s)
{
    const int64_t n = s->data->X.rows;
    int32_t *group = NULL;
    if (s->probe->classify) {
        group = mgvi_arena_array(&s->arena, (size_t)n, sizeof *group);
        if (!group)
            return MGV_E_MEMORY;
        for (int64_t i = 0; i < n; i++)
            group[i] = (int32_t)mgvi_data_class_of(s->data, s->data->labels[i]);
    }
    return mgvi_split_new(&s->arena, &s->rule, n, s->validation ? s->validation->X.rows : 0, group,
                          (uint64_t)s->settings.seed, &s->split);
}

/* ---- paths and the choice -------------------------------------------------------------------- */

/* What is known where the limit has ended the search. */
static void tell_cut(const mgv_selection *s, int methods)
{
    const mgvi_path *path = mgvi_selection_path(s);
    const double error = mgvi_selection_point(s)->error;
    char score[64] = "no held-out row has judged it", rest[64] = "";
    if (!isnan(error) && s->probe->classify)
        mgvi_print(score, sizeof score, "held-out accuracy %.2f %%", 100 * (1 - error));
    else if (!isnan(error))
        mgvi_print(score, sizeof score, "held-out mean squared error %.6g", error);
    if (methods > 1)
        snprintf(rest, sizeof rest, ", in %d of %d paths", s->paths, methods);
    mgvi_log(s->ctx, MGV_WARNING,
             "the limit has ended select %.80s after %" PRId64 " point%s of the %s%s; this is the "
             "best of them (%s)",
             s->settings.select, path->count, path->count == 1 ? "" : "s", path->method, rest,
             score);
}

static double passes_left(const mgv_selection *s)
{
    double left = s->settings.max_passes;
    for (int k = 0; k < s->paths; k++)
        left -= s->path[k].passes;
    return fmax(left, 0);
}

static mgv_status walk_paths(mgv_selection *s)
{
    const mgvi_method *methods[MGVI_PATHS_MOST];
    int count;
    MGVI_TRY(mgvi_methods_choose(s, methods, &count));
    for (int k = 0; k < count && !s->cut; k++) {
        mgvi_path *path = &s->path[k];
        const double started = mgvi_ctx_clock(s->ctx);
        mgvi_path_init(path, s->ctx, methods[k]->name, "lambda");
        path->classify = s->probe->classify;
        path->most_passes = passes_left(s);
        path->penalty = methods[k]->penalty;
        path->root = methods[k]->root;
        path->loss = methods[k]->loss;
        path->solver = methods[k]->solver;
        s->paths = k + 1;
        MGVI_TRY(methods[k]->walk(s, methods[k], path));
        MGVI_TRY(mgvi_path_choose(path, &s->rule));
        s->cut = path->cut || mgvi_ctx_late(s->ctx) != MGV_STOP_NONE;
        path->seconds = mgvi_ctx_clock(s->ctx) - started;
        if (path->point[0].mu > 0) /* beside a lambda that follows from it, or is given */
            path->by = "mu";
        const mgvi_path_point *p = &path->point[path->chosen];
        mgvi_log(s->ctx, MGV_DEBUG, "%s: error %.6g after %" PRId64 " points, %.3g s", path->method,
                 p->error, path->count, path->seconds);
        if (p->error < mgvi_selection_point(s)->error)
            s->chosen = k;
    }
    if (s->cut)
        tell_cut(s, count);
    return MGV_OK;
}

/* ---- the final fit --------------------------------------------------------------------------- */

static mgv_settings final_settings(const mgv_selection *s)
{
    const mgvi_path *path = mgvi_selection_path(s);
    const mgvi_path_point *point = mgvi_selection_point(s);
    mgv_settings final = s->settings;
    if (path->penalty)
        final.penalty = path->penalty;
    if (path->root)
        final.scale = MGVI_SCALE_SQRT;
    if (path->loss)
        final.loss = path->loss;
    if (path->solver)
        final.solver = path->solver;
    if (!mgvi_selection_given(s) && (!isnan(point->mu) || !isnan(point->lambda))) {
        final.C = NAN;
        final.mu = point->mu;
        final.lambda = point->lambda;
    }
    if (!isnan(path->square))
        final.lipschitz = path->square;
    final.select = path->early ? "last" : "none"; /* what is left to do is one run */
    return final;
}

/* The path's weights, in the final problem's units; and its dual point, where it is known. */
static mgv_status warm_start(mgv_selection *s)
{
    const mgvi_path *path = mgvi_selection_path(s);
    const int64_t d = mgvi_problem_coefs(s->problem);
    double *coef = mgvi_zeros(s->ctx, (size_t)d, sizeof *coef);
    double *w = mgvi_zeros(s->ctx, (size_t)s->problem->A->cols, sizeof *w);
    mgv_status st = coef && w ? MGV_OK : MGV_E_MEMORY;
    if (st == MGV_OK && mgvi_path_weights(path, path->chosen, d, coef)) {
        mgvi_problem_own_weights(s->problem, coef, mgvi_selection_point(s)->intercept, w);
        st = mgvi_driver_start(s->solver, w, path->chosen == path->best ? path->dual : NULL);
    }
    mgvi_release(s->ctx, coef);
    mgvi_release(s->ctx, w);
    return st;
}

static mgv_stop late_stop(const mgv_selection *s)
{
    const mgv_stop late = mgvi_ctx_late(s->ctx);
    return late != MGV_STOP_NONE ? late : MGV_STOP_MAX_PASSES;
}

/* The model of the path as it is: nothing is left for a fit of its own. */
static mgv_status take_from_path(mgv_selection *s)
{
    mgvi_path *path = &s->path[s->chosen];
    mgv_solver *solver = s->solver;
    const int64_t d = mgvi_problem_coefs(s->problem);
    const bool weights = path->basis || (path->kept_weights && path->outputs == 1);
    solver->run.iteration = mgvi_selection_point(s)->iteration;
    if (path->held.w && (path->held.point == path->chosen || !weights)) {
        path->chosen = path->held.point;
        if (path->held.family)
            return mgvi_family_adopt(solver, path->held.w, path->held.u, late_stop(s));
        const mgvi_vec *like = &solver->answer.w, *rows = &solver->answer.u;
        const mgvi_vec w = {.x = path->held.w, .n = like->n, .k = like->k, .space = like->space};
        const mgvi_vec u = {.x = path->held.u, .n = rows->n, .k = rows->k, .space = rows->space};
        const bool judged = s->holder == path && s->held.certificate.verified;
        if (judged) /* of the very problem, under the same strength */
            mgvi_driver_adopt_judged(solver, &w, &u, &s->held, late_stop(s));
        else
            mgvi_driver_adopt(solver, &w, &u, late_stop(s));
        return MGV_OK;
    }
    double *coef = mgvi_zeros(s->ctx, (size_t)d, sizeof *coef);
    double *own = mgvi_zeros(s->ctx, (size_t)s->problem->A->cols, sizeof *own);
    if (coef && own) {
        mgvi_path_weights(path, path->chosen, d, coef);
        mgvi_problem_own_weights(s->problem, coef, mgvi_selection_point(s)->intercept, own);
        const mgvi_vec w = mgvi_vec_wrap(own, s->problem->A->cols, MGVI_COLS);
        mgvi_driver_adopt(solver, &w, NULL, late_stop(s));
    }
    mgvi_release(s->ctx, coef);
    mgvi_release(s->ctx, own);
    return coef && own ? MGV_OK : MGV_E_MEMORY;
}

/* The iterate of the path, or the steps of the full fit once more, up to the chosen one. */
static mgv_status repeat_iterations(mgv_selection *s)
{
    if (mgvi_selection_path(s)->dual) {
        MGVI_TRY(warm_start(s));
        s->solver->run.iteration = mgvi_selection_point(s)->iteration;
        mgvi_driver_end(s->solver, MGV_STOP_SELECTED);
        return MGV_OK;
    }
    const int64_t wanted = mgvi_selection_point(s)->iteration;
    for (int64_t k = 0; k < wanted && !mgvi_driver_done(s->solver); k++) {
        const mgvi_progress progress = mgvi_progress_of(-1, mgvi_driver_passes(s->solver), 0);
        if (mgvi_stop_look(s->ctx, progress, &s->solver->settings) != MGV_STOP_NONE)
            return take_from_path(s);
        MGVI_TRY(mgvi_driver_step(s->solver));
        if (s->solver->cut)
            return take_from_path(s);
    }
    mgvi_driver_end(s->solver, MGV_STOP_SELECTED);
    return MGV_OK;
}

static mgv_status fit_chosen(mgv_selection *s)
{
    mgv_settings final = final_settings(s);
    final.max_passes = passes_left(s);
    MGVI_TRY(mgvi_problem_new(s->ctx, s->data, &final, MGVI_EVERY_CLASS, &s->problem));
    MGVI_TRY(mgvi_driver_new(s->ctx, s->problem, &final, &s->solver));
    s->solver->selection = s;
    if (s->cut || mgvi_ctx_late(s->ctx) != MGV_STOP_NONE)
        return take_from_path(s);
    if (mgvi_refit_wanted(s))
        return mgvi_refit(s);
    if (mgvi_selection_point(s)->iteration > 0)
        return repeat_iterations(s);
    if (mgvi_selection_path(s)->outputs == 1)
        MGVI_TRY(warm_start(s));
    MGVI_TRY(mgvi_driver_run(s->solver));
    const bool hurried = s->solver->stop == MGV_STOP_TIME || s->solver->stop == MGV_STOP_USER;
    return hurried && s->solver->family && s->solver->family->lost > 0 &&
                   mgvi_selection_path(s)->held.family
               ? take_from_path(s)
               : MGV_OK;
}

/* ---- making and freeing ---------------------------------------------------------------------- */

/* Many classes are chosen for by one strength of all, by the epochs of one run, or, of the joint
 * margin, by its iterations. */
static mgv_status check_classes(const mgv_selection *s)
{
    const mgv_settings *set = &s->settings;
    const bool judged = s->rule.kind == MGVI_RULE_CV || s->rule.kind == MGVI_RULE_HOLDOUT ||
                        s->rule.kind == MGVI_RULE_FILE;
    const bool joint = mgvi_problem_has_contrasts(s->probe);
    if (!mgvi_selection_numbers(s) || mgvi_epochs_suffice(s) ||
        (joint && !mgvi_is_auto(set->solver)))
        return MGV_OK;
    if (s->probe->loss->can & MGVI_HARD)
        return MGVI_FAIL(s->ctx, MGV_E_UNSUPPORTED,
                         "loss %s is a constraint: with %" PRId64 " classes there is no strength "
                         "to choose; --loss hinge has one; or name a solver whose iterations "
                         "are chosen, --multiclass joint --solver momentum_margin",
                         s->probe->loss->name, s->data->classes);
    if ((s->probe->loss->can & MGVI_JOINT) && mgvi_penalty_parts(s->probe->penalty) != MGVI_SQUARE)
        return MGVI_FAIL(s->ctx, MGV_E_UNSUPPORTED,
                         "loss %s knows penalty l2 alone; sparse weights of each class: --loss "
                         "logistic --penalty l1",
                         s->probe->loss->name);
    if (!judged)
        return MGVI_FAIL(s->ctx, MGV_E_UNSUPPORTED,
                         "with %" PRId64
                         " classes select is cv:K, holdout:F or val:FILE, not %.80s",
                         s->data->classes, set->select);
    if (!mgvi_selection_given(s) && (!isnan(set->C) || !isnan(set->mu) ||
                                     (!isnan(set->lambda) && !mgvi_problem_is_net(s->probe))))
        return MGVI_FAIL(s->ctx, MGV_E_ARG,
                         "with %" PRId64 " classes the iterations of solver %s are no path: leave "
                         "out --%s or --solver",
                         s->data->classes, set->solver,
                         !isnan(set->C)    ? "C"
                         : !isnan(set->mu) ? "mu"
                                           : "lambda");
    return MGV_OK;
}

/* One run can be gone on with, and its epochs; folds and paths begin anew. */
static mgv_status check_checkpoints(const mgv_selection *s)
{
    const char *checkpoint = s->settings.checkpoint;
    const char *named = checkpoint[0] ? checkpoint : s->settings.resume;
    if (!named[0] || mgvi_iterations_suffice(s) || mgvi_epochs_suffice(s))
        return MGV_OK;
    return MGVI_FAIL(
        s->ctx, MGV_E_UNSUPPORTED,
        "select %.60s has no checkpoints (got %s '%.200s'); leave it out, or select "
        "last, discrepancy:DELTA or apriori:DELTA beside --loss equal, or holdout:F and "
        "val:FILE of many classes beside --loss softmax",
        s->settings.select, checkpoint[0] ? "checkpoint" : "resume", named);
}

static mgv_status run(mgv_selection *s)
{
    const double started = mgvi_ctx_clock(s->ctx);
    MGVI_TRY(mgvi_rule_parse(s->ctx, &s->settings, &s->rule));
    if (s->rule.kind == MGVI_RULE_NONE)
        return MGVI_FAIL(s->ctx, MGV_E_ARG, "select is none: there is nothing to choose");
    MGVI_TRY(bind_probe(s));
    MGVI_TRY(check_checkpoints(s));
    if (s->ctx->show.fn && !mgvi_iterations_suffice(s))
        return MGVI_FAIL(s->ctx, MGV_E_UNSUPPORTED,
                         "select %.60s makes many runs, and iterates can be shown of one; leave it "
                         "out, or select last",
                         s->settings.select);
    MGVI_TRY(check_classes(s));
    MGVI_TRY(mgvi_refit_check(s));
    if (s->rule.kind == MGVI_RULE_APRIORI && !mgvi_iterations_suffice(s))
        return MGVI_FAIL(s->ctx, MGV_E_ARG,
                         "select apriori counts the iterations of an early-stopped run: --loss "
                         "equal beside it (here %s)",
                         s->probe->loss->name);
    if (mgvi_epochs_suffice(s)) {
        MGVI_TRY(read_validation(s));
        MGVI_TRY(mgvi_epochs_run(s));
    } else if (mgvi_iterations_suffice(s)) {
        MGVI_TRY(mgvi_iterations_run(s));
    } else {
        MGVI_TRY(read_validation(s));
        MGVI_TRY(mgvi_selection_split(s));
        MGVI_TRY(fill_rows(s));
        MGVI_TRY(walk_paths(s));
        MGVI_TRY(fit_chosen(s));
    }
    s->seconds = mgvi_ctx_clock(s->ctx) - started;
    return MGV_OK;
}

mgv_status mgvi_selection_run(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                              mgv_selection **out)
{
    *out = NULL;
    mgv_selection *s = mgvi_new(ctx, sizeof *s);
    if (!s)
        return MGV_E_MEMORY;
    s->ctx = ctx;
    s->data = data;
    s->settings = *settings;
    s->stable = -1;
    mgvi_arena_init(&s->arena, ctx);
    const mgv_status st = run(s);
    if (st != MGV_OK) {
        mgvi_selection_free(s);
        return st;
    }
    *out = s;
    return MGV_OK;
}

void mgvi_selection_free(mgv_selection *s)
{
    if (!s)
        return;
    mgvi_driver_free(s->solver);
    if (s->problem != s->probe)
        mgvi_problem_free(s->problem);
    mgvi_problem_free(s->probe);
    for (int k = 0; k < s->paths; k++)
        mgvi_path_free(&s->path[k]);
    mgvi_data_free(s->ctx, s->validation);
    mgvi_arena_free(&s->arena);
    mgvi_release(s->ctx, s);
}
