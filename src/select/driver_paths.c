/* driver_paths.c - paths through the driver, for every loss, penalty and solver: by strength, each
 * point a run to a loose certificate that starts at the point before; and by iteration, the lanes
 * stepping side by side. A lane is the problem with weight 0 for the rows it does not train on;
 * with many classes its run may be a family, and the votes of all members are what is judged. */
#include "select/driver_paths.h"

#include "base/event.h"
#include "base/limit.h"
#include "base/print.h"
#include "op/op.h"
#include "select/ballot.h"
#include "select/strength.h"
#include "solver/family.h"
#include "solver/member.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    STRENGTHS = 16,        /* of a path by strength */
    STRENGTH_PATIENCE = 4, /* strengths without improvement after which it ends */
    EVERY_ITERATION = 50   /* up to here every iteration is a point, then every 20th part */
};
static const double END = 1e-5, LOOSE = 1e-3;
static const double MOST_ENTRIES = 4e6; /* weights kept for the model file */

typedef struct lane {
    mgv_data data; /* the selection's, with weights of its own */
    mgv_problem *problem;
    mgv_solver *solver;
    mgvi_vec z;         /* A w, or the scores of the validation rows */
    mgvi_ballot ballot; /* many classes: in its place, for the rows it does not train on, */
    int64_t *held;      /* as the split numbers them */
} lane;

typedef struct drive {
    mgv_selection *s;
    mgvi_path *path;
    mgvi_arena arena;
    mgv_settings settings; /* of the lanes */
    lane lanes[MGVI_SPLIT_LANES];
    mgvi_op *validation; /* X of val:FILE, */
    mgvi_points *points; /* or its rows as a kernel's points, and room for a model's examples */
    int64_t *example;
    double *weight;
    mgv_status failed; /* memory for scores was refused */
    bool many;         /* scores are of classes, or of pairs of them */
    double *coef;      /* work space: a model's weights, outputs x mgvi_problem_coefs() */
    double *intercept; /* outputs */
    bool graded;       /* lanes run at this strength, not at that of their settings */
    double lambda, mu;
} drive;

/* ---- lanes ----------------------------------------------------------------------------------- */

/* The rows that lane l does not train on: of the data, or of the validation file. */
static mgv_status open_ballot(drive *d, int32_t l)
{
    mgv_selection *s = d->s;
    lane *own = &d->lanes[l];
    const int64_t first = s->validation ? s->data->X.rows : 0, all = s->split.rows;
    int64_t count = 0, *row = mgvi_arena_array(&d->arena, (size_t)all, sizeof *row);
    double *scale = mgvi_arena_array(&d->arena, (size_t)all, sizeof *scale);
    own->held = mgvi_arena_array(&d->arena, (size_t)all, sizeof *own->held);
    if (!row || !scale || !own->held)
        return MGV_E_MEMORY;
    for (int64_t i = first; i < all; i++) {
        if (mgvi_split_trains(&s->split, i, l))
            continue;
        own->held[count] = i;
        row[count] = i - first;
        scale[count++] = s->e[i] > 0 ? s->factor[i] / s->e[i] : 1;
    }
    const mgvi_electorate rows = {.X = s->validation ? &s->validation->X : &s->data->X,
                                  .row = row,
                                  .count = count,
                                  .row_scale = s->probe->row_scale ? scale : NULL};
    return mgvi_ballot_new(&d->arena, own->problem, &rows, &own->ballot);
}

static mgv_status make_lane(drive *d, int32_t l)
{
    mgv_selection *s = d->s;
    lane *own = &d->lanes[l];
    const int64_t n = s->data->X.rows;
    double *weights = mgvi_arena_array(&d->arena, (size_t)n, sizeof *weights);
    if (!weights)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        const double given = s->data->weights ? s->data->weights[i] : 1;
        weights[i] = mgvi_split_trains(&s->split, i, l) ? given : 0;
    }
    own->data = *s->data;
    own->data.weights = weights;
    MGVI_TRY(mgvi_problem_new(s->ctx, &own->data, &d->settings, MGVI_EVERY_CLASS, &own->problem));
    if (d->many)
        return open_ballot(d, l);
    const int64_t rows = s->validation ? s->validation->X.rows : n;
    return mgvi_vec_new(&d->arena, MGVI_ROWS, rows, 1, &own->z);
}

/* Whether examples are points between which a kernel is computed. A precomputed kernel has its rows
 * of values in the file. */
static bool has_points(const mgv_problem *p)
{
    return p->kernel.kind != MGVI_KERNEL_LINEAR && p->kernel.kind != MGVI_KERNEL_PRECOMPUTED;
}

