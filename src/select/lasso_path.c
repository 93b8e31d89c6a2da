/* lasso_path.c - warm-started coordinate descent down a grid of strengths, all lanes in lock-step.
 * For every strength:  W = {j : |g_j| >= 2 l1 - l1_previous or w_j != 0, in any lane}        (3)
 *   sweep W, then its nonzero columns, until the moves are small and the gap on W is;
 *   one look at all columns; columns that break the optimality conditions join W. */
#include "select/paths.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

enum {
    MOST_SWEEPS = 1000, /* per strength: float32 has a floor */
    LOOK = 1 << 20,     /* entries between two looks at the limit */
    AT_END = 4          /* the best of these last points: the path has not turned yet */
};
static const double EXTENSION = 0.1; /* how much further a path may go that has not turned */
static const double FIRST_MOVE = 1e-4, TIGHTER = 0.2;

typedef struct walk {
    mgvi_lanes *s;
    const mgvi_lasso_plan *plan;
    mgvi_path *path;
    int32_t *set, *active; /* columns: W, and those of it that are nonzero or, in turn, outside */
    bool *in_set;
    uint8_t *marks; /* columns: see the kernel */
    float *limit;   /* width */
    int64_t set_count, active_count;
    float previous[MGVI_SPLIT_LANES]; /* l1 of the strength before */
    int64_t sweeps;                   /* at this strength */
    bool late;                        /* the limit has struck */
} walk;

static bool column_is_zero(const mgvi_lanes *s, int64_t j)
{
    for (int32_t l = 0; l < s->lanes; l++)
        if (s->w[j * s->width + l] != 0)
            return false;
    return true;
}

/* ---- the working set ------------------------------------------------------------------------- */

/* Marks the columns with |g_j| >= (1 + ahead) l1 - ahead l1_previous in any lane: the strong rule
 * (3) with ahead = 1, the optimality condition itself with ahead = 0. */
static void mark(walk *k, float ahead)
{
    const mgvi_lanes *s = k->s;
    for (int32_t l = 0; l < s->width; l++)
        k->limit[l] = l < s->lanes ? (1 + ahead) * s->l1[l] - ahead * k->previous[l] : INFINITY;
    s->kernels->mark(s, k->limit, k->marks);
}

static void choose_set(walk *k)
{
    k->set_count = 0;
    mark(k, 1);
    for (int64_t j = 0; j < k->s->P.cols; j++) {
        k->in_set[j] = k->marks[j] != 0;
        k->set[k->set_count] = (int32_t)j;
        k->set_count += k->in_set[j];
    }
}

/* Columns outside that are no longer optimal at 0; returns their number. */
static int64_t admit_violators(walk *k)
{
    const int64_t before = k->set_count;
    mark(k, 0);
    for (int64_t j = 0; j < k->s->P.cols; j++)
        if (!k->in_set[j] && (k->marks[j] & 1)) {
            k->in_set[j] = true;
            k->set[k->set_count++] = (int32_t)j;
        }
    return k->set_count - before;
}

/* ---- one strength ---------------------------------------------------------------------------- */

static double sweep(walk *k, const int32_t *list, int64_t count)
{
    float change[MGVI_SPLIT_LANES];
    double most = 0;
    const mgvi_packed *P = &k->s->P;
    const double per_column = (double)P->ptr[P->cols] / (double)P->cols * k->s->width;
    const int64_t stretch = (int64_t)fmax(LOOK / fmax(per_column, 1), 1);
    for (int64_t first = 0; first < count && !k->late; first += stretch) {
        const int64_t columns = count - first < stretch ? count - first : stretch;
        k->s->kernels->sweep(k->s, list + first, columns, change);
        for (int32_t l = 0; l < k->s->lanes; l++)
            if (k->s->energy[l] > 0)
                most = fmax(most, change[l] / k->s->energy[l]);
        k->late = mgvi_ctx_late(k->s->ctx) != MGV_STOP_NONE;
    }
    k->sweeps++;
    return k->late ? 0 : most;
}

static void find_active(walk *k)
{
    k->active_count = 0;
    for (int64_t t = 0; t < k->set_count; t++)
        if (!column_is_zero(k->s, k->set[t]))
            k->active[k->active_count++] = k->set[t];
}

/* Until the gap on W is small enough. */
static void solve_set(walk *k, mgvi_lane_rows *rows)
{
    double tol = FIRST_MOVE;
    for (;;) {
        double move = sweep(k, k->set, k->set_count);
        find_active(k);
        while (move >= tol && k->sweeps < MOST_SWEEPS)
            move = sweep(k, k->active, k->active_count);
        mgvi_lanes_gradient(k->s, k->set, k->set_count);
        if (mgvi_lanes_gap(k->s, k->set, k->set_count, rows) <= k->plan->gap ||
            k->sweeps >= MOST_SWEEPS || k->late)
            return;
        tol = TIGHTER * fmin(tol, move);
    }
}

/* grad of the columns outside W; solve_set() has left that of W. */
static void look_outside(walk *k)
{
    int64_t count = 0;
    for (int64_t j = 0; j < k->s->P.cols; j++) {
        k->active[count] = (int32_t)j;
        count += !k->in_set[j];
    }
    mgvi_lanes_gradient(k->s, k->active, count);
}

