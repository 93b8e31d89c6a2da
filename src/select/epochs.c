/* epochs.c - one run over the rows that train, judged on the others after every epoch.
 * The error that chooses is the share of held-out rows misclassified; their mean loss only says
 * whether a run whose error rests is still learning. docs/algorithms/probing.md (6). */
#include "select/grid.h"
#include "select/selection.h"

#include "backend/joint_terms.h"
#include "base/hash.h"
#include "base/limit.h"
#include "base/threads.h"
#include "op/float_rows.h"
#include "op/stats.h"
#include "simd/pass_kernels.h"
#include "simd/simd.h"
#include "solver/keeper.h"

#include <math.h>
#include <string.h>

enum { PATIENCE = 3, ROWS_AT_ONCE = 32, TASK_ROWS = 256, MOST_TASKS = 32 };
static const double STILL_LEARNING = 0.02; /* a fall of the mean loss by this share */
static const float TOO_LOW = -1e30f;       /* the score of padding */

/* Held-out rows and what they make of a model. */
typedef struct jury {
    mgv_selection *s;
    mgvi_float_rows rows;
    int64_t count, tasks;
    int32_t *row, *c;     /* the rows and their classes */
    double *weight;       /* of every row */
    float *rounded;       /* the same */
    float *v, *start;     /* the model in the data's units: k x stride and width */
    float *z, *room;      /* per task: ROWS_AT_ONCE x width, and x d unless rows are in place */
    double *wrong, *loss; /* per task */
    int32_t k;
    int width; /* k and d, padded to whole vectors */
    int64_t stride;
    double total; /* of the weights */
} jury;

/* Where the run is: plain numbers, for checkpoints. */
typedef struct place {
    double least_loss, seconds;
    int64_t resting; /* half epochs without a better error; a clearly lower loss is half of one */
    int64_t epochs;
} place;

typedef struct course {
    mgv_selection *s;
    jury j;
    place at;
    double started;
    uint64_t print;
    mgvi_keeper keeper;
} course;

/* ---- held-out rows --------------------------------------------------------------------------- */

static mgv_status take_file_rows(jury *j)
{
    const mgv_selection *s = j->s;
    const mgv_data *v = s->validation;
    for (int64_t i = 0; i < v->X.rows; i++) {
        int64_t c;
        MGVI_TRY(mgvi_selection_class(s, i, &c));
        j->row[j->count] = (int32_t)i;
        j->c[j->count] = (int32_t)c;
        j->weight[j->count++] = v->weights ? v->weights[i] : 1;
    }
    return MGV_OK;
}

/* Takes the held-out rows' weights away from the problem, and keeps them here. */
static mgv_status take_own_rows(jury *j)
{
    mgv_selection *s = j->s;
    const mgvi_split *split = &s->split;
    for (int64_t i = 0; i < split->rows; i++) {
        if (mgvi_split_trains(split, i, 0))
            continue;
        j->row[j->count] = (int32_t)i;
        j->c[j->count] = (int32_t)mgvi_problem_target(s->probe, i);
        j->weight[j->count++] = mgvi_coef_pick(&s->probe->row.scale, i, 0);
    }
    return mgvi_problem_leave_out(s->probe, j->row, j->count);
}

static mgv_status allocate_jury(jury *j, int64_t most)
{
    mgvi_arena *arena = &j->s->arena;
    const int64_t d = j->rows.m.cols;
    const size_t wide = (size_t)j->width * sizeof(float);
    j->row = mgvi_arena_array(arena, (size_t)most, sizeof *j->row);
    j->c = mgvi_arena_array(arena, (size_t)most, sizeof *j->c);
    j->weight = mgvi_arena_array(arena, (size_t)most, sizeof *j->weight);
    j->rounded = mgvi_arena_array(arena, (size_t)most, sizeof *j->rounded);
    j->v = mgvi_arena_array(arena, (size_t)j->k, (size_t)j->stride * sizeof *j->v);
    j->start = mgvi_arena_array(arena, 1, wide);
    j->tasks = mgvi_block_count(most, TASK_ROWS, MOST_TASKS);
    j->wrong = mgvi_arena_array(arena, (size_t)j->tasks, sizeof *j->wrong);
    j->loss = mgvi_arena_array(arena, (size_t)j->tasks, sizeof *j->loss);
    j->z = mgvi_arena_array(arena, (size_t)(j->tasks * ROWS_AT_ONCE), wide);
    if (!j->rows.in_place)
        j->room =
            mgvi_arena_array(arena, (size_t)(j->tasks * ROWS_AT_ONCE), (size_t)d * sizeof *j->room);
    return j->row && j->c && j->weight && j->rounded && j->v && j->start && j->wrong && j->loss &&
                   j->z && (j->rows.in_place || j->room)
               ? MGV_OK
               : MGV_E_MEMORY;
}

