/* select/selection.h - fits paths of models, scores them on rows they have not seen, chooses one
 * and solves it to the end: the handle behind mgv_selection. docs/algorithms/selection.md. */
#ifndef MGVI_SELECT_SELECTION_H
#define MGVI_SELECT_SELECTION_H

#include "select/lanes.h"
#include "select/path.h"
#include "solver/driver.h"

enum { MGVI_PATHS_MOST = 8 };

typedef struct mgvi_feature {
    int64_t column;
    double coef;
    int64_t folds; /* -1: not known */
} mgvi_feature;

struct mgv_selection {
    mgv_ctx *ctx;
    mgvi_arena arena;
    mgv_data *data;        /* borrowed */
    mgv_data *validation;  /* of val:FILE, owned */
    mgv_settings settings; /* the user's */
    mgvi_rule rule;
    mgvi_split split;
    mgv_problem *probe; /* the data under the settings, with any strength: rows, classes, weights */
    double *e, *factor, *y; /* of the split's rows: sqrt(weight), times the row's scale, target */
    mgvi_path path[MGVI_PATHS_MOST];
    int paths, chosen;       /* what was compared, and the winner */
    bool cut;                /* the limit has ended the search */
    const mgvi_path *holder; /* the path that held a full fit last, and */
    mgvi_verdict held;       /* what was found of it; nothing: of an iterate */
    double seconds;          /* of all of it, the final fit included */
    int64_t stable;          /* columns of the chosen point that enough folds have; -1: not asked */
    mgv_problem *problem;    /* may be the probe */
    mgv_solver *solver;      /* of the chosen model */
    mgvi_feature *feature; /* nonzero weights of the final model, largest first; NULL: not asked */
    int64_t feature_count;
};

mgv_status mgvi_selection_run(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                              mgv_selection **out);
void mgvi_selection_free(mgv_selection *selection); /* NULL is accepted */

static inline const mgvi_path *mgvi_selection_path(const mgv_selection *s)
{
    return &s->path[s->chosen];
}
static inline const mgvi_path_point *mgvi_selection_point(const mgv_selection *s)
{
    return &s->path[s->chosen].point[s->path[s->chosen].chosen];
}

/* *out is NULL when the model has no such feature. */
mgv_status mgvi_selection_feature(mgv_selection *s, int64_t index, const mgvi_feature **out);

/* The settings with some strength where none is given: enough to bind rows and labels. */
mgv_settings mgvi_selection_any_strength(const mgv_settings *settings);

/* Whether a given strength is judged as it is: one point, held out, and its fit. */
bool mgvi_selection_given(const mgv_selection *s);
#define MGVI_GIVEN_STRENGTH "given strength" /* the name of its path */

/* Many classes: whether the rows' targets y are numbers of classes, not signs. */
bool mgvi_selection_numbers(const mgv_selection *s);
/* The class of row i of the validation file, as the training data numbers its classes. */
mgv_status mgvi_selection_class(const mgv_selection *s, int64_t i, int64_t *out);
/* Deals the rows out; every part gets its share of every class. */
mgv_status mgvi_selection_split(mgv_selection *s);

/* One way to make a path. */
typedef struct mgvi_method {
    const char *name;
    mgv_status (*walk)(mgv_selection *s, const struct mgvi_method *method, mgvi_path *path);
    const char *penalty, *loss, *solver; /* settings of the fit; NULL: the user's */
    bool root;                           /* the same: scale sqrt */
    mgvi_lane_weighting weighting;
} mgvi_method;
/* methods.c: the methods to compare under the settings; `out` has room for MGVI_PATHS_MOST. */
mgv_status mgvi_methods_choose(mgv_selection *s, const mgvi_method **out, int *count);

/* ---- selections that need one run alone ------------------------------------------------------ */

/* epochs.c, losses of many classes: the epochs of one run are the path, held-out rows choose one;
 * docs/algorithms/probing.md. */
/* Whether they are: held-out rows that are the same for every epoch, weights of l2 or none, and no
 * solver named whose iterations would need a strength. */
bool mgvi_epochs_suffice(const mgv_selection *s);
/* Makes that run with the selection's probe for its problem; the validation file, if any, has been
 * read. The model is the best epoch's: no row is read again for it. */
mgv_status mgvi_epochs_run(mgv_selection *s);

/* driver_paths.c, hard losses: the iterations of one run are the path. */
/* Whether the rule needs one run only: the last iterate of a hard loss, or the first within the
 * noise. */
bool mgvi_iterations_suffice(const mgv_selection *s);
/* Makes that run: problem, solver, and a path of its one point. */
mgv_status mgvi_iterations_run(mgv_selection *s);

/* ---- the final fit of `debias` and `stable`: refit.c ------------------------------------------ */

/* Least squares on chosen columns, in float64. */
/* MGV_E_ARG when the rule or the problem has no place for `debias` or `stable`. */
mgv_status mgvi_refit_check(const mgv_selection *s);
/* Whether the chosen point is debiased, or its columns are to be thinned out. */
bool mgvi_refit_wanted(const mgv_selection *s);
/* Fits the columns of the chosen point, or the stable ones among them; the solver's answer gets the
 * weights. */
mgv_status mgvi_refit(mgv_selection *s);
#endif
