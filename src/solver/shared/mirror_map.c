/* mirror_map.c - the mirror maps of coordinate methods. */
#include "solver/shared/mirror_map.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

mgv_status mgvi_mirror_map_new(const mgv_problem *p, mgvi_arena *arena, mgvi_mirror_map *out)
{
    const bool entropy = p->penalty->whole != NULL, hard = p->loss->can & MGVI_HARD;
    const double q = entropy ? 2 : mgvi_dual_exponent(p->p);
    *out = (mgvi_mirror_map){.kind = entropy ? MGVI_MIRROR_ENTROPY
                                     : hard  ? MGVI_MIRROR_NORM
                                             : MGVI_MIRROR_POWER,
                             .d = mgvi_problem_penalised(p),
                             .q = q,
                             .c = p->lambda,
                             .whole = -1,
                             .simd = arena->ctx->simd};
    enum { MOST_PRODUCTS = 8 };
    if (q - 2 <= MOST_PRODUCTS && fabs(q - round(q)) < 1e-14 * q)
        out->whole = (int)(round(q) - 2);
    MGVI_TRY(MGVI_VECTORS(arena, out->d, &out->v, &out->base, &out->t, &out->at, &out->at_base,
                          &out->at_t, &out->slope));
    return MGV_OK;
}

/* `base` and t of n values of v: |x|^(q-2), which is 1 for q = 2 whatever x, or an exponential. */
static void evaluate(const mgvi_mirror_map *map, const double *restrict v, int64_t n, double shift,
                     double *restrict base, double *restrict t)
{
    const bool norm = map->kind == MGVI_MIRROR_NORM;
    const double inverse = 1 / (norm ? map->unit : map->c), whole = norm ? 1 : inverse;
    if (map->kind == MGVI_MIRROR_ENTROPY) {
        for (int64_t j = 0; j < n; j++)
            t[j] = base[j] = exp(v[j] * inverse - shift);
        return;
    }
    for (int64_t j = 0; j < n; j++)
        base[j] = map->whole < 0 ? pow(fabs(v[j] * inverse), map->q - 2) * whole : whole;
    for (int k = 0; k < map->whole; k++)
        for (int64_t j = 0; j < n; j++)
            base[j] *= fabs(v[j] * inverse);
    for (int64_t j = 0; j < n; j++)
        t[j] = base[j] * v[j];
}

static double factor(const mgvi_mirror_map *map, double sum)
{
    if (map->kind == MGVI_MIRROR_POWER || (map->kind == MGVI_MIRROR_NORM && map->q == 2))
        return 1;
    if (map->kind == MGVI_MIRROR_ENTROPY)
        return 1 / sum;
    return sum > 0 ? pow(sum, (2 - map->q) / map->q) : 0; /* v = 0: w = 0 */
}

/* S over n columns. */
static double sum_up(const mgvi_mirror_map *map, const double *v, const double *t, int64_t n)
{
    double sum = 0;
    if (map->kind == MGVI_MIRROR_ENTROPY)
        for (int64_t j = 0; j < n; j++)
            sum += t[j];
    else
        sum = map->simd->dot_f64(t, v, n);
    return map->kind == MGVI_MIRROR_NORM ? sum / (map->unit * map->unit) : sum;
}

double mgvi_entries_dot(const mgvi_mirror_map *map, const mgvi_entries *row, const double *x)
{
    return row->idx ? map->simd->gather_dot_f64(row->val, row->idx, row->n, x)
                    : map->simd->dot_f64(row->val, x, row->n);
}

void mgvi_entries_axpy(const mgvi_mirror_map *map, const mgvi_entries *row, double alpha, double *y)
{
    if (row->idx)
        map->simd->scatter_axpy_f64(alpha, row->val, row->idx, row->n, y);
    else
        map->simd->axpy_f64(alpha, row->val, y, row->n);
}

void mgvi_mirror_map_start(mgvi_mirror_map *map, double radius)
{
    map->unit = radius > 0 ? 1 / radius : 1; /* the first step makes v = a/|a|_q^2 */
    mgvi_mirror_map_refresh(map);
}

