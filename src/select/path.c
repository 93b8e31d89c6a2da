/* path.c - keeps the points of a path and applies the rule of choice. */
#include "select/path.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

void mgvi_path_init(mgvi_path *path, mgv_ctx *ctx, const char *method, const char *by)
{
    *path = (mgvi_path){.ctx = ctx,
                        .method = method,
                        .by = by,
                        .kept_weights = true,
                        .outputs = 1,
                        .best = -1,
                        .chosen = -1,
                        .square = NAN,
                        .bytes = NAN,
                        .most_passes = INFINITY,
                        .held = {.point = -1}};
}

void mgvi_path_free(mgvi_path *path)
{
    mgvi_release(path->ctx, path->point);
    mgvi_release(path->ctx, path->errors);
    mgvi_release(path->ctx, path->index);
    mgvi_release(path->ctx, path->value);
    mgvi_release(path->ctx, path->lanes);
    mgvi_release(path->ctx, path->basis);
    mgvi_release(path->ctx, path->combination);
    mgvi_release(path->ctx, path->intercepts);
    mgvi_release(path->ctx, path->dual);
    mgvi_release(path->ctx, path->held.w);
    mgvi_release(path->ctx, path->held.u);
    *path = (mgvi_path){.ctx = path->ctx};
}

/* Makes room in one of the arrays of a group; the capacity is changed when all of them have it. */
static bool grow(mgv_ctx *ctx, void **array, int64_t used, int64_t capacity, size_t size)
{
    void *larger = mgvi_grow(ctx, *array, (size_t)used, (size_t)capacity, size);
    if (larger)
        *array = larger;
    return larger != NULL;
}

void mgvi_path_mean(const double *errors, int32_t lanes, double *mean, double *se)
{
    double sum = 0, square = 0;
    int count = 0;
    for (int32_t l = 0; l < lanes; l++)
        if (!isnan(errors[l])) {
            sum += errors[l];
            count++;
        }
    *mean = count ? sum / count : NAN;
    for (int32_t l = 0; l < lanes; l++)
        if (!isnan(errors[l]))
            square += (errors[l] - *mean) * (errors[l] - *mean);
    *se = count > 1 ? sqrt(square / (count - 1) / count) : NAN;
}

mgv_status mgvi_path_add(mgvi_path *path, const mgvi_path_point *point, const double *errors,
                         int32_t lanes)
{
    enum { FIRST = 64 };
    if (path->count == path->capacity) {
        const int64_t capacity = path->capacity ? 2 * path->capacity : FIRST;
        if (!grow(path->ctx, (void **)&path->point, path->count, capacity, sizeof *path->point) ||
            !grow(path->ctx, (void **)&path->errors, path->count * MGVI_SPLIT_LANES,
                  capacity * MGVI_SPLIT_LANES, sizeof *path->errors))
            return MGV_E_MEMORY;
        path->capacity = capacity;
    }
    double *own = path->errors + path->count * MGVI_SPLIT_LANES;
    for (int32_t l = 0; l < MGVI_SPLIT_LANES; l++)
        own[l] = l < lanes ? errors[l] : NAN;
    mgvi_path_point *p = &path->point[path->count];
    *p = *point;
    p->first = path->entries;
    p->kept = 0;
    mgvi_path_mean(own, lanes, &p->error, &p->error_se);
    if (!p->debiased && !isnan(p->error) &&
        (path->best < 0 || p->error < path->point[path->best].error))
        path->best = path->count;
    path->count++;
    return MGV_OK;
}

