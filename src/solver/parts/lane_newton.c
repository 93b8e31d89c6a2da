/* lane_newton.c - Newton's method in the lanes of a block; docs/algorithms/multiclass.md.
 *   H_l d_l = -g_l,   g = lambda w + A'u,   H = lambda I + A'diag(h) A,   u = G'(A w), h = G''  (8)
 * by conjugate gradients in all lanes at once, preconditioned by a factor of each lane's own (9).
 * For losses that curve everywhere: hinges would need a path. */
#include "solver/parts/lane_newton.h"

#include "base/event.h"
#include "base/limit.h"
#include "solver/parts/lane_metric.h"

#include <math.h>
#include <string.h>

enum {
    LANES = MGVI_LOCKSTEP_LANES,
    MOST_COLUMNS = 1500,
    MOST_STEPS = 120,
    MOST_PRODUCTS = 60, /* of conjugate gradients in one step */
    TRIALS = 12,        /* of a line search */
    OLD = 7,            /* products after which the metric is made anew */
    IDLE = 12           /* steps in which no gap falls */
};
static const double SURE = 0.5;     /* part of the tolerance: lanes that miss it are expensive */
static const double SEARCHED = 0.1; /* part of its slope that a line search leaves */
static const double ROUGH = 0.1, FINE = 1e-3; /* residual that conjugate gradients leave */
static const double SHORT = 0.3, LONG = 0.7;  /* steps after which damping grows and falls */
static const double LEAST_DAMPING = 0.02;

typedef struct work {
    mgv_ctx *ctx;
    const mgv_problem *p;
    mgvi_lane_metric metric;
    mgvi_rng rng;
    mgvi_vec w, g, step;                   /* columns; g = lambda w + A'u */
    mgvi_vec residual, better, dir, image; /* of conjugate gradients */
    mgvi_vec z, u, h, dz, room;            /* rows */
    bool moving[LANES];
    int32_t aged[LANES]; /* products that the metric of a lane took last; 0: there is none */
    double gap[LANES], before[LANES], best[LANES], damping[LANES], length[LANES];
    int32_t idle;
} work;

/* ---- sums in lanes --------------------------------------------------------------------------- */

/* out = x + t y, t of each lane. */
static void add_lanes(const mgvi_vec *x, const double *t, const mgvi_vec *y, mgvi_vec *out)
{
    for (int64_t i = 0; i < x->n; i++)
        for (int32_t l = 0; l < x->k; l++)
            out->x[i * x->k + l] = x->x[i * x->k + l] + t[l] * y->x[i * x->k + l];
}

/* lambda <x, y> over the penalised columns, in lanes. */
static void ridge_dot(const work *s, const mgvi_vec *x, const mgvi_vec *y, double *out)
{
    const mgvi_vec a = mgvi_problem_penalised_part(s->p, x),
                   b = mgvi_problem_penalised_part(s->p, y);
    mgvi_vec_dot(s->ctx, &a, &b, out);
    for (int32_t l = 0; l < x->k; l++)
        out[l] *= s->p->lambda;
}

static void add_ridge(const work *s, const mgvi_vec *x, mgvi_vec *to)
{
    const mgvi_vec from = mgvi_problem_penalised_part(s->p, x);
    mgvi_vec part = mgvi_problem_penalised_part(s->p, to);
    mgvi_vec_axpby(s->ctx, s->p->lambda, &from, 1, &part);
}

/* ---- where we are ---------------------------------------------------------------------------- */

/* Rows far from z = 0 hardly curve, and a step that brings some of them back is cut short. After
 * such steps all have a part of the curvature that keeps the model above the loss,
 *   |G'(z) - G'(0)|/|z|,   at room = G'(z)                                                    (10)
 */