/* Rows divided by their norms are so here too. */
static mgv_status scale_rows(jury *j)
{
    const mgv_selection *s = j->s;
    if (!s->probe->view.row_scale)
        return MGV_OK;
    j->rows.in_place = false;
    j->rows.view.row_scale = s->probe->view.row_scale;
    if (!s->validation)
        return MGV_OK;
    double *norm = mgvi_arena_array(&j->s->arena, (size_t)s->validation->X.rows, sizeof *norm);
    if (!norm)
        return MGV_E_MEMORY;
    MGVI_TRY(mgvi_matrix_row_norms(s->ctx, &s->validation->X, norm));
    for (int64_t i = 0; i < s->validation->X.rows; i++)
        norm[i] = norm[i] > 0 ? 1 / norm[i] : 1;
    j->rows.view.row_scale = norm;
    return MGV_OK;
}

static mgv_status call_jury(jury *j)
{
    mgv_selection *s = j->s;
    const bool file = s->validation != NULL;
    int64_t most = 0;
    j->k = s->probe->lanes;
    j->width = (int)mgvi_pass_padded(s->ctx->simd->pass, j->k);
    if (file) {
        most = s->validation->X.rows;
        MGVI_TRY(mgvi_float_rows_of(&s->validation->X, &s->arena, &j->rows));
    } else {
        MGVI_TRY(mgvi_selection_split(s));
        MGVI_TRY(mgvi_float_rows_of(&s->data->X, &s->arena, &j->rows));
        for (int64_t i = 0; i < s->split.rows; i++)
            most += !mgvi_split_trains(&s->split, i, 0);
    }
    j->stride = mgvi_pass_padded(s->ctx->simd->pass, j->rows.m.cols);
    MGVI_TRY(scale_rows(j));
    MGVI_TRY(allocate_jury(j, most));
    MGVI_TRY(file ? take_file_rows(j) : take_own_rows(j));
    for (int64_t i = 0; i < j->count; i++) {
        j->total += j->weight[i];
        j->rounded[i] = (float)j->weight[i];
    }
    if (!(j->total > 0))
        return MGVI_FAIL(s->ctx, MGV_E_INPUT, "the held-out rows have no weight");
    return MGV_OK;
}

/* ---- their verdict --------------------------------------------------------------------------- */

static bool is_wrong(const float *z, int32_t k, int32_t c)
{
    for (int32_t l = 0; l < k; l++)
        if (z[l] > z[c] || (l < c && z[l] == z[c])) /* the first of equal scores wins */
            return true;
    return false;
}

static void judge_task(void *arg, int64_t task)
{
    jury *j = arg;
    mgv_ctx *ctx = j->s->ctx;
    const int64_t end = mgvi_block_begin(j->count, j->tasks, task + 1), d = j->rows.m.cols;
    double wrong = 0, loss = 0;
    for (int64_t first = mgvi_block_begin(j->count, j->tasks, task); first < end;
         first += ROWS_AT_ONCE) {
        const int count = (int)(end - first < ROWS_AT_ONCE ? end - first : ROWS_AT_ONCE);
        const float *x[ROWS_AT_ONCE];
        float *z = j->z + task * ROWS_AT_ONCE * j->width;
        float *room = j->room ? j->room + task * ROWS_AT_ONCE * d : NULL;
        for (int i = 0; i < count; i++)
            x[i] = mgvi_float_row(&j->rows, j->row[first + i], room ? room + i * d : NULL);
        ctx->simd->pass->scores(x, count, d, j->v, j->stride, j->k, j->start, j->width, z, NULL);
        for (int i = 0; i < count; i++)
            wrong += j->weight[first + i] * is_wrong(z + i * j->width, j->k, j->c[first + i]);
        loss += mgvi_joint_rows_f32(ctx, j->s->probe->loss, z, count, j->k, j->width, j->c + first,
                                    j->rounded + first);
    }
    j->wrong[task] = wrong;
    j->loss[task] = loss;
}