void mgvi_mirror_map_refresh(mgvi_mirror_map *map)
{
    double most = 0, top = -INFINITY;
    for (int64_t j = 0; j < map->d; j++) {
        most = fmax(most, fabs(map->v[j]));
        top = fmax(top, map->v[j] / map->c);
    }
    map->unit = most > 0 ? most : map->unit;
    map->shift = top;
    evaluate(map, map->v, map->d, map->shift, map->base, map->t);
    map->sum = map->fresh_sum = sum_up(map, map->v, map->t, map->d);
}

void mgvi_mirror_map_weights(const mgvi_mirror_map *map, double *w)
{
    const double f = factor(map, map->sum);
    for (int64_t j = 0; j < map->d; j++)
        w[j] = f * map->t[j];
}

/* The sums over the row in hand, from its v, base and t. */
static mgvi_mirror_point measure(const mgvi_mirror_map *map, const mgvi_entries *row, double rest)
{
    const double *a = row->val;
    for (int64_t t = 0; t < row->n; t++)
        map->slope[t] = a[t] * map->at_base[t];
    const double z = map->simd->dot_f64(a, map->at_t, row->n);
    const double square = map->simd->dot_f64(a, map->slope, row->n);
    const double sum = rest + sum_up(map, map->at, map->at_t, row->n), f = factor(map, sum);
    mgvi_mirror_point p = {.z = f * z, .sum = sum};
    if (map->kind == MGVI_MIRROR_ENTROPY)
        p.curvature = (f * square - p.z * p.z) / map->c;
    else
        p.curvature = f * (map->q - 1) * square;
    if (map->kind == MGVI_MIRROR_NORM && sum > 0) /* - (q-2) (a.w)^2/|v|_q^2 */
        p.curvature -= (map->q - 2) * p.z * p.z / (map->unit * map->unit * pow(sum, 2 / map->q));
    p.curvature = fmax(p.curvature, 0);
    return p;
}

double mgvi_mirror_map_dot(const mgvi_mirror_map *map, const mgvi_entries *row)
{
    return factor(map, map->sum) * mgvi_entries_dot(map, row, map->t);
}

mgvi_mirror_point mgvi_mirror_map_begin(mgvi_mirror_map *map, const mgvi_entries *row)
{
    if (row->idx) {
        for (int64_t t = 0; t < row->n; t++) {
            map->at[t] = map->v[row->idx[t]];
            map->at_base[t] = map->base[row->idx[t]];
            map->at_t[t] = map->t[row->idx[t]];
        }
    } else {
        const size_t bytes = (size_t)row->n * sizeof *map->at;
        memcpy(map->at, map->v, bytes);
        memcpy(map->at_base, map->base, bytes);
        memcpy(map->at_t, map->t, bytes);
    }
    map->lift = 0;
    /* A row that fills all columns leaves nothing: no rounding of the difference. */
    const bool all = row->n == map->d;
    map->rest = all ? 0 : fmax(0, map->sum - sum_up(map, map->at, map->at_t, row->n));
    return measure(map, row, map->rest);
}

mgvi_mirror_point mgvi_mirror_map_probe(mgvi_mirror_map *map, const mgvi_entries *row, double step)
{
    enum { STEEP = 500 }; /* e^500 is a number */
    if (row->idx)
        for (int64_t t = 0; t < row->n; t++)
            map->at[t] = map->v[row->idx[t]] + step * row->val[t];
    else
        for (int64_t t = 0; t < row->n; t++)
            map->at[t] = map->v[t] + step * row->val[t];
    double top = -INFINITY;
    for (int64_t t = 0; t < row->n && map->kind == MGVI_MIRROR_ENTROPY; t++)
        top = fmax(top, map->at[t] / map->c - map->shift);
    map->lift = top > STEEP ? top : 0;
    evaluate(map, map->at, row->n, map->shift + map->lift, map->at_base, map->at_t);
    return measure(map, row, map->rest * exp(-map->lift));
}

