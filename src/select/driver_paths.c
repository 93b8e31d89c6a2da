/* driver_paths.c - paths through the driver, for every loss, penalty and solver: by strength, each
 * point a run to a loose certificate that starts at the point before; and by iteration, the lanes
 * stepping side by side. */
#include "select/paths.h"

#include "base/event.h"
#include "base/limit.h"
#include "base/print.h"
#include "problem/member.h"
#include "select/drive.h"
#include "select/strength.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    STRENGTHS = 16,       /* of a path by strength */
    STRENGTH_PATIENCE = 4 /* strengths without improvement after which it ends */
};
static const double END = 1e-5, LOOSE = 1e-3;

/* ---- by strength ----------------------------------------------------------------------------- */

/* A run of its own, silent: the path's points are the news. */
static mgv_status run_lane(mgvi_drive *d, int32_t l)
{
    mgvi_drive_lane *own = &d->lanes[l];
    mgv_ctx *ctx = d->s->ctx;
    const mgv_event_fn listener = ctx->on_event;
    mgv_solver *before = own->solver;
    if (d->graded)
        MGVI_TRY(mgvi_problem_set_strengths(own->problem, d->lambda, d->mu));
    own->solver = NULL;
    ctx->on_event = NULL;
    mgv_status st = mgvi_driver_new(ctx, own->problem, &d->settings, &own->solver);
    if (st == MGV_OK)
        st = mgvi_driver_follow(own->solver, before);
    mgvi_driver_free(before);
    if (st == MGV_OK)
        st = mgvi_driver_run(own->solver);
    ctx->on_event = listener;
    MGVI_TRY(st);
    mgvi_path_look(d->path, d->path->passes + mgvi_driver_summary(own->solver).passes);
    d->path->cut = d->path->cut || own->solver->stop == MGV_STOP_MAX_PASSES;
    mgvi_driver_retire(own->solver); /* the next begins at its answer */
    return MGV_OK;
}

/* Where the search is: fit t of a strength, and what was best so far. */
static void tell_progress(const mgvi_drive *d, int32_t t, int32_t lanes)
{
    const mgvi_path *path = d->path;
    char best[64] = "", fit[32] = "all rows";
    if (path->best >= 0 && d->s->probe->classify)
        mgvi_print(best, sizeof best, ", best so far %.1f %%",
                   100 * (1 - path->point[path->best].error));
    else if (path->best >= 0)
        mgvi_print(best, sizeof best, ", best so far %.4g", path->point[path->best].error);
    if (t > 0)
        snprintf(fit, sizeof fit, "fold %d of %d", (int)t, (int)lanes - 1);
    mgvi_event_progress(d->s->ctx, "strength %d of %d or more, %s%s", (int)path->count + 1,
                        STRENGTHS, fit, best);
}

/* All lanes, the full fit first: it is what is left where the limit strikes. w[l] is NULL for lanes
 * that were not solved. */
static mgv_status run_lanes(mgvi_drive *d, const mgvi_vec **w)
{
    const int32_t lanes = d->s->split.lanes;
    for (int32_t l = 0; l < lanes; l++)
        w[l] = NULL;
    for (int32_t t = 0; t < lanes && (t == 0 || !d->path->cut); t++) {
        const int32_t l = t == 0 ? lanes - 1 : t - 1;
        tell_progress(d, t, lanes);
        d->settings.max_passes = fmax(d->path->most_passes - d->path->passes, 0);
        MGVI_TRY(run_lane(d, l));
        if (t == 0 || !d->path->cut)
            w[l] = &d->lanes[l].solver->answer.w;
    }
    return MGV_OK;
}

/* Strengths of the grid; patience is a stretch of it, however fine it is. */
static int64_t grid_points(const mgvi_drive *d)
{
    return d->s->settings.path_points ? d->s->settings.path_points : STRENGTHS;
}
static int64_t grid_patience(const mgvi_drive *d)
{
    const int64_t wanted = d->s->settings.patience_points;
    const int64_t fine = grid_points(d) * STRENGTH_PATIENCE;
    return wanted                                 ? wanted
           : fine > STRENGTHS * STRENGTH_PATIENCE ? fine / STRENGTHS
                                                  : STRENGTH_PATIENCE;
}

/* Strong penalties may all be equally bad: patience begins with the first improvement. A grid that
 * nobody asked for goes on when its end is the best. */
static bool another_strength(const mgvi_drive *d, int64_t done)
{
    const mgv_settings *set = &d->s->settings;
    const int64_t since = mgvi_path_since_best(d->path);
    const bool own = set->path_points == 0 && isnan(set->path_end);
    if (done == 0)
        return true;
    if (mgvi_path_look(d->path, d->path->passes) ||
        (d->path->best > 0 && since >= grid_patience(d)))
        return false;
    return done < grid_points(d) || (own && d->path->best > 0 && since < 2 && done < 2 * STRENGTHS);
}