static void dampen(work *s)
{
    const int32_t k = s->z.k;
    const double slope = s->p->loss->grad((mgvi_coef){.scale = 1}, 0);
    for (int32_t l = 0; l < k; l++)
        for (int64_t i = 0; s->damping[l] > 0 && i < s->z.n; i++) {
            const int64_t at = i * k + l;
            const double scale = mgvi_coef_pick(&s->p->row.scale, i, l), z = fabs(s->z.x[at]);
            const double above = z > 1e-9 ? fabs(s->room.x[at] - scale * slope) / z : 0;
            s->h.x[at] = fmax(s->h.x[at], s->damping[l] * above);
        }
}

/* The relative gap of (w, u) in every lane, A'u in g. A slope of the intercept costs what it takes
 * to move it to others: a unit of score. */
static void measure_gaps(work *s, const mgvi_vec *u)
{
    const mgv_problem *p = s->p;
    const int64_t penalised = mgvi_problem_penalised(p);
    double loss[LANES], conj[LANES], ridge[LANES], dual[LANES];
    mgvi_loss_value(s->ctx, p->loss, &p->row, &s->z, loss);
    mgvi_loss_conj(s->ctx, p->loss, &p->row, u, conj);
    ridge_dot(s, &s->w, &s->w, ridge);
    ridge_dot(s, &s->g, &s->g, dual);
    for (int32_t l = 0; l < p->lanes; l++) {
        const double primal = loss[l] + ridge[l] / 2;
        double gap = fabs(primal + conj[l] + dual[l] / (2 * p->lambda * p->lambda));
        for (int64_t j = penalised; j < s->g.n; j++)
            gap += fabs(s->g.x[j * p->lanes + l]);
        s->before[l] = s->gap[l];
        s->gap[l] = gap / fmax(primal, 1e-300);
    }
}

/* u, h, g and the gaps at w. u is that of a whole look: a limit may cut this one. */
static bool look(work *s)
{
    mgvi_loss_grad(s->ctx, s->p->loss, &s->p->row, &s->z, &s->room);
    mgvi_loss_curv(s->ctx, s->p->loss, &s->p->row, &s->z, &s->h);
    dampen(s);
    mgvi_op_mul_t(s->p->A, 1, &s->room, 0, &s->g);
    if (mgvi_ctx_was_cut(s->ctx))
        return false;
    mgvi_vec_swap(&s->u, &s->room);
    measure_gaps(s, &s->u);
    add_ridge(s, &s->w, &s->g);
    return true;
}

/* ---- the system ------------------------------------------------------------------------------ */

static mgv_status precondition(work *s, double *rho)
{
    for (int32_t l = 0; l < s->p->lanes; l++)
        if (s->moving[l])
            MGVI_TRY(mgvi_lane_metric_solve(&s->metric, l, &s->residual, &s->better));
    mgvi_vec_dot(s->ctx, &s->residual, &s->better, rho);
    return MGV_OK;
}

/* image = H dir; dz is work space. */
static void curve(work *s)
{
    mgvi_op_mul(s->p->A, 1, &s->dir, 0, &s->dz);
    for (int64_t i = 0; i < s->dz.n * s->dz.k; i++)
        s->dz.x[i] *= s->h.x[i];
    mgvi_op_mul_t(s->p->A, 1, &s->dz, 0, &s->image);
    add_ridge(s, &s->dir, &s->image);
}

/* x = H^-1 residual in the lanes that move; a lane stops where the residual's square, as the metric
 * measures it, is accuracy^2 of what it was. */
