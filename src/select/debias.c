/* debias.c - conjugate gradients in every lane at once: with S_l the columns that lane l has at a
 * point of the path, over the rows it trains on,
 *   min over w on S_l of  |e y - P w - b e|^2 + r sum_j N_j w_j^2                              (1)
 * preconditioned by N_j = |p_j|^2; the small ridge r keeps weights down where S_l outnumbers the
 * rows. */
#include "select/paths.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

enum { CANDIDATES = 12, MOST_STEPS = 60 };
static const double RIDGE = 1e-3;
static const double SETTLED = 1e-6; /* of |y|^2: what further steps could still gain */

typedef double per_lane[MGVI_SPLIT_LANES];

typedef struct fit {
    mgvi_lanes *s;
    mgvi_path *path;
    uint16_t *member; /* per column: the lanes that have it */
    int32_t *list;    /* columns that some lane has */
    int64_t count;
    float *x;            /* cols x width: the solution; s->w is the direction */
    float *Q;            /* rows x width: minus P times the direction */
    per_lane first, off; /* the residual is R + off e, `first` at w = 0 */
} fit;

static void choose_columns(fit *f, const mgvi_path_point *p)
{
    for (int64_t t = 0; t < f->count; t++)
        f->member[f->list[t]] = 0;
    f->count = 0;
    for (int64_t t = p->first; t < p->first + p->kept; t++) {
        f->member[f->path->index[t]] = f->path->lanes[t];
        f->list[f->count++] = f->path->index[t];
    }
}

/* Where the lanes' intercepts put P x. */
static void shifts(const fit *f, const float *x, per_lane out)
{
    const mgvi_lanes *s = f->s;
    memset(out, 0, sizeof(per_lane));
    for (int64_t t = 0; t < f->count; t++) {
        const int64_t j = (int64_t)f->list[t] * s->width;
        for (int32_t l = 0; l < s->lanes; l++)
            out[l] += (double)x[j + l] * s->sum[j + l] * s->shift[l];
    }
}

/* The preconditioned gradient g/N, g = P'r - r N x, goes to s->grad; returns g.(g/N) per lane. */
static void gradient(fit *f, per_lane out)
{
    mgvi_lanes *s = f->s;
    memset(out, 0, sizeof(per_lane));
    for (int32_t l = 0; l < s->lanes; l++)
        s->off[l] = (float)f->off[l];
    mgvi_lanes_gradient(s, f->list, f->count);
    for (int64_t t = 0; t < f->count; t++)
        for (int32_t l = 0; l < s->width; l++) {
            const int64_t at = (int64_t)f->list[t] * s->width + l;
            const double N = s->square[at];
            const bool has = l < s->lanes && (f->member[f->list[t]] >> l & 1) && N > 0;
            const double g = has ? s->grad[at] - RIDGE * N * f->x[at] : 0;
            s->grad[at] = has ? (float)(g / N) : 0;
            out[l] += has ? g * g / N : 0;
        }
}

/* |q|^2 + r sum N p^2 for the direction p and q = P p, whose shifts are `off`. */
static void curvature(const fit *f, const per_lane off, per_lane out)
{
    const mgvi_lanes *s = f->s;
    memset(out, 0, sizeof(per_lane));
    for (int32_t c = 0; c < s->codes; c++)
        for (int64_t i = s->stretch[c]; i < s->stretch[c + 1]; i++)
            for (int32_t l = 0; l < s->lanes; l++) {
                const double q = f->Q[i * s->width + l] + off[l] * s->e[i];
                out[l] += s->mask[c * s->width + l] ? q * q : 0;
            }
    for (int64_t t = 0; t < f->count; t++)
        for (int32_t l = 0; l < s->lanes; l++) {
            const int64_t at = (int64_t)f->list[t] * s->width + l;
            out[l] += RIDGE * s->square[at] * s->w[at] * s->w[at];
        }
}

/* x += a p, and the residuals with it. */
static void advance(fit *f, const per_lane a, const per_lane off)
{
    mgvi_lanes *s = f->s;
    float step[MGVI_SPLIT_LANES] = {0};
    for (int32_t l = 0; l < s->lanes; l++) {
        step[l] = (float)a[l];
        f->off[l] += a[l] * off[l];
    }
    for (int64_t t = 0; t < f->count; t++)
        for (int32_t l = 0; l < s->width; l++) {
            const int64_t at = (int64_t)f->list[t] * s->width + l;
            f->x[at] += step[l] * s->w[at];
        }
    for (int64_t i = 0; i < s->P.rows; i++)
        for (int32_t l = 0; l < s->width; l++)
            s->R[i * s->width + l] += step[l] * f->Q[i * s->width + l];
}

/* p <- grad + beta p, or grad alone at the start. */
static void turn(fit *f, const per_lane now, const double *before)
{
    mgvi_lanes *s = f->s;
    float beta[MGVI_SPLIT_LANES] = {0};
    for (int32_t l = 0; before && l < s->lanes; l++)
        beta[l] = before[l] > 0 ? (float)(now[l] / before[l]) : 0;
    for (int64_t t = 0; t < f->count; t++)
        for (int32_t l = 0; l < s->width; l++) {
            const int64_t at = (int64_t)f->list[t] * s->width + l;
            s->w[at] = s->grad[at] + beta[l] * s->w[at];
        }
}