/* The rows of val:FILE, scaled as the examples are. */
static mgv_status open_points(drive *d)
{
    const mgv_selection *s = d->s;
    const mgv_problem *p = d->lanes[s->split.lanes - 1].problem;
    const int64_t n = s->data->X.rows, rows = s->validation->X.rows;
    mgvi_point_scaling scaling = {.centre = p->centre, .scale = p->scale};
    d->example = mgvi_arena_array(&d->arena, (size_t)n, sizeof *d->example);
    d->weight = mgvi_arena_array(&d->arena, (size_t)n, sizeof *d->weight);
    double *length = mgvi_arena_array(&d->arena, (size_t)rows, sizeof *length);
    if (!d->example || !d->weight || !length)
        return MGV_E_MEMORY;
    if (p->row_scale) {
        for (int64_t i = 0; i < rows; i++)
            length[i] = s->e[n + i] > 0 ? s->factor[n + i] / s->e[n + i] : 1;
        scaling.row_scale = length;
    }
    const bool differences = p->kernel.kind != MGVI_KERNEL_POLY;
    return mgvi_points_new(s->ctx, &s->validation->X, &scaling, MGV_F64, differences, &d->points);
}

static mgv_status open_drive(drive *d)
{
    mgv_selection *s = d->s;
    mgvi_arena_init(&d->arena, s->ctx);
    const int64_t weights = mgvi_problem_coefs(s->probe);
    const size_t outputs = (size_t)mgvi_model_outputs(s->probe);
    d->many = mgvi_selection_numbers(s);
    d->coef = mgvi_arena_array(&d->arena, (size_t)weights, outputs * sizeof *d->coef);
    d->intercept = mgvi_arena_array(&d->arena, outputs, sizeof *d->intercept);
    if (!d->coef || !d->intercept)
        return MGV_E_MEMORY;
    const int32_t full = s->split.lanes - 1; /* first: it is what is left where the limit strikes */
    MGVI_TRY(make_lane(d, full));
    for (int32_t l = 0; l < full && !d->path->cut; l++) {
        MGVI_TRY(make_lane(d, l));
        d->path->cut = mgvi_ctx_late(s->ctx) != MGV_STOP_NONE;
    }
    if (!s->validation || d->many)
        return MGV_OK;
    return has_points(s->probe) ? open_points(d)
                                : mgvi_op_from_matrix(s->ctx, &s->validation->X, 1, &d->validation);
}