mgv_status mgvi_path_arrive(mgvi_path *path, const mgvi_path_point *point, const double *errors,
                            int32_t lanes)
{
    MGVI_TRY(mgvi_path_add(path, point, errors, lanes));
    const mgvi_path_point *p = &path->point[path->count - 1];
    mgv_event e = mgvi_event_blank(MGV_EVENT_TRACE);
    e.iteration = p->iteration ? p->iteration : path->count;
    e.passes = path->passes > 0 ? path->passes : NAN;
    e.seconds = path->seconds > 0 ? path->seconds : NAN;
    e.bytes = path->bytes;
    e.relative_gap = p->gap;
    e.validation_score = path->classify ? 1 - p->error : p->error;
    e.validation_se = p->error_se;
    e.strength = p->iteration ? NAN : p->mu > 0 ? p->mu : p->lambda;
    e.nonzeros = p->nonzeros;
    double folds[MGVI_SPLIT_LANES];
    const double *own = path->errors + (path->count - 1) * MGVI_SPLIT_LANES;
    for (int32_t l = 0; l < lanes; l++)
        folds[l] = path->classify ? 1 - own[l] : own[l];
    e.folds = folds;
    for (e.fold_count = lanes; e.fold_count > 0 && isnan(own[e.fold_count - 1]);)
        e.fold_count--; /* the full fit has no part */
    if (mgvi_event_send(path->ctx, &e))
        atomic_store(&path->ctx->interrupted, 1);
    return MGV_OK;
}

bool mgvi_path_look(mgvi_path *path, double passes)
{
    path->passes = passes;
    path->cut =
        path->cut || mgvi_ctx_late(path->ctx) != MGV_STOP_NONE || passes >= path->most_passes;
    return path->cut;
}

mgv_status mgvi_path_add_weight(mgvi_path *path, int32_t index, double value, uint16_t lanes)
{
    enum { FIRST = 1024 };
    if (path->entries == path->entry_capacity) {
        const int64_t capacity = path->entry_capacity ? 2 * path->entry_capacity : FIRST;
        if (!grow(path->ctx, (void **)&path->index, path->entries, capacity, sizeof *path->index) ||
            !grow(path->ctx, (void **)&path->value, path->entries, capacity, sizeof *path->value) ||
            !grow(path->ctx, (void **)&path->lanes, path->entries, capacity, sizeof *path->lanes))
            return MGV_E_MEMORY;
        path->entry_capacity = capacity;
    }
    path->index[path->entries] = index;
    path->value[path->entries] = value;
    path->lanes[path->entries++] = lanes;
    path->point[path->count - 1].kept++;
    return MGV_OK;
}

mgv_status mgvi_path_set_basis(mgvi_path *path, const float *basis, int64_t count, int64_t cols)
{
    path->basis = mgvi_dup(path->ctx, basis, (size_t)(count * cols), sizeof *basis);
    path->basis_count = count;
    path->cols = cols;
    return path->basis ? MGV_OK : MGV_E_MEMORY;
}

mgv_status mgvi_path_add_combination(mgvi_path *path, const double *z)
{
    const int64_t count = path->basis_count, used = (path->count - 1) * count;
    if (!grow(path->ctx, (void **)&path->combination, used, used + count,
              sizeof *path->combination))
        return MGV_E_MEMORY;
    memcpy(path->combination + used, z, (size_t)count * sizeof *z);
    return MGV_OK;
}

mgv_status mgvi_path_add_intercepts(mgvi_path *path, const double *intercept)
{
    const int64_t outputs = path->outputs, used = (path->count - 1) * outputs;
    if (!grow(path->ctx, (void **)&path->intercepts, used, used + outputs,
              sizeof *path->intercepts))
        return MGV_E_MEMORY;
    memcpy(path->intercepts + used, intercept, (size_t)outputs * sizeof *intercept);
    return MGV_OK;
}

bool mgvi_path_weights(const mgvi_path *path, int64_t point, int64_t cols, double *coef)
{
    const mgvi_path_point *p = &path->point[point];
    memset(coef, 0, (size_t)cols * sizeof *coef);
    int64_t found = 0;
    for (int64_t t = p->first; t < p->first + p->kept; t++) {
        coef[path->index[t]] = path->value[t];
        found += path->value[t] != 0;
    }
    for (int64_t b = 0; path->basis && b < path->basis_count; b++) {
        const double z = path->combination[point * path->basis_count + b];
        for (int64_t j = 0; j < cols; j++)
            coef[j] += z * path->basis[b * path->cols + j];
    }
    return path->basis || found == p->nonzeros;
}

