/* mirror_map.c - the mirror maps of coordinate methods. */
#include "solver/parts/mirror_map.h"

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
                             .whole = -1};
    enum { MOST_PRODUCTS = 8 };
    if (q - 2 <= MOST_PRODUCTS && fabs(q - round(q)) < 1e-14 * q)
        out->whole = (int)(round(q) - 2);
    double **const all[] = {&out->v, &out->base, &out->at, &out->at_base};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!(*all[k] = mgvi_arena_array(arena, (size_t)out->d, sizeof(double))))
            return MGV_E_MEMORY;
    return MGV_OK;
}

/* |x|^(q-2), 1 for q = 2 whatever x. */
static inline double power(const mgvi_mirror_map *map, double x)
{
    if (map->whole < 0)
        return pow(fabs(x), map->q - 2);
    double y = 1;
    for (int k = 0; k < map->whole; k++)
        y *= fabs(x);
    return y;
}

/* `base` of n values of v. */
static void bases(const mgvi_mirror_map *map, const double *v, int64_t n, double shift,
                  double *base)
{
    const double inverse = 1 / (map->kind == MGVI_MIRROR_NORM ? map->unit : map->c);
    if (map->kind == MGVI_MIRROR_ENTROPY)
        for (int64_t j = 0; j < n; j++)
            base[j] = exp(v[j] * inverse - shift);
    else
        for (int64_t j = 0; j < n; j++)
            base[j] = power(map, v[j] * inverse) * (map->kind == MGVI_MIRROR_NORM ? 1 : inverse);
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
static double sum_up(const mgvi_mirror_map *map, const double *v, const double *base, int64_t n)
{
    double sum = 0;
    if (map->kind == MGVI_MIRROR_ENTROPY)
        for (int64_t j = 0; j < n; j++)
            sum += base[j];
    else
        for (int64_t j = 0; j < n; j++)
            sum += base[j] * v[j] * v[j];
    return map->kind == MGVI_MIRROR_NORM ? sum / (map->unit * map->unit) : sum;
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
    bases(map, map->v, map->d, map->shift, map->base);
    map->sum = map->fresh_sum = sum_up(map, map->v, map->base, map->d);
}

void mgvi_mirror_map_weights(const mgvi_mirror_map *map, double *w)
{
    const double f = factor(map, map->sum);
    const bool entropy = map->kind == MGVI_MIRROR_ENTROPY;
    for (int64_t j = 0; j < map->d; j++)
        w[j] = f * map->base[j] * (entropy ? 1 : map->v[j]);
}

/* The sums over the row in hand, from its v and base. */
static mgvi_mirror_point measure(const mgvi_mirror_map *map, const mgvi_entries *row, double rest)
{
    const double *a = row->val, *v = map->at, *base = map->at_base;
    double z = 0, square = 0;
    if (map->kind == MGVI_MIRROR_ENTROPY)
        for (int64_t t = 0; t < row->n; t++)
            z += a[t] * base[t];
    else
        for (int64_t t = 0; t < row->n; t++)
            z += a[t] * base[t] * v[t];
    for (int64_t t = 0; t < row->n; t++)
        square += a[t] * a[t] * base[t];
    const double sum = rest + sum_up(map, v, base, row->n), f = factor(map, sum);
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
    const double *a = row->val, *v = map->v, *base = map->base;
    const int32_t *idx = row->idx;
    double z[4] = {0}; /* four sums, so that additions overlap */
    if (map->kind == MGVI_MIRROR_ENTROPY)
        for (int64_t t = 0; t < row->n; t++)
            z[t % 4] += a[t] * base[idx ? idx[t] : t];
    else
        for (int64_t t = 0; t < row->n; t++) {
            const int64_t j = idx ? idx[t] : t;
            z[t % 4] += a[t] * base[j] * v[j];
        }
    return factor(map, map->sum) * ((z[0] + z[1]) + (z[2] + z[3]));
}

mgvi_mirror_point mgvi_mirror_map_begin(mgvi_mirror_map *map, const mgvi_entries *row)
{
    if (row->idx) {
        for (int64_t t = 0; t < row->n; t++) {
            map->at[t] = map->v[row->idx[t]];
            map->at_base[t] = map->base[row->idx[t]];
        }
    } else {
        memcpy(map->at, map->v, (size_t)row->n * sizeof *map->at);
        memcpy(map->at_base, map->base, (size_t)row->n * sizeof *map->at);
    }
    map->lift = 0;
    /* A row that fills all columns leaves nothing: no rounding of the difference. */
    const bool all = row->n == map->d;
    map->rest = all ? 0 : fmax(0, map->sum - sum_up(map, map->at, map->at_base, row->n));
    return measure(map, row, map->rest);
}

mgvi_mirror_point mgvi_mirror_map_probe(mgvi_mirror_map *map, const mgvi_entries *row, double step)
{
    enum { STEEP = 500 }; /* e^500 is a number */
    double top = -INFINITY;
    for (int64_t t = 0; t < row->n; t++) {
        map->at[t] = map->v[row->idx ? row->idx[t] : t] + step * row->val[t];
        top = fmax(top, map->at[t]);
    }
    map->lift = 0;
    if (map->kind == MGVI_MIRROR_ENTROPY && top / map->c - map->shift > STEEP)
        map->lift = top / map->c - map->shift;
    bases(map, map->at, row->n, map->shift + map->lift, map->at_base);
    return measure(map, row, map->rest * exp(-map->lift));
}

void mgvi_mirror_map_commit(mgvi_mirror_map *map, const mgvi_entries *row, double step,
                            const mgvi_mirror_point *point)
{
    for (int64_t t = 0; t < row->n; t++) {
        const int64_t j = row->idx ? row->idx[t] : t;
        map->v[j] += step * row->val[t];
        map->base[j] = map->at_base[t];
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