static mgv_status solve(work *s, const double *accuracy, mgvi_vec *x)
{
    const int32_t k = s->p->lanes;
    double rho[LANES], enough[LANES], bends[LANES], next[LANES], forward[LANES], back[LANES],
        turn[LANES];
    mgvi_vec_fill(s->ctx, x, 0);
    mgvi_vec_fill(s->ctx, &s->better, 0);
    MGVI_TRY(precondition(s, rho));
    mgvi_vec_copy(s->ctx, &s->better, &s->dir);
    for (int32_t l = 0; l < k; l++)
        enough[l] = s->moving[l] ? accuracy[l] * accuracy[l] * rho[l] : INFINITY;
    for (int32_t products = 1; products <= MOST_PRODUCTS; products++) {
        bool busy = false;
        for (int32_t l = 0; l < k; l++)
            busy = busy || rho[l] > enough[l];
        if (!busy || mgvi_ctx_cut(s->ctx))
            break;
        curve(s);
        mgvi_vec_dot(s->ctx, &s->dir, &s->image, bends);
        for (int32_t l = 0; l < k; l++) {
            const bool on = rho[l] > enough[l] && bends[l] > 0;
            forward[l] = on ? rho[l] / bends[l] : 0;
            back[l] = -forward[l];
            s->aged[l] = on ? products : s->aged[l];
        }
        add_lanes(x, forward, &s->dir, x);
        add_lanes(&s->residual, back, &s->image, &s->residual);
        MGVI_TRY(precondition(s, next));
        for (int32_t l = 0; l < k; l++) {
            turn[l] = forward[l] > 0 ? next[l] / rho[l] : 0;
            rho[l] = forward[l] > 0 ? next[l] : 0;
        }
        add_lanes(&s->better, turn, &s->dir, &s->dir);
    }
    return MGV_OK;
}

/* Newton's step from g, to what the gap needs but not further than the last step did better. */
static mgv_status solve_newton(work *s, double goal)
{
    double accuracy[LANES];
    bool due[LANES];
    for (int32_t l = 0; l < s->p->lanes; l++) {
        const double gap = fmax(s->gap[l], 1e-300), needed = goal / gap,
                     rate = s->before[l] > 0 ? gap / s->before[l] : 1;
        accuracy[l] = fmin(ROUGH, fmax(FINE, 0.3 * sqrt(fmax(needed, rate))));
        due[l] = s->moving[l] && (s->aged[l] == 0 || s->aged[l] >= OLD);
        s->aged[l] = due[l] ? 1 : s->aged[l];
    }
    MGVI_TRY(mgvi_lane_metric_refresh(&s->metric, &s->h, due, &s->rng));
    mgvi_vec_copy(s->ctx, &s->g, &s->residual);
    mgvi_vec_scale(s->ctx, -1, &s->residual);
    return solve(s, accuracy, &s->step);
}

/* ---- the line search ------------------------------------------------------------------------- */

/* The derivative along the step at length t of each lane. */
static void slopes_at(work *s, const double *t, const double *own, const double *growth,
                      double *out)
{
    add_lanes(&s->z, t, &s->dz, &s->room);
    mgvi_loss_grad(s->ctx, s->p->loss, &s->p->row, &s->room, &s->room);
    mgvi_vec_dot(s->ctx, &s->room, &s->dz, out);
    for (int32_t l = 0; l < s->p->lanes; l++)
        out[l] += own[l] + t[l] * growth[l];
}

/* One look of the Illinois rule within a bracket that doubles while there is none. */
typedef struct bracket {
    double low, high, at_low, at_high;
} bracket;
static double narrow(bracket *b, double t, double slope)
{
    if (slope < 0) {
        b->at_high = b->low > 0 ? b->at_high / 2 : b->at_high;
        b->low = t;
        b->at_low = slope;
    } else {
        b->at_low = isfinite(b->high) ? b->at_low / 2 : b->at_low;
        b->high = t;
        b->at_high = slope;
    }
    return isfinite(b->high) ? b->low + (b->high - b->low) * b->at_low / (b->at_low - b->at_high)
                             : 2 * t;
}