int64_t mgvi_path_since_best(const mgvi_path *path)
{
    return path->best < 0 ? 0 : path->count - 1 - path->best;
}

mgv_status mgvi_path_hold(mgvi_path *path, const double *w, int64_t w_count, const double *u,
                          int64_t u_count)
{
    if (!path->held.w) {
        path->held.w = mgvi_alloc(path->ctx, (size_t)w_count, sizeof *w);
        path->held.u = mgvi_alloc(path->ctx, (size_t)u_count, sizeof *u);
    }
    if (!path->held.w || !path->held.u)
        return MGV_E_MEMORY;
    memcpy(path->held.w, w, (size_t)w_count * sizeof *w);
    memcpy(path->held.u, u, (size_t)u_count * sizeof *u);
    path->held.point = path->count - 1;
    return MGV_OK;
}

bool mgvi_path_has_point(int64_t k)
{
    enum { EVERY = 50, PART = 20 }; /* up to here every iteration, then every 20th part */
    return k <= EVERY || k % (k / PART) == 0;
}

/* Curves of early stopping have several dips: max(10, k/2) ends in the first of them. A rise by two
 * standard errors is no dip. */
bool mgvi_path_patient(const mgvi_path *path, int64_t k, int64_t wanted)
{
    enum { LEAST = 20 };
    if (path->best < 0)
        return true;
    const mgvi_path_point *best = &path->point[path->best];
    const double error = path->point[path->count - 1].error;
    const int64_t since = k - best->iteration;
    if (wanted)
        return since < wanted;
    if (since >= LEAST && error > best->error + 2 * best->error_se)
        return false;
    return since < (best->iteration > LEAST ? best->iteration : LEAST);
}

/* The first point whose residual is at most delta. */
static mgv_status choose_discrepancy(mgvi_path *path, double delta)
{
    double least = INFINITY;
    for (int64_t k = 0; k < path->count && path->chosen < 0; k++) {
        least = fmin(least, path->point[k].residual);
        if (path->point[k].residual <= delta)
            path->chosen = k;
    }
    if (path->chosen >= 0)
        return MGV_OK;
    return MGVI_FAIL(path->ctx, MGV_E_INPUT,
                     "no model of the %s has a residual of at most %g; the smallest is %g",
                     path->method, delta, least);
}

mgv_status mgvi_path_choose(mgvi_path *path, const mgvi_rule *rule)
{
    const bool short_of = path->best < 0 || rule->kind == MGVI_RULE_DISCREPANCY;
    path->chosen = path->plain = path->count - 1;
    if (path->cut && short_of && path->count > 0) /* what there is */
        return MGV_OK;
    path->chosen = -1;
    if (rule->kind == MGVI_RULE_DISCREPANCY)
        return choose_discrepancy(path, rule->delta);
    if (rule->kind == MGVI_RULE_LAST) {
        path->chosen = path->count - 1;
        return MGV_OK;
    }
    if (path->best < 0)
        return MGVI_FAIL(path->ctx, MGV_E_NUMERIC, "the %s has no held-out error to choose by",
                         path->method);
    path->chosen = path->best;
    const mgvi_path_point *best = &path->point[path->best];
    if (rule->one_se) /* the first, and most regularised, within one standard error of the best */
        for (int64_t k = path->best; k >= 0; k--)
            if (path->point[k].error <= best->error + best->error_se)
                path->chosen = k;
    path->plain = path->chosen;
    const mgvi_path_point *last = &path->point[path->count - 1];
    if (last->debiased && last->error < path->point[path->chosen].error)
        path->chosen = path->count - 1;
    return MGV_OK;
}
