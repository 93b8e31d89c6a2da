/* methods.c - which paths the settings ask for. */
#include "select/lasso_path.h"
#include "select/selection.h"

#include <math.h>
#include <string.h>

enum { PATIENCE = 8 }; /* strengths without improvement after which a path ends */

/* ---- lanes ----------------------------------------------------------------------------------- */

static mgv_status make_lanes(mgv_selection *s, mgvi_arena *arena, mgvi_lane_weighting weighting,
                             mgvi_lanes **out)
{
    const mgvi_lane_data data = {.stack = {&s->data->X, s->validation ? &s->validation->X : NULL},
                                 .count = s->validation ? 2 : 1,
                                 .factor = s->factor,
                                 .e = s->e,
                                 .y = s->y,
                                 .intercept = s->settings.intercept,
                                 .weighting = weighting};
    return mgvi_lanes_new(arena, &data, &s->split, out);
}

/* `--scale` as factors of the penalty. */
static mgv_status weighting_of(const mgv_selection *s, mgvi_lane_weighting *out)
{
    const char *scale = s->settings.scale;
    *out = strcmp(scale, "std") == 0 ? MGVI_WEIGHT_STD : MGVI_WEIGHT_NONE;
    if (strcmp(scale, "maxabs") == 0 || (*out == MGVI_WEIGHT_STD && !s->settings.intercept))
        return MGVI_FAIL(s->ctx, MGV_E_UNSUPPORTED,
                         "select along strengths has no --scale %s%s; use none or rownorm", scale,
                         *out == MGVI_WEIGHT_STD ? " without an intercept" : "");
    return MGV_OK;
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
                                  .patience = PATIENCE,
                                  .classify = s->probe->classify};
    mgvi_lane_weighting weighting = method->weighting;
    if (!method->scale)
        MGVI_TRY(weighting_of(s, &weighting));
    mgvi_arena arena;
    mgvi_lanes *lanes;
    mgvi_arena_init(&arena, s->ctx);
    mgv_status st = make_lanes(s, &arena, weighting, &lanes);
    if (st == MGV_OK)
        st = mgvi_lasso_path(&arena, lanes, &plan, path);
    mgvi_arena_free(&arena);
    return st;
}

/* ---- the list -------------------------------------------------------------------------------- */

static const mgvi_method lasso = {.name = "lasso path", .penalty = "l1", .walk = walk_lasso};
static const mgvi_method enet = {.name = "elastic-net path", .penalty = "enet", .walk = walk_lasso};

mgv_status mgvi_methods_choose(mgv_selection *s, const mgvi_method **out, int *count)
{
    const bool squared = strcmp(s->probe->loss->name, "squared") == 0;
    const char *penalty = s->settings.penalty;
    *count = 1;
    if (squared && strcmp(penalty, "enet") == 0)
        out[0] = &enet;
    else if (squared && (strcmp(penalty, "l1") == 0 || strcmp(penalty, "auto") == 0))
        out[0] = &lasso;
    else
        return MGVI_FAIL(s->ctx, MGV_E_UNSUPPORTED,
                         "select has no path for loss %s with penalty %s", s->probe->loss->name,
                         penalty);
    return MGV_OK;
}