/* Returns the gap over all columns. */
static double solve_strength(walk *k, double mu, double lambda, mgvi_lane_rows *rows)
{
    mgvi_lanes_set_strength(k->s, mu, lambda);
    choose_set(k);
    k->sweeps = 0;
    for (;;) {
        solve_set(k, rows);
        look_outside(k);
        const double gap = mgvi_lanes_gap(k->s, NULL, 0, rows);
        const bool done = admit_violators(k) == 0 || gap <= k->plan->gap;
        if (done || k->sweeps >= MOST_SWEEPS || k->late) {
            memcpy(k->previous, k->s->l1, sizeof *k->previous * (size_t)k->s->lanes);
            return gap;
        }
    }
}

/* ---- the path -------------------------------------------------------------------------------- */

static mgv_status add_point(walk *k, double mu, double lambda, double gap,
                            const mgvi_lane_rows *rows)
{
    const mgvi_lanes *s = k->s;
    const int32_t full = s->lanes - 1;
    double errors[MGVI_SPLIT_LANES];
    for (int32_t l = 0; l < s->lanes; l++)
        errors[l] =
            s->held[l] > 0 ? (k->path->classify ? rows[l].wrong : rows[l].held) / s->held[l] : NAN;
    mgvi_path_point point = {.lambda = lambda,
                             .mu = mu,
                             .residual = sqrt(rows[full].rr),
                             .gap = gap,
                             .intercept = -(double)s->off[full]};
    for (int64_t t = 0; t < k->set_count; t++)
        point.nonzeros += s->w[(int64_t)k->set[t] * s->width + full] != 0;
    MGVI_TRY(mgvi_path_arrive(k->path, &point, errors, s->lanes));
    return mgvi_lanes_keep(s, k->set, k->set_count, k->path);
}

/* The least strength at which the full fit is 0. */
static double largest_strength(const walk *k)
{
    const mgvi_lanes *s = k->s;
    const int32_t full = s->lanes - 1;
    double most = 0;
    for (int64_t j = 0; j < s->P.cols; j++) {
        const int64_t t = j * s->width + full;
        if (s->square[t] > 0)
            most = fmax(most, fabs(s->grad[t]) / (s->weight ? s->weight[t] : 1));
    }
    return most / s->total[full] / (isnan(k->plan->lambda) ? k->plan->share : 1);
}

/* Whether a point at this part of the largest strength is wanted. The grid goes on for a while when
 * its end is the best. */
static bool another(const walk *k, double part)
{
    mgvi_path *path = k->path;
    const int64_t since = mgvi_path_since_best(path);
    if ((path->count > 0 && mgvi_path_look(path, path->passes)) ||
        (path->best >= 0 && since >= k->plan->patience))
        return false;
    const bool turned =
        !k->plan->goes_on || path->best < 0 || since >= AT_END || k->plan->points < 2;
    return path->count < k->plan->points || (!turned && part >= EXTENSION * k->plan->end);
}

mgv_status mgvi_lasso_path(mgvi_arena *arena, mgvi_lanes *lanes, const void *wanted,
                           mgvi_path *path)
{
    const mgvi_lasso_plan *plan = wanted;
    const size_t cols = (size_t)lanes->P.cols;
    walk k = {.s = lanes, .plan = plan, .path = path};
    k.set = mgvi_arena_array(arena, cols, sizeof *k.set);
    k.active = mgvi_arena_array(arena, cols, sizeof *k.active);
    k.in_set = mgvi_arena_array(arena, cols, sizeof *k.in_set);
    k.marks = mgvi_arena_array(arena, cols, sizeof *k.marks);
    k.limit = mgvi_arena_array(arena, (size_t)lanes->width, sizeof *k.limit);
    if (!k.set || !k.active || !k.in_set || !k.marks || !k.limit)
        return MGV_E_MEMORY;
    path->full = lanes->lanes - 1;
    mgvi_lanes_gradient(lanes, NULL, 0);
    const double most = largest_strength(&k);
    if (!(most > 0) || !isfinite(most))
        return MGVI_FAIL(lanes->ctx, MGV_E_INPUT,
                         "no column has anything to do with the target: there is no path");
    const double ratio = plan->points > 1 ? pow(plan->end, 1 / (double)(plan->points - 1)) : 1;
    for (double part = 1; another(&k, part); part *= ratio) {
        const double strength = most * part;
        const bool fixed = !isnan(plan->lambda);
        const double mu = fixed ? strength : plan->share * strength;
        const double lambda = fixed ? plan->lambda : (1 - plan->share) * strength;
        mgvi_lane_rows rows[MGVI_SPLIT_LANES];
        if (part == 1)
            for (int32_t l = 0; l < lanes->lanes; l++)
                k.previous[l] = (float)(mu * lanes->total[l]);
        const double gap = solve_strength(&k, mu, lambda, rows);
        mgvi_lanes_look(lanes, path);
        if (k.late && path->count > 0)
            break; /* the strengths before are whole */
        MGVI_TRY(add_point(&k, mu, lambda, gap, rows));
    }
    return MGV_OK;
}
