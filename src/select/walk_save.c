/* walk_save.c - checkpoints of paths. */
#include "select/walk.h"

#include "base/hash.h"
#include "base/limit.h"
#include "problem/member.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A point that is done, without pointers. */
typedef struct record {
    char solver[32];
    int64_t stop, iterations, nonzeros;
    double passes, seconds, norm, train_score;
    mgv_certificate certificate;
} record;

typedef struct totals {
    int64_t done;
    double spent, passes, largest;
} totals;

enum { FIXED = 4, PER_START = 2 }; /* arrays */
static const char COMMAND[] = "path", SOLVER[] = "path";

/* ---- the start of a point -------------------------------------------------------------------- */

static int64_t starts_of(const mgv_path *path)
{
    const mgv_data *data = path->problem->data;
    return !path->problem->many      ? 1
           : path->problem->pairwise ? data->classes * (data->classes - 1) / 2
                                     : data->classes;
}

static int64_t rows_of(const mgv_path *path, int64_t c)
{
    const mgv_problem *p = path->problem;
    return p->many ? mgvi_member_row_count(p, c) : p->A->rows * p->lanes;
}

static int64_t cols_of(const mgv_path *path)
{
    return path->problem->A->cols * (path->problem->many ? 1 : path->problem->lanes);
}

static void forget_starts(mgv_path *path)
{
    for (int64_t c = 0; c < path->starts; c++)
        mgvi_member_forget(path->ctx, &path->start[c]);
}

void mgvi_walk_forget(mgv_path *path)
{
    forget_starts(path);
    mgvi_release(path->ctx, path->state);
    path->state = NULL;
}

static mgv_status copy_pair(mgv_path *path, int64_t c, const double *w, const double *u)
{
    mgvi_member_start *to = &path->start[c];
    if (w && !(to->w = mgvi_dup(path->ctx, w, (size_t)cols_of(path), sizeof *w)))
        return MGV_E_MEMORY;
    if (u && !(to->u = mgvi_dup(path->ctx, u, (size_t)rows_of(path, c), sizeof *u)))
        return MGV_E_MEMORY;
    return MGV_OK;
}

/* A copy of where the last point ended, for checkpoints of this one. */
static mgv_status keep_starts(mgv_path *path)
{
    const mgv_solver *before = path->solver;
    if (!before || !path->keeper.path[0])
        return MGV_OK;
    forget_starts(path);
    if (!before->family)
        return copy_pair(path, 0, before->answer.w.x, before->answer.u.x);
    const mgvi_member_start *end = before->family->end;
    for (int64_t c = 0; end && c < path->starts; c++)
        MGVI_TRY(copy_pair(path, c, end[c].w, end[c].u));
    return MGV_OK;
}

/* A solver of a point that a checkpoint has left: it has the starts alone. */
static mgv_status follow_checkpoint(mgv_path *path, mgv_solver *solver)
{
    mgvi_family *f = solver->family;
    MGVI_TRY(mgvi_driver_follow(solver, NULL));
    for (int64_t c = 0; f && c < f->members; c++) {
        f->left[c].start = path->start[c];
        path->start[c] = (mgvi_member_start){0};
        MGVI_TRY(copy_pair(path, c, f->left[c].start.w, f->left[c].start.u));
    }
    const double touched = solver->run.touched, work = solver->run.work;
    if (!f && path->start[0].w)
        MGVI_TRY(mgvi_driver_start(solver, path->start[0].w, path->start[0].u));
    if (f || !path->state)
        return MGV_OK;
    solver->run.touched = touched; /* the state has counted its start */
    solver->run.work = work;
    return mgvi_checkpoint_parse(solver, "the state of a point", path->state, path->state_size);
}

mgv_status mgvi_walk_start(mgv_path *path, mgv_solver *solver)
{
    solver->of.command = COMMAND;
    if (path->keeper.path[0] && !solver->family) {
        solver->settings.checkpoint = path->keeper.path;
        solver->settings.every = path->keeper.every;
        solver->keeper.tell = mgvi_walk_save;
        solver->keeper.whom = path;
    }
    if (!path->solver && path->done + (path->state != NULL) > 0)
        return follow_checkpoint(path, solver);
    MGVI_TRY(keep_starts(path));
    return mgvi_driver_follow(solver, path->solver);
}

/* ---- out ------------------------------------------------------------------------------------- */

/* Whether a budget is spent: then even a certified run may have ended before it was done. */
static bool is_spent(const mgv_path *path, const mgv_solver *solver)
{
    const mgvi_summary run = mgvi_driver_summary(solver);
    return run.stop == MGV_STOP_TIME || run.stop == MGV_STOP_USER ||
           run.stop == MGV_STOP_MAX_PASSES ||
           path->passes + run.passes >= path->settings.max_passes ||
           mgvi_ctx_late(path->ctx) != MGV_STOP_NONE;
}