/* The share of the rows that w, in the problem's units, misclassifies, and their mean loss. */
static double judge(jury *j, const mgvi_vec *w, double *loss)
{
    const mgv_problem *p = j->s->probe;
    const int64_t d = j->rows.m.cols;
    double wrong = 0;
    *loss = 0;
    for (int32_t c = 0; c < j->width; c++) {
        double start = c < j->k && p->free_cols ? w->x[d * j->k + c] : 0;
        for (int64_t f = 0; f < d && c < j->k; f++) {
            const double v = mgvi_view_scale(&p->view, f) * w->x[f * j->k + c];
            j->v[c * j->stride + f] = (float)v;
            start -= p->view.centre ? p->view.centre[f] * v : 0;
        }
        j->start[c] = c < j->k ? (float)start : TOO_LOW;
    }
    mgvi_ctx_run(j->s->ctx, j->tasks, judge_task, j);
    for (int64_t t = 0; t < j->tasks; t++) {
        wrong += j->wrong[t];
        *loss += j->loss[t];
    }
    *loss /= j->total;
    return wrong / j->total;
}

/* ---- the run --------------------------------------------------------------------------------- */

bool mgvi_epochs_suffice(const mgv_selection *s)
{
    const mgv_settings *set = &s->settings;
    const mgvi_solver_ops *ops = mgvi_solver_find(set->solver);
    const bool validated = s->rule.kind == MGVI_RULE_HOLDOUT || s->rule.kind == MGVI_RULE_FILE;
    const bool given = !isnan(set->C) || !isnan(set->lambda);
    return !mgvi_grid_wanted(set) && (s->probe->loss->can & MGVI_JOINT) && validated &&
           s->probe->kernel.kind == MGVI_KERNEL_LINEAR &&
           mgvi_penalty_parts(s->probe->penalty) == MGVI_SQUARE &&
           (!ops || ops->primal_only || given);
}

/* Without a strength the epochs alone regularise. */
static mgv_status open_run(mgv_selection *s)
{
    mgv_settings settings = s->settings;
    if (mgvi_is_auto(settings.solver))
        settings.solver = "minibatch_momentum";
    if (isnan(settings.C) && isnan(settings.lambda))
        MGVI_TRY(mgvi_problem_set_strengths(s->probe, 0, 0));
    s->problem = s->probe;
    MGVI_TRY(mgvi_driver_new(s->ctx, s->problem, &settings, &s->solver));
    s->solver->selection = s;
    return MGV_OK;
}

/* Adds the epoch just done to the path. */
static mgv_status add_epoch(mgv_selection *s, const mgvi_vec *w, double error, double seconds)
{
    mgvi_path *path = &s->path[0];
    const mgvi_path_point point = {.lambda = NAN,
                                   .mu = NAN,
                                   .iteration = s->solver->run.iteration,
                                   .residual = NAN,
                                   .gap = NAN,
                                   .nonzeros = mgvi_problem_nonzeros(s->problem, w->x)};
    path->passes = mgvi_driver_passes(s->solver);
    path->seconds = seconds;
    return mgvi_path_arrive(path, &point, &error, 1);
}

/* Whether a limit ends the run here; of passes, too: a step is cut where it takes far more. */
static mgv_stop struck(const course *c)
{
    const mgv_solver *solver = c->s->solver;
    const double passes = mgvi_driver_passes(solver);
    return mgvi_stop_look(c->s->ctx, mgvi_progress_of(solver->run.iteration, passes, c->at.seconds),
                          &c->s->settings);
}

/* How the run ends after a whole epoch; NONE: it goes on. */
static mgv_stop ending(const course *c)
{
    const int64_t wanted = c->s->settings.patience_epochs;
    const bool over = c->at.resting >= 2 * (wanted ? wanted : PATIENCE);
    return over || c->s->solver->run.finished ? MGV_STOP_SELECTED : struck(c);
}