/* Lengths where the slope has fallen to a tenth, 0 where nothing descends. */
static void search(work *s)
{
    const int32_t k = s->p->lanes;
    double own[LANES], growth[LANES], start[LANES], t[LANES], slope[LANES];
    bracket b[LANES];
    bool done[LANES];
    ridge_dot(s, &s->w, &s->step, own);
    ridge_dot(s, &s->step, &s->step, growth);
    memset(t, 0, sizeof t);
    slopes_at(s, t, own, growth, start);
    for (int32_t l = 0; l < k; l++) {
        done[l] = !s->moving[l] || !(start[l] < 0);
        t[l] = done[l] ? 0 : 1;
        b[l] = (bracket){0, INFINITY, start[l], 0};
    }
    for (int trial = 0; trial < TRIALS && !mgvi_ctx_cut(s->ctx); trial++) {
        bool busy = false;
        slopes_at(s, t, own, growth, slope);
        for (int32_t l = 0; l < k; l++) {
            done[l] = done[l] || fabs(slope[l]) <= -SEARCHED * start[l];
            t[l] = done[l] ? t[l] : narrow(&b[l], t[l], slope[l]);
            busy = busy || !done[l];
        }
        if (!busy)
            break;
    }
    for (int32_t l = 0; l < k; l++)
        s->length[l] = done[l] ? t[l] : b[l].low;
}

static void adapt_damping(work *s)
{
    for (int32_t l = 0; l < s->p->lanes; l++) {
        double *theta = &s->damping[l];
        if (s->length[l] < SHORT && s->moving[l])
            *theta = fmin(1, fmax(LEAST_DAMPING, 4 * *theta));
        else if (s->length[l] >= LONG)
            *theta = *theta > LEAST_DAMPING / 2 ? *theta / 4 : 0;
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* One step, from the last look to the next; what a limit cuts is as if it had not begun. */
static mgv_status step(work *s, double goal)
{
    MGVI_TRY(solve_newton(s, goal));
    mgvi_op_mul(s->p->A, 1, &s->step, 0, &s->dz);
    search(s);
    MGVI_TRY(mgvi_ctx_whole(s->ctx));
    add_lanes(&s->w, s->length, &s->step, &s->w);
    add_lanes(&s->z, s->length, &s->dz, &s->z);
    adapt_damping(s);
    return look(s) ? MGV_OK : MGV_E_LIMIT;
}

/* Lanes that have arrived leave their pair and rest. How many still move. */
static int32_t settle(work *s, double goal, mgvi_lockstep_result *out)
{
    const int64_t n = s->u.n, d = s->w.n;
    int32_t moving = 0;
    bool nearer = false;
    for (int32_t l = 0; l < s->p->lanes; l++) {
        nearer = nearer || (s->moving[l] && s->gap[l] < 0.9 * s->best[l]);
        s->best[l] = fmin(s->best[l], s->gap[l]);
        if (!s->moving[l])
            continue;
        for (int64_t i = 0; i < n; i++)
            out->u[l * n + i] = s->u.x[i * s->u.k + l];
        for (int64_t j = 0; j < d; j++)
            out->w[l * d + j] = s->w.x[j * s->w.k + l];
        s->moving[l] = !(s->gap[l] <= goal);
        moving += s->moving[l];
    }
    s->idle = nearer ? 0 : s->idle + 1;
    return moving;
}

static mgv_status allocate(work *s, mgvi_arena *arena)
{
    mgvi_vec *const cols[] = {&s->w, &s->g, &s->step, &s->residual, &s->better, &s->dir, &s->image};
    mgvi_vec *const rows[] = {&s->z, &s->u, &s->h, &s->dz, &s->room};
    for (size_t t = 0; t < sizeof cols / sizeof *cols; t++)
        MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, s->p->A->cols, s->p->lanes, cols[t]));
    for (size_t t = 0; t < sizeof rows / sizeof *rows; t++)
        MGVI_TRY(mgvi_vec_new(arena, MGVI_ROWS, s->p->A->rows, s->p->lanes, rows[t]));
    return mgvi_lane_metric_new(s->p, arena, &s->metric);
}

/* The weights of the lanes that have some, 0 elsewhere. */
static mgv_status begin(work *s, const double *const *start, mgvi_arena *arena)
{
    MGVI_TRY(allocate(s, arena));
    for (int32_t l = 0; start && l < s->p->lanes; l++)
        for (int64_t j = 0; start[l] && j < s->w.n; j++)
            s->w.x[j * s->w.k + l] = start[l][j];
    if (start)
        mgvi_op_mul(s->p->A, 1, &s->w, 0, &s->z);
    return look(s) ? MGV_OK : MGV_E_LIMIT;
}