static mgv_status walk_strengths(mgvi_drive *d)
{
    mgv_selection *s = d->s;
    const mgv_settings *set = &s->settings;
    mgv_problem *full = d->lanes[s->split.lanes - 1].problem;
    const bool norm = full->penalty->can & MGVI_NORM;
    const bool sparse = norm || mgvi_problem_is_net(full);
    const double end = isnan(set->path_end) ? END : set->path_end;
    const int64_t points = grid_points(d);
    double most;
    d->settings.tol = fmax(d->settings.tol, LOOSE); /* the chosen one is solved to the user's */
    if (sparse)
        MGVI_TRY(mgvi_largest_mu(full, &d->settings, &most));
    else
        MGVI_TRY(mgvi_largest_lambda(full, &d->settings, &most));
    if (!(most > 0) || isinf(most))
        return MGVI_FAIL(s->ctx, MGV_E_INPUT,
                         "w = 0 is the solution for every strength: no column tells the labels "
                         "apart");
    for (int64_t q = 0; another_strength(d, q); q++) {
        const double strength = most * pow(end, points > 1 ? (double)q / (double)(points - 1) : 0);
        const double share = (1 - set->enet_share) / set->enet_share;
        const double lambda = !sparse              ? strength
                              : norm               ? 0
                              : isnan(set->lambda) ? share * strength
                                                   : set->lambda;
        const mgvi_vec *w[MGVI_SPLIT_LANES];
        d->graded = true;
        d->lambda = lambda;
        d->mu = sparse ? strength : 0;
        MGVI_TRY(run_lanes(d, w));
        if (d->path->cut && d->path->count > 0)
            break; /* the strengths before are whole */
        const mgvi_path_point point = {.lambda = norm ? NAN : lambda,
                                       .mu = sparse ? strength : NAN};
        MGVI_TRY(mgvi_drive_add_point(d, point, w));
    }
    return MGV_OK;
}

/* Folds with their own lambda where it follows from C and their rows, as LIBLINEAR has it. */
static mgv_status walk_given(mgvi_drive *d)
{
    const mgv_problem *full = d->lanes[d->s->split.lanes - 1].problem;
    const bool norm = full->penalty->can & MGVI_NORM;
    d->settings.tol = fmax(d->settings.tol, LOOSE);
    const mgvi_path_point point = {.lambda = norm ? NAN : full->lambda,
                                   .mu = full->mu > 0 ? full->mu : NAN};
    const mgvi_vec *w[MGVI_SPLIT_LANES];
    MGVI_TRY(run_lanes(d, w));
    return mgvi_drive_add_point(d, point, w);
}

/* ---- by iteration ---------------------------------------------------------------------------- */

/* Solvers that have a cheaper form for runs that stop early are told so (stop/stop.h). */
static mgv_status choose_form(mgvi_drive *d)
{
    const mgv_problem *p = d->lanes[d->s->split.lanes - 1].problem;
    const mgvi_solver_ops *ops = mgvi_solver_find(d->settings.solver);
    if (mgvi_is_auto(d->settings.solver))
        MGVI_TRY(mgvi_solver_auto(d->s->ctx, p, &d->settings, 0, &ops));
    d->path->early = ops && ops->residual && (p->loss->can & MGVI_HARD);
    d->settings.select = d->path->early ? "last" : "none";
    return MGV_OK;
}

/* One step of every lane that has any left. */
static mgv_status step_lanes(mgvi_drive *d, bool *finished)
{
    double passes = 0;
    *finished = true;
    for (int32_t l = 0; l < d->s->split.lanes && !d->path->cut; l++) {
        mgv_solver *solver = d->lanes[l].solver;
        if (!mgvi_driver_done(solver))
            MGVI_TRY(mgvi_driver_step(solver));
        d->path->cut = solver->cut || mgvi_ctx_late(d->s->ctx) != MGV_STOP_NONE;
        *finished = *finished && !d->path->cut && mgvi_driver_done(solver);
        passes += mgvi_driver_passes(solver);
    }
    mgvi_path_look(d->path, passes);
    return MGV_OK;
}

/* The weights of a lane as they are. Some methods for the margin leave intercepts to the judge:
 * here they are those that are best on the lane's rows, as his are. */
static const mgvi_vec *present_weights(mgvi_drive_lane *lane)
{
    const mgvi_vec *w = mgvi_driver_present(lane->solver).w;
    if (!lane->shown.x)
        return w;
    mgv_problem *p = lane->problem;
    mgvi_vec_copy(p->ctx, w, &lane->shown);
    mgvi_op_mul(p->A, 1, w, 0, &lane->Aw);
    mgvi_problem_best_shift(p, lane->Aw.x, &lane->shown);
    return &lane->shown;
}

