/* group.c - R(w) = c sum_g weight_g |w_g|_2 over disjoint groups of columns,  c = scale; columns of
 * no group are free.  R*(v) = 0 if |v_g|_2 <= c weight_g for all g and v = 0 elsewhere, else
 * infinite. docs/terms.md (P13). */
#include "penalty/registry.h"
#include "penalty/whole.h"

static double length_of(const mgvi_groups *g, int64_t at, const double *w)
{
    double most = 0, sum = 0;
    for (int64_t t = g->first[at]; t < g->first[at + 1]; t++)
        most = r_max(most, fabs(w[g->column[t]]));
    if (most == 0 || !isfinite(most))
        return most;
    for (int64_t t = g->first[at]; t < g->first[at + 1]; t++) {
        const double x = w[g->column[t]] / most;
        sum += x * x;
    }
    return most * sqrt(sum);
}

static double group_value(const mgvi_whole *self, const double *w)
{
    const mgvi_groups *g = self->data;
    double sum = 0;
    for (int64_t at = 0; at < g->count; at++)
        sum += g->weight[at] * length_of(g, at, w);
    return self->c.scale * sum;
}

static void group_prox(const mgvi_whole *self, const double *x, double step, double *out)
{
    const mgvi_groups *g = self->data;
    for (int64_t t = g->first[g->count]; t < self->n; t++)
        out[g->column[t]] = x[g->column[t]];
    for (int64_t at = 0; at < g->count; at++) {
        const double length = length_of(g, at, x), cut = step * self->c.scale * g->weight[at];
        const double factor = length > cut ? 1 - cut / length : 0;
        for (int64_t t = g->first[at]; t < g->first[at + 1]; t++)
            out[g->column[t]] = factor * x[g->column[t]];
    }
}

static double group_dual_scale(const mgvi_whole *self, const double *v)
{
    const mgvi_groups *g = self->data;
    double scale = 1;
    for (int64_t t = g->first[g->count]; t < self->n; t++)
        if (v[g->column[t]] != 0)
            return 0;
    for (int64_t at = 0; at < g->count; at++) {
        const double length = length_of(g, at, v), most = self->c.scale * g->weight[at];
        if (length > most)
            scale = r_min(scale, most / length);
    }
    return scale;
}

static double group_conj(const mgvi_whole *self, const double *v)
{
    return group_dual_scale(self, v) * (1 + MGVI_ON_BOUNDARY) >= 1 ? 0 : INFINITY;
}

/* ---- making them ----------------------------------------------------------------------------- */
/* Counting sort by group; the columns of none come last. */
static mgv_status sort_columns(mgvi_arena *arena, const int64_t *group, int64_t n, int64_t count,
                               mgvi_groups *out)
{
    int64_t *first = mgvi_arena_array(arena, (size_t)count + 3, sizeof *first);
    int64_t *column = mgvi_arena_array(arena, (size_t)n, sizeof *column);
    double *weight = mgvi_arena_array(arena, (size_t)count, sizeof *weight);
    if (!first || !column || !weight)
        return MGV_E_MEMORY;
    for (int64_t j = 0; j < n; j++)
        first[(group[j] < 0 ? count : group[j]) + 2]++;
    for (int64_t g = 2; g < count + 3; g++)
        first[g] += first[g - 1];
    for (int64_t j = 0; j < n; j++)
        column[first[(group[j] < 0 ? count : group[j]) + 1]++] = j;
    *out = (mgvi_groups){.count = count, .first = first, .column = column, .weight = weight};
    return MGV_OK;
}

/* From the group of each of n columns, -1: none. Weights are 1, or the root of the group's size.
 * MGV_E_INPUT names a column whose group is out of range. */
static mgv_status groups_new(mgvi_arena *arena, const int64_t *group, int64_t n, bool by_size,
                             const mgvi_groups **out)
{
    int64_t count = 0;
    for (int64_t j = 0; j < n; j++) {
        if (group[j] < -1 || group[j] >= n)
            return MGVI_FAIL(arena->ctx, MGV_E_INPUT,
                             "column %" PRId64 " is in group %" PRId64
                             "; allowed: -1 (none) to %" PRId64 ", as there are no more columns",
                             j + 1, group[j], n - 1);
        count = group[j] >= count ? group[j] + 1 : count;
    }
    mgvi_groups *g;
    MGVI_TRY(MGVI_ARRAY(arena, g, 1));
    MGVI_TRY(sort_columns(arena, group, n, count, g));
    for (int64_t at = 0; at < count; at++)
        g->weight[at] = by_size ? sqrt((double)(g->first[at + 1] - g->first[at])) : 1;
    *out = g;
    return MGV_OK;
}

static mgv_status group_bind(mgvi_arena *arena, const mgvi_penalty_input *in, const void **data)
{
    if (!in->group)
        return MGVI_FAIL(
            arena->ctx, MGV_E_ARG,
            "penalty group needs to know the groups; give --groups FILE, one number per column");
    const bool by_size = in->settings->group_weight == MGVI_GROUP_WEIGHT_SQRT;
    return groups_new(arena, in->group, in->n, by_size, (const mgvi_groups **)data);
}

static mgv_status group_sample(mgvi_arena *arena, mgvi_rng *rng, int64_t n, const void **data)
{
    int64_t *group;
    MGVI_TRY(MGVI_ARRAY(arena, group, n));
    for (int64_t j = 0; j < n; j++)
        group[j] = mgvi_rng_below(rng, (uint32_t)(n + 2) / 3);
    return groups_new(arena, group, n, mgvi_rng_below(rng, 2), (const mgvi_groups **)data);
}

const mgvi_penalty_ops mgvi_penalty_group = {
    .name = "group",
    .summary = "scale sum over groups of weight_g |w_g|_2",
    .can = MGVI_VALUE | MGVI_PROX | MGVI_CONJ | MGVI_DUAL_CLIP | MGVI_NORM | MGVI_KINK,
    .bind = group_bind,
    .whole = &(const mgvi_whole_ops){.value = group_value,
                                     .prox = group_prox,
                                     .conj = group_conj,
                                     .dual_scale = group_dual_scale,
                                     .sample_data = group_sample},
    .sample_coef = mgvi_penalty_sample_scale,
};