/* (1), from x = 0 */
static void solve(fit *f)
{
    mgvi_lanes *s = f->s;
    per_lane now, before, off, curve, a;
    memset(f->x, 0, (size_t)(s->P.cols * s->width) * sizeof *f->x);
    mgvi_lanes_product(s, s->target, s->all, 0, s->R);
    memcpy(f->off, f->first, sizeof f->off);
    gradient(f, now);
    turn(f, now, NULL);
    for (int k = 0; k < MOST_STEPS; k++) {
        bool settled = true;
        for (int32_t l = 0; l < s->lanes; l++)
            settled = settled && !(now[l] > SETTLED * s->energy[l]);
        if (settled || mgvi_ctx_late(s->ctx) != MGV_STOP_NONE)
            break;
        mgvi_lanes_product(s, NULL, f->list, f->count, f->Q);
        shifts(f, s->w, off);
        curvature(f, off, curve);
        for (int32_t l = 0; l < s->lanes; l++)
            a[l] = curve[l] > 0 ? now[l] / curve[l] : 0;
        advance(f, a, off);
        memcpy(before, now, sizeof before);
        gradient(f, now);
        turn(f, now, before);
    }
}

/* Held-out errors of the fit, per lane; their mean and standard error. */
static void judge(const fit *f, per_lane errors, double *mean, double *se)
{
    const mgvi_lanes *s = f->s;
    mgvi_lane_rows rows[MGVI_SPLIT_LANES];
    for (int32_t l = 0; l < s->lanes; l++)
        s->off[l] = (float)f->off[l];
    s->kernels->rows(s, rows);
    for (int32_t l = 0; l < s->lanes; l++)
        errors[l] = s->held[l] > 0 ? rows[l].held / s->held[l] : NAN;
    mgvi_path_mean(errors, s->lanes, mean, se);
    *se = fmax(*se, 0); /* of one */
}

/* Points up to the best one, evenly in the logarithm of their number from the end. */
static int candidates(const mgvi_path *path, int64_t *out)
{
    int64_t first = 0;
    int count = 0;
    while (first < path->best && path->point[first].kept == 0)
        first++;
    for (int k = 0; k < CANDIDATES; k++) {
        const double part = pow((double)(path->best - first + 1), (double)k / (CANDIDATES - 1)) - 1;
        const int64_t at = path->best - (int64_t)llround(part);
        if (path->point[at].kept > 0 && (count == 0 || out[count - 1] != at))
            out[count++] = at;
    }
    return count;
}

static mgv_status add_point(fit *f, const mgvi_path_point *from, const per_lane errors)
{
    const mgvi_lanes *s = f->s;
    const int32_t full = s->lanes - 1;
    mgvi_path_point point = *from;
    point.debiased = true;
    point.gap = NAN;
    point.intercept = -f->off[full];
    MGVI_TRY(mgvi_path_add(f->path, &point, errors, s->lanes));
    for (int64_t t = 0; t < f->count; t++) {
        const int32_t j = f->list[t];
        MGVI_TRY(
            mgvi_path_add_weight(f->path, j, f->x[(int64_t)j * s->width + full], f->member[j]));
    }
    return MGV_OK;
}

static mgv_status compare(fit *f, const mgvi_rule *rule)
{
    int64_t at[CANDIDATES];
    double mean[CANDIDATES], se[CANDIDATES];
    per_lane errors;
    const int count = candidates(f->path, at); /* the densest first */
    int best = -1;
    for (int c = 0; c < count && !mgvi_lanes_look(f->s, f->path); c++) {
        choose_columns(f, &f->path->point[at[c]]);
        solve(f);
        judge(f, errors, &mean[c], &se[c]);
        if (best < 0 || mean[c] < mean[best])
            best = c;
    }
    if (best < 0)
        return MGV_OK;
    int chosen = best;
    for (int c = best; rule->one_se && c < count; c++)
        if (mean[c] <= mean[best] + se[best])
            chosen = c;
    const mgvi_path_point from = f->path->point[at[chosen]];
    choose_columns(f, &from);
    solve(f);
    judge(f, errors, &mean[chosen], &se[chosen]);
    return add_point(f, &from, errors);
}

mgv_status mgvi_debias(mgvi_arena *arena, mgvi_lanes *lanes, const mgvi_rule *rule, mgvi_path *path)
{
    const size_t wide = (size_t)lanes->width * sizeof(float), cols = (size_t)lanes->P.cols;
    fit f = {.s = lanes, .path = path};
    f.member = mgvi_arena_array(arena, cols, sizeof *f.member);
    f.list = mgvi_arena_array(arena, cols, sizeof *f.list);
    f.x = mgvi_arena_array(arena, cols, wide);
    f.Q = mgvi_arena_array(arena, (size_t)lanes->P.rows, wide);
    if (!f.member || !f.list || !f.x || !f.Q)
        return MGV_E_MEMORY;
    if (path->best < 0 || !path->kept_weights)
        return MGV_OK;
    mgvi_lanes_reset(lanes); /* for off at w = 0 */
    for (int32_t l = 0; l < lanes->lanes; l++)
        f.first[l] = lanes->off[l];
    return compare(&f, rule);
}
