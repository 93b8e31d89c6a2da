/* select/path.h - a path of models (by strength or by iteration) with their held-out errors, and
 * the choice among them. Who made the models does not matter here. */
#ifndef MGVI_SELECT_PATH_H
#define MGVI_SELECT_PATH_H

#include "base/event.h"
#include "select/split.h"

/* One model. Its weights are entries first .. first + kept of the path's arrays, in the user's
 * units; of several outputs weight j of output o is number o * cols + j. */
typedef struct mgvi_path_point {
    double lambda, mu;      /* NaN where they do not apply */
    int64_t iteration;      /* 0: the path is not by iterations */
    double error, error_se; /* held out: mean squared error, or the share misclassified */
    double residual;        /* sqrt(sum weight (y - z)^2) over the data, NaN: not known */
    double gap;             /* of the worst lane in units of its |y|^2/2; NaN: not known */
    int64_t nonzeros, first, kept;
    double intercept; /* of the first output */
    bool debiased;    /* weights by least squares on the columns of an earlier point */
} mgvi_path_point;

typedef struct mgvi_path {
    mgv_ctx *ctx;
    const char *method, *by;             /* "lasso path", "lambda"; static */
    const char *penalty, *loss, *solver; /* of the final fit: settings; NULL: as the user said */
    bool root;                           /* the same: scale sqrt */
    mgvi_path_point *point;
    int64_t count, capacity;
    int32_t *index; /* entries of the models */
    double *value;
    uint16_t
        *lanes; /* bit l: the weight is not 0 in lane l; without the full fit's the value is 0 */
    int64_t entries, entry_capacity;
    float *basis;        /* NULL, or dense paths: basis_count x cols; the weights of point k are */
    double *combination; /* sum_b combination[k*basis_count + b] basis[b] */
    int64_t basis_count, cols;
    int32_t outputs;    /* scores of a model */
    double *intercepts; /* count x outputs; NULL: of one output, in the points */
    bool kept_weights;  /* false: too large, the curve alone is kept */
    int32_t full;  /* the full fit's lane: the lanes before it are folds, or a fit without a part */
    double *dual;  /* NULL, or u of the full fit at the best point, per row of the data */
    double square; /* by iterations: |A|^2 that the steps were made with; NaN: not known */
    bool early;    /* by iterations: of the solver's form for early stopping */
    bool classify; /* errors are the share misclassified */
    double *errors;         /* count x MGVI_SPLIT_LANES: of every lane, NaN where it has none */
    int64_t best;           /* least error so far; -1: none */
    int64_t chosen;         /* by the rule; -1: not yet */
    int64_t plain;          /* by the rule, from the points that are not debiased */
    double seconds, passes; /* what it took so far, */
    double bytes;           /* and what that is of the matrix; NaN: not known */
    double most_passes;     /* that it may take */
    bool cut;               /* a limit has ended it before its end */
    /* The full fit of the best point so far, or of the first, as a run has it: for a selection that
     * the limit ends. Of families weights and intercepts in the user's units, in w and u. */
    struct {
        int64_t point;
        double *w, *u;
        bool family;
    } held;
} mgvi_path;

void mgvi_path_init(mgvi_path *path, mgv_ctx *ctx, const char *method, const char *by);
void mgvi_path_free(mgvi_path *path);
/* The mean of those numbers that are not NaN, and its standard error; NaN of none, and of one. */
void mgvi_path_mean(const double *errors, int32_t lanes, double *mean, double *se);
/* Adds a point; `errors` has one number per lane of the split (NaN: the lane is not judged), from
 * which error and error_se are computed. */
mgv_status mgvi_path_add(mgvi_path *path, const mgvi_path_point *point, const double *errors,
                         int32_t lanes);
/* The same of a path under way: the trace has a row of it, and who reads that may ask to stop. */
mgv_status mgvi_path_arrive(mgvi_path *path, const mgvi_path_point *point, const double *errors,
                            int32_t lanes);
/* Between two steps of a path that has taken so many passes: whether the limit of the call or the
 * path's own ends it here (`cut`). */
bool mgvi_path_look(mgvi_path *path, double passes);
/* Adds a column to the last point that is not 0 in the lanes whose bits are set, and `value` in the
 * full fit. */
mgv_status mgvi_path_add_weight(mgvi_path *path, int32_t index, double value, uint16_t lanes);
/* Holds the full fit of the last point: `w_count` and `u_count` numbers. */
mgv_status mgvi_path_hold(mgvi_path *path, const double *w, int64_t w_count, const double *u,
                          int64_t u_count);
/* The intercepts of the last point, where there are several outputs: after every point. */
mgv_status mgvi_path_add_intercepts(mgvi_path *path, const double *intercept);
/* In how many folds entry t of the path is not 0. */
static inline int mgvi_path_folds(const mgvi_path *path, int64_t t)
{
    return __builtin_popcount(path->lanes[t] & ((1u << path->full) - 1));
}
/* Dense paths: copies the basis, before the first point; then every point is followed by its
 * combination. */
mgv_status mgvi_path_set_basis(mgvi_path *path, const float *basis, int64_t count, int64_t cols);
mgv_status mgvi_path_add_combination(mgvi_path *path, const double *z);
/* The weights of a point, `cols` numbers; false: they were not kept. */
bool mgvi_path_weights(const mgvi_path *path, int64_t point, int64_t cols, double *coef);
/* Points since the best one. */
int64_t mgvi_path_since_best(const mgvi_path *path);
/* By iterations: whether iteration k is a point. */
bool mgvi_path_has_point(int64_t k);
/* The same: whether to go on after iteration k, `wanted` iterations at most after the best
 * one; 0: max(20, the best one), or from 20 on until the error is two standard errors above it. */
bool mgvi_path_patient(const mgvi_path *path, int64_t k, int64_t wanted);
/* Sets `chosen`. MGV_E_NUMERIC when no point has an error, MGV_E_INPUT when no point reaches the
 * discrepancy asked for. */
mgv_status mgvi_path_choose(mgvi_path *path, const mgvi_rule *rule);
#endif