static void close_drive(drive *d)
{
    for (int32_t l = 0; l < d->s->split.lanes; l++) {
        mgvi_driver_free(d->lanes[l].solver);
        mgvi_ballot_free(&d->lanes[l].ballot);
        mgvi_problem_free(d->lanes[l].problem);
    }
    mgvi_points_free(d->points);
    mgvi_op_free(d->validation);
    mgvi_arena_free(&d->arena);
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* Of the validation rows by the examples with a weight in d->coef. */
static void score_points(drive *d, lane *own, double intercept)
{
    const mgvi_points *examples = mgvi_kernel_points(mgvi_kernel_of(own->problem->A));
    const mgvi_point_list q = {.points = d->points, .count = own->z.n};
    int64_t count = 0;
    for (int64_t i = 0; i < d->s->data->X.rows; i++)
        if (d->coef[i] != 0) {
            d->weight[count] = d->coef[i];
            d->example[count++] = i;
        }
    const mgvi_point_list p = {.points = examples, .index = d->example, .count = count};
    for (int64_t i = 0; i < own->z.n; i++)
        own->z.x[i] = intercept;
    const mgv_status st = mgvi_kernel_sums(d->s->ctx, &own->problem->kernel, &p, d->weight, 1, &q,
                                           own->z.x, own->z.n);
    d->failed = st != MGV_OK ? st : d->failed;
}

/* Of the validation rows, in the user's units. */
static void score_validation(drive *d, lane *own, const mgvi_vec *w)
{
    double intercept;
    mgvi_problem_user_weights(own->problem, w->x, d->coef, &intercept);
    if (d->points) {
        score_points(d, own, intercept);
        return;
    }
    const mgvi_vec coef = mgvi_vec_wrap(d->coef, mgvi_problem_coefs(own->problem), MGVI_COLS);
    mgvi_op_mul(d->validation, 1, &coef, 0, &own->z);
    const int64_t first = d->s->data->X.rows;
    for (int64_t i = 0; i < own->z.n; i++) {
        const double e = d->s->e[first + i], scale = e > 0 ? d->s->factor[first + i] / e : 1;
        own->z.x[i] = scale * own->z.x[i] + intercept;
    }
}

/* The model of lane l, in the user's units. */
static void take_model(drive *d, int32_t l, const mgvi_vec *w)
{
    const lane *own = &d->lanes[l];
    const mgvi_family *f = own->solver->family;
    const int64_t outputs = mgvi_model_outputs(own->problem);
    if (!f) {
        mgvi_problem_user_weights(own->problem, w->x, d->coef, d->intercept);
        return;
    }
    memcpy(d->coef, f->coef,
           (size_t)(outputs * mgvi_problem_coefs(own->problem)) * sizeof *d->coef);
    memcpy(d->intercept, f->intercept, (size_t)outputs * sizeof *d->intercept);
}

/* Whether weight j of output o is not 0 in lane l. */
static bool has_weight(const drive *d, int32_t l, const mgvi_vec *w, int64_t o, int64_t j)
{
    const lane *own = &d->lanes[l];
    if (own->solver->family)
        return own->solver->family->coef[o * mgvi_problem_coefs(own->problem) + j] != 0;
    return w->x[j * own->problem->lanes + o] != 0;
}

/* Many classes: the weighted share of those rows that the vote gets wrong. */
static double vote_error(drive *d, int32_t l, const mgvi_vec *w)
{
    const mgv_selection *s = d->s;
    lane *own = &d->lanes[l];
    double wrong = 0, total = 0;
    take_model(d, l, w);
    mgvi_ballot_hold(&own->ballot, d->coef, d->intercept);
    for (int64_t t = 0; t < own->ballot.rows.count; t++) {
        const int64_t i = own->held[t];
        const double weight = s->e[i] * s->e[i];
        wrong += weight * (mgvi_ballot_class(&own->ballot, t) != (int64_t)s->y[i]);
        total += weight;
    }
    return total > 0 ? wrong / total : NAN;
}

/* The weighted error of lane l with weights w on the rows it does not train on; NaN: none. */
static double lane_error(drive *d, int32_t l, const mgvi_vec *w)
{
    mgv_selection *s = d->s;
    lane *own = &d->lanes[l];
    const bool file = s->validation != NULL, classify = s->probe->classify;
    if (!mgvi_split_judged(&s->split, l))
        return NAN;
    if (d->many)
        return vote_error(d, l, w);
    if (file)
        score_validation(d, own, w);
    else
        mgvi_op_mul(own->problem->A, 1, w, 0, &own->z);
    double sum = 0, total = 0;
    for (int64_t i = 0; i < own->z.n; i++) {
        const int64_t row = file ? s->data->X.rows + i : i;
        if (!file && mgvi_split_trains(&s->split, i, l))
            continue;
        const double weight = s->e[row] * s->e[row], y = s->y[row];
        const double z =
            own->problem->sign && !file ? own->problem->sign[i] * own->z.x[i] : own->z.x[i];
        sum += weight * (classify ? z * y <= 0 : (z - y) * (z - y));
        total += weight;
    }
    return total > 0 ? sum / total : NAN;
}

/* |y - z| of the full fit: only `discrepancy` asks. */
static double full_residual(drive *d, const mgvi_vec *w)
{
    mgv_selection *s = d->s;
    lane *own = &d->lanes[s->split.lanes - 1];
    if (s->rule.kind != MGVI_RULE_DISCREPANCY)
        return NAN;
    double sum = 0;
    mgvi_op_mul(own->problem->A, 1, w, 0, &own->z);
    for (int64_t i = 0; i < own->z.n; i++) {
        const double z = own->problem->sign ? own->problem->sign[i] * own->z.x[i] : own->z.x[i];
        sum += s->e[i] * s->e[i] * (z - s->y[i]) * (z - s->y[i]);
    }
    return sqrt(sum);
}

/* The weights of the full fit, in d->coef, with the lanes that have them. */
static mgv_status keep_weights(drive *d, const mgvi_vec *const *w)
{
    mgvi_path *path = d->path;
    const int64_t cols = mgvi_problem_coefs(d->s->probe), all = path->outputs * cols;
    const bool linear = d->s->probe->kernel.kind == MGVI_KERNEL_LINEAR;
    const int64_t nonzeros = path->point[path->count - 1].nonzeros;
    path->kept_weights = linear && path->kept_weights && all <= INT32_MAX &&
                         (double)(path->entries + nonzeros) < MOST_ENTRIES;
    for (int64_t t = 0; path->kept_weights && t < all; t++) {
        unsigned lanes = 0;
        for (int32_t l = 0; l <= path->full; l++)
            lanes |= (unsigned)(w[l] && has_weight(d, l, w[l], t / cols, t % cols)) << l;
        if (lanes)
            MGVI_TRY(mgvi_path_add_weight(path, (int32_t)t, d->coef[t], (uint16_t)lanes));
    }
    return MGV_OK;
}

/* Holds the full fit where it is the best so far. */
static mgv_status hold_best(drive *d, const mgvi_vec *w)
{
    mgvi_path *path = d->path;
    const int64_t outputs = path->outputs, coefs = mgvi_problem_coefs(d->s->probe);
    mgv_solver *solver = d->lanes[path->full].solver;
    if (path->best != path->count - 1 && path->count > 1)
        return MGV_OK;
    path->held.family = solver->family != NULL;
    if (solver->family)
        return mgvi_path_hold(path, d->coef, outputs * coefs, d->intercept, outputs);
    const bool ended = solver->stop != MGV_STOP_NONE;
    const mgvi_vec *u = ended ? &solver->answer.u : mgvi_driver_present(solver).u;
    d->s->held = ended ? solver->answer_verdict : mgvi_verdict_none();
    d->s->holder = path;
    return mgvi_path_hold(path, w->x, w->n * w->k, u->x, u->n * u->k);
}

/* w[l] is NULL for lanes that the limit has left out. */
static mgv_status add_point(drive *d, mgvi_path_point point, const mgvi_vec *const *w)
{
    mgv_selection *s = d->s;
    mgvi_path *path = d->path;
    const int32_t full = s->split.lanes - 1;
    double errors[MGVI_SPLIT_LANES];
    for (int32_t l = 0; l <= full; l++)
        errors[l] = w[l] ? lane_error(d, l, w[l]) : NAN;
    MGVI_TRY(d->failed);
    take_model(d, full, w[full]);
    point.intercept = d->intercept[0];
    point.nonzeros = mgvi_count_nonzeros(d->coef, path->outputs * mgvi_problem_coefs(s->probe));
    point.residual = full_residual(d, w[full]);
    point.gap = NAN;
    MGVI_TRY(mgvi_path_add(path, &point, errors, s->split.lanes));
    path->full = full;
    if (path->outputs > 1)
        MGVI_TRY(mgvi_path_add_intercepts(path, d->intercept));
    MGVI_TRY(keep_weights(d, w));
    MGVI_TRY(hold_best(d, w[full]));
    mgv_event e = mgvi_path_event(&path->point[path->count - 1], s->probe->classify);
    e.iteration = point.iteration ? point.iteration : path->count;
    if (mgvi_event_send(s->ctx, &e))
        atomic_store(&s->ctx->interrupted, 1);
    return MGV_OK;
}

/* ---- by strength ----------------------------------------------------------------------------- */

/* A run of its own, silent: the path's points are the news. */
static mgv_status run_lane(drive *d, int32_t l)
{
    lane *own = &d->lanes[l];
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
    if (st == MGV_OK)
        d->path->passes += mgvi_driver_summary(own->solver).passes;
    return st;
}

/* Where the search is: fit t of a strength, and what was best so far. */
static void tell_progress(const drive *d, int32_t t, int32_t lanes)
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
static mgv_status run_lanes(drive *d, const mgvi_vec **w)
{
    const int32_t lanes = d->s->split.lanes;
    for (int32_t l = 0; l < lanes; l++)
        w[l] = NULL;
    for (int32_t t = 0; t < lanes && (t == 0 || !d->path->cut); t++) {
        const int32_t l = t == 0 ? lanes - 1 : t - 1;
        tell_progress(d, t, lanes);
        d->settings.max_passes = fmax(d->s->settings.max_passes - d->path->passes, 0);
        MGVI_TRY(run_lane(d, l));
        d->path->cut = mgvi_ctx_late(d->s->ctx) != MGV_STOP_NONE ||
                       d->lanes[l].solver->stop == MGV_STOP_MAX_PASSES;
        if (t == 0 || !d->path->cut)
            w[l] = &d->lanes[l].solver->answer.w;
    }
    return MGV_OK;
}

/* Strengths of the grid; patience is a stretch of it, however fine it is. */
static int64_t grid_points(const drive *d)
{
    return d->s->settings.path_points ? d->s->settings.path_points : STRENGTHS;
}
static int64_t grid_patience(const drive *d)
{
    const int64_t wanted = d->s->settings.patience, fine = grid_points(d) * STRENGTH_PATIENCE;
    return wanted                                 ? wanted
           : fine > STRENGTHS * STRENGTH_PATIENCE ? fine / STRENGTHS
                                                  : STRENGTH_PATIENCE;
}

/* Strong penalties may all be equally bad: patience begins with the first improvement. A grid that
 * nobody asked for goes on when its end is the best. */
static bool another_strength(const drive *d, int64_t done)
{
    const mgv_settings *set = &d->s->settings;
    const int64_t since = mgvi_path_since_best(d->path);
    const bool own = set->path_points == 0 && isnan(set->path_end);
    if (done == 0)
        return true;
    if (d->path->cut || mgvi_ctx_late(d->s->ctx) != MGV_STOP_NONE ||
        (d->path->best > 0 && since >= grid_patience(d)))
        return false;
    return done < grid_points(d) || (own && d->path->best > 0 && since < 2 && done < 2 * STRENGTHS);
}

static mgv_status walk_strengths(drive *d)
{
    mgv_selection *s = d->s;
    const mgv_settings *set = &s->settings;
    mgv_problem *full = d->lanes[s->split.lanes - 1].problem;
    const bool norm = full->penalty->can & MGVI_NORM;
    const bool sparse = norm || strcmp(full->penalty->name, "enet") == 0;
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
        MGVI_TRY(add_point(d, point, w));
    }
    return MGV_OK;
}