/* The last point too stays under way: who calls has yet to save its model. */
static bool is_end(const mgv_path *path, const mgv_solver *solver)
{
    return path->done + 1 == path->count || is_spent(path, solver);
}

static void fill(const mgv_path *path, record *r, double *strengths)
{
    for (int64_t k = 0; k < path->count; k++) {
        strengths[2 * k] = path->point[k].lambda;
        strengths[2 * k + 1] = path->point[k].mu;
    }
    memset(r, 0, (size_t)path->done * sizeof *r);
    for (int64_t k = 0; k < path->done; k++) {
        const mgvi_walk_point *p = &path->point[k];
        snprintf(r[k].solver, sizeof r[k].solver, "%s", p->summary.solver);
        r[k].stop = p->summary.stop;
        r[k].iterations = p->summary.iterations;
        r[k].passes = p->summary.passes;
        r[k].seconds = p->summary.seconds;
        r[k].certificate = p->summary.certificate;
        r[k].nonzeros = p->nonzeros;
        r[k].norm = p->norm;
        r[k].train_score = p->train_score;
    }
}

static mgv_status put(void *arg, mgvi_checkpoint_goal *to)
{
    mgv_path *path = arg;
    const mgv_solver *run = path->running;
    const totals sums = {
        .done = path->done, .spent = path->spent, .passes = path->passes, .largest = path->largest};
    const mgvi_checkpoint_id id = {COMMAND, SOLVER, path->print};
    mgvi_arena arena;
    void *state = NULL;
    size_t size = 0;
    int count = 0;
    mgvi_arena_init(&arena, path->ctx);
    mgvi_tensor *tensor =
        mgvi_arena_array(&arena, (size_t)(FIXED + PER_START * path->starts), sizeof *tensor);
    record *done = mgvi_arena_array(&arena, (size_t)path->done + 1, sizeof *done);
    double *strengths = mgvi_arena_array(&arena, (size_t)path->count, 2 * sizeof *strengths);
    mgv_status st = tensor && done && strengths ? MGV_OK : MGV_E_MEMORY;
    const bool whole = run && !run->family && (!run->cut || run->keeper.whole.bytes);
    if (st == MGV_OK && whole)
        st = mgvi_checkpoint_pack(run, &state, &size);
    if (st == MGV_OK) {
        fill(path, done, strengths);
        const mgvi_tensor fixed[] = {
            mgvi_checkpoint_array(MGVI_T_U8, sizeof sums, &sums, "path", 0),
            mgvi_checkpoint_array(MGVI_T_U8, path->done * (int64_t)sizeof *done, done, "points", 0),
            mgvi_checkpoint_array(MGVI_T_F64, 2 * path->count, strengths, "strengths", 0),
            mgvi_checkpoint_array(MGVI_T_U8, (int64_t)size, state, "state", 0)};
        count = state ? 4 : 3;
        memcpy(tensor, fixed, (size_t)count * sizeof *tensor);
        for (int64_t c = 0; path->done < path->count && c < path->starts; c++)
            count += mgvi_member_start_put(&path->start[c], c, rows_of(path, c), cols_of(path),
                                           tensor + count);
        st = mgvi_checkpoint_put(path->ctx, &id, tensor, count, to);
    }
    mgvi_release(path->ctx, state);
    mgvi_arena_free(&arena);
    return st;
}

mgv_status mgvi_walk_save(void *arg, const void *run)
{
    mgv_path *path = arg;
    const mgv_solver *solver = run;
    const bool end = solver->stop != MGV_STOP_NONE && is_end(path, solver);
    return end ? mgvi_keeper_end(&path->keeper, false) : mgvi_keeper_after(&path->keeper);
}

mgv_status mgvi_walk_between(mgv_path *path)
{
    MGVI_TRY(keep_starts(path));
    return mgvi_keeper_end(&path->keeper, false);
}

mgv_status mgvi_walk_saved(mgv_path *path, const mgv_solver *solver)
{
    if (is_end(path, solver)) /* the state is that of the point where it broke */
        return mgvi_keeper_end(&path->keeper, false);
    mgvi_release(path->ctx, path->state);
    path->state = NULL;
    return MGV_OK;
}

/* ---- back ------------------------------------------------------------------------------------ */

static mgv_status damaged(const mgv_path *path, const char *name)
{
    return MGVI_FAIL(path->ctx, MGV_E_INPUT,
                     "%s: the state of the path is damaged; resume from another checkpoint", name);
}

