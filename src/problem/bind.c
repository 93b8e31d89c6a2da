/* bind.c - labels and weights to rows, scaling to an operator; task.c: names to terms. */
#include "problem/problem.h"

#include "op/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows: labels, weights ------------------------------------------------------------------- */

/* Every class that has weight gets the same in all; the total stays. Folds of a cross-validation
 * may leave a rare class none. */
static void balanced_weights(const mgv_data *data, const double *s, double *weight)
{
    double total = 0, present = 0;
    memset(weight, 0, (size_t)data->classes * sizeof *weight);
    for (int64_t i = 0; i < data->X.rows; i++) {
        weight[mgvi_data_class_of(data, data->labels[i])] += s[i];
        total += s[i];
    }
    for (int64_t c = 0; c < data->classes; c++)
        present += weight[c] > 0;
    for (int64_t c = 0; c < data->classes; c++)
        weight[c] = weight[c] > 0 ? total / (present * weight[c]) : 1;
}

/* The class called `text`: by spelling, or by value when it is a number. -1: none. */
static int find_class(const mgv_data *data, const char *text)
{
    double value;
    const bool number = !data->text_labels && mgvi_parse_real(text, &value);
    for (int c = 0; c < (int)data->classes; c++)
        if (strcmp(data->class_text[c], text) == 0 || (number && data->class_value[c] == value))
            return c;
    return -1;
}

/* "LABEL:W,LABEL:W" */
static mgv_status listed_weights(mgv_problem *p, double *weight)
{
    char text[MGVI_TEXT_MAX], *rest = text, *item;
    snprintf(text, sizeof text, "%s", p->settings.class_weight);
    while ((item = strsep(&rest, ","))) {
        char *colon = strrchr(item, ':');
        double w;
        if (!colon)
            return MGVI_FAIL(p->ctx, MGV_E_ARG,
                             "class_weight is not `balanced` or LABEL:W,LABEL:W (got '%.80s')",
                             item);
        *colon = 0;
        const int c = find_class(p->data, item);
        if (c < 0)
            return MGVI_FAIL(p->ctx, MGV_E_ARG,
                             "class_weight names class '%.40s'; the classes are "
                             "'%.40s'%s'%.40s'",
                             item, p->data->class_text[0], p->data->classes > 2 ? " to " : " and ",
                             p->data->class_text[p->data->classes - 1]);
        if (!mgvi_parse_real(colon + 1, &w) || !(w >= 0) || isinf(w))
            return MGVI_FAIL(p->ctx, MGV_E_ARG,
                             "class_weight of '%.40s' is '%.40s'; allowed: 0 or "
                             "more",
                             item, colon + 1);
        weight[c] = w;
    }
    return MGV_OK;
}

static mgv_status apply_class_weights(mgv_problem *p, double *s)
{
    const mgv_data *data = p->data;
    if (!p->settings.class_weight[0])
        return MGV_OK;
    if (!p->classify)
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "class_weight is for classes, but the task is regression; leave it out, "
                         "or say --task classify");
    double *weight;
    MGVI_TRY(MGVI_ARRAY(&p->arena, weight, data->classes));
    for (int64_t c = 0; c < data->classes; c++)
        weight[c] = 1;
    if (strcmp(p->settings.class_weight, "balanced") == 0)
        balanced_weights(data, s, weight);
    else
        MGVI_TRY(listed_weights(p, weight));
    for (int64_t i = 0; i < data->X.rows; i++)
        s[i] *= weight[mgvi_data_class_of(data, data->labels[i])];
    return MGV_OK;
}