static mgv_status walk_iterations(mgvi_drive *d)
{
    mgv_selection *s = d->s;
    const int32_t lanes = s->split.lanes;
    mgvi_path *path = d->path;
    const mgvi_vec *w[MGVI_SPLIT_LANES] = {0};
    MGVI_TRY(choose_form(d));
    for (int32_t l = 0; l < lanes; l++)
        if (d->lanes[l].problem)
            MGVI_TRY(
                mgvi_driver_new(s->ctx, d->lanes[l].problem, &d->settings, &d->lanes[l].solver));
    for (int64_t k = 1; k <= d->settings.max_iter && (k == 1 || !path->cut); k++) {
        bool finished;
        MGVI_TRY(step_lanes(d, &finished));
        if (path->cut ? path->count > 0 : !mgvi_path_has_point(k) && !finished)
            continue;
        for (int32_t l = 0; l < lanes; l++)
            w[l] = path->cut && l < lanes - 1 ? NULL : present_weights(&d->lanes[l]);
        const mgvi_path_point point = {.lambda = NAN, .mu = NAN, .iteration = k};
        MGVI_TRY(mgvi_drive_add_point(d, point, w));
        if (finished || !mgvi_path_patient(path, k, s->settings.patience_iterations))
            break;
    }
    return MGV_OK;
}

/* ---- the methods ----------------------------------------------------------------------------- */

static mgv_status drive_path(mgv_selection *s, const mgvi_method *method, mgvi_path *path,
                             mgv_status (*walk)(mgvi_drive *))
{
    mgvi_drive d = {.s = s, .path = path, .settings = s->settings};
    if (method->penalty)
        d.settings.penalty = method->penalty;
    if (method->root)
        d.settings.scale = MGVI_SCALE_SQRT;
    if (method->loss)
        d.settings.loss = method->loss;
    if (method->solver)
        d.settings.solver = method->solver;
    d.settings = mgvi_selection_any_strength(&d.settings);
    path->outputs = (int32_t)mgvi_model_outputs(s->probe);
    mgv_status st = mgvi_drive_open(&d);
    if (st == MGV_OK)
        st = walk(&d);
    mgvi_drive_close(&d);
    return st;
}

mgv_status mgvi_walk_strengths(mgv_selection *s, const mgvi_method *method, mgvi_path *path)
{
    return drive_path(s, method, path, walk_strengths);
}

mgv_status mgvi_walk_given(mgv_selection *s, const mgvi_method *method, mgvi_path *path)
{
    return drive_path(s, method, path, walk_given);
}

mgv_status mgvi_walk_iterations(mgv_selection *s, const mgvi_method *method, mgvi_path *path)
{
    path->by = "iteration";
    return drive_path(s, method, path, walk_iterations);
}

/* ---- the iterations of one run --------------------------------------------------------------- */

/* One early-stopped run; the driver ends it (stop/stop.h). */
bool mgvi_iterations_suffice(const mgv_selection *s)
{
    return (s->probe->loss->can & MGVI_HARD) &&
           (s->rule.kind == MGVI_RULE_LAST || s->rule.kind == MGVI_RULE_DISCREPANCY ||
            s->rule.kind == MGVI_RULE_APRIORI);
}

mgv_status mgvi_iterations_run(mgv_selection *s)
{
    MGVI_TRY(mgvi_problem_new(s->ctx, s->data, &s->settings, MGVI_EVERY_CLASS, &s->problem));
    MGVI_TRY(mgvi_driver_new(s->ctx, s->problem, &s->settings, &s->solver));
    s->solver->selection = s;
    s->solver->shown = true;
    if (s->settings.resume[0])
        MGVI_TRY(mgvi_checkpoint_read(s->solver, s->settings.resume));
    MGVI_TRY(mgvi_driver_run(s->solver));
    const mgvi_run *run = &s->solver->run;
    mgvi_path *path = &s->path[0];
    mgvi_path_init(path, s->ctx, run->ops->name, "iteration");
    s->paths = 1;
    const mgvi_path_point point = {
        .lambda = NAN,
        .mu = NAN,
        .iteration = run->iteration,
        .gap = NAN,
        .residual = run->ops->residual ? run->ops->residual(run) : NAN,
        .nonzeros = mgvi_count_nonzeros(s->solver->answer.w.x, mgvi_problem_penalised(s->problem))};
    MGVI_TRY(mgvi_path_add(path, &point, NULL, 0));
    path->chosen = 0;
    return MGV_OK;
}
