/* walk.c - a grid of strengths, from the largest down, each with a warm start. */
#include "select/walk.h"

#include "base/limit.h"
#include "select/strength.h"
#include "solver/classes/family.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the path goes along ---------------------------------------------------------------- */

/* Whether mu is the strength of the penalty that the settings name. */
static bool named_norm(const mgv_settings *s)
{
    const mgvi_penalty_ops *penalty = mgvi_penalty_find(s->penalty);
    return penalty && (penalty->can & MGVI_NORM);
}

/* The strength that is not given; mu for penalty l1 and other norms. */
static bool choose_along(const mgv_settings *s)
{
    if (s->along != MGVI_ALONG_AUTO)
        return s->along == MGVI_ALONG_MU;
    return named_norm(s) || !isnan(s->lambda);
}

/* Settings that bind: the strength of the path gets a number until its points have theirs. */
static mgv_status settle_strengths(mgv_ctx *ctx, bool along_mu, mgv_settings *s)
{
    const bool has_lambda = !isnan(s->lambda);
    if (!isnan(s->C))
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "C is given, but the strength is what a path goes along: leave it out, or "
                         "give --lambda for a part that stays");
    if (along_mu && !isnan(s->mu))
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "mu is given, but it is what the path goes along: leave it out, or list "
                         "--strengths");
    if (!along_mu && has_lambda)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "lambda is given, but it is what the path goes along: leave it out, or "
                         "list --strengths");
    if (!along_mu && named_norm(s))
        return MGVI_FAIL(ctx, MGV_E_ARG, "penalty %s has no path along lambda; say --along mu",
                         s->penalty);
    if (along_mu) {
        s->mu = 1;
        if (!has_lambda)
            s->lambda = 0;
    } else {
        s->lambda = 1;
    }
    s->checkpoint = s->resume = "";
    return MGV_OK;
}

static mgv_status check_problem(const mgv_path *path)
{
    const mgv_problem *p = path->problem;
    const char *name = p->penalty->name;
    const bool norm = p->penalty->can & MGVI_NORM, enet = mgvi_problem_is_net(p);
    if ((p->loss->can & MGVI_JOINT) && path->along_mu)
        return MGVI_FAIL(path->ctx, MGV_E_UNSUPPORTED,
                         "loss %s knows penalty l2 alone; sparse weights of each class: --loss "
                         "logistic --penalty l1",
                         p->loss->name);
    if (p->data->col_weights)
        return MGVI_FAIL(path->ctx, MGV_E_UNSUPPORTED, "a path takes no penalty weights");
    if (p->loss->can & MGVI_HARD)
        return MGVI_FAIL(path->ctx, MGV_E_ARG,
                         "loss %s is a constraint and has no strength to follow", p->loss->name);
    if ((p->penalty->can & MGVI_HARD) && !norm)
        return MGVI_FAIL(path->ctx, MGV_E_ARG,
                         "penalty %s is a constraint and has no strength to follow", name);
    if (path->along_mu ? !norm && !enet : norm)
        return MGVI_FAIL(path->ctx, MGV_E_ARG, "penalty %s has no path along %s", name,
                         path->along_mu ? "mu" : "lambda");
    return MGV_OK;
}

/* ---- the strengths --------------------------------------------------------------------------- */

static int falling(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

/* The numbers between commas, largest first. */
static mgv_status listed(mgv_path *path, double *value)
{
    char text[MGVI_TEXT_MAX], *rest = text, *item;
    snprintf(text, sizeof text, "%s", path->settings.strengths);
    while ((item = strsep(&rest, ","))) {
        double x;
        if (!mgvi_parse_real(item, &x) || !(x > 0) || isinf(x))
            return MGVI_FAIL(path->ctx, MGV_E_ARG,
                             "strengths has '%.40s'; allowed: numbers above 0 with commas between",
                             item);
        value[path->count++] = x;
    }
    qsort(value, (size_t)path->count, sizeof *value, falling);
    path->largest = value[0];
    return MGV_OK;
}

enum { POINTS = 100 };
static const double END = 1e-3;
static int64_t points_wanted(const mgv_settings *s)
{
    return s->path_points ? s->path_points : POINTS;
}

/* From the largest down to `path_end` of it, evenly in the logarithm. */
static mgv_status graded(mgv_path *path, double *value)
{
    const mgv_settings *s = &path->settings;
    if (path->along_mu)
        MGVI_TRY(mgvi_largest_mu(path->problem, s, &path->largest));
    else
        MGVI_TRY(mgvi_largest_lambda(path->problem, s, &path->largest));
    if (!(path->largest > 0) || isinf(path->largest))
        return MGVI_FAIL(path->ctx, MGV_E_INPUT,
                         "w = 0 is the solution for every mu: no column tells the labels apart");
    const int64_t points = path->count = points_wanted(s);
    const double end = isnan(s->path_end) ? END : s->path_end;
    for (int64_t k = 0; k < points; k++)
        value[k] = path->largest * pow(end, k > 0 ? (double)k / (double)(points - 1) : 0);
    return MGV_OK;
}

static mgv_status choose_points(mgv_path *path)
{
    int64_t most = points_wanted(&path->settings);
    for (const char *at = path->settings.strengths; *at; at++)
        most += *at == ',';
    double *value = mgvi_arena_array(&path->arena, (size_t)most + 1, sizeof *value);
    path->point = mgvi_arena_array(&path->arena, (size_t)most + 1, sizeof *path->point);
    if (!value || !path->point)
        return MGV_E_MEMORY;
    const double lambda = path->problem->lambda, mu = path->problem->mu;
    MGVI_TRY(path->settings.strengths[0] ? listed(path, value) : graded(path, value));
    for (int64_t k = 0; k < path->count; k++) {
        path->point[k].lambda = path->along_mu ? lambda : value[k];
        path->point[k].mu = path->along_mu ? value[k] : mu;
    }
    return MGV_OK;
}

/* Many runs have no common score of the data unless it is made. */
static mgv_status open_ballot(mgv_path *path)
{
    const mgv_problem *p = path->problem;
    const int64_t n = p->data->X.rows;
    if (!p->many)
        return MGV_OK;
    int64_t *row = mgvi_arena_array(&path->arena, (size_t)n, sizeof *row);
    if (!row)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < n; i++)
        row[i] = i;
    const mgvi_electorate rows = {
        .X = &p->data->X, .row = row, .count = n, .row_scale = p->view.row_scale};
    return mgvi_ballot_new(&path->arena, p, &rows, &path->ballot);
}