static mgv_status descend(work *s, double tol, const double *const *start, mgvi_arena *arena,
                          mgvi_lockstep_result *out)
{
    mgvi_ctx_open(s->ctx, MGVI_GRACE);
    mgv_status st = begin(s, start, arena);
    bool late = mgvi_ctx_close(s->ctx);
    while (st == MGV_OK && !late && out->rounds < MOST_STEPS && s->idle < IDLE) {
        const int32_t moving = settle(s, SURE * tol, out);
        late = mgvi_ctx_late(s->ctx) != MGV_STOP_NONE;
        if (moving == 0 || late)
            break;
        mgvi_event_progress(s->ctx, "%d classes at once: Newton step %" PRId64 ", %d not there yet",
                            (int)s->p->lanes, out->rounds + 1, (int)moving);
        mgvi_ctx_open(s->ctx, MGVI_GRACE);
        st = step(s, SURE * tol);
        late = mgvi_ctx_close(s->ctx);
        out->rounds++;
    }
    return (late && mgvi_limit_explains(st)) || st == MGV_E_NUMERIC ? MGV_OK : st;
}

mgv_status mgvi_lane_newton_run(const mgv_problem *p, double tol, const double *const *start,
                                mgvi_rng rng, mgvi_arena *arena, mgvi_lockstep_result *out)
{
    const size_t k = (size_t)p->lanes, n = (size_t)p->A->rows, d = (size_t)p->A->cols;
    const double before = p->A->touched;
    work s = {.ctx = p->ctx, .p = p, .rng = rng};
    mgvi_arena *passing = mgvi_arena_within(arena);
    *out = (mgvi_lockstep_result){.u = mgvi_arena_array(arena, k, n * sizeof *out->u),
                                  .w = mgvi_arena_array(arena, k, d * sizeof *out->w)};
    if (!passing || !out->u || !out->w)
        return MGV_E_MEMORY;
    for (int32_t l = 0; l < p->lanes; l++) {
        s.moving[l] = true;
        s.best[l] = INFINITY;
    }
    const mgv_status st = descend(&s, tol, start, passing, out);
    out->passes = p->A->nnz > 0 ? (p->A->touched - before) / (double)p->A->nnz : 0;
    mgvi_arena_free(passing);
    return st;
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* Hinges do not beyond their bend. */
static bool curves_everywhere(const mgvi_loss_ops *loss)
{
    return (loss->can & MGVI_SMOOTH) && (loss->can & MGVI_CURV) &&
           loss->curv((mgvi_coef){.scale = 1}, 2) > 0;
}

double mgvi_lane_newton_bytes(const mgv_problem *p, int32_t lanes)
{
    static const double VECTORS = 7; /* of the rows: five of ours, u and what the judge has */
    return mgvi_lane_metric_bytes(p, lanes) + VECTORS * 8 * lanes * (double)p->A->rows;
}

/* Products of all lanes and factors of each: docs/algorithms/multiclass.md has the counts. */
double mgvi_lane_newton_cost(const mgv_problem *p, int32_t lanes)
{
    static const double PRODUCTS = 300, ENTRY = 2;  /* a product's multiplication in a lane */
    static const double FACTORS = 10, SINGLE = 0.5; /* one in float32 */
    const double d = (double)p->A->cols, rows = (double)mgvi_lane_metric_most(p);
    if (!mgvi_lockstep_fits(p) || p->pairwise || p->A->cols > MOST_COLUMNS ||
        p->data->X.layout == MGV_CSC || !curves_everywhere(p->loss) ||
        mgvi_lane_newton_bytes(p, lanes) > mgvi_problem_spare(p, 1))
        return INFINITY;
    return PRODUCTS * ENTRY * (double)p->A->nnz +
           FACTORS * SINGLE * (rows * d * d / 2 + d * d * d / 3);
}