/* Folds with their own lambda where it follows from C and their rows, as LIBLINEAR has it. */
static mgv_status walk_given(drive *d)
{
    const mgv_problem *full = d->lanes[d->s->split.lanes - 1].problem;
    const bool norm = full->penalty->can & MGVI_NORM;
    d->settings.tol = fmax(d->settings.tol, LOOSE);
    const mgvi_path_point point = {.lambda = norm ? NAN : full->lambda,
                                   .mu = full->mu > 0 ? full->mu : NAN};
    const mgvi_vec *w[MGVI_SPLIT_LANES];
    MGVI_TRY(run_lanes(d, w));
    return add_point(d, point, w);
}

/* ---- by iteration ---------------------------------------------------------------------------- */

static bool is_point(int64_t iteration)
{
    return iteration <= EVERY_ITERATION || iteration % (iteration / 20) == 0;
}

/* Solvers that have a cheaper form for runs that stop early are told so (stop/early.h). */
static mgv_status choose_form(drive *d)
{
    const mgv_problem *p = d->lanes[d->s->split.lanes - 1].problem;
    const mgvi_solver_ops *ops = mgvi_solver_find(d->settings.solver);
    if (strcmp(d->settings.solver, "auto") == 0)
        MGVI_TRY(mgvi_solver_auto(d->s->ctx, p, &d->settings, 0, &ops));
    d->path->early = ops && ops->residual && (p->loss->can & MGVI_HARD);
    strcpy(d->settings.select, d->path->early ? "last" : "none");
    return MGV_OK;
}