/* One epoch, judged. */
static mgv_status run_epoch(course *c, mgv_stop *stop)
{
    mgv_selection *s = c->s;
    const bool unready = s->solver->cut; /* while it set itself up: w = 0 is all there is */
    mgvi_path *path = &s->path[0];
    double loss;
    MGVI_TRY(mgvi_driver_step(s->solver));
    if (s->solver->cut && path->count > 0) {
        *stop = struck(c);
        return mgvi_keeper_end(&c->keeper, true);
    }
    s->solver->run.iteration += s->solver->cut; /* a shorter first epoch: better than none */
    const mgvi_vec *w =
        unready ? &s->solver->answer.w : s->solver->run.ops->expose(&s->solver->run).w;
    mgvi_ctx_open_last(s->ctx);
    double error = judge(&c->j, w, &loss);
    if (mgvi_ctx_close(s->ctx)) { /* nobody knows how good it is */
        *stop = struck(c);
        if (path->count > 0)
            return mgvi_keeper_end(&c->keeper, true);
        path->cut = true;
        error = NAN;
        loss = INFINITY;
    }
    c->at.seconds = mgvi_ctx_clock(s->ctx) - c->started;
    MGVI_TRY(add_epoch(s, w, error, c->at.seconds));
    const bool best = path->best == path->count - 1 || path->count == 1;
    if (best && !unready)
        mgvi_driver_keep(s->solver);
    const int more = loss < (1 - STILL_LEARNING) * c->at.least_loss ? 1 : 2;
    c->at.resting = best ? 0 : c->at.resting + more;
    c->at.least_loss = fmin(c->at.least_loss, loss);
    if (*stop == MGV_STOP_NONE)
        *stop = error == 0 && !s->solver->cut ? MGV_STOP_SELECTED : ending(c);
    if (*stop == MGV_STOP_NONE)
        return mgvi_keeper_after(&c->keeper);
    return mgvi_keeper_end(&c->keeper, s->solver->cut || path->cut);
}