/* s_i = weight_i / total for a mean; 1 or 0 for a constraint. Rows that are alike need no array. */
static mgv_status bind_weights(mgv_problem *p)
{
    const int64_t n = p->data->X.rows;
    const bool hard = p->loss->can & MGVI_HARD;
    if (!p->data->weights && !p->settings.class_weight[0]) {
        p->total_weight = (double)n;
        p->row.scale = (mgvi_coef_array){.constant = hard ? 1 : 1 / p->total_weight};
        return MGV_OK;
    }
    double *s;
    MGVI_TRY(MGVI_ARRAY(&p->arena, s, n));
    for (int64_t i = 0; i < n; i++)
        s[i] = p->data->weights ? p->data->weights[i] : 1;
    MGVI_TRY(apply_class_weights(p, s));
    p->total_weight = 0;
    for (int64_t i = 0; i < n; i++)
        p->total_weight += s[i];
    if (!(p->total_weight > 0) || isinf(p->total_weight))
        return MGVI_FAIL(p->ctx, MGV_E_INPUT,
                         "the weights of the rows must add up to a finite number above 0 (got %g)",
                         p->total_weight);
    for (int64_t i = 0; i < n; i++)
        s[i] = hard ? s[i] > 0 : s[i] / p->total_weight;
    p->row.scale = (mgvi_coef_array){.values = s, .lanes = 1};
    return MGV_OK;
}

/* A quantity loss on classes fits -1 and +1. */
static mgv_status bind_sides(mgv_problem *p)
{
    const int64_t n = p->data->X.rows;
    double *side;
    MGVI_TRY(MGVI_SCRATCH(&p->arena, side, n));
    for (int64_t i = 0; i < n; i++)
        side[i] = p->view.sign[i];
    p->target = side;
    return MGV_OK;
}

/* Intervals around the targets, or with the ends that the data gives. */
static mgv_status bind_ends(mgv_problem *p, const double *y)
{
    const int64_t n = p->data->X.rows;
    const double *lower = p->data->lower, *upper = p->data->upper;
    double *low, *high;
    MGVI_TRY(MGVI_VECTORS(&p->arena, n, &low, &high));
    for (int64_t i = 0; i < n; i++) {
        low[i] = lower ? lower[i] : y[i] - p->settings.epsilon;
        high[i] = upper ? upper[i] : y[i] + p->settings.epsilon;
        if (!(low[i] <= high[i]) || low[i] == INFINITY || high[i] == -INFINITY)
            return MGVI_FAIL(p->ctx, MGV_E_INPUT,
                             "row %" PRId64 " has no interval (got %g to %g); give it a lower end "
                             "that is at most the upper one",
                             i + 1, low[i], high[i]);
    }
    p->row.a.values = low;
    p->row.b = (mgvi_coef_array){.values = high, .lanes = 1};
    return MGV_OK;
}

/* The loss's own a and b: the target, the ends of the interval, the width. */
static mgv_status bind_targets(mgv_problem *p)
{
    const bool margin = p->loss->can & MGVI_MARGIN;
    p->row.b.constant = p->settings.smoothing;
    if (!p->classify)
        p->target = p->data->labels;
    else if (!p->target && !margin)
        MGVI_TRY(bind_sides(p));
    if ((p->data->lower || p->data->upper) && !(p->loss->can & MGVI_BETWEEN))
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "lower and upper are ends of intervals, which loss %s has not; leave them "
                         "out, or say --loss interval or epsilon_insensitive",
                         p->loss->name);
    if (margin)
        return MGV_OK;
    const double *y = p->target;
    p->row.a = (mgvi_coef_array){.values = y, .lanes = 1};
    if (!(p->loss->can & MGVI_BETWEEN))
        return MGV_OK;
    return bind_ends(p, y);
}

/* lambda, mu or their sum of the C that is 1: LIBLINEAR leaves out the 1/2 of squares. */
static double strength_of_one(const mgv_problem *p)
{
    return 1 / (p->total_weight * (p->loss->can & MGVI_HALVED ? 2 : 1));
}