void mgvi_mirror_map_commit(mgvi_mirror_map *map, const mgvi_entries *row,
                            const mgvi_mirror_point *point)
{
    for (int64_t t = 0; t < row->n && row->idx; t++) {
        map->v[row->idx[t]] = map->at[t];
        map->base[row->idx[t]] = map->at_base[t];
        map->t[row->idx[t]] = map->at_t[t];
    }
    if (!row->idx) {
        const size_t bytes = (size_t)row->n * sizeof *map->at;
        memcpy(map->v, map->at, bytes);
        memcpy(map->base, map->at_base, bytes);
        memcpy(map->t, map->at_t, bytes);
    }
    map->sum = point->sum;
    /* Rounding of S is relative to the largest it has been; and numbers must stay in range. */
    const double change = map->fresh_sum > 0 ? map->sum / map->fresh_sum : 1;
    if (map->lift > 0 || !(change > 1e-3 && change < 1e30) || map->fresh_sum == 0)
        mgvi_mirror_map_refresh(map);
}

double mgvi_mirror_map_lipschitz(const mgvi_mirror_map *map, const mgvi_entries *row)
{
    if (map->kind != MGVI_MIRROR_ENTROPY) {
        const double norm = mgvi_lp_norm(row->val, row->n, map->q);
        return map->kind == MGVI_MIRROR_NORM ? (map->q - 1) * norm * norm
                                             : pow(norm, map->q / (map->q - 1)) / map->c;
    }
    double low = row->n < map->d ? 0 : INFINITY, high = row->n < map->d ? 0 : -INFINITY;
    for (int64_t t = 0; t < row->n; t++) {
        low = fmin(low, row->val[t]);
        high = fmax(high, row->val[t]);
    }
    return (high - low) * (high - low) / (4 * map->c);
}

mgv_status mgvi_mirror_map_bounds(const mgvi_mirror_map *map, const mgvi_rows *rows, bool centred,
                                  double *row, double *lipschitz)
{
    for (int64_t i = 0; i < rows->count && !mgvi_ctx_cut_row(rows->ctx, i); i++) {
        const mgvi_entries entries = mgvi_rows_entries(rows, i, centred, row);
        lipschitz[i] = mgvi_mirror_map_lipschitz(map, &entries);
        if (!isfinite(lipschitz[i]))
            return MGVI_FAIL(rows->ctx, MGV_E_INPUT,
                             "row %" PRId64 " is too large: the square of its norm overflows; "
                             "divide the data by a power of ten",
                             i + 1);
    }
    return MGV_OK;
}

double mgvi_mirror_map_floor(const mgvi_mirror_map *map)
{
    switch (map->kind) {
    case MGVI_MIRROR_NORM:
        return 1 / (map->q - 1); /* exact from v = 0 */
    case MGVI_MIRROR_POWER:
        return map->q == 2 ? 0 : 1;
    default:
        return 1e-2;
    }
}

double mgvi_mirror_map_conj(const mgvi_mirror_map *map)
{
    if (map->kind == MGVI_MIRROR_ENTROPY)
        return map->c * (map->shift + log(map->sum / (double)map->d));
    if (map->kind == MGVI_MIRROR_POWER) /* w.v/q */
        return map->sum / map->q;
    const double norm = mgvi_mirror_map_norm(map);
    return norm * norm / 2;
}

double mgvi_mirror_map_norm(const mgvi_mirror_map *map)
{
    return map->unit * pow(map->sum, 1 / map->q);
}

/* w = N^(2-q) |v|^(q-1) = |v'|^(q-1) with v' = N^((2-q)/(q-1)) v. */
double mgvi_mirror_map_dual_factor(const mgvi_mirror_map *map)
{
    const double norm = map->kind == MGVI_MIRROR_NORM ? mgvi_mirror_map_norm(map) : 1;
    return norm > 0 ? pow(norm, (2 - map->q) / (map->q - 1)) : 1;
}