static mgv_status run_epochs(course *c)
{
    mgv_selection *s = c->s;
    mgvi_path *path = &s->path[0];
    mgv_stop stop = MGV_STOP_NONE;
    if (path->count > 0) /* resumed */
        stop = path->point[path->count - 1].error == 0 ? MGV_STOP_SELECTED : ending(c);
    while (stop == MGV_STOP_NONE) {
        mgvi_keeper_before(&c->keeper);
        MGVI_TRY(run_epoch(c, &stop));
    }
    s->solver->keeper.unsaved = c->keeper.unsaved;
    mgvi_driver_end_chosen(s->solver, stop, c->at.seconds);
    return mgvi_path_choose(path, &s->rule);
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

enum { NUMBERS = 3 }; /* of an epoch: iteration, nonzeros, error */
static const char COMMAND[] = "fit", SOLVER[] = "epochs";

static mgv_status put(void *arg, mgvi_checkpoint_goal *to)
{
    const course *c = arg;
    const mgv_selection *s = c->s;
    const mgvi_path *path = &s->path[0];
    const mgvi_vec *w = &s->solver->answer.w;
    const mgvi_checkpoint_id id = {COMMAND, SOLVER, c->print};
    place at = c->at;
    void *state;
    size_t size;
    at.epochs = path->count;
    MGVI_TRY(mgvi_checkpoint_pack(s->solver, &state, &size));
    double *points = mgvi_alloc(s->ctx, (size_t)path->count + 1, NUMBERS * sizeof *points);
    for (int64_t k = 0; points && k < path->count; k++) {
        points[NUMBERS * k] = (double)path->point[k].iteration;
        points[NUMBERS * k + 1] = (double)path->point[k].nonzeros;
        points[NUMBERS * k + 2] = path->point[k].error;
    }
    const mgvi_tensor tensors[] = {{"epochs", MGVI_T_U8, 1, {sizeof at}, &at},
                                   {"points", MGVI_T_F64, 1, {NUMBERS * path->count}, points},
                                   {"answer", MGVI_T_F64, 1, {w->n * w->k}, w->x},
                                   {"state", MGVI_T_U8, 1, {(int64_t)size}, state}};
    const mgv_status st = points ? mgvi_checkpoint_put(s->ctx, &id, tensors, 4, to) : MGV_E_MEMORY;
    mgvi_release(s->ctx, points);
    mgvi_release(s->ctx, state);
    return st;
}

static mgv_status take(void *arg, const char *name, const mgvi_tensors *file)
{
    course *c = arg;
    mgv_selection *s = c->s;
    mgv_solver *solver = s->solver;
    const mgvi_vec *w = &solver->answer.w;
    const void *at, *points, *answer, *state;
    MGVI_TRY(mgvi_tensors_need(s->ctx, file, "epochs", MGVI_T_U8, 1, sizeof c->at, -1, &at));
    memcpy(&c->at, at, sizeof c->at);
    const int64_t epochs = c->at.epochs;
    if (epochs < 0 || epochs > INT32_MAX || c->at.resting < 0 || c->at.resting > INT32_MAX ||
        !(c->at.seconds >= 0))
        return MGVI_FAIL(s->ctx, MGV_E_INPUT,
                         "%s: the state of the epochs is damaged; resume from another checkpoint",
                         name);
    MGVI_TRY(
        mgvi_tensors_need(s->ctx, file, "points", MGVI_T_F64, 1, NUMBERS * epochs, -1, &points));
    MGVI_TRY(mgvi_tensors_need(s->ctx, file, "answer", MGVI_T_F64, 1, w->n * w->k, -1, &answer));
    const mgvi_tensor *bytes = mgvi_tensors_find(file, "state");
    const int64_t size = bytes && bytes->rank == 1 ? bytes->shape[0] : -1;
    MGVI_TRY(mgvi_tensors_need(s->ctx, file, "state", MGVI_T_U8, 1, size, -1, &state));
    MGVI_TRY(mgvi_checkpoint_parse(solver, name, state, (size_t)size));
    solver->touched_before = solver->run.problem->A->touched;
    solver->run.touched = solver->run.work = 0; /* the state has counted what init did */
    memcpy(w->x, answer, (size_t)(w->n * w->k) * sizeof *w->x);
    c->started -= c->at.seconds;
    for (int64_t k = 0; k < epochs; k++) {
        const double *own = (const double *)points + NUMBERS * k;
        const mgvi_path_point point = {.lambda = NAN,
                                       .mu = NAN,
                                       .iteration = (int64_t)fmin(fmax(own[0], 0), 1e15),
                                       .residual = NAN,
                                       .gap = NAN,
                                       .nonzeros = (int64_t)fmin(fmax(own[1], 0), 1e15)};
        MGVI_TRY(mgvi_path_add(&s->path[0], &point, &own[2], 1));
    }
    return MGV_OK;
}

/* The run's own, and who judges it. */
static uint64_t print_of(const course *c)
{
    const mgv_settings *set = &c->s->settings;
    uint64_t h = mgvi_problem_print(c->s->problem, set);
    h = mgvi_hash_text(h, set->select);
    h = mgvi_hash(h, &set->patience_epochs, sizeof set->patience_epochs);
    h = mgvi_hash(h, c->j.weight, (size_t)c->j.count * sizeof *c->j.weight);
    return mgvi_hash(h, c->j.c, (size_t)c->j.count * sizeof *c->j.c);
}

mgv_status mgvi_epochs_run(mgv_selection *s)
{
    const mgv_settings *set = &s->settings;
    course c = {.s = s, .j = {.s = s}, .at = {.least_loss = INFINITY}};
    MGVI_TRY(call_jury(&c.j));
    MGVI_TRY(open_run(s));
    mgvi_path_init(&s->path[0], s->ctx, s->solver->run.ops->name, "iteration");
    s->path[0].classify = true;
    s->paths = 1;
    MGVI_TRY(mgvi_keeper_begin(&c.keeper, s->ctx, set, &c, put));
    c.started = mgvi_ctx_clock(s->ctx);
    if (set->checkpoint[0] || set->resume[0])
        c.print = print_of(&c);
    const mgvi_checkpoint_heir heir = {{COMMAND, SOLVER, c.print}, &c, take};
    mgv_status st =
        set->resume[0] ? mgvi_checkpoint_take(s->ctx, &heir, set->resume, NULL, 0) : MGV_OK;
    if (st == MGV_OK)
        st = run_epochs(&c);
    mgvi_keeper_free(&c.keeper);
    return st;
}
