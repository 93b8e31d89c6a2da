/* methods.c - which paths the settings ask for. */
#include "select/driver_paths.h"
#include "select/lasso_path.h"
#include "select/ridge_path.h"
#include "select/selection.h"

#include <math.h>
#include <string.h>

enum { PATIENCE = 8 }; /* strengths without improvement after which a path ends */

/* ---- lanes ----------------------------------------------------------------------------------- */

/* `--scale` as factors of the penalty. */
static mgv_status weighting_of(const mgv_selection *s, mgvi_lane_weighting *out)
{
    const char *scale = s->settings.scale;
    *out = strcmp(scale, "std") == 0    ? MGVI_WEIGHT_STD
           : strcmp(scale, "sqrt") == 0 ? MGVI_WEIGHT_ROOT
                                        : MGVI_WEIGHT_NONE;
    if (strcmp(scale, "maxabs") == 0 || (*out == MGVI_WEIGHT_STD && !s->settings.intercept))
        return MGVI_FAIL(s->ctx, MGV_E_UNSUPPORTED,
                         "select along strengths has no --scale %s%s; use none, sqrt or rownorm",
                         scale, *out == MGVI_WEIGHT_STD ? " without an intercept" : "");
    return MGV_OK;
}

static mgv_status make_lanes(mgv_selection *s, mgvi_arena *arena, const mgvi_method *method,
                             mgvi_lanes **out)
{
    mgvi_lane_weighting weighting = method->weighting;
    if (!method->scale)
        MGVI_TRY(weighting_of(s, &weighting));
    const mgvi_lane_data data = {.stack = {&s->data->X, s->validation ? &s->validation->X : NULL},
                                 .count = s->validation ? 2 : 1,
                                 .factor = s->factor,
                                 .e = s->e,
                                 .y = s->y,
                                 .intercept = s->settings.intercept,
                                 .weighting = weighting};
    return mgvi_lanes_new(arena, &data, &s->split, out);
}

static mgv_status walk_lasso(mgv_selection *s, const mgvi_method *method, mgvi_path *path)
{
    const mgv_settings *set = &s->settings;
    const bool net = strcmp(method->penalty, "enet") == 0;
    const mgvi_lasso_plan plan = {.share = net ? set->enet_share : 1,
                                  .lambda = net && !isnan(set->lambda) ? set->lambda : NAN,
                                  .points = set->path_points,
                                  .end = set->path_end,
                                  .gap = set->path_gap,
                                  .patience = set->patience ? set->patience : PATIENCE,
                                  .classify = s->probe->classify};
    mgvi_arena arena;
    mgvi_lanes *lanes;
    mgvi_arena_init(&arena, s->ctx);
    mgv_status st = make_lanes(s, &arena, method, &lanes);
    if (st == MGV_OK)
        st = mgvi_lasso_path(&arena, lanes, &plan, path);
    mgvi_arena_free(&arena);
    return st;
}

static mgv_status walk_ridge(mgv_selection *s, const mgvi_method *method, mgvi_path *path)
{
    mgvi_arena arena;
    mgvi_lanes *lanes;
    mgvi_arena_init(&arena, s->ctx);
    mgv_status st = make_lanes(s, &arena, method, &lanes);
    if (st == MGV_OK)
        st = mgvi_ridge_path(&arena, lanes, s->settings.path_points, s->probe->classify, path);
    mgvi_arena_free(&arena);
    return st;
}

/* ---- the list -------------------------------------------------------------------------------- */

static const mgvi_method lasso = {
    .name = "lasso path", .penalty = "l1", .solver = "primal_coordinate", .walk = walk_lasso};
static const mgvi_method enet = {.name = "elastic-net path",
                                 .penalty = "enet",
                                 .solver = "primal_coordinate",
                                 .walk = walk_lasso};
static const mgvi_method ridge = {
    .name = "ridge path", .penalty = "l2", .solver = "least_squares", .walk = walk_ridge};
static const mgvi_method lasso_root = {.name = "lasso path, sqrt scale",
                                       .penalty = "l1",
                                       .scale = "sqrt",
                                       .solver = "primal_coordinate",
                                       .walk = walk_lasso,
                                       .weighting = MGVI_WEIGHT_ROOT};
static const mgvi_method ridge_root = {.name = "ridge path, sqrt scale",
                                       .penalty = "l2",
                                       .scale = "sqrt",
                                       .solver = "least_squares",
                                       .walk = walk_ridge,
                                       .weighting = MGVI_WEIGHT_ROOT};

/* Basis pursuit stopped early: the sparsest of the rivals, and the best where columns are dense and
 * hardly correlated; on text it is slow and stays behind, so that it is left out there. */
static const mgvi_method early = {.name = "primal-dual, early",
                                  .penalty = "l1",
                                  .loss = "equal",
                                  .solver = "primal_dual",
                                  .walk = mgvi_walk_iterations};

/* Its kin for text: a strongly convex penalty, accelerated, root-scaled columns. */
static const mgvi_method dual = {.name = "dual gradient, early",
                                 .penalty = "l1",
                                 .scale = "sqrt",
                                 .loss = "equal",
                                 .solver = "accelerated_dual_gradient",
                                 .walk = mgvi_walk_iterations};

/* Square-root scaling gained 4 to 9 % on text and lost nothing beyond the error: the folds decide,
 * unless the user has said which scale. */
static void compare_all(const mgv_selection *s, const mgvi_method **out, int *count)
{
    const bool sparse = s->data->X.layout != MGV_DENSE;
    out[0] = &lasso;
    out[1] = &ridge;
    *count = 2;
    if (!sparse && !s->probe->classify)
        out[(*count)++] = &early;
    if (sparse && strcmp(s->settings.scale, "none") == 0) {
        out[(*count)++] = &lasso_root;
        out[(*count)++] = &ridge_root;
        if (!s->probe->classify && mgvi_solver_find(dual.solver))
            out[(*count)++] = &dual;
    }
}

/* Any other loss or penalty, through the driver. */
static const mgvi_method strengths = {.name = "strengths", .walk = mgvi_walk_strengths};
static const mgvi_method iterations = {.name = "iterations", .walk = mgvi_walk_iterations};

/* Squared losses have paths of their own; elsewhere a soft loss has a path of strengths unless its
 * strength is given, and a constraint, or a given strength, the iterations themselves. */
mgv_status mgvi_methods_choose(mgv_selection *s, const mgvi_method **out, int *count)
{
    const mgv_settings *set = &s->settings;
    const bool squared = strcmp(s->probe->loss->name, "squared") == 0;
    const bool given = !isnan(set->C) || !isnan(set->mu) ||
                       (!isnan(set->lambda) && strcmp(set->penalty, "enet") != 0);
    const bool own = squared && !given && strcmp(set->solver, "auto") == 0;
    *count = 1;
    if (given || (s->probe->loss->can & MGVI_HARD))
        out[0] = &iterations;
    else if (own && strcmp(set->penalty, "enet") == 0)
        out[0] = &enet;
    else if (own && strcmp(set->penalty, "l1") == 0)
        out[0] = &lasso;
    else if (own && strcmp(set->penalty, "l2") == 0)
        out[0] = &ridge;
    else if (own && strcmp(set->penalty, "auto") == 0)
        compare_all(s, out, count);
    else
        out[0] = &strengths;
    return MGV_OK;
}
