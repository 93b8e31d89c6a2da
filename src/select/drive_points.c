/* drive_points.c - scores and errors of the lanes, and the points of the path they make. */
#include "select/drive.h"

#include "problem/member.h"
#include "solver/classes/family.h"

#include <math.h>
#include <string.h>

static const double MOST_ENTRIES = 4e6; /* weights kept for the model file */

/* Of the validation rows by the examples with a weight in d->coef. */
static void score_points(mgvi_drive *d, mgvi_drive_lane *own, double intercept)
{
    const mgvi_points *examples = mgvi_kernel_points(mgvi_kernel_of(own->problem->A));
    const mgvi_point_list q = {.points = d->points, .count = d->z.n};
    int64_t count = 0;
    for (int64_t i = 0; i < d->s->data->X.rows; i++)
        if (d->coef[i] != 0) {
            d->weight[count] = d->coef[i];
            d->example[count++] = i;
        }
    const mgvi_point_list p = {.points = examples, .index = d->example, .count = count};
    for (int64_t i = 0; i < d->z.n; i++)
        d->z.x[i] = intercept;
    const mgv_status st =
        mgvi_kernel_sums(d->s->ctx, &own->problem->kernel, &p, d->weight, 1, &q, d->z.x, d->z.n);
    d->failed = st != MGV_OK ? st : d->failed;
}

/* Of the validation rows, in the user's units. */
static void score_validation(mgvi_drive *d, mgvi_drive_lane *own, const mgvi_vec *w)
{
    double intercept;
    mgvi_problem_user_weights(own->problem, w->x, d->coef, &intercept);
    if (d->points) {
        score_points(d, own, intercept);
        return;
    }
    const mgvi_vec coef = mgvi_vec_wrap(d->coef, mgvi_problem_coefs(own->problem), MGVI_COLS);
    mgvi_op_mul(d->validation, 1, &coef, 0, &d->z);
    const int64_t first = d->s->data->X.rows;
    for (int64_t i = 0; i < d->z.n; i++) {
        const double e = d->s->e[first + i], scale = e > 0 ? d->s->factor[first + i] / e : 1;
        d->z.x[i] = scale * d->z.x[i] + intercept;
    }
}

/* The model of lane l, in the user's units. */
static void take_model(mgvi_drive *d, int32_t l, const mgvi_vec *w)
{
    const mgvi_drive_lane *own = &d->lanes[l];
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
static bool has_weight(const mgvi_drive *d, int32_t l, const mgvi_vec *w, int64_t o, int64_t j)
{
    const mgvi_drive_lane *own = &d->lanes[l];
    if (own->solver->family)
        return own->solver->family->coef[o * mgvi_problem_coefs(own->problem) + j] != 0;
    return w->x[j * own->problem->outputs + o] != 0;
}

/* Many classes: the weighted share of those rows that the vote gets wrong. */
static double vote_error(mgvi_drive *d, int32_t l, const mgvi_vec *w)
{
    const mgv_selection *s = d->s;
    mgvi_drive_lane *own = &d->lanes[l];
    double wrong = 0, total = 0;
    take_model(d, l, w);
    const mgv_status st = mgvi_ballot_hold(&own->ballot, d->coef, d->intercept);
    d->failed = st != MGV_OK ? st : d->failed;
    for (int64_t t = 0; t < own->ballot.rows.count; t++) {
        const int64_t i = own->held[t];
        const double weight = s->e[i] * s->e[i];
        wrong += weight * (mgvi_ballot_class(&own->ballot, t) != (int64_t)s->y[i]);
        total += weight;
    }
    return total > 0 ? wrong / total : NAN;
}

/* The weighted error of lane l with weights w on the rows it does not train on; NaN: none. */
static double lane_error(mgvi_drive *d, int32_t l, const mgvi_vec *w)
{
    mgv_selection *s = d->s;
    mgvi_drive_lane *own = &d->lanes[l];
    const bool file = s->validation != NULL, classify = s->probe->classify;
    if (!mgvi_split_judged(&s->split, l))
        return NAN;
    if (d->many)
        return vote_error(d, l, w);
    if (file)
        score_validation(d, own, w);
    else
        mgvi_op_mul(own->problem->A, 1, w, 0, &d->z);
    double sum = 0, total = 0;
    for (int64_t i = 0; i < d->z.n; i++) {
        const int64_t row = file ? s->data->X.rows + i : i;
        if (!file && mgvi_split_trains(&s->split, i, l))
            continue;
        const double weight = s->e[row] * s->e[row], y = s->y[row];
        const double z =
            own->problem->view.sign && !file ? own->problem->view.sign[i] * d->z.x[i] : d->z.x[i];
        sum += weight * (classify ? z * y <= 0 : (z - y) * (z - y));
        total += weight;
    }
    return total > 0 ? sum / total : NAN;
}

/* |y - z| of the full fit: only `discrepancy` asks. */
static double full_residual(mgvi_drive *d, const mgvi_vec *w)
{
    mgv_selection *s = d->s;
    mgvi_drive_lane *own = &d->lanes[s->split.lanes - 1];
    if (s->rule.kind != MGVI_RULE_DISCREPANCY)
        return NAN;
    double sum = 0;
    mgvi_op_mul(own->problem->A, 1, w, 0, &d->z);
    for (int64_t i = 0; i < d->z.n; i++) {
        const double z =
            own->problem->view.sign ? own->problem->view.sign[i] * d->z.x[i] : d->z.x[i];
        sum += s->e[i] * s->e[i] * (z - s->y[i]) * (z - s->y[i]);
    }
    return sqrt(sum);
}

/* The weights of the full fit, in d->coef, with the lanes that have them. */
static mgv_status keep_weights(mgvi_drive *d, const mgvi_vec *const *w)
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
static mgv_status hold_best(mgvi_drive *d, const mgvi_vec *w)
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

mgv_status mgvi_drive_add_point(mgvi_drive *d, mgvi_path_point point, const mgvi_vec *const *w)
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
    MGVI_TRY(mgvi_path_arrive(path, &point, errors, s->split.lanes));
    path->full = full;
    if (path->outputs > 1)
        MGVI_TRY(mgvi_path_add_intercepts(path, d->intercept));
    MGVI_TRY(keep_weights(d, w));
    return hold_best(d, w[full]);
}
