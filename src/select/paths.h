/* select/paths.h - the ways to make a path that methods.c chooses from, and what comes behind one. */
#ifndef MGVI_SELECT_PATHS_H
#define MGVI_SELECT_PATHS_H

#include "select/selection.h"

/* ---- paths of any solver, through the driver: driver_paths.c --------------------------------- */

/* Points are runs at falling strengths of the penalty (lambda, or mu where it is sparse). */
/* The strength that the settings give, as one point. */
mgv_status mgvi_walk_given(mgv_selection *s, const mgvi_method *method, mgvi_path *path);
/* The strengths of lambda_grid and mu_grid, all of them. */
mgv_status mgvi_walk_grid(mgv_selection *s, const mgvi_method *method, mgvi_path *path);
mgv_status mgvi_walk_strengths(mgv_selection *s, const mgvi_method *method, mgvi_path *path);
/* Points are iterations of the lanes in lock-step: early stopping. */
mgv_status mgvi_walk_iterations(mgv_selection *s, const mgvi_method *method, mgvi_path *path);

/* ---- Lasso and elastic net: lasso_path.c ------------------------------------------------------ */

/* Every lane of a split at once, each point certified by a duality gap;
 * docs/algorithms/lasso_path.md. */
typedef struct mgvi_lasso_plan {
    double share;   /* mu = share * strength, lambda = (1 - share) * strength; 1: Lasso */
    double lambda;  /* >= 0: lambda stays, mu is the strength; NaN: by `share` */
    int64_t points; /* strengths from the largest useful one down to `end` times it */
    double end;
    bool goes_on;     /* beyond `end`, where that is the best */
    double gap;       /* of every lane, in units of |y|^2/2 */
    int64_t patience; /* points without improvement after which the path ends */
} mgvi_lasso_plan;

/* Adds the points of a mgvi_lasso_plan to `path`. Ends early, without failing, when the context is
 * interrupted. */
mgv_status mgvi_lasso_path(mgvi_arena *arena, mgvi_lanes *lanes, const void *plan, mgvi_path *path);

/* ---- ridge: ridge_path.c ---------------------------------------------------------------------- */

/* The whole path of every lane of a split from a few lock-step Golub-Kahan steps;
 * docs/algorithms/ridge_path.md. */
typedef struct mgvi_ridge_plan {
    int64_t points; /* 0: 64 */
    double end;     /* the last strength beside the first; NaN: 1e-7 */
} mgvi_ridge_plan;

/* Adds the points of a mgvi_ridge_plan, largest strength first, with the full fit's weights as
 * combinations of a basis. Uses R, w and grad of the lanes. */
mgv_status mgvi_ridge_path(mgvi_arena *arena, mgvi_lanes *lanes, const void *plan, mgvi_path *path);

/* ---- basis pursuit stopped early: early_path.c ------------------------------------------------ */

/* Every lane of a split at once: the folds and the full fit are one block iterate;
 * docs/algorithms/primal_dual.md. */
typedef struct mgvi_early_plan {
    const mgvi_split *split;
    double factor;              /* sigma = factor / max |A'y|, per lane */
    double sigma;               /* instead, when it is not NaN */
    double square;              /* |A|^2; NaN: found here */
    int64_t lazy;               /* every column each that many iterations */
    int64_t max_iter, patience; /* as mgvi_path_patient() has it */
} mgvi_early_plan;

/* Adds an iteration of a mgvi_early_plan per point to `path`, with the |A|^2 that was used and the
 * best point's u. Ends early, without failing, when the context is interrupted. */
mgv_status mgvi_early_path(mgvi_arena *arena, mgvi_lanes *lanes, const void *plan, mgvi_path *path);

/* ---- least squares on the columns of a sparse path: debias.c ---------------------------------- */

/* Penalties choose columns well and shrink their weights. docs/algorithms/selection.md. */
/* Fits every lane's own columns at some points up to the best one, and adds the best of those fits
 * (with one_se the sparsest within its standard error) to the path as its last point, `debiased`.
 */
mgv_status mgvi_debias(mgvi_arena *arena, mgvi_lanes *lanes, const mgvi_rule *rule,
                       mgvi_path *path);
#endif