double mgvi_problem_C(const mgv_problem *p)
{
    const double given = isnan(p->settings.C) ? 1 : p->settings.C;
    const bool net = mgvi_problem_is_net(p);
    const double strength = net                           ? p->lambda + p->mu
                            : p->penalty->can & MGVI_NORM ? p->mu
                                                          : p->lambda;
    if (p->by_C)
        return given;
    return p->loss->can & MGVI_HARD || !(strength > 0) ? NAN : strength_of_one(p) / strength;
}

static void bind_strengths(mgv_problem *p)
{
    const bool net = mgvi_problem_is_net(p);
    const bool has_mu = net || (p->penalty->can & MGVI_NORM);
    if (p->by_C) {
        const double whole = strength_of_one(p) / mgvi_problem_C(p);
        p->mu = has_mu ? whole * (net ? p->settings.enet_share : 1) : 0;
        p->lambda = has_mu ? whole - p->mu : whole;
    }
    p->col.scale.constant = has_mu ? p->mu : p->lambda;
    p->col.a.constant = has_mu ? p->lambda : p->p; /* lp: the exponent */
    p->col.b.constant = INFINITY;
}

/* Factors of the columns, for penalties that work column by column. */
static mgv_status bind_column_weights(mgv_problem *p)
{
    const double *weights = p->data->col_weights;
    const int64_t d = p->data->X.cols;
    if (!weights)
        return MGV_OK;
    if (!(p->penalty->can & MGVI_SEPARABLE))
        return MGVI_FAIL(
            p->ctx, MGV_E_ARG,
            "penalty %s does not work column by column; leave out the weights of the columns",
            p->penalty->name);
    if ((p->loss->can & MGVI_HARD) && (p->loss->can & MGVI_MARGIN))
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "a margin is measured in one norm and takes no weights of columns; scale "
                         "the columns of the data instead");
    double *scale, *a;
    MGVI_TRY(MGVI_VECTORS(&p->arena, d, &scale, &a));
    for (int64_t j = 0; j < d; j++) {
        scale[j] = weights[j] * p->col.scale.constant;
        a[j] = weights[j] * p->col.a.constant;
    }
    p->col.scale = (mgvi_coef_array){.values = scale, .lanes = 1};
    if (mgvi_problem_is_net(p))
        p->col.a = (mgvi_coef_array){.values = a, .lanes = 1};
    return MGV_OK;
}

mgv_status mgvi_problem_set_strengths(mgv_problem *p, double lambda, double mu)
{
    if (mgvi_penalty_parts(p->penalty)) {
        p->penalty = mgvi_penalty_find(mu > 0 && lambda > 0 ? "enet" : mu > 0 ? "l1" : "l2");
        p->p = mu > 0 ? (lambda > 0 ? NAN : 1) : 2;
    }
    p->lambda = p->settings.lambda = lambda;
    p->mu = p->settings.mu = mu;
    p->settings.C = NAN;
    p->by_C = false;
    bind_strengths(p);
    MGVI_TRY(bind_column_weights(p));
    return mgvi_bind_formula(p);
}

/* What the penalty reads for itself, and its form as a norm of D w. */
static mgv_status bind_penalty(mgv_problem *p)
{
    const mgvi_penalty_input in = {
        .settings = &p->settings, .n = p->data->X.cols, .group = p->data->group};
    if (p->penalty->bind)
        MGVI_TRY(p->penalty->bind(&p->arena, &in, &p->penalty_data));
    const mgvi_whole_ops *whole = p->penalty->whole;
    return whole && whole->split ? whole->split(p->ctx, p->penalty_data, in.n, &p->split) : MGV_OK;
}

/* The settings `low` and `high`: a box that every weight lies in. The penalty `box` is nothing else;
 * a norm of D w (penalty/whole.h) takes one beside it, since its own dual variables leave the
 * proximal map to the box. After the penalty. */