mgv_status mgvi_walk_new(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings, mgv_path **out)
{
    mgv_status st = MGV_OK;
    *out = NULL;
    mgv_path *path = mgvi_new(ctx, sizeof *path);
    if (!path)
        return MGV_E_MEMORY;
    path->ctx = ctx;
    path->settings = *settings;
    path->along_mu = choose_along(settings);
    mgvi_arena_init(&path->arena, ctx);
    MGVI_CHECK(st, done, settle_strengths(ctx, path->along_mu, &path->settings));
    MGVI_CHECK(st, done, mgvi_problem_new_in_time(ctx, data, &path->settings, &path->problem));
    MGVI_CHECK(st, done, check_problem(path));
    if (settings->checkpoint[0] || settings->resume[0])
        path->print = mgvi_walk_print(path, settings);
    MGVI_CHECK(st, done, choose_points(path));
    MGVI_CHECK(st, done, open_ballot(path));
    MGVI_CHECK(st, done, mgvi_walk_begin(path, settings));
    *out = path;
    path = NULL;
done:
    mgvi_walk_free(path);
    return st;
}

void mgvi_walk_free(mgv_path *path)
{
    if (!path)
        return;
    mgvi_walk_forget(path);
    mgvi_keeper_free(&path->keeper);
    mgvi_driver_free(path->solver);
    mgvi_ballot_free(&path->ballot);
    mgvi_problem_free(path->problem);
    mgvi_arena_free(&path->arena);
    mgvi_release(path->ctx, path);
}

/* ---- points ---------------------------------------------------------------------------------- */

/* The run of the next point, started from the last one's answer. */
static mgv_status run_point(mgv_path *path, const mgv_settings *settings, mgv_solver **out)
{
    const mgvi_walk_point *point = &path->point[path->done];
    MGVI_TRY(mgvi_problem_set_strengths(path->problem, point->lambda, point->mu));
    MGVI_TRY(mgvi_driver_new(path->ctx, path->problem, settings, out));
    MGVI_TRY(mgvi_walk_start(path, *out));
    path->running = *out;
    const mgv_status st = mgvi_driver_run(*out);
    path->running = NULL;
    return st;
}

/* Many runs: the share of all rows that their vote gets right. */
static double vote_score(mgv_path *path, const mgvi_family *f)
{
    const mgv_data *data = path->problem->data;
    double right = 0;
    if (mgvi_ballot_hold(&path->ballot, f->coef, f->intercept) != MGV_OK)
        return NAN; /* its rows are the examples: no memory is asked for */
    for (int64_t i = 0; i < data->X.rows; i++)
        right += mgvi_ballot_class(&path->ballot, i) == mgvi_data_class_of(data, data->labels[i]);
    return right / (double)data->X.rows;
}

/* The length of all their weights together. */
static double family_norm(const mgv_problem *p, const mgvi_family *f)
{
    if (p->kernel.kind != MGVI_KERNEL_LINEAR)
        return mgvi_lp_norm(f->length, f->members, 2);
    return mgvi_lp_norm(f->coef, f->members * mgvi_problem_coefs(p), isnan(p->p) ? 2 : p->p);
}

static void record(mgv_path *path)
{
    const mgv_solver *solver = path->solver;
    const mgv_problem *p = path->problem;
    const mgvi_family *f = solver->family;
    mgvi_walk_point *point = &path->point[path->done++];
    const double *w = solver->answer.w.x;
    point->summary = mgvi_driver_summary(solver);
    point->nonzeros = f ? mgvi_count_nonzeros(f->coef, f->members * mgvi_problem_coefs(p))
                        : mgvi_problem_nonzeros(p, w);
    point->norm = f ? family_norm(p, f) : mgvi_problem_user_norm(p, w);
    point->train_score = f ? vote_score(path, f) : solver->answer_verdict.train_score;
    path->spent += point->summary.seconds;
    path->passes += point->summary.passes;
}

mgv_status mgvi_walk_next(mgv_path *path, const mgv_solver **out)
{
    *out = NULL;
    mgv_settings settings = path->settings;
    settings.time_limit -= path->spent;
    settings.max_passes -= path->passes;
    if (path->done == path->count)
        return MGV_OK;
    if (!(settings.time_limit > 0) || !(settings.max_passes > 0) ||
        (path->done > 0 && mgvi_ctx_late(path->ctx) == MGV_STOP_TIME))
        return mgvi_walk_between(path);
    mgv_solver *solver = NULL;
    mgv_status st = run_point(path, &settings, &solver);
    if (st == MGV_OK)
        st = mgvi_walk_saved(path, solver);
    if (st != MGV_OK) {
        mgvi_driver_free(solver);
        return st;
    }
    mgvi_driver_free(path->solver);
    *out = path->solver = solver;
    record(path);
    return MGV_OK;
}