static mgv_status take_point(mgv_path *path, const char *name, const record *r, int64_t k)
{
    char solver[sizeof r->solver + 1] = {0};
    memcpy(solver, r->solver, sizeof r->solver);
    const mgvi_solver_ops *ops = mgvi_solver_find(solver);
    if (!ops || r->stop <= MGV_STOP_NONE || r->stop > MGV_STOP_SCHEDULE || r->iterations < 0)
        return damaged(path, name);
    mgvi_walk_point *p = &path->point[k];
    p->summary = (mgvi_summary){.solver = ops->name,
                                .stop = (mgv_stop)r->stop,
                                .iterations = r->iterations,
                                .passes = r->passes,
                                .seconds = r->seconds,
                                .certificate = r->certificate};
    p->nonzeros = r->nonzeros;
    p->norm = r->norm;
    p->train_score = r->train_score;
    return MGV_OK;
}

static mgv_status take(void *arg, const char *name, const mgvi_tensors *file)
{
    mgv_path *path = arg;
    mgv_ctx *ctx = path->ctx;
    const void *data;
    totals sums;
    MGVI_TRY(mgvi_tensors_need(ctx, file, "path", MGVI_T_U8, 1, sizeof sums, -1, &data));
    memcpy(&sums, data, sizeof sums);
    if (sums.done < 0 || sums.done > path->count || !(sums.spent >= 0) || !(sums.passes >= 0))
        return damaged(path, name);
    MGVI_TRY(mgvi_tensors_need(ctx, file, "points", MGVI_T_U8, 1,
                               sums.done * (int64_t)sizeof(record), -1, &data));
    for (int64_t k = 0; k < sums.done; k++) {
        record r;
        memcpy(&r, (const char *)data + (size_t)k * sizeof r, sizeof r);
        MGVI_TRY(take_point(path, name, &r, k));
    }
    /* a budget may have ended the search for the largest one */
    MGVI_TRY(mgvi_tensors_need(ctx, file, "strengths", MGVI_T_F64, 1, 2 * path->count, -1, &data));
    for (int64_t k = 0; k < path->count; k++) {
        path->point[k].lambda = ((const double *)data)[2 * k];
        path->point[k].mu = ((const double *)data)[2 * k + 1];
        if (path->point[k].lambda < 0 || path->point[k].mu < 0)
            return damaged(path, name);
    }
    path->largest = sums.largest;
    for (int64_t c = 0; c < path->starts; c++)
        MGVI_TRY(
            mgvi_member_start_take(ctx, file, c, rows_of(path, c), cols_of(path), &path->start[c]));
    MGVI_TRY(mgvi_checkpoint_copy(ctx, file, "state", 0, MGVI_T_U8, -1, &path->state,
                                  &path->state_size));
    path->done = sums.done;
    path->spent = sums.spent;
    path->passes = sums.passes;
    return MGV_OK;
}

mgv_status mgvi_walk_parse(mgv_path *path, const char *name, const void *bytes, size_t size)
{
    const mgvi_checkpoint_heir heir = {{COMMAND, SOLVER, path->print}, path, take};
    return mgvi_checkpoint_take(path->ctx, &heir, name, bytes, size);
}

/* What the strengths follow from, and every setting that may steer a solver. */
uint64_t mgvi_walk_print(const mgv_path *path, const mgv_settings *settings)
{
    uint64_t h = mgvi_problem_print(path->problem, &path->settings);
    const int64_t counts[] = {settings->max_iter, settings->path_points, path->along_mu};
    h = mgvi_hash(h, counts, sizeof counts);
    h = mgvi_hash(h, &settings->path_end, sizeof settings->path_end);
    h = mgvi_hash_text(h, settings->strengths);
    for (size_t k = 0; k < mgvi_setting_count(); k++) {
        char value[MGVI_TEXT_MAX];
        mgv_setting_info info = {.size = sizeof info};
        if (mgvi_setting_at(k, &info) == MGV_OK && strcmp(info.group, "solver") == 0 &&
            mgvi_settings_get(path->ctx, settings, info.name, value, sizeof value) == MGV_OK)
            h = mgvi_hash_text(h, value);
    }
    return h;
}

mgv_status mgvi_walk_begin(mgv_path *path, const mgv_settings *settings)
{
    MGVI_TRY(mgvi_keeper_begin(&path->keeper, path->ctx, settings, path, put));
    path->start = mgvi_arena_array(&path->arena, (size_t)starts_of(path), sizeof *path->start);
    if (!path->start)
        return MGV_E_MEMORY;
    path->starts = starts_of(path);
    return settings->resume[0] ? mgvi_walk_parse(path, settings->resume, NULL, 0) : MGV_OK;
}