static mgv_status bind_bounds(mgv_problem *p)
{
    const mgv_settings *s = &p->settings;
    const bool box = p->penalty->can & MGVI_BETWEEN;
    p->low = isnan(s->low) ? -INFINITY : s->low;
    p->high = isnan(s->high) ? INFINITY : s->high;
    if (!(p->low <= p->high))
        return MGVI_FAIL(
            p->ctx, MGV_E_ARG,
            "no weight lies between low and high (got %g and %g); give a low that is at most high",
            p->low, p->high);
    if (mgvi_problem_is_bounded(p) && !box && !p->split.D)
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "low and high are for the penalties box, tv1d and tv2d; this is %s",
                         p->penalty->name);
    if (box) {
        p->col.scale.constant = 1;
        p->col.a.constant = p->low;
        p->col.b.constant = p->high;
    }
    return MGV_OK;
}

mgv_status mgvi_problem_leave_out(mgv_problem *p, const int32_t *row, int64_t count)
{
    double left = 1;
    double *s;
    MGVI_TRY(MGVI_ARRAY(&p->arena, s, p->data->X.rows));
    for (int64_t i = 0; i < p->data->X.rows; i++)
        s[i] = mgvi_coef_pick(&p->row.scale, i, 0);
    for (int64_t k = 0; k < count; k++) {
        left -= s[row[k]];
        s[row[k]] = 0;
    }
    if (!(left > 0))
        return MGVI_FAIL(p->ctx, MGV_E_INPUT,
                         "every row to train on has the weight 0; give at least one of them more");
    for (int64_t i = 0; i < p->data->X.rows; i++)
        s[i] /= left;
    p->row.scale = (mgvi_coef_array){.values = s, .lanes = 1};
    p->total_weight *= left;
    bind_strengths(p); /* C stays, lambda = 1/(C n) is of the rows that are left */
    MGVI_TRY(bind_column_weights(p));
    return mgvi_bind_formula(p);
}

mgv_status mgvi_bind_rows(mgv_problem *p)
{
    MGVI_TRY(mgvi_bind_classes(p));
    MGVI_TRY(bind_weights(p));
    MGVI_TRY(bind_targets(p));
    if ((p->penalty->can & MGVI_NORM) && p->mu == 0 && !p->by_C && !(p->loss->can & MGVI_HARD))
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "penalty %s needs its strength: --mu X beside the averaged loss, --C X "
                         "beside its sum, or --select cv:5 to choose it",
                         p->penalty->name);
    bind_strengths(p);
    MGVI_TRY(bind_column_weights(p));
    MGVI_TRY(bind_penalty(p));
    return bind_bounds(p);
}

/* ---- the operator ---------------------------------------------------------------------------- */

const double *mgvi_problem_partial_rows(const mgv_problem *p)
{
    const double *weight = p->row.scale.values;
    for (int64_t i = 0; weight && i < p->data->X.rows; i++)
        if (weight[i] == 0)
            return weight;
    return NULL;
}

static mgv_status bind_column_scaling(mgv_problem *p)
{
    const mgvi_matrix *X = &p->data->X;
    double *scale, *centre;
    MGVI_TRY(MGVI_VECTORS(&p->arena, X->cols, &scale, &centre));
    if (p->scaling == MGVI_SCALE_STD)
        MGVI_TRY(
            mgvi_matrix_column_stats(p->ctx, X, p->row.scale.values, centre, scale, NULL, NULL));
    else
        MGVI_TRY(mgvi_matrix_column_stats(p->ctx, X, mgvi_problem_partial_rows(p), NULL, NULL,
                                          scale, NULL));
    for (int64_t j = 0; j < X->cols; j++)
        scale[j] = scale[j] > 0 ? 1 / scale[j] : 1; /* a constant column stays as it is */
    p->view.scale = scale;
    p->view.centre = p->scaling == MGVI_SCALE_STD ? centre : NULL;
    return MGV_OK;
}

/* Half way to unit columns: divided by the root of the standard deviation, or of the root mean
 * square where columns are not centred. Rare words are lifted, but not to the height of common
 * ones: docs/algorithms/primal_dual.md. */
