/* methods.c - which paths the settings ask for. */
#include "select/grid.h"
#include "select/paths.h"
#include "select/selection.h"

#include <math.h>
#include <string.h>

enum { PATIENCE = 8, LASSO_POINTS = 100 }; /* strengths without improvement that end a path */
static const double LASSO_END = 1e-3;

/* ---- lanes ----------------------------------------------------------------------------------- */

/* `--scale` as factors of the penalty. */
static mgv_status weighting_of(const mgv_selection *s, mgvi_lane_weighting *out)
{
    const mgvi_scaling scale = s->settings.scale;
    *out = scale == MGVI_SCALE_STD    ? MGVI_WEIGHT_STD
           : scale == MGVI_SCALE_SQRT ? MGVI_WEIGHT_ROOT
                                      : MGVI_WEIGHT_NONE;
    if (scale == MGVI_SCALE_MAXABS || (*out == MGVI_WEIGHT_STD && !s->settings.intercept))
        return MGVI_FAIL(s->ctx, MGV_E_UNSUPPORTED,
                         "select along strengths has no --scale %s%s; use none, sqrt or rownorm",
                         mgvi_scale_name(scale),
                         *out == MGVI_WEIGHT_STD ? " without an intercept" : "");
    return MGV_OK;
}

static mgv_status make_lanes(mgv_selection *s, mgvi_arena *arena, const mgvi_method *method,
                             mgvi_lanes **out)
{
    mgvi_lane_weighting weighting = method->weighting;
    if (!method->root)
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

/* Makes the path of a plan over them. */
typedef mgv_status (*lanes_fn)(mgvi_arena *arena, mgvi_lanes *lanes, const void *plan,
                               mgvi_path *path);

/* The same, and its models without the shrinkage of the penalty. */
static mgv_status in_lanes(mgv_selection *s, const mgvi_method *method, mgvi_path *path,
                           lanes_fn walk, const void *plan)
{
    mgvi_arena arena;
    mgvi_lanes *lanes;
    mgvi_arena_init(&arena, s->ctx);
    mgv_status st = make_lanes(s, &arena, method, &lanes);
    if (st == MGV_OK)
        st = walk(&arena, lanes, plan, path);
    if (st == MGV_OK && s->settings.debias && !path->basis)
        st = mgvi_debias(&arena, lanes, &s->rule, path);
    mgvi_arena_free(&arena);
    return st;
}

static mgv_status walk_lasso(mgv_selection *s, const mgvi_method *method, mgvi_path *path)
{
    const mgv_settings *set = &s->settings;
    const bool net = mgvi_penalty_is_net(mgvi_penalty_find(method->penalty));
    const mgvi_lasso_plan plan = {.share = net ? set->enet_share : 1,
                                  .lambda = net && !isnan(set->lambda) ? set->lambda : NAN,
                                  .points = set->path_points ? set->path_points : LASSO_POINTS,
                                  .end = isnan(set->path_end) ? LASSO_END : set->path_end,
                                  .goes_on = isnan(set->path_end),
                                  .gap = set->path_gap,
                                  .patience =
                                      set->patience_points ? set->patience_points : PATIENCE};
    return in_lanes(s, method, path, mgvi_lasso_path, &plan);
}

static mgv_status walk_ridge(mgv_selection *s, const mgvi_method *method, mgvi_path *path)
{
    const mgvi_ridge_plan plan = {.points = s->settings.path_points, .end = s->settings.path_end};
    return in_lanes(s, method, path, mgvi_ridge_path, &plan);
}

static bool is_equality(const mgvi_loss_ops *loss)
{
    return (loss->can & MGVI_HARD) && (loss->can & MGVI_LINEAR_DUAL) && !(loss->can & MGVI_MARGIN);
}

/* What the block iterate knows: plain steps of primal_dual on equalities with equal weights; the
 * driver has the rest. */
static bool fits_lanes(const mgv_selection *s, const mgvi_method *method)
{
    const mgv_settings *set = &s->settings;
    const char *name = method->solver ? method->solver : set->solver;
    const mgvi_penalty_ops *penalty =
        mgvi_penalty_find(method->penalty ? method->penalty : set->penalty);
    const mgvi_loss_ops *loss = method->loss ? mgvi_loss_find(method->loss) : s->probe->loss;
    const mgvi_solver_ops *solver = mgvi_solver_find(name);
    bool same = true;
    for (int64_t i = 0; i < s->data->X.rows; i++)
        same = same && s->e[i] == 1;
    return same && !s->probe->classify && !s->data->col_weights && isnan(set->mu) &&
           isnan(set->lambda) && isnan(set->C) && penalty &&
           mgvi_penalty_parts(penalty) == MGVI_ABS && is_equality(loss) &&
           set->scale == MGVI_SCALE_NONE && (mgvi_is_auto(name) || (solver && solver->means)) &&
           set->steps == MGVI_STEPS_SCALAR && isnan(set->step_ratio) &&
           set->iterate == MGVI_ITERATE_LAST;
}

static mgv_status walk_early(mgv_selection *s, const mgvi_method *method, mgvi_path *path)
{
    const mgv_settings *set = &s->settings;
    enum { LAZY = 5 };
    if (!fits_lanes(s, method))
        return mgvi_walk_iterations(s, method, path);
    const mgvi_early_plan plan = {.split = &s->split,
                                  .factor = set->sigma_factor,
                                  .sigma = set->sigma,
                                  .square = set->lipschitz,
                                  .lazy = set->lazy ? set->lazy : LAZY,
                                  .max_iter = set->max_iter,
                                  .patience = set->patience_iterations};
    path->by = "iteration";
    path->solver = "primal_dual";
    path->early = true;
    return in_lanes(s, method, path, mgvi_early_path, &plan);
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
                                       .root = true,
                                       .solver = "primal_coordinate",
                                       .walk = walk_lasso,
                                       .weighting = MGVI_WEIGHT_ROOT};
static const mgvi_method ridge_root = {.name = "ridge path, sqrt scale",
                                       .penalty = "l2",
                                       .root = true,
                                       .solver = "least_squares",
                                       .walk = walk_ridge,
                                       .weighting = MGVI_WEIGHT_ROOT};

/* Basis pursuit stopped early: the sparsest of the rivals, and the best where columns are dense and
 * hardly correlated; on text it is slow and stays behind, so that it is left out there. */
static const mgvi_method early = {.name = "primal-dual, early",
                                  .penalty = "l1",
                                  .loss = "equal",
                                  .solver = "primal_dual",
                                  .walk = walk_early};

/* Its kin for text: a strongly convex penalty, accelerated, root-scaled columns. */
static const mgvi_method dual = {.name = "dual gradient, early",
                                 .penalty = "l1",
                                 .root = true,
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
    if (sparse && s->settings.scale == MGVI_SCALE_NONE) {
        out[(*count)++] = &lasso_root;
        out[(*count)++] = &ridge_root;
        if (!s->probe->classify && mgvi_solver_find(dual.solver))
            out[(*count)++] = &dual;
    }
}

/* Any other loss or penalty, through the driver. */
static const mgvi_method strengths = {.name = "strengths", .walk = mgvi_walk_strengths};
static const mgvi_method iterations = {.name = "iterations", .walk = walk_early};
static const mgvi_method grid = {.name = "grid of strengths", .walk = mgvi_walk_grid};
static const mgvi_method given_strength = {.name = MGVI_GIVEN_STRENGTH, .walk = mgvi_walk_given};

/* Whether a strength is given that leaves nothing to choose: of the elastic net's two, mu. */
static bool has_strength(const mgv_settings *set)
{
    const mgvi_penalty_ops *named = mgvi_penalty_find(set->penalty);
    const bool net = named && mgvi_penalty_is_net(named);
    return !isnan(set->C) || !isnan(set->mu) || (!isnan(set->lambda) && !net);
}

bool mgvi_selection_given(const mgv_selection *s)
{
    const mgv_settings *set = &s->settings;
    const bool judged = s->rule.kind == MGVI_RULE_CV || s->rule.kind == MGVI_RULE_HOLDOUT ||
                        s->rule.kind == MGVI_RULE_FILE;
    return judged && has_strength(set) && !mgvi_grid_wanted(set) &&
           !(s->probe->loss->can & MGVI_HARD) && mgvi_is_auto(set->solver);
}

/* A penalty that is a constraint leaves nothing to choose but the iterations. */
static mgv_status check_penalty(const mgv_selection *s)
{
    const mgvi_penalty_ops *penalty = s->probe->penalty;
    if ((penalty->can & MGVI_HARD) && !(penalty->can & MGVI_NORM))
        return MGVI_FAIL(s->ctx, MGV_E_ARG,
                         "penalty %s is a constraint without a strength to choose: leave out "
                         "select, or name a solver whose iterations are the path, --solver "
                         "primal_dual",
                         penalty->name);
    return MGV_OK;
}

/* What a grid of strengths cannot be laid over. */
static mgv_status check_grid(const mgv_selection *s)
{
    if (s->probe->loss->can & MGVI_HARD)
        return MGVI_FAIL(s->ctx, MGV_E_ARG,
                         "loss %s is a constraint without a strength for a grid; leave out "
                         "lambda_grid and mu_grid, or say --loss hinge",
                         s->probe->loss->name);
    return check_penalty(s);
}

/* Squared losses have paths of their own; elsewhere a soft loss has a path of strengths. A strength
 * that is given is judged as it is; beside a solver that is named its iterations are the path, as
 * those of a constraint are. */
mgv_status mgvi_methods_choose(mgv_selection *s, const mgvi_method **out, int *count)
{
    const mgv_settings *set = &s->settings;
    const mgvi_penalty_ops *named = mgvi_penalty_find(set->penalty);
    const unsigned can = s->probe->loss->can, parts = named ? mgvi_penalty_parts(named) : 0;
    const bool squared = (can & MGVI_STRONG) && (can & MGVI_QUADRATIC_DUAL);
    const bool given = has_strength(set), automatic = mgvi_is_auto(set->solver);
    const bool linear = s->probe->kernel.kind == MGVI_KERNEL_LINEAR;
    const bool own = squared && linear && !given && automatic && !mgvi_selection_numbers(s);
    *count = 1;
    if (mgvi_grid_wanted(set)) {
        out[0] = &grid;
        return check_grid(s);
    }
    if (mgvi_selection_given(s))
        out[0] = &given_strength;
    else if (given || (can & MGVI_HARD) || ((s->probe->penalty->can & MGVI_HARD) && !automatic))
        out[0] = &iterations;
    else if (own && parts == (MGVI_SQUARE | MGVI_ABS))
        out[0] = &enet;
    else if (own && parts == MGVI_ABS)
        out[0] = &lasso;
    else if (own && parts == MGVI_SQUARE)
        out[0] = &ridge;
    else if (own && mgvi_is_auto(set->penalty))
        compare_all(s, out, count);
    else
        out[0] = &strengths;
    return out[0] == &strengths ? check_penalty(s) : MGV_OK;
}