/* One step of every lane that has any left. */
static mgv_status step_lanes(drive *d, bool *finished)
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
    d->path->passes = passes;
    d->path->cut = d->path->cut || passes >= d->s->settings.max_passes;
    return MGV_OK;
}

static mgv_status walk_iterations(drive *d)
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
        if (path->cut ? path->count > 0 : !is_point(k) && !finished)
            continue;
        for (int32_t l = 0; l < lanes; l++)
            w[l] = path->cut && l < lanes - 1 ? NULL : mgvi_driver_present(d->lanes[l].solver).w;
        const mgvi_path_point point = {.lambda = NAN, .mu = NAN, .iteration = k};
        MGVI_TRY(add_point(d, point, w));
        if (finished || !mgvi_path_patient(path, k, s->settings.patience))
            break;
    }
    return MGV_OK;
}

/* ---- the methods ----------------------------------------------------------------------------- */

static mgv_status drive_path(mgv_selection *s, const mgvi_method *method, mgvi_path *path,
                             mgv_status (*walk)(drive *))
{
    drive d = {.s = s, .path = path, .settings = s->settings};
    if (method->penalty)
        strcpy(d.settings.penalty, method->penalty);
    if (method->scale)
        strcpy(d.settings.scale, method->scale);
    if (method->loss)
        strcpy(d.settings.loss, method->loss);
    if (method->solver)
        strcpy(d.settings.solver, method->solver);
    d.settings = mgvi_selection_any_strength(&d.settings);
    path->outputs = (int32_t)mgvi_model_outputs(s->probe);
    mgv_status st = open_drive(&d);
    if (st == MGV_OK)
        st = walk(&d);
    close_drive(&d);
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