static mgv_status bind_root_scaling(mgv_problem *p)
{
    const mgvi_matrix *X = &p->data->X;
    double *scale, *mean;
    MGVI_TRY(MGVI_VECTORS(&p->arena, X->cols, &scale, &mean));
    MGVI_TRY(mgvi_matrix_column_stats(p->ctx, X, p->row.scale.values, mean, scale, NULL, NULL));
    for (int64_t j = 0; j < X->cols; j++) {
        const double size = p->settings.intercept ? scale[j] : hypot(scale[j], mean[j]);
        scale[j] = size > 0 ? 1 / sqrt(size) : 1;
    }
    p->view.scale = scale;
    return MGV_OK;
}

static mgv_status bind_row_scaling(mgv_problem *p)
{
    const mgvi_matrix *X = &p->data->X;
    double *norm;
    MGVI_TRY(MGVI_ARRAY(&p->arena, norm, X->rows));
    MGVI_TRY(mgvi_matrix_row_norms(p->ctx, X, norm));
    for (int64_t i = 0; i < X->rows; i++)
        norm[i] = norm[i] > 0 ? 1 / norm[i] : 1;
    p->view.row_scale = norm;
    return MGV_OK;
}

/* With a free intercept, subtracting the column means changes nothing but the intercept, and makes
 * the columns nearly orthogonal to it: coordinate ascent needs 1.2 to 90 times fewer passes
 * (docs/algorithms/dual_coordinate.md). Rows divided by their norms would not stay equivalent. */
static mgv_status bind_centre(mgv_problem *p)
{
    if (!p->free_cols || p->view.centre || p->view.row_scale)
        return MGV_OK;
    if (p->block && p->whole) {
        p->view.centre = p->whole->view.centre;
        return MGV_OK;
    }
    double *centre;
    MGVI_TRY(MGVI_ARRAY(&p->arena, centre, p->data->X.cols));
    p->view.centre = centre;
    return mgvi_matrix_column_stats(p->ctx, &p->data->X, p->row.scale.values, centre, NULL, NULL,
                                    NULL);
}

/* The data's matrix under signs, scaling, centring and the intercept. */
static mgv_status bind_matrix(mgv_problem *p)
{
    MGVI_TRY(bind_centre(p));
    mgvi_op *base;
    MGVI_TRY(mgvi_op_from_matrix(p->ctx, &p->data->X, p->outputs, &base));
    return mgvi_op_view(p->ctx, base, &p->view, p->outputs, &p->A);
}

mgv_status mgvi_bind_operator(mgv_problem *p)
{
    p->scaling = p->settings.scale;
    const bool columns = p->scaling == MGVI_SCALE_STD || p->scaling == MGVI_SCALE_MAXABS;
    if (p->whole && p->scaling != MGVI_SCALE_NONE) {
        p->view.scale = p->whole->view.scale;
        p->view.centre = p->scaling == MGVI_SCALE_STD ? p->whole->view.centre : NULL;
    } else if (p->scaling == MGVI_SCALE_SQRT) {
        MGVI_TRY(bind_root_scaling(p));
    } else if (columns) {
        MGVI_TRY(bind_column_scaling(p));
    }
    if (p->scaling == MGVI_SCALE_ROWNORM)
        MGVI_TRY(bind_row_scaling(p));
    p->free_cols = p->settings.intercept ? 1 : 0;
    p->view.intercept = p->settings.intercept;
    p->view.sign_lanes = p->block ? p->lanes : 1;
    if (!(p->loss->can & MGVI_MARGIN))
        p->view.sign = NULL; /* the target carries the class; A is not signed */
    p->kernel.kind = p->settings.kernel;
    MGVI_TRY(p->kernel.kind != MGVI_KERNEL_LINEAR ? mgvi_bind_kernel(p) : bind_matrix(p));
    return p->outputs > p->lanes ? mgvi_bind_contrasts(p) : MGV_OK;
}
